"""Compiled kernels on disk: checked when they are read, and never a reason to stop.

Numba's own cache trusts its files, but a computer that stops may leave one empty or cut short, and
a full disk refuses the next. Here a file of code is named after the digest of what it holds, and an
index begins with the digest of the rest. What does not agree counts as absent: the kernel is
compiled, and its files are written anew. Where they cannot be written, one warning says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import warnings
from pathlib import Path
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)

from dwell.errors import DwellWarning

DIGEST = 32  # letters of a digest
_WARNED: list[str] = []  # why kernels cannot be kept, once that is said


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGEST]


class _Files(IndexDataCacheFile):
    """The index of one kernel, and a file of code for each of its signatures."""

    def save(self, key: Any, data: Any) -> None:
        """Write the code before the index that names it."""
        content, index = self._dump(data), self._load_index()
        name = f"{self._index_name.removesuffix('.nbi')}.{_digest(content)}.nbc"
        with self._open_for_write(self._data_path(name)) as file:
            file.write(content)
        former = index.get(key)
        self._save_index({**index, key: name})
        if former not in (None, name):
            with contextlib.suppress(OSError):
                Path(self._data_path(former)).unlink()

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if name.split(".")[-2] != _digest(content):
            raise ValueError("the file is damaged")
        return pickle.loads(content)

    def _save_index(self, overloads: Any) -> None:
        content = self._dump((self._version, self._dump((self._source_stamp, overloads))))
        with self._open_for_write(self._index_path) as file:
            file.write(_digest(content).encode() + content)

    def _load_index(self) -> Any:
        """The names of the files of code; none if the index is absent, damaged or of old."""
        try:
            read = Path(self._index_path).read_bytes()
        except OSError:
            return {}
        if read[:DIGEST] != _digest(read[DIGEST:]).encode():
            return {}
        version, rest = pickle.loads(read[DIGEST:])
        if version != self._version:
            return {}
        stamp, overloads = pickle.loads(rest)
        return overloads if stamp == self._source_stamp else {}


class _Place(CompileResultCacheImpl):
    """The chosen folder, and no other."""

    _locator_classes: Any = (UserProvidedCacheLocator,)


class KernelCache(FunctionCache):
    """The compiled code of one kernel on disk."""

    _impl_class = _Place

    def __init__(self, kernel: Any) -> None:
        super().__init__(kernel)
        files = self._cache_file
        self._cache_file = _Files(
            cache_path=self._cache_path,
            filename_base=files._index_name.removesuffix(".nbi"),
            source_stamp=files._source_stamp,
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for this signature; None if there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # what the reading of a damaged file raises has no common type
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for later processes, if that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as fault:
            _warn_unkept(str(getattr(fault, "strerror", None) or fault))


def keep(kernel: Any) -> None:
    """Have the code of `kernel` kept in the folder that Numba's settings name."""
    try:
        kernel._cache = KernelCache(kernel.py_func)
    except (OSError, RuntimeError):  # Numba's, where it finds no folder
        _warn_unkept("its folders cannot be written")


def _warn_unkept(reason: str) -> None:
    """Warn, once in a process."""
    if not _WARNED:
        _WARNED.append(reason)
        warnings.warn(
            f"compiled kernels cannot be kept in the cache folder ({reason}), so other processes "
            "compile them anew; make space there, or set DWELL_CACHE_DIR to another folder",
            DwellWarning,
            stacklevel=2,
        )
