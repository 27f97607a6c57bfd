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
    """One row for each kind of record, one for all kills."""
    yield from checkpoints(quick)
    yield kills(quick)


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


def kills(quick: bool) -> Row:
    """Runs killed at random moments: all must be readable and lose no more than an interval."""
    name, what = "killed runs", "SIGKILL at any moment, resumed until the end, bits compared"
    if find_spec("bench.kills") is None:
        return absent("bits", name, what, "dwell has no checkpoints yet")
    found = _json("bench.kills", "--kills", str(3 if quick else KILLS))
    lost, interval = found["lost_seconds"], found["interval_seconds"]
    figure = f"{found['kills']} kills, {found['unreadable']} unreadable, " + (
        f"{lost['worst']:.2f} s lost at worst"
    )
    return Row("bits", name, f"{what}; every {interval:g} s", figure, float(found["unreadable"]),
               "≤ 0", found["unreadable"] == 0)  # fmt: skip


def _json(module: str, *words: str) -> Any:
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)
