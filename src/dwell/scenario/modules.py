"""Python code that a scenario names as "module:name": where it lies, and which source ran.

A name is only a claim. What it stands for is found without running any attribute access of the
module's own, and is used only if it is a law or a function of that module. Whether a module may be
imported at all is decided where a file is read: see `scenario.trust`.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import find_spec
from itertools import count
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
_HOMES = "_dwell_folder_"  # packages of modules in folders have this name and a number
_NUMBERS = count()


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
        text = re.sub(rf"{_HOMES}\d+\.", "", " ".join(str(fault).split()))
        says = f"{type(fault).__name__}: {text[:200]}"
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
    home = _plain(str(type.__getattribute__(found, "__dict__").get("__module__", "")))
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
    if module.startswith(_HOMES):
        top = sys.modules[module.partition(".")[0]]
        return f"{_plain(module)}:{name}", str(top.__path__[0])
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
    """The module of this name in `folder`, read anew with its own helpers.

    The folder becomes a package with a name of its own, in which all its modules have theirs.
    """
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    home = ModuleType(f"{_HOMES}{next(_NUMBERS)}")
    home.__path__ = [folder]
    sys.modules[home.__name__] = home
    importlib.invalidate_caches()
    return importlib.import_module(f"{home.__name__}.{module}")


def _plain(module: str) -> str:
    """The name of a module in its folder."""
    return module.partition(".")[2] if module.startswith(_HOMES) else module


class _Finder:
    """Finds the modules of folders that `_read` made packages of."""

    @staticmethod
    def find_spec(name: str, path: Iterable[str] | None, _target: object = None) -> Any:
        """The place of a module in the folders `path` of its package, if that is one of ours."""
        ours = path if path is not None and name.startswith(_HOMES) else ()
        found = (_place_of(name, folder) for folder in ours)
        return next((one for one in found if one is not None), None)


def _place_of(name: str, folder: str) -> ModuleSpec | None:
    loaders = (ExtensionFileLoader, EXTENSION_SUFFIXES), (_Source, SOURCE_SUFFIXES)
    return FileFinder(folder, *loaders).find_spec(name)


class _Source(SourceFileLoader):
    """Compiles the source itself: bytecode of the same second and size may be out of date."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, for which modules of its folder come before others of their names."""
        home = module.__name__.partition(".")[0]
        vars(module)["__builtins__"] = vars(builtins) | {"__import__": partial(_import, home)}
        super().exec_module(module)


def _import(
    home: str,
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Import as `__import__` does, in a module of the folder that is the package `home`."""
    top = name.partition(".")[0]
    if level or not _is_in(home, top):
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    found = builtins.__import__(f"{home}.{name}", globals, locals, fromlist or ())
    return found if fromlist else sys.modules[f"{home}.{top}"]


@cache
def _is_in(home: str, top: str) -> bool:
    """Whether a module comes from the folder: there is one, and none of the standard library."""
    if top in sys.stdlib_module_names:
        return False
    spec = _place_of(top, sys.modules[home].__path__[0])
    if spec is not None and spec.loader is None:  # a folder, perhaps of data
        return find_spec(top) is None
    return spec is not None
