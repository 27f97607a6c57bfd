"""What checkpoints cost: the same run with and without them, in turns.

    python -m bench.checkpoints --seconds 12 --turns 3

The time of a run is that of simulating and of its checkpoints; writing the final file, which
happens in any case, is left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dwell
from dwell.engine.run_loop import RunLoop
from dwell.results.journal import Journal
from dwell.runner import run_scenario

RATE = 900_000.0  # events a second, roughly, to choose a horizon


def scenario(record: str, seconds: float, every: float | str, agents: int) -> dwell.Scenario:
    """A run of about so many seconds."""
    waits = {"t1": 0.2, "t2": 0.65}
    horizon = seconds * RATE * 0.425 / agents
    return dwell.Scenario.model_validate(
        {
            "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [30.0, 20.0]},
            "agents": {"start": {"count": agents, "seed": 2}},
            "controller": {"kind": "timer", "k1": 0.5, "nu": 0.5, **waits},
            "run": {
                "horizon": horizon,
                "seed": 4,
                "record": {"kind": record, "sample_every": horizon / 1000.0},
                "checkpoint": {"every": every},
            },
        }
    )


def timed(asked: dwell.Scenario, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds from the first jump to the last, with all checkpoints on disk."""
    spent: list[float] = []
    on = RunLoop.run

    def clocked(self: RunLoop, *args: Any) -> Any:
        began = clock()
        stop = on(self, *args)
        if args[-1] is not None:
            args[-1].wait()
        spent.append(clock() - began)
        return stop

    with patch.object(RunLoop, "run", clocked), tempfile.TemporaryDirectory() as folder:
        run_scenario(asked, out=Path(folder) / "run.nc")
    return spent[0]


def share_of_journal(asked: dwell.Scenario) -> float:
    """Processor time of all checkpoints, on every thread, over that of the rest of the run.

    Steadier than the difference of two runs where a machine is busy with other things.
    """
    spent: list[float] = []
    write, put = Journal.write, Journal._put

    def clocked(work: Any, clock: Any) -> Any:
        def timed(self: Journal, *args: Any) -> None:
            began = clock()
            work(self, *args)
            spent.append(clock() - began)

        return timed

    with (
        patch.object(Journal, "write", clocked(write, time.thread_time)),
        patch.object(Journal, "_put", clocked(put, time.thread_time)),
    ):
        whole = timed(asked, time.process_time)
    return sum(spent) / (whole - sum(spent))


def main() -> None:
    """One JSON object with a share for each kind of record and interval."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--seconds", type=float, default=12.0)
    words.add_argument("--turns", type=int, default=3)
    words.add_argument("--agents", type=int, default=30)
    words.add_argument("--every", type=float, nargs="*", default=[5.0, 1.0])
    words.add_argument("--steady", action="store_true", help="processor time only")
    words.add_argument("--records", nargs="*", default=["events", "samples", "summary"])
    asked = words.parse_args()
    found = {}
    timed(scenario("summary", 0.2, 0.05, asked.agents))  # what is imported is so in any case
    for record in asked.records:
        for every in asked.every:
            pairs = [(1.0, 1.0)] if asked.steady else []
            for _ in range(0 if asked.steady else asked.turns):
                without = timed(scenario(record, asked.seconds, "off", asked.agents))
                pairs.append((timed(scenario(record, asked.seconds, every, asked.agents)), without))
            shares = [a / b - 1.0 for a, b in pairs]
            found[f"{record}, every {every:g} s"] = {
                "share": statistics.median(shares),
                "shares": shares,
                "processor_share": share_of_journal(
                    scenario(record, asked.seconds, every, asked.agents)
                ),
                "seconds": statistics.median(b for _, b in pairs),
            }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
