"""Runs that are put away after every piece, and ends of them."""

from __future__ import annotations

import signal
import threading
from dataclasses import fields

import pytest

import dwell
from dwell.agents import Network
from dwell.measure import Metrics
from dwell.results.journal import WRITER
from tests.conftest import differing
from tests.controllers.worlds import BOX, HILL, START
from tests.workers.watch import LONG

LOSSY = Network(loss=0.3, delay=0.13)
KINDS = {
    "events": {"kind": "events", "sample_every": 0.05},
    "samples": {"kind": "samples", "sample_every": 0.05},
    "summary": {"kind": "summary"},
}


def few(*kinds: str, first: int = 1) -> list[object]:
    """Kinds of records or laws, of which all but the first are left to `make test-all`."""
    others = (pytest.param(kind, marks=pytest.mark.exhaustive) for kind in kinds[first:])
    return [*kinds[:first], *others]


class Crash(BaseException):
    """The end of a process, as far as the code in it can tell."""


def scenario(law, record, until=2.0, network=None, every=1e-9, **run):
    """A run that is put away after every piece."""
    one = dwell.simulate(
        BOX, HILL, START, law, until=until, seed=5, network=network, sample_every="off",
        max_jumps=1,
    ).scenario  # fmt: skip
    asks = {**one.run.model_dump(), "record": record, "checkpoint": {"every": every}}
    asks |= {"max_jumps": 50_000_000, **run}
    return dwell.Scenario.model_validate({**one.model_dump(exclude_none=True), "run": asks})


def ending_at(count, how, phase="simulating"):
    """A watcher that ends the run when it is told of a phase for the `count`-th time.

    `how` is an exception that it raises, or the number of interrupts that it sends.
    """
    told = []

    def watch(what, share):
        if what.startswith(phase):
            told.append(what)
            if len(told) == count:
                if not isinstance(how, int):
                    raise how
                for _ in range(how):
                    signal.raise_signal(signal.SIGINT)

    return watch


def crash(asked, path, count):
    """Run a scenario whose process ends during chunk `count`."""
    with pytest.raises(Crash):
        dwell.run_scenario(asked, out=path, progress=ending_at(count, Crash()))
    settle()


def same(one, other, flags=True):
    """Whether two runs are the same in every bit, and have the same flags."""
    apart = {"wall_seconds": 0} if flags else {"wall_seconds": 0, "flags": []}
    assert one.summary() | apart == other.summary() | apart
    for f in fields(Metrics):
        assert getattr(one.metrics, f.name).tobytes() == getattr(other.metrics, f.name).tobytes()
    if one.details.record == "events":
        assert differing(one.events, other.events) == []
    for name, values in one.details.tally.arrays().items():
        assert values.tobytes() == other.details.tally.arrays()[name].tobytes(), name
    return True


def settle():
    """Wait for writers that outlived their run; a real crash would have ended them."""
    for thread in threading.enumerate():
        if thread.name == WRITER:
            thread.join(timeout=LONG)
