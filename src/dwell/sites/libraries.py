"""The libraries of the extra `geo`, loaded when they are first used; and errors about map files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from dwell._need import need
from dwell._types import in_short
from dwell.errors import SiteError


def library(name: str, what: str) -> Any:
    """Import a library of the extra `geo`; `what` needs it, in words."""
    packages = "pyproj pyogrio rasterio shapely"
    return need(name, f"{what} needs", packages, code="site.library")


def digest_of_file(path: str | Path) -> str | None:
    """The SHA-256 in hexadecimal of a file, or of the files of a folder; None without either.

    That of a Shapefile has its .prj as well.
    """
    file = Path(path)
    if file.is_dir():
        digest = sha256()
        for one in sorted(file.iterdir()):
            if one.is_file():
                digest.update(one.read_bytes())
        return digest.hexdigest()
    if not file.is_file():
        return None
    digest, beside = sha256(file.read_bytes()), file.with_suffix(".prj")
    if file.suffix.lower() == ".shp" and beside.is_file():
        digest.update(beside.read_bytes())
    return digest.hexdigest()


def refused(
    path: object, says: str, code: str, advice: Mapping[str, object] | None = None
) -> SiteError:
    """The error about a map file; the sentence begins with its name.

    `advice` has keys of `[site]` with which the file can be read; the sentence names them.
    """
    fault = SiteError(f"{Path(str(path)).name} {says}", code=f"site.{code}", key="site")
    fault.advice = dict(advice or {})
    return fault


def as_keys(advice: Mapping[str, object]) -> str:
    """Keys of `[site]` in the words of a scenario file: ``parts = "largest", repair = true``."""
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in advice.items())


def refused_raster(path: object, says: str, code: str) -> SiteError:
    """The error about a raster's file; the sentence begins with its name."""
    return SiteError(f"{Path(str(path)).name} {says}", code=f"site.{code}", key="density.file")


def existing(path: str | os.PathLike[str]) -> Path:
    """`path` if a file or a folder is there."""
    try:
        file = Path(path)
        there = file.exists()
    except (OSError, TypeError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or "text or a path is needed"
        says = f"{in_short(path)} is no name of a file: {why}"
        raise SiteError(says, code="site.file", key="site.file") from None
    if not there:
        raise refused(file, f"does not exist in {file.parent.resolve()}", "not-found")
    return file
