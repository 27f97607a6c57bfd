"""The libraries of the extra `geo`, loaded when they are first used."""

from __future__ import annotations

from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from dwell.errors import InputError, SiteError


def library(name: str, what: str) -> Any:
    """Import a library of the extra `geo`; `what` needs it, in words."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise InputError(
            f"{what} needs {package}, which is not installed; use `pip install dwell[geo]`",
            code="site.library",
        ) from None


def digest_of_file(path: str | Path) -> str | None:
    """The SHA-256 of a file in hexadecimal, of a Shapefile with its .prj; None without a file."""
    file = Path(path)
    if not file.is_file():
        return None
    digest, beside = sha256(file.read_bytes()), file.with_suffix(".prj")
    if file.suffix.lower() == ".shp" and beside.is_file():
        digest.update(beside.read_bytes())
    return digest.hexdigest()


def refused(path: object, says: str, code: str) -> SiteError:
    """The error about a map file; the sentence begins with its name."""
    return SiteError(f"{Path(str(path)).name} {says}", code=f"site.{code}", key="site")


def refused_raster(path: object, says: str, code: str) -> SiteError:
    """The error about a raster's file; the sentence begins with its name."""
    return SiteError(f"{Path(str(path)).name} {says}", code=f"site.{code}", key="density.file")


def existing(path: str | Path) -> Path:
    """`path` if a file or a folder is there."""
    file = Path(path)
    if not file.exists():
        raise refused(file, f"does not exist in {file.parent.resolve()}", "not-found")
    return file
