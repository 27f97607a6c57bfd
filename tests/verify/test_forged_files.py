"""Files forged by somebody who renews the digest: over a hundred kinds, all found by `--thorough`.

What cannot be derived from the scenario is listed, with a test that it is accepted: docs/results.md
names it, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell._netcdf import digest_of
from dwell.errors import StoreError
from dwell.results.dataset import _content
from dwell.results.stated import misstated
from dwell.results.store import _rebuild
from dwell.scenario import parse_scenario

FIVE = [[0.0, 0.0], [4.0, 0.0], [4.5, 2.0], [2.0, 3.5], [0.0, 3.0]]
SCENARIO: dict[str, Any] = {
    "name": "forged",
    "workspace": {"kind": "polygon", "vertices": FIVE},
    "density": {"kind": "gaussian", "center": [2.5, 1.5], "rate": 0.2},
    "agents": {"start": [[0.5, 0.6], [1.1, 0.4], [0.7, 1.3], [3.2, 2.1]]},
    "controller": {"kind": "timer", "k1": 0.5, "nu": 0.4, "t1": 0.1, "t2": 0.3},
    "certificate": {"eta_max": 0.3, "lipschitz": 3.0},
    "run": {"horizon": 1.0, "seed": 3, "nu": 0.35, "record": {"sample_every": 0.1}},
}


@dataclass
class File:
    """The content of a stored run, to be altered in place."""

    values: dict[str, np.ndarray]
    attributes: dict[str, Any]
    scenario: dict[str, Any]
    summary: dict[str, Any]


@cache
def stored() -> tuple[dict[str, Any], dict[str, Any]]:
    run = dwell.run_scenario(parse_scenario(SCENARIO))
    return _content(run, None)


def rebuilt(forge: Callable[[File], object]) -> dwell.Run:
    """The run of a forged file, whose digest fits."""
    variables, attributes = deepcopy(stored())
    numbers = json.loads(variables["summary"][1].tobytes())
    values = {name: content[1].copy() for name, content in variables.items()}
    file = File(values, attributes, json.loads(attributes["scenario"]), numbers)
    forge(file)
    if numbers is not None:
        file.values["summary"] = np.frombuffer(json.dumps(file.summary).encode(), np.uint8)
    attributes["scenario"] = json.dumps(file.scenario)
    every = {name: ((), content) for name, content in file.values.items()}
    attributes["digest"] = digest_of(every, attributes)
    return _rebuild(Path("forged.nc"), every, attributes, True)


def verdict(forge: Callable[[File], object]) -> str:
    try:
        run = rebuilt(forge)
    except (StoreError, dwell.InputError, KeyError, ValueError, TypeError):
        return "refused"  # as load_run does, in one sentence
    assert run.intact
    return dwell.check(run, thorough=True).verdict


Forge = Callable[[File], object]


def off(name: str, row: Any = 3, by: float = 1e-9) -> Forge:
    def forge(f: File) -> None:
        f.values[name][row] = f.values[name][row] + f.values[name].dtype.type(by)

    return forge


def reordered(name: str, rows: Any) -> Forge:
    def forge(f: File) -> None:
        f.values[name] = f.values[name][rows]

    return forge


def swapped(name: str) -> Forge:
    """Two rows that differ, exchanged in one column only."""

    def forge(f: File) -> None:
        column = f.values[name]
        k = next(k for k in range(1, len(column)) if (column[k] != column[0]).any())
        column[[0, k]] = column[[k, 0]]

    return forge


SAMPLES = ("sample_time", "error", "hold_error", "cost", "separation")
EVENTS = tuple(name for name in (
    "event_time", "event_agent", "event_position", "event_hold", "event_next_at", "event_error",
    "event_hold_error", "event_neighbors", "event_nearest", "event_empty",
))  # fmt: skip


REALS = tuple(
    name for name in EVENTS if name not in ("event_agent", "event_neighbors", "event_empty")
)


def rows(names: tuple[str, ...], which: Any) -> Forge:
    """All tables with some of their rows only."""

    def forge(f: File) -> None:
        for name in names:
            f.values[name] = f.values[name][which]

    return forge


def put(*path: Any, value: Any = None, by: float | None = None) -> Forge:
    """A key of the scenario with another value."""
    return lambda f: _put(f.scenario, path, value, by)


def said(*path: Any, value: Any = None, by: float | None = None) -> Forge:
    """A key of the summary with another value."""
    return lambda f: _put(f.summary, path, value, by)


def _put(table: Any, path: tuple[Any, ...], value: Any, by: float | None) -> None:
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = table[path[-1]] + by if by is not None else value


def stated(name: str, value: Any) -> Forge:
    return lambda f: f.attributes.update({name: value})


def ended(reason: str, time: float, detail: str = "") -> Forge:
    """The whole end, in all its copies but the summary."""

    def forge(f: File) -> None:
        f.attributes.update(stop=json.dumps([reason, time, detail]), stop_reason=reason)
        f.attributes.update(stop_time=time, until=time)

    return forge


def added_summary_key(f: File) -> None:
    f.summary["record_of"] = "something else"


def certificate(name: str, status: str) -> Forge:
    def forge(f: File) -> None:
        (found,) = [one for one in f.summary["certificate"]["findings"] if one["name"] == name]
        found["status"] = status

    return forge


FOUND: dict[str, Forge] = {
    **{f"{name}-off": off(name) for name in REALS},
    **{f"{name}-swapped": swapped(name) for name in (*REALS, "event_agent")},
    "event_agent-off": off("event_agent", by=1),
    "event_neighbors-more": off("event_neighbors", by=1),
    "event_empty-one": off("event_empty", by=1),
    "events-cut": rows(EVENTS, np.s_[:-1]),
    "events-first": rows(EVENTS, np.s_[1:]),
    "events-thinned": rows(EVENTS, np.s_[::2]),
    "events-none": rows(EVENTS, np.s_[:0]),
    "events-doubled": rows(EVENTS, [0, 0, *range(1, 16)]),
    "events-reversed": rows(EVENTS, np.s_[::-1]),
    "column-short": reordered("event_hold", np.s_[:-1]),
    "start_position": off("start_position", (1, 0)),
    "start_hold": off("start_hold", (1, 0)),
    "start_next_at": off("start_next_at", 1),
    "start_spent": off("start_spent", (1, 0), 1),
    "start_spent-mark": off("start_spent", (1, 5), 1),
    "start-renumbered": reordered("start_position", [1, 0, 2, 3]),
    "labels-reversed": reordered("agent", np.s_[::-1]),
    "labels-from-1": off("agent", np.s_[:], 1),
    **{f"{name}-sample-off": off(name, 7) for name in SAMPLES},
    "cost-scaled": lambda f: f.values.update(cost=2.0 * f.values["cost"]),
    "error-zero": off("error", (9, 2), -1e-3),
    "samples-thinned": rows(SAMPLES, np.s_[::2]),
    "samples-cut": rows(SAMPLES, np.s_[:5]),
    "samples-without-first": rows(SAMPLES, np.s_[1:]),
    "samples-without-last": rows(SAMPLES, np.s_[:-1]),
    "samples-without-one": rows(SAMPLES, [*range(6), *range(7, 11)]),
    "samples-none": rows(SAMPLES, np.s_[:0]),
    "samples-doubled": rows(SAMPLES, [0, 1, 1, *range(2, 11)]),
    "hold-error-columns-gone": reordered("hold_error", np.s_[:, :0]),
    "error-columns-gone": reordered("error", np.s_[:, :2]),
    "k1": put("controller", "k1", by=1e-9),
    "nu-of-law": put("controller", "nu", by=1e-9),
    "epsilon": put("controller", "epsilon", value=3e-8),
    "t1": put("controller", "t1", by=-1e-9),
    "t2": put("controller", "t2", by=1e-9),
    "reset": put("controller", "reset", value="latest"),
    "dropout": lambda f: f.scenario["controller"].update(reset="dropout", loss=0.5),
    "feedforward": put("controller", "feedforward", value="own"),
    "initial_timer": put("controller", "initial_timer", value=0.2),
    "initial_hold": put("controller", "initial_hold", value=[[0.1, 0.0]] * 4),
    "law-lloyd": put("controller", value={"kind": "lloyd"}),
    "law-discrete": put("controller", value={"kind": "discrete-lloyd"}),
    "law-self-triggered": put("controller", value={"kind": "self-triggered"}),
    "law-event-triggered": put("controller", value={"kind": "event-triggered"}),
    "rate": put("density", "rate", by=1e-9),
    "center": put("density", "center", value=[2.5, 1.5 + 1e-9]),
    "weight": put("density", "weight", value=2.0),
    "density-gone": put("density", value={"kind": "uniform"}),
    "vertex": put("workspace", "vertices", 2, 0, by=1e-9),
    "box": put("workspace", value={"kind": "box", "lower": [0, 0], "upper": [4, 3]}),
    "start-elsewhere": put("agents", "start", 2, 1, by=1e-9),
    "start-one-less": lambda f: f.scenario["agents"]["start"].pop(),
    "ids": put("agents", "ids", value=[3, 2, 1, 0]),
    "radius": put("agents", "radius", value=1.0),
    "radius-beyond-all": put("agents", "radius", value=100.0),
    "seed": put("run", "seed", by=1),
    "horizon-longer": put("run", "horizon", by=0.5),
    "horizon-shorter": put("run", "horizon", by=-0.1),
    "max_jumps": put("run", "max_jumps", value=5),
    "nu-of-run": put("run", "nu", by=0.05),
    "nu-of-run-gone": put("run", "nu", value=None),
    "grid": put("run", "integration", value={"kind": "grid", "spacing": 0.1}),
    "sample_every": put("run", "record", "sample_every", value=0.2),
    "sample_every-off": put("run", "record", "sample_every", value="off"),
    "sample_every-usual": put("run", "record", "sample_every", value=None),
    "record-samples": put("run", "record", "kind", value="samples"),
    "loss": put("network", value={"loss": 0.1}),
    "delay": put("network", value={"delay": 1e-9}),
    "world-density": put("world", value=[{"from": 0.5, "density": {"kind": "uniform"}}]),
    "world-late": put("world", value=[{"from": 0.999, "leave": [0]}]),
    "certificate-eta_max": put("certificate", "eta_max", by=1e-9),
    "certificate-lipschitz": put("certificate", "lipschitz", by=1e-9),
    "certificate-gone": put("certificate", value=None),
    "stop_reason": stated("stop_reason", "jump-limit"),
    "stop_time": stated("stop_time", 0.5),
    "until": stated("until", 2.0),
    "stop-detail": stated("stop", json.dumps(["horizon", 1.0, "all well"])),
    "stop-later": ended("horizon", 1.5),
    "stop-coincident": ended("coincident", 1.0),
    "stop-limit": ended("jump-limit", 1.0),
    "stop-unknown": ended("bored", 1.0),
    "said-law": said("law", value="lloyd"),
    "said-dimension": said("dimension", value=3),
    "said-agents": said("agents", value=5),
    "said-horizon": said("horizon", value=2.0),
    "said-seed": said("seed", value=4),
    "said-start_seed": said("start_seed", value=4),
    "said-integration": said("integration", value="grid"),
    "said-stop-reason": said("stop", "reason", value="jump-limit"),
    "said-stop-ok": said("stop", "ok", value=False),
    "said-stop-time": said("stop", "time", value=0.9),
    "said-record": said("record", value="samples"),
    "said-events": said("events", "total", by=1),
    "said-events-mean": said("events", "per_agent", "mean", by=0.25),
    "said-cells": said("cells", "voronoi", by=-1),
    "said-cells-guaranteed": said("cells", "guaranteed", by=1),
    "said-measurements": said("measurements", by=1),
    "said-messages": said("messages", by=-10),
    "said-broadcasts": said("broadcasts", by=1),
    "said-updates": said("updates", "max", by=-1),
    "said-cost-initial": said("cost", "initial", by=1e-9),
    "said-cost-final": said("cost", "final", value=1.0),
    "said-log_cost": said("log_cost", "final", value=0.0),
    "said-error": said("error", "final_max", value=1e-13),
    "said-coverage-nu": said("coverage", "nu", value=0.4),
    "said-reached_at": said("coverage", "reached_at", value=0.5),
    "said-last_beyond": said("coverage", "last_beyond", value=None),
    "said-hold_error": said("hold_error", "max", by=-1e-3),
    "said-hold_error-limit": said("hold_error", "limit", value=0.4),
    "said-separation": said("separation", "min", by=0.1),
    "said-separation-time": said("separation", "time", value=0.3),
    "said-separation-agents": said("separation", "agents", value=[2, 3]),
    "said-separation-seen": said("separation", "seen", by=0.1),
    "said-certificate-gone": said("certificate", value=None),
    "said-certificate-violated": said("certificate", "violated", value=[]),
    "said-certificate-status": certificate("dwell-time", "holds"),
    "said-lipschitz": said("certificate", "measured_lipschitz", "value", value=0.1),
    "said-assumed": said("certificate", "assumed_lipschitz", value=9.0),
    "said-distance": said("distance", "mean", by=-0.01),
    "said-top_speed": said("top_speed", value=0.4),
    "said-energy": said("energy", "max", by=-0.1),
    "said-positions": said("final_positions", 1, 0, by=1e-9),
    "said-centroids": said("final_centroids", 1, 0, by=1e-9),
    "said-masses": said("final_masses", 1, by=1e-9),
    "said-flags": said("flags", value=[]),
    "said-flag-more": said("flags", value=[{"code": "outside", "says": "An agent was outside."}]),
    "said-more": added_summary_key,
    "said-less": lambda f: f.summary.pop("energy"),
}  # fmt: skip
NOT_DERIVABLE: dict[str, Forge] = {
    "untouched": lambda f: None,
    "name": lambda f: (put("name", value="mine")(f), stated("title", "mine")(f)),
    "title": stated("title", "mine"),
    "comment": stated("comment", "mine"),
    "conventions": stated("Conventions", "none"),
    "repairs": stated("repairs", json.dumps(["all well"])),
    "wall_seconds": stated("wall_seconds", 0.5),
    "wall_seconds-said": said("wall_seconds", value=0.5),
    "note": stated("note", "mine"),
    "python": lambda f: f.attributes.update(
        provenance=json.dumps({**json.loads(f.attributes["provenance"]), "python": "2.7"})
    ),
    "checkpoint": put("run", "checkpoint", "every", value=60.0),
    "max_jumps-enough": put("run", "max_jumps", value=1000),
}


def test_there_are_more_than_a_hundred_kinds() -> None:
    assert len(FOUND) >= 100


@pytest.mark.parametrize("name", FOUND)
def test_a_forged_file_is_found(name: str) -> None:
    assert verdict(FOUND[name]) in ("not-a-solution", "refused")


@pytest.mark.parametrize("name", NOT_DERIVABLE)
def test_what_no_scenario_tells_is_accepted(name: str) -> None:
    assert verdict(NOT_DERIVABLE[name]) == "solution"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from leaves(inner, (*path, key))
    else:
        yield path


def test_a_run_of_another_processor_states_the_truth() -> None:
    """Constants are singular values, of which libraries for other processors round the last bit."""
    for by, wrong in ((1e-15, False), (1e-11, True)):

        def elsewhere(f: File, by: float = by) -> None:
            measured = f.summary["certificate"]["measured_lipschitz"]
            measured["value"] *= 1.0 + by
            measured["per_agent"] = [one * (1.0 - by) for one in measured["per_agent"]]

        assert (verdict(elsewhere) != "solution") is wrong


def test_every_number_of_the_summary_is_compared() -> None:
    """All leaves, one at a time, against what the events give."""
    run = rebuilt(lambda f: None)
    assert misstated(run, same_version=True) == []
    for path in leaves(run.summary()):
        if path[0] in ("wall_seconds", "repairs"):
            continue
        forged = rebuilt(said(*path, value="something else"))
        vars(forged)["flags"] = run.flags
        assert misstated(forged, same_version=True), path
