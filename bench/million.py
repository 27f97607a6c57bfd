"""A million agents for one dwell period: a million events, in a process of its own.

    python -m bench.million AGENTS

The run is asked for as a scenario that keeps a summary, where dwell knows such records; else the
engine is driven by hand and keeps nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dwell
from bench.growth import go_on
from bench.places import brisk_timer, crowd
from bench.table import Row, under
from dwell.agents import CoverageSystem
from dwell.engine.compiled import CompiledRun
from dwell.scenario import parse_scenario

AGENTS, FEW = 1_000_000, 2_000
SECONDS, GIGABYTES = 10.0, 2.0


def rows(quick: bool) -> Iterator[Row]:
    """Time and memory."""
    agents = FEW if quick else AGENTS
    command = [sys.executable, "-m", "bench.million", str(agents)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    name, what = f"{agents} agents, one dwell period", f"{seen['events']} events, {seen['way']}"
    figure = f"{seen['wall']:.2f} s, {seen['cpu']:.2f} s processor"
    size = f"{seen['peak'] / 1e9:.2f} GB, of which {seen['before'] / 1e9:.2f} before the run"
    if quick:
        yield Row("speed", name, what, figure, seen["wall"])
        yield Row("memory", f"{name}: peak", what, size, seen["peak"])
        return
    yield under("speed", name, what, seen["wall"], SECONDS, figure)
    met = bool(seen["peak"] < 1e9 * GIGABYTES)
    target = f"< {GIGABYTES:g} GB"
    yield Row("memory", f"{name}: peak", what, size, seen["peak"], target, met)


def measured(agents: int) -> dict[str, Any]:
    """One period, after a small run that loads everything."""
    way, run = by_scenario() or by_hand()
    run(100)
    before = _status("VmHWM")
    wall, cpu = time.perf_counter(), time.process_time()
    events = run(agents)
    return {
        "way": way,
        "events": events,
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "before": before,
        "peak": _status("VmHWM"),
    }


def by_scenario() -> tuple[str, Any] | None:
    """Whole runs from a scenario, start and all; None if summaries are not known."""
    try:
        _scenario(10)
    except dwell.DwellError:
        return None

    def run(agents: int) -> int:
        summary = dwell.run_scenario(_scenario(agents)).summary()
        return int(summary["events"]["total"])

    return "run_scenario, record = summary, start included", run


def _scenario(agents: int) -> dwell.Scenario:
    side, law = float(np.sqrt(agents)), brisk_timer()
    timer = {"kind": "timer", "k1": law.k1, "nu": law.nu, "t1": law.t1, "t2": law.t2}
    return parse_scenario(
        {
            "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [side, side]},
            "agents": {"start": {"count": agents, "seed": 1}},
            "controller": timer,
            # From 0 to T2: everybody looks once.
            "run": {"horizon": law.t2, "seed": 1, "record": {"kind": "summary"}},
        }
    )


def by_hand() -> tuple[str, Any]:
    """The engine alone, start included."""

    def run(agents: int) -> int:
        points, side = crowd(agents)
        box = dwell.Box((0.0, 0.0), (side, side))
        system = CoverageSystem(box, dwell.Uniform(), brisk_timer(), agents, seed=1)
        return go_on(CompiledRun.of(system, system.start(points)), agents)

    return "engine alone, nothing kept, start included", run


def _status(key: str) -> int:
    """Bytes of this process; not ru_maxrss, which a child takes over from its parent."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]))))
