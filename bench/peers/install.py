"""python -m bench.peers.install: install every peer that is missing, each on its own.

One that cannot be installed is named and left out: its rows in the table will say so.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata

from bench.peers.catalogue import requirements


def main() -> int:
    """Always 0: a bench without some of its peers is a bench."""
    for wanted in requirements():
        if not installed(wanted) and not install(wanted):
            print(f"bench: {wanted} cannot be installed here", file=sys.stderr)
    return 0


def installed(wanted: str) -> bool:
    """Whether there is any version of the package that a requirement names."""
    found = re.match(r"[A-Za-z0-9._-]+", wanted)
    try:
        metadata.version(found.group() if found else wanted)
    except metadata.PackageNotFoundError:
        return False
    return True


def install(wanted: str) -> bool:
    """Whether pip could install it."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*pip, wanted]).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
