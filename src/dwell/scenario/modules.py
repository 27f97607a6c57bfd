"""Python code that a scenario names as "module:name": where it lies, and which source ran."""

from __future__ import annotations

import importlib
import sys
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

_LOADED: dict[Path, tuple[str, ModuleType]] = {}  # by file: the digest of its source, the module
_LOCK = threading.RLock()


def named_code(scenario: Scenario) -> dict[str, str]:
    """The code that a scenario names: its key, and "module:name"."""
    law = getattr(scenario.controller, "law", None)
    names = {
        "controller.class": law,
        "density.function": getattr(scenario.density, "function", None),
    }
    return {key: name for key, name in names.items() if name is not None}


def find_code(key: str, name: str, folder: str | None) -> Any:
    """What "module:name" at `key` stands for: of a module in `folder`, else of one on sys.path."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(_imported(module, folder)[1], attribute)
    except Exception as fault:  # importing runs the module, which may fail in any way
        says = f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
        where = f"{folder} or on sys.path" if folder else "sys.path"
        says = f"is {shown(name)}, which cannot be found in {where} ({says})"
        if isinstance(fault, ModuleNotFoundError) and module.startswith(str(fault.name)):
            file = f"{module.replace('.', '/')}.py"
            says += f"; put {file} beside the scenario or run file, or its folder on PYTHONPATH"
        raise refused(key, says) from None
    if not callable(found):
        raise refused(
            key, f"is {shown(name)}, which is no {'class' if key.endswith('class') else 'function'}"
        )
    return found


def refused(key: str, says: str) -> InputError:
    """The error about code at `key`."""
    kind = DensityError if key.startswith("density") else ControllerError
    return kind(f"{key} {says}", code=key, key=key)


def sources_of(scenario: Scenario) -> dict[str, str]:
    """Digests of the sources of the modules that `scenario` names, which are imported for it."""
    found = {}
    for key, name in named_code(scenario).items():
        find_code(key, name, scenario.modules)
        module = name.partition(":")[0]
        found[f"module {module}"] = _imported(module, scenario.modules)[0]
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
    """The "module:name" of a class or function, and the folder of its module; None without one."""
    module, name = (str(getattr(thing, key, "")) for key in ("__module__", "__qualname__"))
    home = sys.modules.get(module)
    if module == "__main__" or home is None or getattr(home, name, None) is not thing:
        return None
    file = getattr(sys.modules[module.partition(".")[0]], "__file__", None)
    path = Path(file or "").resolve()
    folder = path.parents[1] if path.name == "__init__.py" else path.parent
    return f"{module}:{name}", str(folder) if file else None


def _imported(module: str, folder: str | None) -> tuple[str, ModuleType]:
    """A module and the digest of its source; read again if the source in `folder` has changed."""
    path = source_file(module, folder)
    if path is None:
        found = importlib.import_module(module)
        file = getattr(found, "__file__", None)
        return _digest(Path(file)) if file else "", found
    with _LOCK:
        digest = _digest(path)
        if path not in _LOADED or _LOADED[path][0] != digest:
            _LOADED[path] = digest, _read(module, str(folder))
        return _LOADED[path]


def _read(module: str, folder: str) -> ModuleType:
    """The module of this name in `folder`; it stays out of sys.modules, whatever is there stays."""
    top = module.partition(".")[0]
    others = _taken(top)
    importlib.invalidate_caches()
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(folder)
        _taken(top)
        sys.modules.update(others)


def _taken(top: str) -> dict[str, ModuleType]:
    names = [name for name in sys.modules if f"{name}.".startswith(f"{top}.")]
    return {name: sys.modules.pop(name) for name in names}


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
