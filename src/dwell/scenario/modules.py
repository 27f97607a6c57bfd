"""Python code that a scenario names as "module:name": where it lies, and which source ran.

A name is only a claim. What it stands for is found without running any attribute access of the
module's own, and is used only if it is a law or a function of that module. Whether a module may be
imported at all is decided where a file is read: see `scenario.trust`.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from dwell.errors import ControllerError, DensityError, InputError
from dwell.sites.libraries import digest_of_file

from .problems import shown

if TYPE_CHECKING:
    from .schema import Scenario

CODE = (*EXTENSION_SUFFIXES, *SOURCE_SUFFIXES)  # endings of files that an import runs
_LOADED: dict[Path, tuple[str, ModuleType]] = {}  # by file: the digest of its source, the module
_LOCK = threading.RLock()


def named_code(scenario: Scenario) -> dict[str, str]:
    """The code that a scenario names: its key, and "module:name"."""
    parts: dict[str, Any] = {"controller": scenario.controller, "density": scenario.density}
    for name in ("world", "sensor"):
        tables = getattr(scenario, name) or ()
        parts |= {f"{name}[{k}].density": one.density for k, one in enumerate(tables)}
    named = {}
    for key, part in parts.items():
        word, attribute = ("class", "law") if key == "controller" else ("function", "function")
        if hasattr(part, attribute):
            named[f"{key}.{word}"] = getattr(part, attribute)
    return named


def find_code(key: str, name: str, folder: str | None) -> Any:
    """What "module:name" at `key` stands for: of a module in `folder`, else of one on sys.path.

    The standard library has no laws; of `dwell` itself the built-in ones can be named.
    """
    module, _, attribute = name.partition(":")
    top, given = module.partition(".")[0], f"is {shown(name)}, which"
    if source_file(module, folder) is None and top in sys.stdlib_module_names:
        raise refused(key, f"{given} is in Python's standard library; name a module of your own")
    try:
        home = _imported(module, folder)[1]
        if home.__name__ != "dwell" and attribute not in vars(home):
            raise AttributeError(f"module {module!r} has no attribute {attribute!r}")
        found = getattr(home, attribute)
    except Exception as fault:  # importing runs the module, which may fail in any way
        says = f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
        where = f"{folder} or on sys.path" if folder else "sys.path"
        says = f"is {shown(name)}, which cannot be imported from {where} ({says})"
        if isinstance(fault, ModuleNotFoundError) and module.startswith(str(fault.name)):
            put = f"put {file_of(module)} beside the scenario or run file"
            says += f"; {put}, or its folder on PYTHONPATH"
        raise refused(key, says) from None
    if why := _unfit(key, top, found):
        raise refused(key, f"{given} {why}")
    return found


def file_of(module: str) -> str:
    """The usual file of a module."""
    return f"{module.replace('.', '/')}.py"


def _unfit(key: str, top: str, found: Any) -> str:
    """Why an object cannot be used at `key`, by its type and what its classes hold; or nothing."""
    kind = type(found)
    if not key.startswith("controller"):
        return "" if _calls(found) and not issubclass(kind, type) else "is no function"
    if not issubclass(kind, type):
        return "is no class"
    lacks = [name for name in ("begin", "decide") if not _is_method(found, name)]
    if lacks:
        return f"has no method {lacks[0]}(observation); a law has begin and decide"
    home = str(type.__getattribute__(found, "__dict__").get("__module__", ""))
    if home.partition(".")[0] != top:
        return f"was defined in {shown(home)}; name that module"
    return ""


def _is_method(law: type, name: str) -> bool:
    """Whether a class has a method, without asking the class."""
    held = inspect.getattr_static(law, name, None)
    return _calls(held) or type(held) in (staticmethod, classmethod)


def _calls(thing: Any) -> bool:
    """Whether the classes of a thing say that it can be called."""
    classes = type.__getattribute__(type(thing), "__mro__")
    return any("__call__" in type.__getattribute__(one, "__dict__") for one in classes)


def refused(key: str, says: str) -> InputError:
    """The error about code at `key`."""
    kind = ControllerError if key.startswith("controller") else DensityError
    return kind(f"{key} {says}", code=key, key=key)


def sources_of(scenario: Scenario) -> dict[str, str]:
    """Digests, as they are now, of the modules and of the map file that `scenario` names."""
    found = {}
    scenario.refuse_withheld()
    for key, name in named_code(scenario).items():
        find_code(key, name, scenario.modules)  # which says what is wrong with it
        module = name.partition(":")[0]
        found[f"module {module}"] = _imported(module, scenario.modules)[0]
    if scenario.site is not None and (digest := digest_of_file(scenario.site.file)):
        found[f"site {Path(scenario.site.file).name}"] = digest
    return found


def changed_sources(scenario: Scenario, then: Mapping[str, str]) -> list[str] | None:
    """Modules and files of `scenario` that are others now than `then`; None if it names none."""
    found = sources_of(scenario)
    if scenario.site is not None:
        name = f"site {Path(scenario.site.file).name}"
        then = {**then, name: scenario.site.sha256 or ""}
    return [name for name in found if then.get(name, found[name]) != found[name]] if found else None


def missing_site(scenario: Scenario) -> str | None:
    """The map file of `scenario` that is not there any more; a run needs it no more."""
    site = scenario.site
    return None if site is None or Path(site.file).exists() else f"site {Path(site.file).name}"


def source_file(module: str, folder: str | None) -> Path | None:
    """The source of `module` in `folder`, if it is there."""
    base = Path(folder or "", *module.split("."))
    paths = (base.with_name(f"{base.name}.py"), base / "__init__.py")
    return next((path for path in paths if folder is not None and path.is_file()), None)


def importable_files(module: str, folder: str) -> Iterator[Path]:
    """Files and folders that an import of `module` from `folder` may run or search.

    These are the module and the packages around it, by all endings of code, and the links in the
    outermost of these packages.
    """
    path = Path(folder)
    for name in module.split("."):
        files = [path / f"{name}{ending}" for ending in CODE]
        path /= name
        files += [path, *(path / f"__init__{ending}" for ending in CODE)]
        yield from (one for one in files if one.exists())
    for one in Path(folder, module.partition(".")[0]).rglob("*"):
        if one.is_symlink() and (one.is_dir() or one.name.endswith(CODE)):
            yield one


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
    """The digest of a module's source, and the module; read again if that in `folder` changed."""
    path = source_file(module, folder)
    if path is None:
        found = importlib.import_module(module)
        file = getattr(found, "__file__", None)
        return sha256(Path(file).read_bytes()).hexdigest() if file else "", found
    with _LOCK:
        digest, here = sha256(path.read_bytes()).hexdigest(), sys.modules.get(module)
        same = path.samefile(getattr(here, "__file__", None) or "/")
        if here is not None and same and ("." in module or path.stem == "__init__"):
            return digest, here  # the modules of a package belong together
        if path not in _LOADED or _LOADED[path][0] != digest:
            _LOADED[path] = digest, _read(module, str(folder))
        return _LOADED[path]


def _read(module: str, folder: str) -> ModuleType:
    """The module of this name in `folder`, with its own helpers; sys.modules is left as it was."""
    before, top = dict(sys.modules), module.partition(".")[0]
    for name, loaded in before.items():
        if name.partition(".")[0] == top or _hides(name, loaded, folder):
            del sys.modules[name]
    importlib.invalidate_caches()
    finders, hook = dict(sys.path_importer_cache), _sources_in(folder, top)
    sys.path_importer_cache.clear()
    sys.path_hooks.insert(0, hook)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(folder)
        sys.path_hooks.remove(hook)
        sys.path_importer_cache.clear()
        sys.path_importer_cache.update(finders)
        for name in set(sys.modules) - set(before):
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).is_relative_to(folder):
                del sys.modules[name]
        sys.modules.update(before)


class _Source(SourceFileLoader):
    """Compiles the source itself: bytecode of the same second and size may be out of date."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _sources_in(folder: str, top: str) -> Callable[[str], FileFinder]:
    """A path hook for the modules in `folder` and in its package `top`, without bytecode."""

    def finder(path: str) -> FileFinder:
        if path != folder and not Path(path).is_relative_to(Path(folder, top)):
            raise ImportError(path=path)
        loaders = (ExtensionFileLoader, EXTENSION_SUFFIXES), (_Source, SOURCE_SUFFIXES)
        return FileFinder(path, *loaders)

    return finder


def _hides(name: str, loaded: ModuleType, folder: str) -> bool:
    """Whether a loaded module, not of the standard library, hides one of its name in `folder`."""
    file = getattr(loaded, "__file__", None)
    if file is None or name.partition(".")[0] in sys.stdlib_module_names:
        return False
    return source_file(name, folder) is not None and not Path(file).is_relative_to(folder)
