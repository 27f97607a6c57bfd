"""Imports go downward: no cycle between modules, imports inside functions included."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (SOURCE / "dwell").rglob("*.py")
}
# Folders that start quickly because they load the rest of the package when it is used.
QUICK = ("dwell.cli", "dwell.web", "dwell.sweep")


def imports(text: str) -> Iterator[tuple[ast.stmt, str]]:
    """Statements that import a module of dwell, each with the module; not those for types alone."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [
                full if (full := f"{node.module}.{alias.name}") in MODULES else node.module
                for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from ((node, name) for name in names if name in MODULES)


def test_no_cycle_between_modules():
    graph = {
        name: {other for _, other in imports(path.read_text())} for name, path in MODULES.items()
    }
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))
