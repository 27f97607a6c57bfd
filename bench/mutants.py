"""python -m bench.mutants: how many sampled mutants of the source do the tests of its folder kill?

A mutant is the source with one operator, constant or condition changed. One that survives is a
behaviour that no test pins down, or a change without effect on results (a block size, say).
Kernels run as plain Python first; mutants that survive there are compiled and tested again.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dwell"


@dataclass(frozen=True)
class Group:
    """Source files, the share of mutants they get, and the test runs that may kill them."""

    share: float
    files: tuple[str, ...]
    runs: tuple[tuple[bool, tuple[str, ...]], ...]  # compiled?, arguments of pytest


PLAIN_KERNELS = ("tests/kernels", "--ignore-glob=tests/kernels/test_space_*")
VERIFICATION = ("tests/verify/test_verify_forged.py", "tests/verify", "tests/theory")
GROUPS = {
    "kernels": Group(
        0.4,
        tuple(f"_kernels/{folder}/*.py" for folder in ("common", "polygon", "line")),
        ((False, PLAIN_KERNELS), (True, ("tests/kernels", "tests/laws", "tests/agents"))),
    ),
    "kernels of space": Group(
        0.1,
        ("_kernels/space/*.py",),
        ((True, ("tests/kernels", "tests/laws", "tests/agents", "-k", "space or any")),),
    ),
    "controllers": Group(0.2, ("controllers/*.py",), ((True, ("tests/controllers",)),)),
    "verification": Group(
        0.3,
        ("verify/*.py",),
        ((True, (*VERIFICATION, "-k", "verify or flag or mutant")),),
    ),
}


@dataclass(frozen=True)
class Mutant:
    """One changed place: the file, the line, what stood there and what stands there now."""

    group: str
    file: str
    line: int
    before: str
    after: str
    text: str  # of the whole file


COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
CONDITIONS = (ast.If, ast.While, ast.IfExp)


def changes(node: ast.AST) -> Iterator[Callable[[ast.AST], None]]:
    """The changes that apply to a node, each as a function that alters it in place."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield lambda at: at.ops.__setitem__(0, COMPARISONS[type(at.ops[0])]())
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield lambda at: setattr(at, "op", ARITHMETIC[type(at.op)]())
    if isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield lambda at: setattr(at, "op", other())
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value = node.value
        yield lambda at: setattr(at, "value", value + 1 if isinstance(value, int) else _far(value))
    if isinstance(node, CONDITIONS) and ast.unparse(node.test) != "TYPE_CHECKING":
        yield lambda at: setattr(at, "test", ast.Constant(value=False))


def _far(value: float) -> float:
    """A float unlike `value`: a thousand times as large, since tolerances are often generous."""
    return 1.0 if value == 0.0 else value * 1000.0


def places(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """All places of a module that can be changed: the node's number in ast.walk, and which change.

    Annotations, decorators, messages of exceptions and doctests are left as they are.
    """
    frozen = {
        id(inner)
        for node in ast.walk(tree)
        for field in ("annotation", "returns", "decorator_list", "exc")
        for kept in [getattr(node, field, None)]
        for one in (kept if isinstance(kept, list) else [kept] if kept is not None else [])
        for inner in ast.walk(one)
    }
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in frozen:
            for which, _ in enumerate(changes(node)):
                yield number, which


def mutant(group: str, file: str, number: int, which: int) -> Mutant:
    """The mutant of one place."""
    tree = ast.parse((SOURCE / file).read_text())
    node = list(ast.walk(tree))[number]
    before = ast.unparse(copy.deepcopy(node))
    list(changes(node))[which](node)
    short = (before.split("\n")[0], ast.unparse(node).split("\n")[0])
    return Mutant(group, file, getattr(node, "lineno", 0), *short, ast.unparse(tree))


def sample(count: int, seed: int, only: str | None) -> list[Mutant]:
    """`count` mutants, each group with its share, drawn uniformly from the group's places."""
    drawn = []
    for name, group in GROUPS.items():
        all_places = [
            (str(path.relative_to(SOURCE)), *place)
            for pattern in group.files
            for path in sorted(SOURCE.glob(pattern))
            if path.name != "_jit.py"
            for place in places(ast.parse(path.read_text()))
        ]
        chosen = random.Random(f"{seed} {name}").sample(all_places, round(count * group.share))
        if only is None or only == name:
            drawn += [mutant(name, *place) for place in chosen]
    return drawn


def survives(one: Mutant, tree: Path, compiled: bool, arguments: tuple[str, ...]) -> bool:
    """Whether every test passes with the mutant in the copy of the project at `tree`."""
    target = tree / "src" / "dwell" / one.file
    original, time = target.read_text(), target.stat().st_mtime_ns
    target.write_text(one.text)
    environment = {
        **os.environ, "PYTHONPATH": f"{tree}/src", "DWELL_JIT": "1" if compiled else "0",
        "DWELL_CACHE_DIR": str(tree / "cache"),
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--timeout=120", *arguments]
    try:
        ended = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, timeout=1200, check=False
        )
        return ended.returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        target.write_text(original)
        os.utime(target, ns=(time, time))  # so that its compiled kernels remain valid


def judged(one: Mutant, trees: SimpleQueue[Path]) -> bool:
    """Whether some test run kills a mutant; takes a copy of the project from `trees` meanwhile."""
    tree = trees.get()
    try:
        return not all(survives(one, tree, *run) for run in GROUPS[one.group].runs)
    finally:
        trees.put(tree)


def copies(folder: Path, count: int) -> SimpleQueue[Path]:
    """Copies of the project in `folder`, one per worker; each keeps its compiled kernels."""
    trees: SimpleQueue[Path] = SimpleQueue()
    for k in range(count):
        for part in ("src", "tests", "bench", "docs"):
            source, ignored = ROOT / part, shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / str(k) / part, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", folder / str(k))
        trees.put(folder / str(k))
    return trees


def main() -> None:
    """Judge the mutants, print a line for each, and keep the outcome as JSON when asked."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--count", type=int, default=100)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--group", choices=GROUPS)
    words.add_argument("--workers", type=int, default=2)
    words.add_argument("--json", type=Path)
    asked = words.parse_args()
    mutants = sample(asked.count, asked.seed, asked.group)
    rows = []
    with TemporaryDirectory() as folder, ThreadPoolExecutor(asked.workers) as pool:
        judge = partial(judged, trees=copies(Path(folder), asked.workers))
        for one, killed in zip(mutants, pool.map(judge, mutants), strict=True):
            verdict = "killed" if killed else "SURVIVED"
            print(f"{verdict:8} {one.file}:{one.line}  {one.before}  ->  {one.after}", flush=True)
            row = {name: value for name, value in asdict(one).items() if name != "text"}
            rows.append({**row, "killed": killed})
            if asked.json is not None:
                asked.json.write_text(json.dumps(rows, indent=1))
    print(f"{sum(row['killed'] for row in rows)} of {len(rows)} mutants killed")


if __name__ == "__main__":
    main()
