"""The secret that all agents of a fleet share, in a file."""

from __future__ import annotations

import os
from pathlib import Path

from dwell.errors import InputError
from dwell.results.files import shown


def read_secret(path: Path | None) -> bytes | None:
    """The secret in a file, if one is given; refused if other users can read or change it."""
    if path is None:
        return None
    try:
        secret = path.read_bytes().strip()
    except (OSError, ValueError) as fault:  # the second of text that cannot be a name
        why = getattr(fault, "strerror", None) or "no name of a file"
        says = f"the key {shown(path)} cannot be read ({why})"
        raise InputError(f"{says}; give the file of the secret", code="fleet.key") from None
    refuse_shared(path)
    return secret


def refuse_shared(path: Path) -> None:
    """Refuse a file with a secret that other users can read or change."""
    mode = path.stat().st_mode & 0o777
    if os.name == "posix" and mode & 0o077:
        says = f"the key {path} can be read or changed by other users (mode {mode:o})"
        raise InputError(f"{says}; keep it to yourself: chmod 600 {path}", code="fleet.key")
