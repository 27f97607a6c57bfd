"""One run at a time for one file: the lock goes with the process, however that ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from dwell.errors import StoreError


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """Lock `target` against other writers; an attempt by another process names this one.

    The operating system gives the lock back when a process dies, so a file left behind by one is no
    lock. Where a system or a folder knows no locks, there are none.
    """
    try:
        import fcntl
    except ImportError:  # not on this system
        yield
        return
    path = target.with_name(f".{target.name}.lock")
    handle = _opened(path)
    if handle is None:
        yield
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        while not _is_at(handle, path):  # its owner has just taken it away
            os.close(handle)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(handle, 100).decode(errors="replace").strip() or "another process"
        os.close(handle)
        raise StoreError(
            f"{target} is being written by process {owner}; wait for it, or choose another name",
            code="store.locked",
        ) from None
    except OSError:  # a folder on the network, perhaps
        os.close(handle)
        yield
        return
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # whether the target can be written at all is for others to say
        return None


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
