"""Verification verified: runs that are wrong in one respect, just beyond each limit or within it.

Every check of `dwell.verify.verify` has forgeries that it must find, and, where it has a limit,
forgeries below the limit that it must let pass.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Gaussian, Lloyd, Timer, Uniform
from dwell.agents import EventTable, Network, Trajectory
from dwell.agents.state import Spent
from dwell.results import Run
from dwell.verify import Report, centroids, guarantees, verify
from dwell.verify.finding import VIOLATED, Finding, finding_rows, spread
from dwell.verify.guarantees import FLOOR, IN_TIME, MISSED, Followed, follow_centroids
from dwell.verify.reference_trigger import RULES
from dwell.verify.solution import Claims
from tests.controllers.examples import LAWS
from tests.controllers.worlds import BOX, HILL, START

DIAMETER = BOX.diameter
EPS = float(np.finfo(float).eps)
K = 5  # the event that is altered

TIMER: dict[str, Any] = {"k1": 0.5, "nu": 0.4, "t1": 0.2, "t2": 0.5}
WAYS: dict[str, dict[str, Any]] = {
    **{
        name: {"law": law, "until": 0.5 if "triggered" in name else 1.0}
        for name, law in LAWS.items()
    },
    "dropout": {"law": Timer(**TIMER, reset="dropout", loss=0.4)},
    "periodic": {"law": Timer(**TIMER, reset="periodic")},
    "staggered": {"law": Timer(**TIMER, reset="periodic", period=0.3, initial_timer=0.25)},
    "sequence": {"law": Timer(**TIMER, reset="sequence", intervals=(0.2, 0.33))},
    "earliest": {"law": Timer(**TIMER, reset="earliest")},
    "latest": {"law": Timer(**TIMER, reset="latest")},
    "overshoot": {"law": Timer(k1=1.0, nu=0.1, t1=0.3, t2=0.3)},
    "alone": {"law": Timer(**TIMER), "start": START[:1], "until": 5.0},
    "still": {"law": Timer(**TIMER), "until": 0.1},  # ends before the first event
    "lossy": {"law": Timer(**TIMER), "network": Network(loss=0.3)},
    "late": {"law": Timer(**TIMER), "network": Network(delay=0.3)},
    "lossy-lloyd": {"law": Lloyd(dt=0.1), "network": Network(loss=0.3)},
    "lossy-trigger": {"law": LAWS["self-triggered"], "network": Network(loss=0.3), "until": 0.5},
    "lossy-messages": {
        "law": LAWS["event-triggered"], "network": Network(loss=0.3), "until": 0.5
    },
    "met": {
        "law": Timer(k1=0.5, nu=0.2, t1=1, t2=1, initial_hold=((0.5, 0), (-0.5, 0), (0, 0))),
        "start": [(0.5, 0.5), (1.5, 0.5), (3.0, 2.0)], "until": 2.0,
    },
    "limited": {"law": Timer(**TIMER), "max_jumps": 9},
    "grid": {"law": Timer(**TIMER), "spacing": 0.1},
    "disc": {"law": Timer(**TIMER), "site": Ball((2, 1.5), 2.3)},
    "function": {
        "law": Timer(**TIMER), "density": lambda z: 1.0 + z[:, 0] ** 2, "start": START[:3],
        "until": 0.6,
    },
    "ball": {
        "law": Timer(**TIMER), "site": Ball((0, 0, 0), 1), "density": Uniform(),
        "start": [(0.1, 0.2, 0.3), (-0.4, 0, 0.2)], "until": 0.6,
    },
    "cube": {
        "law": Timer(**TIMER), "site": Box((0, 0, 0), (4, 3, 2)), "density": Uniform(),
        "start": [(1, 1, 1), (2, 2, 1.5), (3, 1, 0.5)], "until": 0.6,
    },
}  # fmt: skip


@cache
def honest(name: str) -> Run:
    """A run of each kind, small and always the same."""
    way = {"site": BOX, "density": HILL, "start": START, "until": 1.0, **WAYS[name]}
    world = [way.pop(key) for key in ("site", "density", "start", "law")]
    return dwell.simulate(*world, seed=5, sample_every=way["until"] / 100, **way)


def forged(name: str, forge: Callable[[Any], object] = lambda f: None, **options: Any) -> Report:
    """The report on the run `name` once `forge` has altered a copy of it."""
    run = honest(name)
    table = EventTable(**{c: v.copy(order="K") for c, v in run.events.columns().items()})
    claims = {"ended": run.stop.reason.value, "places": run.start.positions}
    f = SimpleNamespace(
        run=run, law=run.system.controller, system=run.system, start=run.start,
        segments=run.start.segments.copied(), events=table,
        samples=deepcopy(run.metrics), until=run.horizon, claims=claims,
    )  # fmt: skip
    forge(f)
    claims = Claims(metrics=f.samples, **f.claims)
    start = replace(f.start, segments=f.segments)
    return verify(f.system, start, f.events, f.until, claims, **options)


def named(report: Report) -> dict[str, Finding]:
    """Findings by name, of which there is one each."""
    found = {finding.name: finding for finding in report.findings}
    assert len(found) == len(report.findings)
    return found


def violated(report: Report) -> set[str]:
    return {name for name, finding in named(report).items() if finding.status == VIOLATED}


# Ways to alter a run. Each gives a function that alters a copy in place.

Forge = Callable[[Any], object]


def alter(part: str, column: str, row: Any, change: Any) -> Forge:
    """A column of a part of the run, there or not, with `change` or its value in one row."""

    def forge(f: Any) -> None:
        record, usual = getattr(f, part), {"cruise": np.inf, "promise": -1.0}
        kept = getattr(record, column)
        if kept is None:
            usually = usual[column] if column in usual else record.count(column)
            kept = np.broadcast_to(usually, (len(record.next_at),))
        kept = kept.copy(order="K")
        kept[row] = change(kept[row]) if callable(change) else change
        setattr(f, part, replace(record, **{column: kept}))

    return forge


def off(
    column: str, row: Any = K, by: float = 0.0, ulps: float = 0.0, part: str = "events"
) -> Forge:
    """A number of the event table, off by an amount or by units in the last place."""
    return alter(part, column, row, lambda v: v + by + ulps * np.spacing(np.abs(v)))


def put(column: str, value: Any, row: Any = K) -> Forge:
    """A column of the event table with another value in one row."""
    return alter("events", column, row, value)


def sampled(column: str, row: int, by: float = 0.0, ulps: float = 0.0) -> Forge:
    """A metric sample, off by an amount or by units in the last place."""
    return off(column, row, by, ulps, "samples")


def begun(column: str, value: Any, agent: int = 1) -> Forge:
    """A number of the start."""
    return alter("segments", column, agent, value)


def spent(name: str, agent: int = 1) -> Forge:
    """One more of what the beginning cost an agent."""

    def forge(f: Any) -> None:
        every = list(f.start.spent)
        every[agent] = replace(every[agent], **{name: getattr(every[agent], name) + 1})
        f.start = replace(f.start, spent=tuple(every))

    return forge


def both(*forges: Forge) -> Forge:
    return lambda f: [forge(f) for forge in forges]


def say(**claims: Any) -> Forge:
    return lambda f: f.claims.update(claims)


def older(forge: Forge) -> Forge:
    """A forgery in a run of another version, whose numbers may be off by `ROUNDING`."""
    return both(say(same_kernels=False), forge)


ROUNDING = 1e-11 * DIAMETER
WITHIN, BEYOND = 0.9 * ROUNDING, 1.1 * ROUNDING


def moved(by: float) -> Forge:
    """The position of an event, off by units in the last place of its larger coordinate."""

    def forge(f: Any) -> None:
        place = f.events.positions[K]
        axis = int(np.argmax(np.abs(place)))
        place[axis] += by * np.spacing(np.abs(place[axis]))

    return forge


def outside(by: float) -> Forge:
    """An event beyond the left side, by a share of the diameter."""
    return put("positions", -by * DIAMETER, (K, 0))


def led_out(f: Any) -> None:
    """An agent that only leaves the workspace after its last event."""
    row = f.events.of_agent(1)[-1]
    f.events.holds[row] = (-1e6, 0.0)


def speed(excess: float) -> Forge:
    def forge(f: Any) -> None:
        f.events.holds[K] = (f.law.traits.top_speed * (1.0 + excess), 0.0)

    return forge


def waits(until: str, ulps: int) -> Forge:
    """An agent that looks again after T1 or T2, and some units in the last place."""

    def forge(f: Any) -> None:
        due = f.events.time[K] + getattr(f.law, until)
        f.events.next_at[K] = due + ulps * np.spacing(due)

    return forge


def ends_when_due(ulps: int, **claims: Any) -> Forge:
    """The run cut at the time of its third event from the end, which is left out."""

    def forge(f: Any) -> None:
        f.until = float(f.events.time[-3])
        f.until += ulps * float(np.spacing(f.until))
        f.events, f.samples = f.events.head(len(f.events) - 3), None
        f.claims.update(claims, horizon=f.until)

    return forge


def cut(f: Any) -> None:
    f.events = f.events.head(len(f.events) - 1)


def clock_back(f: Any) -> None:
    f.events.time[K] = np.nextafter(f.events.time[K - 1], 0.0)


def beyond_the_end(f: Any) -> None:
    f.until = float(np.nextafter(f.events.time[-1], 0.0))
    f.samples = None


def sample_back(f: Any) -> None:
    f.samples.times[60] = np.nextafter(f.samples.times[59], 0.0)


def fewer_starts(f: Any) -> None:
    f.start = replace(f.start, spent=tuple(f.start.spent)[:-1])


def started_elsewhere(f: Any, towards: float = 9.0) -> None:
    f.claims["places"][2, 1] = np.nextafter(f.claims["places"][2, 1], towards)


def back_to_start(f: Any) -> None:
    """All agents at the last event where they began, which costs more."""
    for p in range(len(START)):
        f.events.positions[f.events.of_agent(p)[-1]] = START[p]


def meet(f: Any) -> None:
    """Two agents at one place from an event on."""
    now, other = float(f.events.time[K]), (f.events.agent[K] + 1) % 6
    f.events.positions[K], f.events.holds[K] = f.run.positions(now)[other], f.run.holds(now)[other]


def start_together(f: Any) -> None:
    f.segments.place[1] = f.segments.place[0]


def at_the_neighbour(f: Any) -> None:
    """A centroid that lies where another agent stands."""
    row = np.flatnonzero(f.events.count("mark") == IN_TIME)[1]
    f.events.errors[row] = START[(f.events.agent[row] + 1) % 6] - f.events.positions[row]


def triggered(by: float) -> Forge:
    """An interval that ended by the trigger, a scan longer or shorter."""
    return lambda f: off("next_at", int(np.flatnonzero(f.events.count("mark") == IN_TIME)[1]), by)(
        f
    )


def another_density(f: Any) -> None:
    """Kernels that integrate another density than the scenario's."""
    f.system = replace(f.system)
    ground = f.system.ground
    assert ground.terms is not None  # the kernels keep these
    object.__setattr__(ground, "density", Gaussian(HILL.center, 1.001 * 0.4))


def older_sample(scale: float) -> Forge:
    """A cost, off by a share of what runs of another version may differ by."""
    return lambda f: sampled("costs", 0, scale * 1e-11 * (1.0 + f.samples.costs[0]))(f)


def unsolved(scale: float) -> Forge:
    """A centroid, off by a share of a hundred times the tolerance of a differential equation."""
    return lambda f: off("errors", (K, 0), scale * 100.0 * f.law.traits.accuracy * DIAMETER)(f)


# run, forgery, the checks that must find it, whether others may find it as well
FOUND: dict[str, tuple[str, Forge, set[str], bool]] = {
    "digest": ("timer", say(intact=False), {"digest"}, False),
    "time-back": ("timer", clock_back, {"time-domain"}, False),
    "time-beyond": ("timer", beyond_the_end, {"time-domain"}, False),
    "sample-back": ("timer", sample_back, {"time-domain"}, False),
    "sample-early": ("timer", sampled("times", 0, -1e-300), {"time-domain"}, False),
    "sample-late": ("timer", sampled("times", -1, 1e-15), {"time-domain"}, False),
    "agent-6": ("timer", put("agent", 6), {"agents"}, False),
    "agent-negative": ("timer", put("agent", -1), {"agents"}, False),
    "start-position": ("timer", started_elsewhere, {"start-position"}, False),
    "start-hold": ("timer", begun("hold", lambda v: np.nextafter(v, 9)), {"start-hold"}, True),
    "start-hold-older": (
        "timer", older(begun("hold", lambda v: v + BEYOND)), {"start-hold"}, True
    ),
    "start-cruise": ("self-triggered", begun("cruise", 9.0), {"start-hold"}, False),
    "start-cruise-none": ("timer", begun("cruise", 9.0), {"start-hold"}, False),
    "start-timer": (
        "timer", begun("next_at", lambda v: np.nextafter(v, 9)), {"start-timer", "due"}, True
    ),
    "start-late": ("timer", begun("next_at", np.nextafter(0.5, 9)), {"start-interval"}, True),
    "start-early": ("timer", begun("next_at", np.nextafter(0.2, 0)), {"start-interval"}, True),
    "start-place-below": ("timer", lambda f: started_elsewhere(f, -9.0), {"start-position"}, False),
    "start-hold-below": ("timer", begun("hold", lambda v: v - 1e-15), {"start-hold"}, True),
    "start-cruise-below": ("self-triggered", begun("cruise", 0.0), {"start-hold"}, True),
    "start-timer-below": ("timer", begun("next_at", lambda v: v - 1e-9), {"start-timer"}, True),
    "jump-below": ("timer", off("holds", (K, 1), ulps=-1), {"jump"}, True),
    "reset-below": ("timer", off("next_at", ulps=-1), {"reset"}, True),
    "reset-below-walk": ("timer-adaptive", off("next_at", ulps=-1), {"reset"}, True),
    "hold-error-below": ("timer", off("hold_error", ulps=-1), {"hold-error"}, False),
    "cruise-below": ("discrete-lloyd", put("cruise", 0.1), {"cruise"}, True),
    "cruise-above": ("discrete-lloyd", put("cruise", 0.9), {"cruise"}, True),
    "samples-below": ("timer", sampled("costs", 0, ulps=-1), {"samples"}, False),
    **{
        f"counts-{name}-negative": ("timer", put(name, -1), {"counts"}, False)
        for name in ("guaranteed", "dual_guaranteed", "sent", "mark")
    },
    "start-fewer": ("timer", fewer_starts, {"start-counts"}, False),
    "flow": ("timer", moved(5), {"flow"}, True),
    "flow-back": ("timer", moved(-5), {"flow"}, True),
    "due": ("timer", off("time", ulps=1), {"due"}, True),
    "due-early": ("timer", off("time", -1, ulps=-1), {"due"}, True),
    "complete": ("timer", cut, {"complete"}, True),
    "complete-at-the-end": ("timer", ends_when_due(0), {"complete"}, False),
    **{
        f"complete-{why}": ("timer", ends_when_due(1, ended=why), {"complete"}, False)
        for why in ("interrupted", "jump-limit")
    },
    "ended-early": ("timer", say(horizon=1.0000000000000002), {"ending"}, False),
    "ended-late": ("timer", say(horizon=0.9999999999999999), {"ending"}, False),
    "limit-above": ("limited", say(max_jumps=10), {"ending"}, False),
    "limit-below": ("limited", say(max_jumps=8), {"ending"}, False),
    "never-met": ("timer", say(ended="coincident"), {"ending"}, False),
    "interval-long": ("timer", waits("t2", 3), {"interval"}, True),
    "interval-short": ("timer", waits("t1", -3), {"interval"}, True),
    "workspace": ("timer", outside(1.1e-12), {"workspace"}, True),
    "workspace-lossy": ("lossy", outside(1.1e-12), {"workspace"}, True),
    "workspace-late": ("late", outside(1.1e-12), {"workspace"}, True),
    "workspace-at-the-end": ("timer", led_out, {"workspace"}, True),
    "centroid": ("timer", off("errors", (K, 0), ulps=1), {"centroid"}, False),
    "centroid-below": ("timer", off("errors", (K, 1), ulps=-1), {"centroid"}, False),
    "centroid-older": (
        "timer", older(off("errors", (K, 0), BEYOND)), {"centroid"}, False
    ),
    "centroid-ode": ("lloyd-ode", unsolved(1.1), {"centroid"}, True),
    "jump-older": ("timer", older(off("holds", (K, 0), BEYOND)), {"jump"}, True),
    "cruise": ("timer", put("cruise", 9.0), {"cruise"}, False),
    "hold-error": ("timer", off("hold_error", ulps=1), {"hold-error"}, False),
    "nearest": ("timer", off("nearest", ulps=1), {"seen"}, False),
    "nearest-below": ("timer", off("nearest", ulps=-1), {"seen"}, False),
    "nearest-older": ("timer", older(off("nearest", by=BEYOND)), {"seen"}, False),
    "nearest-alone": ("alone", put("nearest", 1e9), {"seen"}, False),
    "neighbors": ("grid", off("neighbors", by=1), {"seen"}, True),
    "empty": ("timer", put("empty", 1), {"seen"}, False),
    "by-hand": ("timer", off("errors", (K, 0), 1.1e-9 * DIAMETER), {"by-hand", "centroid"}, False),
    "by-hand-start": ("still", another_density, {"by-hand"}, False),
    "by-hand-disc": ("disc", off("errors", (K, 1), 1e-8), {"by-hand", "centroid"}, False),
    "by-hand-space": ("cube", off("errors", (0, 2), 1e-7), {"by-hand", "centroid"}, False),
    "by-counting": ("function", off("errors", (0, 0), 0.01), {"by-counting", "centroid"}, False),
    "by-counting-ball": ("ball", off("errors", (0, 0), 0.01), {"by-counting", "centroid"}, False),
    "apart-start": ("timer", start_together, {"apart", "start-position"}, False),
    **{f"apart-{law}": (law, meet, {"apart", "flow"}, True) for law in ("timer", "self-triggered")},
    "counts-uneven": ("lloyd-ode", put("looked", lambda v: v + 1), {"counts"}, False),
    "counts-unlooked": ("lloyd-ode", put("looked", 0, np.s_[:]), {"counts"}, False),
    "counts-part": ("lloyd-ode", cut, {"counts"}, True),
    "messages": ("event-triggered", off("holds", np.s_[:], 5.0), {"promise", "jump"}, True),
    "cost-lloyd": ("lloyd", back_to_start, {"cost"}, True),
    "cost-discrete": ("discrete-lloyd", back_to_start, {"cost"}, True),
    "cost-messages": ("event-triggered", back_to_start, {"cost"}, True),
    "target": ("self-triggered", at_the_neighbour, {"target"}, True),
    "trigger-long": ("self-triggered", triggered(0.05), {"trigger", "reset"}, True),
    "trigger-short": ("self-triggered", triggered(-0.05), {"trigger", "reset"}, True),
    "trigger-paper": ("self-triggered-paper", triggered(0.05), {"trigger", "reset"}, True),
    "equation": ("lloyd-ode", off("bend", np.s_[:], 0.01), {"equation"}, True),
    **{
        f"samples-{name}-{row}": ("timer", sampled(name, row, ulps=1), {"samples"}, False)
        for name in ("errors", "hold_errors", "costs", "separations")
        for row in (0, int(spread(101, 50)[30]), -1)
    },
    "samples-older": ("timer", older(older_sample(1.1)), {"samples"}, False),
    **{f"start-{f.name}": ("timer", spent(f.name), {"start-counts"}, False) for f in fields(Spent)},
    **{
        f"counts-{name}": ("timer", put(name, lambda v: v + 1), {"counts"}, False)
        for name in ("guaranteed", "dual_guaranteed", "sent", "mark", "looked", "received")
    },
    "counts-fewer": ("timer", put("looked", 0), {"counts"}, False),
    "counts-unheard": ("timer", put("received", lambda v: v - 1), {"counts"}, False),
    "counts-promise": ("timer", put("promise", 0.0), {"counts"}, False),
    **{
        f"counts-{law}-{name}": (law, put(name, lambda v: v + 1), {"counts"}, True)
        for law in ("self-triggered", "event-triggered", "lossy", "timer-adaptive")
        for name in ("guaranteed", "sent", "looked", "received", "promise")
    },
    **{
        f"cruise-{law}": (law, put("cruise", lambda v: 0.9 * min(v, 1.0)), {"cruise"}, True)
        for law in ("self-triggered", "discrete-lloyd-poisson", "event-triggered", "lossy")
    },
    **{
        f"speed-{law}": (law, speed(6 * EPS), {"speed"}, True)
        for law in ("timer", "discrete-lloyd-slow", "self-triggered", "event-triggered")
    },
    **{
        f"jump-{law}": (law, off("holds", (K, 0), ulps=1), {"jump"}, True)
        for law in WAYS
        if law not in ("lloyd-ode", "still", "alone", "function", "ball", "cube", "limited", "met")
        if not law.startswith("discrete-lloyd-r")
    },
    **{
        f"reset-{law}": (law, off("next_at", ulps=1), {"reset"}, True)
        for law in WAYS
        if law not in ("lloyd-ode", "still", "alone", "function", "ball", "cube", "limited", "met")
    },
}  # fmt: skip


@pytest.mark.parametrize(("run", "forge", "names", "others"), FOUND.values(), ids=FOUND)
def test_a_forgery_is_found(run: str, forge: Forge, names: set[str], others: bool) -> None:
    report = forged(run, forge)
    found = violated(report)
    assert names <= found if others else names == found
    assert report.verdict == ("altered" if names == {"digest"} else "not-a-solution")
    assert not report.ok


# run, forgery, the check that must let it pass
PASSES: dict[str, tuple[str, Forge, str]] = {
    "time-tie": ("timer", put("time", lambda v: 0.0, 0), "time-domain"),
    "start-hold-older": (
        "timer", older(begun("hold", lambda v: v + WITHIN)), "start-hold"
    ),
    "start-latest": ("timer", begun("next_at", 0.5), "start-interval"),
    "start-earliest": ("timer", begun("next_at", 0.2), "start-interval"),
    "flow": ("timer", moved(4), "flow"),
    "complete-at-the-end": ("timer", ends_when_due(0, ended="interrupted"), "complete"),
    "complete-before": ("timer", ends_when_due(-1), "complete"),
    "ended": ("timer", say(horizon=1.0), "ending"),
    "limit": ("limited", say(max_jumps=9), "ending"),
    "interval-long": ("timer", waits("t2", 0), "interval"),
    "interval-short": ("timer", waits("t1", 0), "interval"),
    "speed": ("timer", speed(4 * EPS), "speed"),
    "workspace": ("timer", outside(0.9e-12), "workspace"),
    "centroid-older": ("timer", older(off("errors", (K, 0), WITHIN)), "centroid"),
    "centroid-ode": ("lloyd-ode", unsolved(0.9), "centroid"),
    "jump-older": ("timer", older(off("holds", (K, 0), WITHIN)), "jump"),
    "jump-older-walk": ("timer-adaptive", older(off("holds", (K, 0), WITHIN)), "jump"),
    "reset-older-walk": ("timer-adaptive", older(off("next_at", by=WITHIN)), "reset"),
    "nearest-older": ("timer", older(off("nearest", by=WITHIN)), "seen"),
    "by-hand": ("timer", off("errors", (K, 0), 0.9e-9 * DIAMETER), "by-hand"),
    "by-counting": ("function", off("errors", (0, 0), 1e-3), "by-counting"),
    "samples-older": ("timer", older(older_sample(0.9)), "samples"),
    "samples-between": ("timer", sampled("costs", 1, 1.0), "samples"),
    "horizon-next": ("timer", put("next_at", np.inf), "finite"),
    "alone-nearest": ("alone", lambda f: None, "finite"),
}  # fmt: skip


@pytest.mark.parametrize(("run", "forge", "name"), PASSES.values(), ids=PASSES)
def test_what_is_within_the_limit_passes(run: str, forge: Forge, name: str) -> None:
    assert named(forged(run, forge))[name].status == "holds"


UNPROMISED = {
    "workspace-law": ("overshoot", outside(0.1), "workspace"),
    "workspace-lossy": ("lossy-lloyd", outside(0.1), "workspace"),
    "cost-lossy": ("lossy-lloyd", back_to_start, "cost"),
    "target-lossy": ("lossy-trigger", at_the_neighbour, "target"),
    "target-after": ("self-triggered-paper", at_the_neighbour, "target"),
    "promise-lossy": ("lossy-messages", off("holds", np.s_[:], 5.0), "promise"),
}


@pytest.mark.parametrize(("run", "forge", "name"), UNPROMISED.values(), ids=UNPROMISED)
def test_what_a_law_does_not_guarantee_is_no_violation(run: str, forge: Forge, name: str) -> None:
    found = named(forged(run, forge))[name]
    assert found.status == "not applicable"
    assert found.worst > found.limit
    assert found.where


# What laws guarantee: just within each limit, and just beyond.


def guaranteed(run: Run, law: Any = None) -> dict[str, Finding]:
    system = replace(run.system, controller=law or run.system.controller)
    found = guarantees.promises(Trajectory(system, run.start, run.events, run.horizon))
    return {finding.name: finding for finding in found}


def test_the_cost_may_rise_by_rounding_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for rise, status in ((0.9e-12, "holds"), (1.1e-12, VIOLATED)):
        costs = 2.0 * np.array([1.1, 1.0, 1.0 + rise, 0.9])
        known = SimpleNamespace(costs=costs)
        monkeypatch.setattr(guarantees, "measure_at", lambda *world, known=known: known)
        found = guaranteed(honest("lloyd"))["cost"]
        assert found.status == status
    times = np.unique(honest("lloyd").events.time)
    assert found.where == f"t = {float(times[1]):.9g}"  # the start is the first
    assert f"at {len(times) + 1} of {len(times) + 1} event times" in found.says


def test_drift_is_held_against_delta() -> None:
    run = honest("self-triggered")
    worst = follow_centroids(run.details.trajectory)
    drift = float(worst.drift[worst.free].max())
    for delta, status in ((drift, "holds"), (drift * (1 - 1e-12), VIOLATED)):
        assert (
            guaranteed(run, replace(run.system.controller, delta=delta))["drift"].status == status
        )


@pytest.mark.parametrize("kept", [True, False])
def test_guarantees_are_kept_to_rounding_where_the_trigger_chose(
    monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    run = honest("self-triggered")
    for out, status in ((0.9, "holds"), (1.1, VIOLATED if kept else "holds")):
        drift, room = np.array([0.0, out * run.system.controller.delta]), np.array([1.0, -out])
        free = np.array([True, kept])
        known = Followed(np.zeros(2), np.arange(2), drift, 1e-12 * DIAMETER * room, free)
        monkeypatch.setattr(guarantees, "follow_centroids", lambda *run, known=known: known)
        found = guaranteed(run)
        assert (found["drift"].status, found["target"].status) == (status, status)


def test_intervals_that_the_trigger_did_not_choose_are_set_aside() -> None:
    run = honest("self-triggered")
    seen = follow_centroids(run.details.trajectory)
    marks = run.events.count("mark")
    assert seen.free.any()
    assert not seen.free.all()
    for mark in (FLOOR, MISSED):
        table = replace(run.events, mark=np.full_like(marks, mark))
        start = replace(run.start, spent=tuple(replace(s, mark=mark) for s in run.start.spent))
        marked = Trajectory(run.system, start, table, run.horizon)
        assert not follow_centroids(marked).free.any()


def test_the_equation_is_held_to_a_hundred_times_its_tolerance() -> None:
    run = honest("lloyd-ode")
    worst = guaranteed(run)["equation"].worst
    for tolerance, status in ((worst / 99.9, "holds"), (worst / 100.1, VIOLATED)):
        law = replace(run.system.controller, tolerance=tolerance)
        assert guaranteed(run, law)["equation"].status == status


def test_messages_may_be_broken_by_rounding_only(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["dwell.verify.solution"]
    limit = 1e-12 * DIAMETER + 8.0 * float(np.spacing(4.0))
    for broken, status in ((limit, "holds"), (1.001 * limit, VIOLATED)):
        gaps = dict.fromkeys(("jump", "cruise", "reset", "counts"), np.zeros(1))
        gaps["promise"] = np.array([broken])
        monkeypatch.setattr(module, "rederive", lambda *run, gaps=gaps: gaps)
        assert named(forged("event-triggered"))["promise"].status == status


ALWAYS = {
    "shape", "finite", "time-domain", "agents", "start-position", "start-hold", "start-counts",
    "flow", "due", "complete", "workspace", "centroid", "hold-error", "seen", "counts", "samples",
    "apart",
}  # fmt: skip
LAW = {"start-timer", "jump", "cruise", "reset"}
SOMETIMES = {
    "timer": {"start-interval", "interval", "speed"},
    "timer-adaptive": {"start-interval", "interval", "speed"},
    "lloyd": {"cost"},
    "lloyd-ode": {"cost", "equation"},
    "discrete-lloyd": {"cost"},
    "discrete-lloyd-slow": {"cost", "speed"},
    "discrete-lloyd-poisson": set(),
    "self-triggered": {"speed", "drift", "target", "trigger"},
    "self-triggered-centroid": {"speed", "cost"},
    "event-triggered": {"speed", "cost", "promise"},
    "grid": {"start-interval", "interval", "speed"},
    "function": {"start-interval", "interval", "speed"},
    "lossy-trigger": {"speed", "drift", "target"},
}


@pytest.mark.parametrize("name", WAYS)
def test_honest_runs_pass_every_check_that_applies(name: str) -> None:
    report = forged(name)
    assert report.verdict == "solution"
    assert report.ok is report.as_json()["ok"] is True
    if name not in SOMETIMES:
        return
    opinion = {"grid": set(), "function": {"by-counting"}}.get(name, {"by-hand"})
    law = set() if name == "lloyd-ode" else LAW
    assert set(named(report)) == ALWAYS | opinion | law | SOMETIMES[name]


COLUMNS = [
    *(("events", name) for name in ("time", "positions", "holds", "next_at", "errors")),
    *(("events", name) for name in ("hold_error", "nearest", "cruise", "bend", "promise")),
    *(("start", name) for name in ("place", "hold", "next_at", "cruise", "bend")),
    *(("samples", name) for name in ("times", "errors", "hold_errors", "costs", "separations")),
]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("part", "column"), COLUMNS)
def test_every_number_is_looked_at(part: str, column: str, value: float) -> None:
    """NaN anywhere, and infinity where it means nothing; samples are not only those measured."""
    endless = column in ("next_at", "cruise") and value == np.inf
    name = {"bend": "lloyd-ode", "promise": "event-triggered", "cruise": "self-triggered"}

    row = 1 if part == "start" else 3
    wrong = begun(column, value) if part == "start" else alter(part, column, row, value)
    found = named(forged(name.get(column, "timer"), wrong))["finite"]
    assert found.status == ("holds" if endless else VIOLATED)
    assert found.where == ("" if endless else f"{part}: {column}, row {row}")


def test_one_agent_alone_has_no_nearest_and_no_separation() -> None:
    assert np.isinf(honest("alone").events.nearest).all()
    assert forged("alone").ok
    for part, column in (("events", "nearest"), ("samples", "separations")):
        found = forged("alone", lambda f, p=part, c=column: getattr(getattr(f, p), c).fill(-np.inf))
        assert violated(found) == {"finite"}


def test_a_violation_says_where() -> None:
    """The event, the agent or the time at which a check is violated most."""
    run = honest("timer")
    who, t = run.events.agent[K], float(run.events.time[K])
    for column, name in (("holds", "jump"), ("errors", "centroid"), ("nearest", "seen")):
        found = named(forged("timer", off(column, ulps=2)))[name]
        assert found.where == f"jump {K + 1}, agent {who}, t = {t:.9g}"
        assert found.worst > found.limit == 0.0
    found = named(forged("timer", sampled("costs", -1, ulps=1)))["samples"]
    assert found.where == "t = 1"
    assert found.says == "50 of 101 metric samples recomputed: 1 differs"
    found = named(forged("timer", begun("hold", 9.0, agent=4)))["start-hold"]
    assert found.where == "agent 4"
    assert found.says.startswith("expected: first velocities")  # not as if it were so
    assert named(forged("timer", sample_back))["time-domain"].where == "sample 61"
    assert named(forged("timer", clock_back))["time-domain"].where == f"jump {K + 1}"
    assert named(forged("still", another_density))["by-hand"].where.startswith("start, agent ")


def test_thorough_measures_all_samples_and_all_centroids() -> None:
    """Also those that a check by default leaves out, and the sentences say how many there are."""
    some, every = named(forged("timer")), named(forged("timer", thorough=True))
    assert some["samples"].says == "50 of 101 metric samples recomputed: all agree"
    assert every["samples"].says == "101 of 101 metric samples recomputed: all agree"
    assert "; 50 of 101 metric samples were recomputed; checks: " in repr(forged("timer"))
    assert "recomputed" not in repr(forged("timer", thorough=True))
    for row in (1, 52, 99):
        assert row not in spread(101, 50)
        forgery = sampled("costs", row, ulps=1)
        assert not violated(forged("timer", forgery))
        assert violated(forged("timer", forgery, thorough=True)) == {"samples"}
    jumps = len(honest("lloyd-ode").events)
    some, every = named(forged("lloyd-ode")), named(forged("lloyd-ode", thorough=True))
    assert some["by-hand"].says.startswith(f"206 of {jumps + 6} centroids")
    assert every["by-hand"].says.startswith(f"{jumps + 6} of {jumps + 6} centroids")


def test_a_finding_for_programs_and_for_tables() -> None:
    one = Finding("a", "says", "violated", np.inf, -0.5, "here", per_agent=(1.0, None))
    assert one.as_json() == {
        "name": "a", "says": "says", "status": "violated", "worst": None, "limit": -0.5,
        "where": "here", "per_agent": [1.0, None],
    }  # fmt: skip
    other = replace(one, worst=0.25, where="", per_agent=None)
    assert (other.as_json()["worst"], other.as_json()["per_agent"]) == (0.25, None)
    rows = [("a", "violated", "inf", "0.5", "says; here"), ("a", "violated", "0.25", "0.5", "says")]
    assert list(finding_rows([one, other])) == rows


def test_large_tables_are_checked_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    monkeypatch.setattr("dwell.verify.replay.BLOCK", 4)
    monkeypatch.setattr("dwell.verify.guarantees.BLOCK", 2)
    monkeypatch.setattr(sys.modules["dwell.verify.solution"], "MOST_CELLS", 20)
    assert forged("timer", progress=lambda what, share: shares.append(share)).ok
    assert shares[0] == 0.0
    assert max(shares) == 1.0
    assert forged("self-triggered").ok
    for row in (0, 49, -1):
        found = forged("timer", sampled("errors", row, ulps=1), thorough=True)
        assert violated(found) == {"samples"}


def test_as_many_are_chosen_as_the_documentation_says(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["dwell.verify.solution"]
    assert (centroids.BY_HAND, centroids.FEWER) == (200, 20)
    assert [RULES[n].decisions for n in (1, 2, 3)] == [40, 40, 10]
    assert (guarantees.MOST_COSTS, guarantees.MOST_TIMES) == (2000, 2000)
    monkeypatch.setattr(module, "is_expensive", lambda ground: True)
    monkeypatch.setattr(centroids, "BY_HAND", 3)
    monkeypatch.setattr(guarantees, "MOST_COSTS", 4)
    found = named(forged("lloyd"))
    assert found["samples"].says.startswith("5 of 101 ")
    assert found["by-hand"].says.startswith("6 of 66 ")
    assert "at 4 of 11 event times" in found["cost"].says
    monkeypatch.setitem(RULES, 2, RULES[2]._replace(decisions=8))
    assert named(forged("self-triggered"))["trigger"].says.startswith("8 of ")
    shares: list[float] = []
    assert forged("lossy", progress=lambda what, share: shares.append(share)).ok
    assert shares.count(0.0) >= 2
    assert 0.0 <= min(shares) <= max(shares) == 1.0


def test_cells_without_enough_points_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dwell.verify.quasi_monte_carlo.Counting.compare", lambda *look: None)
    found = named(forged("function"))["by-counting"]
    assert (found.status, found.where[:9]) == ("not applicable", "the cells")


MIXED = [
    (a, b)
    for k, a in enumerate(("timer", "lloyd", "lloyd-ode", "self-triggered", "lossy", "met", "grid"))
    for b in list(WAYS)[k % 3 :: 3]
    if a != b
]


@pytest.mark.parametrize(("table", "law"), MIXED)
@pytest.mark.filterwarnings("error")
def test_a_table_of_another_law_gives_findings(table: str, law: str) -> None:
    """Whatever a file says of its law: no exception, and no solution where the laws differ."""

    def forge(f: Any) -> None:
        f.system = replace(f.system, controller=honest(law).system.controller, nu=None)
        f.claims.update(assumed={"eta_max": 0.3, "lipschitz": 5.0})

    report = forged(table, forge)
    assert report.verdict in ("solution", "not-a-solution")
    if type(honest(table).system.controller) is not type(honest(law).system.controller):
        assert not report.ok
    json.dumps(report.as_json())


def test_a_column_for_hold_errors_that_the_law_has_not_is_found() -> None:
    def forge(f: Any) -> None:
        f.samples = replace(f.samples, hold_errors=np.zeros((101, 0)))

    found = named(forged("timer", forge))["shape"]
    assert (found.status, found.where) == (
        VIOLATED, "samples: hold_errors has the shape (101, 0), where (101, 6) is needed",
    )  # fmt: skip


def test_samples_are_those_that_the_scenario_sets() -> None:
    """At its times and no others; where a run ended early, at those before."""
    times = honest("timer").metrics.times

    def some(rows: Any, **claims: Any) -> Forge:
        def forge(f: Any) -> None:
            f.samples = type(f.samples)(**{k: v[rows] for k, v in vars(f.samples).items()})
            f.claims.update(sample_times=times, **claims)

        return forge

    every = np.arange(101)
    for rows, status in (
        (every, "holds"), (every[1:], VIOLATED), (every[:-1], VIOLATED), (every[::2], VIOLATED),
        (np.delete(every, 50), VIOLATED), (np.append(every, 100), VIOLATED), (every[:0], VIOLATED),
    ):  # fmt: skip
        found = named(forged("timer", some(rows)))["sample-times"]
        assert found.status == status
    assert found.where == "101 missing or too many, first t = 0"
    for rows in (every, every[:-1]):  # at the very time of the end
        found = forged("timer", some(rows, ended="interrupted"))
        assert named(found)["sample-times"].status == "holds"


def test_no_more_jumps_than_are_allowed() -> None:
    jumps = len(honest("timer").events)
    assert violated(forged("timer", say(max_jumps=jumps))) == set()
    assert violated(forged("timer", say(max_jumps=jumps - 1))) == {"ending"}
