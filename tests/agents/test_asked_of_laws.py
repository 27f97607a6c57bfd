"""One module asks a law what it is: `dwell.agents.traits`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dwell
from dwell.controllers import LAWS
from dwell.scenario.laws import LAW_KINDS

SOURCE = Path(dwell.__file__).parent
ASKS = {"getattr", "hasattr", "isinstance", "issubclass", "callable", "vars", "type"}
NAMES = {"law", "controller"}
CLASSES = {law.__name__ for law in LAWS}
ELSEWHERE = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.parent.name != "controllers" and path != SOURCE / "agents" / "traits.py"
]


def _is_law(node: ast.AST) -> bool:
    """Whether an expression is a law: `law`, `controller` or an attribute of that name."""
    return (isinstance(node, ast.Name) and node.id in NAMES) or (
        isinstance(node, ast.Attribute) and node.attr in NAMES
    )


def _kinds_compared(node: ast.AST) -> bool:
    """Whether a law's kind, a name or key `kind`, is compared with that of a built-in law."""
    if isinstance(node, ast.Match):
        inner = [node.subject, *(case.pattern for case in node.cases)]
    elif isinstance(node, ast.Compare):
        inner = [node.left, *node.comparators]
    else:
        return False
    parts = [part for one in inner for part in ast.walk(one)]
    words = {part.value for part in parts if isinstance(part, ast.Constant)}
    names = {getattr(part, "id", getattr(part, "attr", None)) for part in parts}
    return "kind" in words | names and bool(words & set(LAW_KINDS))


def _classes(node: ast.AST) -> set[str]:
    return {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node)
            if isinstance(n, ast.Name | ast.Attribute)}  # fmt: skip


def asked(tree: ast.AST) -> Iterator[int]:
    """The lines that ask a law for its class or for an attribute that it may lack."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            one, name = node.args[0], node.func.id
            if name in ASKS - {"type"} and _is_law(one):
                yield node.lineno
            if name in ("isinstance", "issubclass") and _classes(node.args[-1]) & CLASSES:
                yield node.lineno
        if _kinds_compared(node):
            yield node.lineno
        if isinstance(node, ast.Match) and _is_law(node.subject):
            yield node.lineno
        if isinstance(node, ast.MatchClass) and _classes(node.cls) & CLASSES:
            yield node.lineno


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("getattr(law, 't1', 0)", 1),
        ("hasattr(system.controller, 'begin_all')", 1),
        ("isinstance(one, Timer)", 1),
        ("isinstance(one, dwell.controllers.TVD | Lloyd)", 1),
        ("match law:\n    case Timer():\n        pass", 2),
        ("spec.kind == 'lloyd' and spec.mode == 'ode'", 1),
        ("table['kind'] == 'timer'", 1),
        ("table.get('kind') not in ('timer', 'python')", 1),
        ("match spec.kind:\n    case 'lloyd':\n        pass", 1),
        ("kind == 'python'", 0),
        ("method == 'lloyd'", 0),
        ("isinstance(laws, str)", 0),
        ("getattr(law.decide, '__globals__')", 0),
        ("type(law).__name__", 0),
    ],
)
def test_the_search_finds_what_it_is_for(code: str, count: int) -> None:
    assert len(list(asked(ast.parse(code)))) == count


def test_no_other_file_asks_a_law_what_it_is() -> None:
    # Limits of the timer law's T2 in stored sweeps, of which the tables alone are known.
    by_keys = {SOURCE / "sweep" / "reading.py"}
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in ELSEWHERE
        if path not in by_keys
        for line in asked(ast.parse(path.read_text()))
    ]
    assert not found


def test_traits_are_read_in_one_function() -> None:
    tree = ast.parse((SOURCE / "agents" / "traits.py").read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert [one.name for one in functions if list(asked(one))] == ["_attribute"]
