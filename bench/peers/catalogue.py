"""Which other systems there are, and which of them can be used here."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
IMPORT_SECONDS = 120.0


@dataclass(frozen=True)
class Peer:
    """A system: the name it is installed by, and what is imported of it."""

    name: str
    package: str
    imports: str

    @property
    def version(self) -> str:
        """As installed."""
        return metadata.version(self.package)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


# Machine learning is not needed for what is asked of CoverageControl, only for its front door.
_WITHOUT_TORCH = "from bench.peers.coverage_control import core; core()"

PEERS = {
    "shapely": Peer("shapely", "shapely", "import shapely"),
    "SciPy": Peer("SciPy", "scipy", "import scipy.spatial"),
    "geogram": Peer("geogram", "geogram", "import geogram"),
    "pyvoro2": Peer("pyvoro2", "pyvoro2", "import pyvoro2.planar"),
    "PathSim": Peer("PathSim", "pathsim", "import pathsim"),
    "CoverageControl": Peer("CoverageControl", "coverage-control", _WITHOUT_TORCH),
}


@lru_cache
def why_missing(name: str) -> str:
    """Why a system cannot be used, in a few words; empty if it can.

    It is tried in a process of its own, because some end the process that imports them.
    """
    peer = PEERS[name]
    try:
        metadata.version(peer.package)
    except metadata.PackageNotFoundError:
        return "not installed"
    command = [sys.executable, "-c", peer.imports]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=IMPORT_SECONDS, cwd=PROJECT.parent
        )
    except subprocess.TimeoutExpired:
        return f"not imported within {IMPORT_SECONDS:g} s"
    if done.returncode == 0:
        return ""
    last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
    return f"cannot be imported: {last[0][:120]}"


def requirements() -> list[str]:
    """What `pip install dwell[peers]` would install, one at a time."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    wanted: list[str] = project["optional-dependencies"]["peers"]
    return wanted
