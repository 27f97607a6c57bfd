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
# `run.plot()` loads the drawing, which reads runs: the one import that goes up.
UPWARD = ("dwell.results.run", "dwell.plotting.figures")


def imports(text: str) -> Iterator[str]:
    """Modules of dwell that a text imports anywhere; not those for types alone."""
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
        yield from (name for name in names if name in MODULES)


def test_no_cycle_between_modules():
    graph = {
        name: {other for other in imports(path.read_text()) if (name, other) != UPWARD}
        for name, path in MODULES.items()
    }
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))
