"""python -m bench.mutants: how many sampled mutants of the source do the tests of its folder kill?

A mutant is the source with one operator, constant or condition changed. One that survives is a
behaviour that no test pins down, or a change without effect on results (a block size, say).
Test files that name the mutated module run first, kernels there as plain Python; a mutant that
survives them meets all tests of its group, compiled. Compiled kernels are kept in build/mutants.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dwell"
TREES = ROOT / "build" / "mutants"
LIMIT = 200  # seconds for one test, of which there are some that compile kernels


@dataclass(frozen=True)
class Group:
    """Source files, the share of mutants they get, and the tests that may kill them."""

    share: float
    files: str  # a regular expression of paths below src/dwell
    tests: tuple[str, ...]
    options: tuple[str, ...] = ()
    plain: bool = False  # run test files that name the mutated module as plain Python


KERNEL_TESTS = ("tests/kernels", "tests/laws", "tests/agents")
GROUPS = {
    "kernels": Group(0.4, r"_kernels/(?!space/|star/).*", KERNEL_TESTS, plain=True),
    "kernels of space": Group(0.1, r"_kernels/space/.*", KERNEL_TESTS, ("-k", "space or any")),
    "controllers": Group(0.2, r"controllers/.*", ("tests/controllers",)),
    "verification": Group(
        0.3, r"verify/.*", ("tests/verify", "tests/theory"), ("-k", "verify or flag or mutant")
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
            (file, *place)
            for file in sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py"))
            if re.fullmatch(group.files, file) and not file.endswith("_jit.py")
            for place in places(ast.parse((SOURCE / file).read_text()))
        ]
        chosen = random.Random(f"{seed} {name}").sample(all_places, round(count * group.share))
        if only is None or only == name:
            drawn += [mutant(name, *place) for place in chosen]
    return drawn


def naming(one: Mutant, tree: Path) -> list[str]:
    """The test files of a mutant's group that import its module or have its name, short ones first.

    The module `guaranteed_contour` belongs to the tests in `test_guaranteed.py`.
    """
    module = one.file.removesuffix(".py").replace("/", ".")
    stem = module.split(".")[-1].split("_")[0]
    texts = {
        path: path.read_text()
        for folder in GROUPS[one.group].tests
        for path in (tree / folder).rglob("test_*.py")
    }
    named = [
        path
        for path, text in texts.items()
        if f"dwell.{module} import" in text or path.stem == f"test_{stem}"
    ]
    return [str(path.relative_to(tree)) for path in sorted(named, key=lambda at: len(texts[at]))]


def killer(one: Mutant, tree: Path, compiled: bool, arguments: Sequence[str]) -> str | None:
    """The first test that fails with the mutant in the copy of the project at `tree`, if any."""
    target = tree / "src" / "dwell" / one.file
    original, time = target.read_text(), target.stat().st_mtime_ns
    target.write_text(one.text)
    environment = {
        **os.environ, "PYTHONPATH": f"{tree}/src", "DWELL_JIT": "1" if compiled else "0",
        "DWELL_CACHE_DIR": str(tree / "cache"),
    }  # fmt: skip
    quick = ("-x", "-q", "--brief", "--tb=no", "-rfE", "-p", "no:cacheprovider")
    limit = f"--timeout={LIMIT}"
    command = [sys.executable, "-m", "pytest", *quick, limit, *arguments]
    try:
        ended = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, timeout=10 * LIMIT, text=True,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"time limit of {10 * LIMIT} s"
    finally:
        target.write_text(original)
        os.utime(target, ns=(time, time))  # so that its compiled kernels remain valid
    if ended.returncode in (0, 5):  # all passed, or none was selected
        return None
    failed = re.search(
        r"^(?:FAILED|ERROR) (.*?)(?: - (?:Failed: (Timeout))?.*)?$", ended.stdout, re.M
    )
    if failed is None:
        return (ended.stdout + ended.stderr)[-300:]
    return f"{failed[1]} (time limit of {LIMIT} s)" if failed[2] else failed[1]


def unmutated(file: str, group: str) -> Mutant:
    """The source as it is, as a mutant of nothing."""
    return Mutant(group, file, 0, "", "", (SOURCE / file).read_text())


def judged(one: Mutant, trees: SimpleQueue[Path]) -> str | None:
    """The test that kills a mutant, if any; takes a copy of the project from `trees` meanwhile."""
    tree = trees.get()
    group = GROUPS[one.group]
    try:
        named = naming(one, tree)
        first = killer(one, tree, not group.plain, named) if named else None
        if first and group.plain and killer(unmutated(one.file, one.group), tree, False, [first]):
            first = None  # the test needs compiled kernels, with or without the mutant
        return first or killer(one, tree, True, [*group.tests, *group.options])
    finally:
        trees.put(tree)


def copies(folder: Path, count: int) -> SimpleQueue[Path]:
    """Copies of the project in `folder`, one per worker; each keeps its compiled kernels."""
    trees: SimpleQueue[Path] = SimpleQueue()
    for k in range(count):
        for part in ("src", "tests", "bench", "docs"):
            source, ignored = ROOT / part, shutil.ignore_patterns("__pycache__")
            shutil.rmtree(folder / str(k) / part, ignore_errors=True)
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
    words.add_argument("--folder", type=Path, default=TREES)
    asked = words.parse_args()
    mutants = sample(asked.count, asked.seed, asked.group)
    rows = []
    with ThreadPoolExecutor(asked.workers) as pool:
        trees = copies(asked.folder, asked.workers)
        judge = partial(judged, trees=trees)
        for group in dict.fromkeys(one.group for one in mutants):
            for failed in pool.map(judge, [unmutated("__init__.py", group)] * asked.workers):
                if failed is not None:
                    sys.exit(f"{failed} fails without any mutant")
        for one, killed in zip(mutants, pool.map(judge, mutants), strict=True):
            print(
                f"{'killed' if killed else 'SURVIVED':8} {one.file}:{one.line}  {one.before}  ->  "
                f"{one.after}  {killed or ''}",
                flush=True,
            )
            row = {name: value for name, value in asdict(one).items() if name != "text"}
            rows.append({**row, "killed by": killed})
            if asked.json is not None:
                asked.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{sum(row['killed by'] is not None for row in rows)} of {len(rows)} mutants killed")


if __name__ == "__main__":
    main()
