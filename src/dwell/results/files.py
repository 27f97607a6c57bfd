"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dwell.errors import StoreError, UnsavedError
from dwell.scenario.guards import as_path


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """`path` if a file can be written there; called before a long run, not after it."""
    target = as_path(path)
    name, folder = shown(target), shown(target.parent)
    try:
        if target.is_dir():
            raise refused(f"{name} is a folder; give the name of a file, such as run.nc")
        if target.exists() and not target.is_file():
            raise refused(f"{name} is a device or a pipe; give the name of a file, such as run.nc")
        if target.exists() and not force:
            raise refused(
                f"{name} exists already; choose another name, or replace it with --force "
                "(in Python, force=True)"
            )
        if not target.parent.is_dir():
            raise refused(f"the folder {folder} does not exist; make it first")
        temporary = _beside(target)  # the very name it will be written under
        temporary.unlink()
    except (OSError, ValueError) as fault:
        if isinstance(fault, StoreError):
            raise
        reason = getattr(fault, "strerror", None) or fault
        raise refused(f"{name} cannot be written in {folder} ({reason})") from None
    return target


def _beside(target: Path) -> Path:
    """A new, empty, hidden file in the folder of `target`."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    return Path(name)


def shown(path: object) -> str:
    """A path that does not break the line it is shown in."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


@contextlib.contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """A temporary name beside `target` that becomes `target` only once it is safely on disk."""
    try:
        temporary = _beside(target)
    except OSError as fault:
        raise UnsavedError(f"{shown(target)} could not be written ({fault.strerror})") from fault
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        sync_folder(target.parent)
    except (OSError, RuntimeError) as fault:  # the HDF5 library says the second on a full disk
        reason = getattr(fault, "strerror", None) or str(fault).partition("\n")[0]
        raise UnsavedError(f"{shown(target)} could not be written ({reason})") from fault
    finally:
        temporary.unlink(missing_ok=True)


def make_ready() -> None:
    """Load all that writing a file needs, so that the first checkpoint does not wait for it."""
    if "h5netcdf" in sys.modules:  # something was written or read before
        return
    import numpy as np
    import xarray as xr

    with contextlib.suppress(ValueError):  # an xarray that cannot do this in memory
        xr.Dataset({"nothing": (("row",), np.zeros(1))}).to_netcdf(engine="h5netcdf")


def brief(fault: BaseException) -> str:
    """What went wrong, in one line."""
    return " ".join(str(fault).split())[:200]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk."""
    with contextlib.suppress(OSError):  # not every system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def refused(what: str) -> StoreError:
    """A file that cannot be written or read."""
    return StoreError(what, code="store")
