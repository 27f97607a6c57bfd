"""Worker processes of a command, and waiting for what they do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Seconds after which a test gives up waiting: many times what a busy machine takes that has
# compiled nothing yet. Only a sign ends a wait earlier, so tests that pass do not take longer.
LONG = 600.0


def children(parent: int, name: str) -> list[int]:
    """Return the numbers of worker processes with that name, started by `parent`."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            owner = int(stat.read_text().rpartition(")")[2].split()[1])
            words = (stat.parent / "cmdline").read_bytes().split(b"\0")
        except OSError:  # ended meanwhile
            continue
        if owner == parent and name.encode() in words:
            found.append(int(stat.parent.name))
    return found


def wait_for(true: Callable[[], Any], what: str) -> Any:
    """Return the first value that counts as true."""
    limit = time.monotonic() + LONG
    while not (value := true()):
        assert time.monotonic() < limit, f"waited in vain for {what}"
        time.sleep(0.02)
    return value
