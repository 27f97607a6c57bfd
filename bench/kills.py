"""Runs killed at random moments, over and over: what is left, and whether it goes on bit for bit.

    python -m bench.kills --kills 500

Each run is killed, taken up again, killed again, until it ends; it must then be the same in every
bit as one that was never touched. After every kill the file must be readable, must not have gone
back, and must hold all but the last interval.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import mmap
import os
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

import dwell
from dwell.agents import course
from dwell.measure import Metrics
from dwell.results.journal import clear
from dwell.runner import resume_run, run_scenario

EVERY = 0.5  # seconds between checkpoints
LONGEST = 3.2  # intervals that a run may go on before it is killed
PAUSE = 0.008  # after every piece, so that a short run takes a while
PIECE = 64  # jumps
ROWS = 20_000

BOX = {"kind": "box", "lower": [0.0, 0.0], "upper": [6.0, 4.0]}
TIMER = {"kind": "timer", "k1": 0.5, "nu": 0.4, "t1": 0.2, "t2": 0.5}
SPEAKING = {"kind": "event-triggered", "s_max": 0.3, "dt": 0.1}
WORLDS = {
    "events": (TIMER, 400.0, {"kind": "events", "sample_every": 2.0}),
    "samples": (TIMER, 400.0, {"kind": "samples", "sample_every": 0.5}),
    "summary": (TIMER, 400.0, {"kind": "summary"}),
    "remembering": (SPEAKING, 12.0, {"kind": "summary", "sample_every": 0.3}),
    "speaking": (SPEAKING, 12.0, {"kind": "events", "sample_every": 0.3}),
}


@dataclass
class Found:
    """What the kills came to."""

    kills: int = 0
    nothing_yet: int = 0  # killed before the first checkpoint
    finished: int = 0  # runs that came to their end, each the same as if never killed
    worst_loss: float = 0.0  # seconds of work, over all kills
    losses: list[float] = field(default_factory=list)


def scenario(name: str, every: float) -> dwell.Scenario:
    """One of the worlds."""
    law, horizon, record = WORLDS[name]
    return dwell.Scenario.model_validate(
        {
            "workspace": BOX,
            "agents": {"start": {"count": 8, "seed": 2}},
            "controller": law,
            "run": {
                "horizon": horizon, "seed": 4, "record": record, "checkpoint": {"every": every}
            },
        }
    )  # fmt: skip


class Watch:
    """Memory shared with a child, into which it writes how far it is and when."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 16 * ROWS)

    def clear(self) -> None:
        """Forget everything."""
        self.memory[:] = bytes(16 * ROWS)

    def watcher(self) -> Any:
        """To be told by a run how it goes on."""
        count = itertools.count()

        def tell(what: str, share: float) -> None:
            row = next(count)
            if what.startswith("simulating") and row < ROWS:
                struct.pack_into("dd", self.memory, 16 * row, time.monotonic(), share)
                time.sleep(PAUSE)

        return tell

    def when(self, share: float) -> float | None:
        """When the child was first beyond `share`; None if it never was."""
        rows = np.frombuffer(self.memory, dtype=np.float64).reshape(-1, 2)
        beyond = rows[(rows[:, 0] > 0.0) & (rows[:, 1] > share)]
        return float(beyond[0, 0]) if len(beyond) else None


def child(path: Path, asked: dwell.Scenario, watch: Watch) -> int:
    """The number of a process that begins the run at `path`, or goes on with it."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        if path.exists():
            resume_run(path, progress=watch.watcher(), threads=1)
        else:
            run_scenario(asked, out=path, progress=watch.watcher(), threads=1)
        code = 0
    except BaseException as fault:
        print(f"{type(fault).__name__}: {fault}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def ended(number: int, wait: float, watch: Watch | None) -> bool:
    """Whether the child ends by itself within `wait` seconds; else it is killed.

    With a `watch` they begin when it sets to work, else when it is born.
    """
    until = np.inf if watch else time.monotonic() + wait
    while time.monotonic() < until:
        if watch is not None and np.isinf(until) and watch.when(-1.0) is not None:
            until = time.monotonic() + wait
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0, "the run itself failed"
            return True
        time.sleep(0.001)
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    return False


def same(one: dwell.Run, other: dwell.Run) -> bool:
    """Whether two runs agree in every bit."""
    mine, yours = ({**run.summary(), "wall_seconds": 0.0} for run in (one, other))
    tables = [run.details.table for run in (one, other)]
    return (
        json.dumps(mine) == json.dumps(yours)
        and all(
            getattr(one.metrics, f.name).tobytes() == getattr(other.metrics, f.name).tobytes()
            for f in fields(Metrics)
        )
        and (tables[0] is None) == (tables[1] is None)
        and all(
            values.tobytes() == other.events.columns()[name].tobytes()
            for name, values in (one.events.columns() if tables[0] is not None else {}).items()
        )
    )


def kill_over_and_over(folder: Path, kills: int, seed: int, every: float) -> Iterator[Found]:
    """Kill runs until there were so many kills; tells after each."""
    course.FIRST_CHUNK = course.LAST_CHUNK = course.MOST = PIECE
    random, found, watch = np.random.default_rng(seed), Found(), Watch()
    wholes = {name: run_scenario(scenario(name, every), threads=1) for name in WORLDS}
    wholes["summary"].save(folder / "warm.nc")  # so that no child has to import anything
    dwell.load_run(folder / "warm.nc")
    for turn in itertools.count():
        name = list(WORLDS)[turn % len(WORLDS)]
        asked, horizon = scenario(name, every), WORLDS[name][1]
        path = folder / f"{name}.nc"
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        before = 0
        while True:
            watch.clear()
            wait, at_work = float(random.uniform(0.0, LONGEST * every)), random.random() < 0.7
            if found.kills == kills:
                wait = np.inf  # the last run ends by itself
            if ended(child(path, asked, watch), wait, watch if at_work else None):
                break
            at = time.monotonic()
            found.kills += 1
            before = judge(path, horizon, before, at, watch, found)
            yield found
            if before == wholes[name].details.tally.jumps and dwell.load_run(path).stop.reason.ok:
                break  # killed when all was done but the tidying up
        assert same(wholes[name], dwell.load_run(path)), f"{name} is not what it should be"
        clear(path)
        left = {p.name for p in folder.iterdir() if name in p.name}
        assert left <= {path.name, f".{path.name}.lock"}, left
        found.finished += 1
        if found.kills == kills:
            return


def judge(path: Path, horizon: float, before: int, at: float, watch: Watch, found: Found) -> int:
    """Look at what a kill at the time `at` left; gives the jumps that are kept."""
    if not path.exists():
        found.nothing_yet += 1
        kept, share = 0, 0.0
    else:
        run = dwell.load_run(path)
        assert run.provenance["intact"] == "true"
        kept, share = run.details.tally.jumps, run.horizon / horizon
    assert kept >= before, f"{kept} jumps are kept, and there were {before}"
    first_lost = watch.when(share)
    loss = 0.0 if first_lost is None else at - first_lost
    found.losses.append(loss)
    found.worst_loss = max(found.worst_loss, loss)
    return kept


def main() -> None:
    """As many kills as asked for, and what they came to."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--kills", type=int, default=300)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--every", type=float, default=EVERY, help="seconds between checkpoints")
    asked = words.parse_args()
    began, found = time.monotonic(), Found()
    with tempfile.TemporaryDirectory() as folder:
        for found in kill_over_and_over(Path(folder), asked.kills, asked.seed, asked.every):
            if found.kills % 50 == 0:
                print(f"{found.kills} kills, {found.finished} runs ended", file=sys.stderr)
    print(
        json.dumps(
            {
                "kills": found.kills,
                "unreadable": 0,  # the first would have ended this with an error
                "before_the_first_checkpoint": found.nothing_yet,
                "runs_ended_with_the_same_bits": found.finished,
                "interval_seconds": asked.every,
                "lost_seconds": {
                    "median": float(np.median(found.losses)), "worst": found.worst_loss
                },
                "wall_seconds": time.monotonic() - began,
            }
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
