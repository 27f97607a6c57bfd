"""Files that are written whole or not at all, and by one process at a time."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path

from dwell._checks import check_flag
from dwell.errors import InputError, StoreError, UnsavedError
from dwell.scenario.guards import as_path


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """`path` if a file can be written there; called before a long run, not after it."""
    check_flag("force", force)
    target = as_path(path)
    name, folder = shown(target), shown(target.parent)
    try:
        if target.is_dir():
            raise refused(f"{name} is a folder; give the name of a file, such as run.nc")
        if target.exists() and not target.is_file():
            raise refused(f"{name} is a device or a pipe; give the name of a file, such as run.nc")
        if not force and not replaceable(target):
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


def replaceable(path: Path, mark: str = "") -> bool:
    """Whether nothing is lost where `path` is written: it is free, or has the `mark` of ours."""
    # A link that leads nowhere is something, too.
    if not os.path.lexists(path):
        return True
    if not mark or not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(mark.encode()) >= 0


def refuse_foreign(path: Path, mark: str, what: str, code: str, remedy: str) -> None:
    """Refuse to replace a file that was not made here: one without `mark` in it.

    `what` is the kind of file, such as "a plot"; `remedy` says what else to do than to move it.
    """
    if not replaceable(path, mark):
        says = f"{shown(path)} exists and is not {what} made here; move it, {remedy}"
        raise InputError(says, code=code)


def make_folder(folder: Path, code: str) -> None:
    """Make `folder`; raise with the reason where that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"nothing can be written to {folder}: {fault.strerror or fault}; a folder that can be "
            "written is needed",
            code=code,
        ) from fault


def _beside(target: Path) -> Path:
    """A new, empty, hidden file in the folder of `target`."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    return Path(name)


def shown(path: object) -> str:
    """A path that does not break the line it is shown in."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def refuse_own_source(source: object, out: str | os.PathLike[str] | None) -> None:
    """Refuse to write a result over the file that it is computed from, whatever --force says."""
    if out is None or not isinstance(source, str | os.PathLike):
        return
    try:
        same = os.path.samefile(source, out)
    except (OSError, ValueError):
        return
    if same:
        raise refused(
            f"{shown(out)} is the scenario itself, which the run would replace; give the name of "
            "another file, such as run.nc"
        )


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
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
        sync_folder(target.parent)
    except (OSError, RuntimeError) as fault:  # the HDF5 library says the second on a full disk
        reason = getattr(fault, "strerror", None) or str(fault).partition("\n")[0]
        raise UnsavedError(f"{shown(target)} could not be written ({reason})") from fault
    finally:
        temporary.unlink(missing_ok=True)


def brief(fault: BaseException) -> str:
    """What went wrong, in one line."""
    return " ".join(str(fault).split())[:200]


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk."""
    with contextlib.suppress(OSError):  # not every system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """Lock `target` against other writers; an attempt by another process names this one.

    The operating system gives the lock back when a process dies, so a file left behind by one is no
    lock. Where a system or a folder knows no locks, there are none.
    """
    path = target.with_name(f".{target.name}.lock")
    handle = _lock(target, path)
    try:
        yield
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(handle)


def _lock(target: Path, path: Path) -> int | None:
    """The open file at `path`, locked for this process; None where there are no locks."""
    try:
        import fcntl

        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):  # whether the target can be written at all is for others to say
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there = os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        there = False
    except BlockingIOError:
        owner = os.read(handle, 100).decode(errors="replace").strip() or "another process"
        os.close(handle)
        raise StoreError(
            f"{target} is being written by process {owner}; wait for it, or choose another name",
            code="store.locked",
        ) from None
    except OSError:  # a folder on the network, perhaps
        os.close(handle)
        return None
    if not there:  # its owner has just taken it away
        os.close(handle)
        return _lock(target, path)
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle


def refused(what: str) -> StoreError:
    """A file that cannot be written or read."""
    return StoreError(what, code="store")
