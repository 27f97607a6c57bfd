"""Which source decides the numbers of a run: the digest that makes a checkpoint resumable.

Source is that of the modules along the imports from what the run is made of: its loop, law, cells,
density and workspace, and their kernels. Laws and densities of one's own may call any module, so
all count. Two sources that differ in docstrings, comments and blank
lines only are the same.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from dwell._compatibility import Feature
from dwell._kernels._jit import imports_of
from dwell.agents.system import CoverageSystem
from dwell.cells.backend import backend_for

ROOT = Path(__file__).parent.parent
KERNELS = "dwell._kernels."
# Folders of modules that decide numbers; of the others, imports are not followed.
FOLDERS = ("_kernels", "agents", "cells", "controllers", "density", "geometry", "hybrid")
SINGLE = (
    "dwell._parameters", "dwell._types", "dwell.engine.compiled", "dwell.engine.stepper",
    "dwell.motion",
)  # fmt: skip
# What a differential equation is solved by, besides.
SOLVER = ("dwell.agents.continuous", "dwell.hybrid.ode")
# What every run is made of.
ALWAYS = ("dwell.agents.system", "dwell.density.change", "dwell.engine.stepper")
# Modules that count, but whose imports do not: they know all backends, of which a run uses its own.
REGISTRIES = ("dwell.cells.backend", "dwell.cells.centroid_rate")

_LONG = r'"""(?:\\.|[^\\])*?"""'
_SHORT = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
# A docstring, another string (kept), a comment.
_TOKENS = re.compile(rf"^[ \t]*r?{_LONG}[ \t]*$|({_LONG}|{_SHORT})|[ \t]*#[^\n]*", re.M | re.S)
_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:(?: .*)?\n)*", re.M)
_IMPORT = re.compile(r"^ *from (dwell[\w.]*) import (\([^)]*\)|.*)$", re.M)


def source_digest(system: CoverageSystem | None = None) -> str:
    """Return a fingerprint: runs of `system` with the same one agree to the last bit.

    Without a system, of all modules that decide numbers.
    """
    return _digest(_all_sources() if system is None else sources_of(system))


def _all_sources() -> frozenset[Path]:
    """Return the files of all modules that decide numbers."""
    every = [*ROOT.joinpath("_kernels").rglob("*.txt"), *map(_file_of, SINGLE)]
    for folder in FOLDERS:
        every += ROOT.joinpath(folder).rglob("*.py")
    return frozenset(file for file in every if file is not None)


def sources_of(system: CoverageSystem) -> frozenset[Path]:
    """Return the files whose source decides the numbers of a run of `system`.

    Code of one's own may call any of them.
    """
    traits, law = system.traits, type(system.controller).__module__
    called = any(Feature.FUNCTION in features for features in system.features)
    if called or not law.startswith("dwell."):
        return _all_sources()
    names = {*ALWAYS, *(SOLVER if traits.is_equation else ()), law}
    for world in system.timeline.worlds:
        for diagram in world.diagrams:
            ground = diagram.ground
            backend = backend_for(ground.at(world.begin))
            parts: list[object] = [ground.workspace, ground.density]
            parts += [backend.measure, backend.row, backend.loop]
            if not traits.needs_centroid_only:
                parts += [backend.cells, backend.facets, backend.border]
            if traits.guaranteed:
                parts += [backend.pair, backend.scan]
            names |= {getattr(part, "__module__", "") for part in parts}
    return _closure(frozenset(name for name in names if name.startswith("dwell.")))


@lru_cache(maxsize=32)
def _closure(names: frozenset[str]) -> frozenset[Path]:
    """The files of some modules, and of those that they import, directly or not."""
    files: set[Path] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        file = _file_of(name)
        if file is None or file in files or not _counts(name):
            continue
        if name.startswith(KERNELS):
            files |= imports_of(file)
            continue
        files.add(file)
        if name not in REGISTRIES and file.name != "__init__.py":
            pending += _imported_by(file)
    return frozenset(files)


def _counts(name: str) -> bool:
    return name in SINGLE or name.split(".")[1] in FOLDERS


@lru_cache(maxsize=512)
def _imported_by(file: Path) -> tuple[str, ...]:
    """The modules that a module imports, at its head or in functions, but not for types.

    A name that a package takes from one of its modules is that of the module.
    """
    text = _TYPES.sub("", file.read_text("utf-8"))
    modules = []
    for module, names in _IMPORT.findall(text):
        modules += [_defining(module, name) for name in re.findall(r"\w+", names)]
    return tuple(dict.fromkeys(modules))


@lru_cache(maxsize=4096)
def _defining(module: str, name: str) -> str:
    """The module that defines a name, which may be a module itself."""
    if _file_of(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    file = _file_of(module)
    if file is not None and file.name == "__init__.py":
        for other, names in _IMPORT.findall(file.read_text("utf-8")):
            if re.search(rf"\b{name}\b", names):
                return _defining(other, name)
    return module


@lru_cache(maxsize=4096)
def _file_of(name: str) -> Path | None:
    """The file of a module; of a package that of its names. None if there is none."""
    path = ROOT.joinpath(*name.split(".")[1:])
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@lru_cache(maxsize=32)
def _digest(files: frozenset[Path]) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        text = file.read_text("utf-8")
        plain = plain_source(text) if file.suffix == ".py" else text
        digest.update(f"{file.relative_to(ROOT).as_posix()}\n{plain}\n".encode())
    return digest.hexdigest()[:16]


def plain_source(text: str) -> str:
    """Return the source of a module without docstrings, comments and blank lines."""
    kept = _TOKENS.sub(lambda found: found[1] or "", text)
    return "\n".join(line.rstrip() for line in kept.splitlines() if line.strip())
