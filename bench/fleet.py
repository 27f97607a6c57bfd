"""python -m bench.fleet: live fleets on this machine, in real time; what they cost and how late.

Each case is a fleet of real processes. Processor time is that of all hosts and their supervisor,
in per cent of one core, from two seconds after the start to the end. Lateness is the time from the
instant at which a sample was due to its beginning, and until its message was sent. Every run is
checked, sample by sample. The case `losses` is one in virtual time.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import dwell
from dwell.fleet.launch import FleetProcess, FleetStatus
from dwell.fleet.run import run_fleet
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from dwell.scenario.templates import template_text

SIDE = 100.0
LOSS = {"loss": 0.5, "delay": [0.0, 0.2], "repeat": 0.2, "seed": 3}
MOVED = 3e-4  # of the diameter, in each direction
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Meter:
    """Reads the processor time of a fleet while it runs, and kills a host each second if asked."""

    kills: bool = False
    until: float = 0.0
    begun: tuple[float, float] | None = None  # time and seconds of processor time
    last: tuple[float, float] = (0.0, 0.0)
    killed: list[tuple[float, int]] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def __call__(self, status: FleetStatus, fleet: FleetProcess) -> None:
        if status.time < 2.0 or status.time > self.until - 0.5:
            return
        if status.time - self.last[0] > 0.5:
            self.last = status.time, spent(fleet)
            self.begun = self.begun or self.last
        due = not self.killed or status.time - self.killed[-1][0] >= 1.0
        if self.kills and due and status.time < self.until - 4.0:
            number = self.chance.choice(sorted(fleet.pids))
            self.killed.append((status.time, number))
            os.kill(fleet.pids[number], signal.SIGKILL)

    @property
    def share(self) -> float:
        """Processor time over time."""
        assert self.begun is not None
        return (self.last[1] - self.begun[1]) / (self.last[0] - self.begun[0])


def spent(fleet: FleetProcess) -> float:
    """Processor time of the hosts and of their supervisor, with that of the dead."""
    total = ticks(fleet.pid, 4)  # of the process, and of its children that have ended
    return (total + sum(ticks(pid, 2) for pid in list(fleet.pids.values()))) / TICKS


def ticks(pid: int, kinds: int) -> int:
    """Ticks of processor time of a process: user and system, then those of ended children."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, fields[11 : 11 + kinds]))


def square(agents: int) -> dict[str, Any]:
    """Many agents at random in a square."""
    return {
        "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [SIDE, SIDE]},
        "agents": {"start": {"count": agents, "region": "workspace", "seed": 1}},
        "controller": {"kind": "timer", "k1": 0.5, "nu": 0.5, "t1": 0.2, "t2": 0.65},
        "run": {"horizon": 1.0, "seed": 1},
    }


CASES: dict[str, tuple[Callable[[], Any], dict[str, Any], str]] = {
    "udp": (lambda: "paper-30", {}, "30 processes, UDP"),
    "zenoh": (lambda: "paper-30", {"transport": "zenoh"}, "30 processes, zenoh"),
    "many": (lambda: square(500), {"hosts": 4}, "500 agents in 4 processes"),
    "kills": (lambda: "paper-30", {"kills": True}, "30 processes, one killed each second"),
    "loss": (
        lambda: "paper-30",
        {"faults": LOSS},
        "30 processes, half of all messages lost, delays up to T1, repeats",
    ),
    "copies": (
        lambda: "paper-30",
        {"faults": LOSS, "copies": 6},
        "30 processes, the same losses, each message sent six times",
    ),
    "partition": (
        lambda: "paper-30",
        {"faults": {"partitions": [{"from": 10.0, "until": 30.0, "group": list(range(15))}]}},
        "30 processes, two halves cut off from each other from 10 to 30 s",
    ),
}


def scenario_of(what: Any, seconds: float, fleet: dict[str, Any]) -> dwell.Scenario:
    """The scenario of a case."""
    table: dict[str, Any] = what
    if isinstance(what, str):
        table = tomllib.loads(template_text(what))
        table["controller"] |= {"t1": 0.2, "t2": 0.65}
    table["run"]["horizon"] = seconds
    return parse_scenario({**table, "fleet": fleet})


def measure(name: str, seconds: float, realtime: bool) -> None:
    """Run one case, check it, and print its figures."""
    what, options, title = CASES[name]
    options = dict(options)
    meter = Meter(options.pop("kills", False), seconds)
    keys = options.keys() & {"faults", "copies"}
    scenario = scenario_of(what(), seconds, {key: options.pop(key) for key in keys})
    run = run_fleet(scenario, watch=meter, realtime=realtime, **options)
    live = run.details.live
    assert live is not None
    rows = live.samples
    late = 1e3 * (rows["time"] - rows["due"])[rows["k"] > 1]
    sent = (
        1e3 * (rows["sent_at"] - rows["due"][live.previous])[(live.previous >= 0) & (rows["k"] > 2)]
    )
    over = int((live.gaps > 0.65).sum())
    print(f"{title}, {seconds:g} s{', real-time priority' if realtime else ''}")
    print(f"  processor time {100 * meter.share:.0f} % of a core; {len(rows)} samples")
    print(f"  late p50 / p99 / max {percentiles(late)} ms; due to sent {percentiles(sent)} ms")
    print(f"  gaps over T2: {over} of {len(rows)}")
    if meter.killed:
        back = [
            float(r["time"].min()) - t for t, p in meter.killed if len(r := returns(rows, p, t))
        ]
        print(
            f"  killed {len(meter.killed)}, back after {percentiles(np.array(back))} s: {len(back)}"
        )
    simulated = dwell.run_scenario(scenario, progress=False)
    for t in (0.25 * seconds, 0.5 * seconds, seconds):
        print(f"  cost at {t:g} s: {run.cost(t):.6g}, simulated {simulated.cost(t):.6g}")
    report = dwell.check(run, progress=False)
    for finding in report.findings:
        print(f"  {finding.name}: {finding.status} ({finding.worst:.3g})")


def losses() -> None:
    """How far costs are from the simulation's where half of all messages are lost.

    In virtual time, for twelve seeds of the faults, with each message sent once and six times. For
    comparison, simulations without losses in which each start is moved by a normal distance of
    about 0.04 % of the workspace's diameter. A path that slowly leaves a saddle is later or sooner
    with each change, so costs at equal times differ most there.
    """
    times = np.array([5.0, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 50.0, 60.0])
    print("half of all messages lost, delays up to T1, repeats; virtual time")
    print("  per cent of cost at t =" + " ".join(f"{t:6.0f}" for t in times))
    for name in ("paper-30", "paper-12", "two-hills", "harbour-20"):
        table = tomllib.loads(template_text(name))
        table["run"] |= {"horizon": float(times[-1]), "seed": 1}
        if name == "paper-30":
            table["controller"] |= {"t1": 0.2, "t2": 0.65}
        scenario = parse_scenario(table)
        system, positions, _ = build(scenario)
        simulated = dwell.run_scenario(scenario, progress=False)
        expected = np.array([simulated.cost(t) for t in times])
        faults = {"loss": 0.5, "delay": [0.0, table["controller"]["t1"]], "repeat": 0.2}
        lost = [
            [
                run_fleet(
                    {**table, "fleet": {"copies": copies, "faults": {**faults, "seed": s}}},
                    transport="memory", progress=False,
                )
                for s in range(1, 13)
            ]
            for copies in (1, 6)
        ]  # fmt: skip
        scale = MOVED * system.workspace.diameter
        moved = []
        for s in range(12):
            steps = scale * np.random.default_rng(s).normal(size=positions.shape)
            start = system.workspace.nearest(positions + steps).tolist()
            there = parse_scenario({**table, "agents": {**table["agents"], "start": start}})
            moved.append(dwell.run_scenario(there, progress=False))
        for what, runs in (("once", lost[0]), ("6 times", lost[1]), ("moved", moved)):
            apart = 100.0 * (
                np.array([[run.cost(t) for t in times] for run in runs]) / expected - 1
            )
            for how, values in (("mean", apart.mean(axis=0)), ("most", np.abs(apart).max(axis=0))):
                print(f"  {name:10} {what:7} {how} " + " ".join(f"{v:6.2f}" for v in values))


def returns(rows: np.ndarray, agent: int, after: float) -> np.ndarray:
    """First samples of an agent since it was started again after a time."""
    own: np.ndarray = rows[(rows["agent"] == agent) & (rows["time"] > after) & (rows["k"] == 1)]
    return own


def percentiles(values: np.ndarray) -> str:
    """Median, 99th percentile and maximum."""
    return " / ".join(f"{v:.2f}" for v in np.percentile(values, [50, 99, 100]))


def main() -> None:
    """Measure the cases that are named, or all."""
    names = [*CASES, "losses"]
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("cases", nargs="*", default=names, help=", ".join(names))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--realtime", action="store_true")
    given = parser.parse_args()
    for name in given.cases:
        losses() if name == "losses" else measure(name, given.seconds, given.realtime)


if __name__ == "__main__":
    main()
