"""Shared settings and small worlds."""

from __future__ import annotations

import os
import random
import signal
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from dwell.agents import EventTable
from dwell.scenario import template_text

settings.register_profile(
    "dwell",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile("all", settings.get_profile("dwell"), derandomize=False, max_examples=600)

os.environ["DWELL_PROGRESS"] = "0"  # what a test prints must not depend on how long it takes
os.environ.pop("COLUMNS", None)  # nor on the terminal it is started from


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--all` also runs tests marked exhaustive, and draws random examples, ten times as many."""
    parser.addoption("--all", action="store_true", help="also run tests marked exhaustive")
    parser.addoption("--brief", action="store_true", help="run no combinations of parameters")
    parser.addoption("--shuffle", metavar="SEED", help="run files, and tests in them, in any order")


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C interrupt, here and in processes started from here.

    A shell that starts the tests in its background has SIGINT ignored in all of them.
    """
    settings.load_profile("all" if config.getoption("--all") else "dwell")
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave exhaustive tests to `--all`; run slow files first, to keep both workers busy."""
    kept = items
    if not config.getoption("--all"):
        kept = [item for item in kept if not item.get_closest_marker("exhaustive")]
    if config.getoption("--brief"):
        kept = _each_value_once(kept)
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    slow = {item.path for item in kept if item.get_closest_marker("slow")}
    items[:] = sorted(kept, key=lambda item: item.path not in slow)
    if (seed := config.getoption("--shuffle")) is not None:
        draw = random.Random(seed)
        turn = {path: draw.random() for path in dict.fromkeys(item.path for item in items)}
        items[:] = sorted(items, key=lambda item: (turn[item.path], draw.random()))


def _each_value_once(items: list[pytest.Item]) -> list[pytest.Item]:
    """Of a test with several parameters, as few cases as have every value of each of them."""
    cases: dict[str, list[tuple[pytest.Item, set[tuple[str, ...]]]]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append((item, _values_of(item)))
    chosen: set[pytest.Item] = set()
    for several in cases.values():
        missing = {("",)}.union(*(values for _, values in several))
        while missing:
            item, values = max(several, key=lambda case: len(case[1] & missing))
            chosen.add(item)
            missing -= values | {("",)}
    return [item for item in items if item in chosen]


def _values_of(item: pytest.Item) -> set[tuple[object, ...]]:
    """Each parameter of a case with its value; names that are given in one table go together."""
    if not hasattr(item, "callspec"):
        return {("",)}
    left = {name: (name, id(value)) for name, value in item.callspec.params.items()}
    found: set[tuple[object, ...]] = set()
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        names = names.replace(",", " ").split() if isinstance(names, str) else names
        found.add(tuple(left.pop(name) for name in names if name in left))
    return found | set(left.values())


@pytest.fixture(autouse=True)
def _plain_settings() -> Iterator[None]:
    """No test leaves Matplotlib with other settings, which those after it would draw with."""
    yield
    if (matplotlib := sys.modules.get("matplotlib")) is not None:
        kept, now = (dict.copy(s) for s in (matplotlib.rcParamsOrig, matplotlib.rcParams))
        assert {**now, "backend": 0, "backend_fallback": 0} == {
            **kept, "backend": 0, "backend_fallback": 0
        }  # fmt: skip


@pytest.fixture(scope="session")
def heptagon() -> np.ndarray:
    """Vertices of the paper's workspace (our reconstruction)."""
    return np.array(tomllib.loads(template_text("paper-30"))["workspace"]["vertices"], dtype=float)


@pytest.fixture(scope="session")
def thirty() -> np.ndarray:
    """The 30-agent start."""
    return np.array(tomllib.loads(template_text("paper-30"))["agents"]["start"], dtype=float)


@pytest.fixture(scope="session")
def twelve() -> np.ndarray:
    """The 12-agent start."""
    return np.array(tomllib.loads(template_text("paper-12"))["agents"]["start"], dtype=float)


def differing(a: EventTable, b: EventTable) -> list[str]:
    """Names of the columns in which two tables differ in any bit."""

    def bits(table: EventTable, name: str) -> bytes | None:
        column = getattr(table, name)
        return None if column is None else column.tobytes()

    return [f.name for f in fields(a) if bits(a, f.name) != bits(b, f.name)]
