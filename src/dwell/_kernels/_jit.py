"""The one use of Numba, but for its files (_kept.py) and an intrinsic (common/arithmetic.py).

- ``DWELL_JIT=0`` leaves every kernel plain Python: the oracle of the tests.
- Compiled code is kept in a folder named after the text of its module, of all modules that this
  one imports, directly or not, and of all named tuples. Numba itself compares only the file of the
  function that it loads, so a change in a callee would go unnoticed.
- Where no such folder can be written (a read-only install without a home), kernels are compiled
  anew in each process instead of failing at import. Damaged files count as absent (_kept.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

ENABLED = os.environ.get("DWELL_JIT", "1") != "0"
_LOADING = threading.RLock()


ROOT = Path(__file__).parent


@lru_cache(maxsize=256)
def imports_of(module: Path) -> frozenset[Path]:
    """The files of all kernels that a module of kernels imports, directly or not, and its own.

    A table of constants beside a module belongs to it.
    """
    table = module.with_suffix(".txt")
    found = {module, table} if table.exists() else {module}
    for name in re.findall(
        r"^from dwell\._kernels\.([\w.]+) import", module.read_text("utf-8"), re.M
    ):
        found |= imports_of(ROOT.joinpath(*name.split(".")).with_suffix(".py"))
    return frozenset(found)


@lru_cache(maxsize=1)
def _records() -> str:
    """The text of all named tuples: a kernel may take one that is defined in no module it imports.

    Compiled code knows their fields by number.
    """
    pattern = re.compile(r"^class \w+\(NamedTuple\):\n(?:(?: .*)?\n)*", re.M)
    texts = (path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py")))
    return "".join(record for text in texts for record in pattern.findall(text))


def _digest(files: list[Path], also: str = "") -> str:
    digest = hashlib.sha256(also.encode())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_roots() -> list[Path]:
    chosen = os.environ.get("DWELL_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen)]
    roots = []
    if os.environ.get("XDG_CACHE_HOME"):
        roots.append(Path(os.environ["XDG_CACHE_HOME"]) / "dwell")
    with contextlib.suppress(RuntimeError):  # no home
        roots.append(Path.home() / ".cache" / "dwell")
    return roots


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@lru_cache(maxsize=1)
def cache_root() -> Path | None:
    """The folder of all compiled kernels; None if none can be written."""
    return next(filter(_is_writable, _cache_roots()), None)


@lru_cache(maxsize=256)
def cache_folder(module: Path) -> Path | None:
    """The folder of the compiled kernels of a module; None if none can be written."""
    root = cache_root()
    return None if root is None else root / _digest(sorted(imports_of(module)), _records())


def load() -> Any:
    """Return Numba, imported by one thread at a time: two at once can block each other for ever."""
    with _LOADING:
        import numba

        return numba


@contextlib.contextmanager
def compilations(began: Callable[[], None]) -> Iterator[None]:
    """Call `began` whenever a kernel is compiled inside, but not where it is loaded from disk."""
    if not ENABLED:
        yield
        return
    load()
    from numba.core import event

    class CompileListener(event.Listener):
        def on_start(self, event: Any) -> None:
            began()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", CompileListener()):
        yield


def njit(function: Callable[..., Any]) -> Any:
    """`function` compiled: deterministic, without the lock, kept on disk where possible.

    Typed as Any: kernels are typed by what Numba infers, the Python code above them by mypy.
    """
    return _compiled(function, {})


def inner(function: Callable[..., Any]) -> Any:
    """`function` compiled for calls by other kernels only, which takes less time."""
    return _compiled(function, {"no_cpython_wrapper": True})


def inlined(function: Callable[..., Any]) -> Any:
    """`function` compiled and inlined wherever it is called.

    For kernels that take the whole working memory, some two hundred words, which a call would copy.
    Python calls them through entry_points.py.
    """
    return _compiled(function, {"forceinline": True, "no_cpython_wrapper": True})


def spliced(function: Callable[..., Any]) -> Any:
    """`function` never compiled by itself: its text becomes part of its callers' text."""
    return _compiled(function, {"inline": "always", "no_cpython_wrapper": True})


def _for_all_numbers(kernel: Any) -> Any:
    """`kernel`, compiled once: Numba would compile it again for calls with a constant."""
    template, unliteral = kernel.get_call_template, load().types.unliteral
    kernel.get_call_template = lambda args, kws: template(tuple(map(unliteral, args)), kws)
    return kernel


def _compiled(function: Callable[..., Any], extra: dict[str, Any]) -> Any:
    if not ENABLED:
        return function
    numba = load()
    file = Path(function.__code__.co_filename)
    folder = cache_folder(file)
    # No fastmath: sums keep their order and nothing is contracted, so bits do not depend on the
    # processor. No C wrapper: nothing takes a kernel's address, and it costs compile time. No count
    # of references (_nrt): kernels make no arrays, and Python keeps theirs until the call is over;
    # two locked instructions for each array of a working memory took longer than many kernels.
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": False,
        "no_cfunc_wrapper": True,
        "_nrt": False,
        **extra,
    }
    with _LOADING:  # Numba reads the folder of its cache from a global setting
        settings: Any = numba.config
        kept, settings.CACHE_DIR = settings.CACHE_DIR, str(folder or "")
        try:
            kernel = _for_all_numbers(numba.njit(function, **options))
            if folder is not None:
                from dwell._kernels._kept import keep

                keep(kernel)
            return kernel
        finally:
            settings.CACHE_DIR = kept
