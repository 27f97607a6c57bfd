"""Certificates for a fleet, made with openssl.

``python -m dwell.fleet.certificates FOLDER --agents 30`` makes an authority (ca.pem, ca.key), and a
certificate and a key for each agent (agent_0.pem, agent_0.key, ...), for the observer and for a
router. A robot needs ca.pem and its own two files; ca.key stays where certificates are made.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from dwell.errors import FleetError

DAYS = 365
_NEW = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def make_authority(folder: Path, days: int = DAYS) -> None:
    """Make an authority in a folder, unless it holds one."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "ca.key").exists():
        _openssl(folder, *_made("ca", days), "-addext", "keyUsage=critical,keyCertSign,cRLSign")


def make_certificates(folder: Path, names: Iterable[str], days: int = DAYS) -> None:
    """Make a certificate and a key for each name, signed by the authority of the folder."""
    for name in names:
        _openssl(
            folder, *_made(name, days), "-CA", "ca.pem", "-CAkey", "ca.key",
            "-addext", "basicConstraints=critical,CA:FALSE",
            "-addext", "extendedKeyUsage=serverAuth,clientAuth",
            "-addext", f"subjectAltName=DNS:{name.replace('_', '-')}",
        )  # fmt: skip


def _made(name: str, days: int) -> tuple[str, ...]:
    files = ("-keyout", f"{name}.key", "-out", f"{name}.pem")
    return (*_NEW, *files, "-days", str(days), "-subj", f"/CN={name}")


def _openssl(folder: Path, *arguments: str) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise FleetError("certificates are made with openssl, which is not installed; install it")
    done = subprocess.run(
        [program, *arguments], cwd=folder, capture_output=True, text=True, umask=0o077, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FleetError(f"openssl could not make a certificate in {folder}: {last}")


def main() -> None:
    """Make the certificates of a fleet."""
    parser = argparse.ArgumentParser(prog="python -m dwell.fleet.certificates")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--agents", type=int, required=True, help="number of agents")
    parser.add_argument("--days", type=int, default=DAYS, help="how long they are valid")
    given = parser.parse_args()
    names = [*(f"agent_{q}" for q in range(given.agents)), "observer", "router"]
    make_authority(given.folder, given.days)
    make_certificates(given.folder, names, given.days)


if __name__ == "__main__":
    main()
