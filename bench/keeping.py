"""What checkpoints cost, and what a killed run leaves; measured by bench.checkpoints and .kills."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from bench.table import Row, absent, at_most

SHARE = 0.02  # of a run's time, at most
KILLS = 300


def rows(quick: bool) -> Iterator[Row]:
    """One row for each kind of record, two for all kills."""
    yield from checkpoints(quick)
    yield from kills(quick)


def checkpoints(quick: bool) -> Iterator[Row]:
    """The share of a run's time that checkpoints take."""
    name, what = "checkpoints", "time of a run with them over one without, in turns"
    if find_spec("bench.checkpoints") is None:
        yield absent("speed", name, what, "dwell has no checkpoints yet")
        return
    sizes = ["--seconds", "0.2", "--turns", "1", "--every", "0.1"] if quick else []
    for kind, found in _json("bench.checkpoints", *sizes).items():
        figure = f"{100 * found['share']:.1f} % of {found['seconds']:.1f} s"
        title = f"{name}: {kind}"
        if quick:
            yield Row("speed", title, what, figure, found["share"])
        else:
            yield at_most("speed", title, what, found["share"], SHARE, figure)


def kills(quick: bool) -> Iterator[Row]:
    """Runs killed at random moments: all must be readable and lose no more than an interval."""
    name, what = "killed runs", "SIGKILL at any moment, resumed until the end, bits compared"
    if find_spec("bench.kills") is None:
        yield absent("bits", name, what, "dwell has no checkpoints yet")
        return
    found = _json("bench.kills", "--kills", str(3 if quick else KILLS))
    ended, unreadable = found["runs_ended_with_the_same_bits"], found["unreadable"]
    figure = f"{unreadable} ({found['kills']} kills; {ended} runs ended, each with the same bits)"
    yield at_most("bits", f"{name}: unreadable files", what, unreadable, 0, figure)
    worst, interval = found["lost_seconds"]["worst"], found["interval_seconds"]
    title, what = f"{name}: work lost", f"worst, in intervals of {interval:g} s"
    figure = f"{worst / interval:.2f}"
    if quick:
        yield Row("bits", title, what, figure, worst / interval)
    else:
        yield at_most("bits", title, what, worst / interval, 1.0, figure)


def _json(module: str, *words: str) -> Any:
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)
