"""Python code that a scenario names as "module:name": where it lies, and which source ran.

A module is looked for in the folder that the scenario gives as `modules`, then on sys.path.
"""

from __future__ import annotations

import importlib
import sys
import sysconfig
import threading
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dwell.errors import ControllerError, DensityError, InputError

from .problems import shown

if TYPE_CHECKING:
    from .schema import Scenario

_LOADED: dict[str, tuple[str, ModuleType]] = {}  # by file: the digest of its source, the module
_LOCK = threading.RLock()


def named_code(scenario: Scenario) -> dict[str, str]:
    """The code that a scenario names: its key, and "module:name"."""
    law = getattr(scenario.controller, "law", None)
    weight = getattr(scenario.density, "function", None)
    names = {"controller.class": law, "density.function": weight}
    return {key: name for key, name in names.items() if name is not None}


def find_code(key: str, name: str, folder: str | None) -> Any:
    """What "module:name" at `key` of a scenario stands for; refused if there is no such thing."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(_imported(module, folder), attribute)
    except Exception as fault:  # importing runs the module, which may fail in any way
        says = f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
        where = f"{folder} or on sys.path" if folder else "sys.path"
        says = f"is {shown(name)}, which cannot be found in {where} ({says})"
        if isinstance(fault, ModuleNotFoundError) and module.startswith(str(fault.name)):
            file = f"{module.replace('.', '/')}.py"
            says += f"; put {file} beside the scenario or run file, or its folder on PYTHONPATH"
        raise refused(key, says) from None
    if not callable(found):
        raise refused(key, f"is {shown(name)}, which is neither a class nor a function")
    return found


def refused(key: str, says: str) -> InputError:
    """The error about code at `key`."""
    kind = ControllerError if key.startswith("controller") else DensityError
    return kind(f"{key} {says}", code=key, key=key)


def sources_of(scenario: Scenario) -> dict[str, str]:
    """Digests of the sources of the modules that `scenario` names, which are imported for it."""
    found = {}
    for key, name in named_code(scenario).items():
        find_code(key, name, scenario.modules)
        module = name.partition(":")[0]
        path = source_file(module, scenario.modules)
        if path is not None and str(path) in _LOADED:
            found[f"module {module}"] = _LOADED[str(path)][0]
        elif file := getattr(sys.modules.get(module), "__file__", None):
            found[f"module {module}"] = _digest(Path(file))
    return found


def changed_sources(scenario: Scenario, then: Mapping[str, str]) -> list[str] | None:
    """Modules of `scenario` with another source than `then` has; None if it names no module."""
    now = sources_of(scenario)
    changed = [module for module in now if now[module] != then.get(module, now[module])]
    return changed if now else None


def source_file(module: str, folder: str | None) -> Path | None:
    """The source of `module` in `folder`, if it is there."""
    base = Path(folder or "", *module.split("."))
    paths = (base.with_name(f"{base.name}.py"), base / "__init__.py")
    return next((path for path in paths if folder is not None and path.is_file()), None)


def name_of(thing: Any) -> tuple[str, str | None] | None:
    """"module:name" of a class or function and the folder of its module; None if it has no such.

    The folder of an installed package is None, too: it is on sys.path.
    """
    module, name = (str(getattr(thing, key, "")) for key in ("__module__", "__qualname__"))
    home = sys.modules.get(module)
    if module == "__main__" or home is None or getattr(home, name, None) is not thing:
        return None
    file = getattr(sys.modules[module.partition(".")[0]], "__file__", None)
    if file is None:
        return f"{module}:{name}", None
    path = Path(file).resolve()
    folder = str(path.parent.parent if path.name == "__init__.py" else path.parent)
    return f"{module}:{name}", None if folder in sysconfig.get_paths().values() else folder


def _imported(module: str, folder: str | None) -> ModuleType:
    """The module, from `folder` if it is there; read again if its source has changed.

    A module of that name from elsewhere keeps its place in sys.modules.
    """
    path = source_file(module, folder)
    if path is None:
        return importlib.import_module(module)
    with _LOCK:
        digest, known = _digest(path), _LOADED.get(str(path))
        if known is None or known[0] != digest:
            same = sys.modules.get(module) if known is None else None
            if same is None or not path.samefile(getattr(same, "__file__", None) or "/"):
                same = _read(module, str(folder))
            known = _LOADED[str(path)] = (digest, same)
        return known[1]


def _read(module: str, folder: str) -> ModuleType:
    """The module of this name in `folder`, its source read now."""
    top = module.partition(".")[0]

    def taken() -> dict[str, ModuleType]:
        names = [name for name in sys.modules if name == top or name.startswith(f"{top}.")]
        return {name: sys.modules.pop(name) for name in names}

    others, writes = taken(), sys.dont_write_bytecode
    importlib.invalidate_caches()
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True  # its dates are too coarse to show a quick change
    try:
        return importlib.import_module(module)
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(folder)
        if others:
            taken()
            sys.modules.update(others)


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
