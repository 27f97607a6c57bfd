"""Which statements apply to which scenarios: one answer for design, certificate, flags and runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.agents import CoverageSystem
from dwell.scenario import Scenario, parse_scenario
from dwell.scenario.build import build
from dwell.studies.design import SILENT
from dwell.theory.scope import INSIDE, LOCAL, STATEMENTS, SYNC, THEOREM, scope_of

BOX = {"kind": "box", "lower": [0, 0], "upper": [4, 4]}
SHARED = {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.02, "t2": 0.02}
ELL = [[0, 0], [4, 0], [4, 1.5], [1.5, 1.5], [1.5, 4], [0, 4]]
MASK = {"kind": "region", "parts": [{"outer": ELL}]}
START = [[0.5, 0.5], [3, 1], [1, 1.2], [1, 3], [0.5, 3.7]]
GAUSSIAN = {"kind": "gaussian", "center": [1.0, 2.0], "rate": 0.3}
MOVING = GAUSSIAN | {"center": {"times": [0.0, 1.0], "values": [[1.0, 2.0], [3.0, 2.0]]}}


def raster(values: Any = ((1.0, 2.0), (3.0, 4.0)), kind: str = "bilinear") -> dict[str, Any]:
    return {"kind": "raster", "values": values, "interpolation": kind}


def stored(density: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The table of a raster whose values lie in a file."""
    np.save(folder / "values.npy", np.array(density["values"]))
    place = {
        "file": str(folder / "values.npy"),
        "origin": [0.0, 0.0],
        "pixel": 2.0,
        "rows": "south first",
    }
    return {**density, **place, "values": "density"}


def scenario(**tables: Any) -> Scenario:
    data: dict[str, Any] = {
        "workspace": BOX, "agents": {"start": START}, "controller": SHARED,
        "certificate": {"eta_max": 0.9, "lipschitz": 5.0},
        "run": {"horizon": 0.6, "seed": 1, "record": {"sample_every": 0.3}},
    }  # fmt: skip
    for name, changes in tables.items():
        replaces = isinstance(changes, list) or "kind" in changes
        data[name] = changes if replaces else {**data.get(name, {}), **changes}
    return parse_scenario(data)


ALL = set(STATEMENTS)
CASES: dict[str, tuple[dict[str, Any], set[str], str]] = {
    "plain": ({}, set(), ""),
    "gaussian": ({"density": GAUSSIAN}, set(), ""),
    "bilinear": ({"density": raster()}, set(), ""),
    "own timers": ({"controller": {"t2": 0.03}}, {SYNC}, "not shared"),
    "moving density": ({"density": MOVING}, {THEOREM, SYNC, LOCAL}, "moves"),
    "moving workspace": (
        {"workspace": {"kind": "polygon", "vertices": {
            "times": [0.0, 1.0],
            "values": [[[0, 0], [4, 0], [4, 4], [0, 4]], [[0, 0], [5, 0], [5, 4], [0, 4]]],
        }}}, ALL, "moves|changes",
    ),
    "feed-forward": ({"controller": {"feedforward": "own"}}, ALL, "feed-forward"),
    "neighbours": ({"controller": {"feedforward": "neighbours"}}, ALL, "feed-forward"),
    "mask": ({"workspace": MASK}, {THEOREM, INSIDE}, "region"),
    "stay": (
        {"workspace": MASK | {"stay": True}}, ALL, "corners",
    ),
    "grid": (
        {"run": {"integration": {"kind": "grid", "spacing": 0.2}}}, {THEOREM, LOCAL}, "grid",
    ),
    "jumps": ({"density": raster(kind="constant")}, {THEOREM}, "jumps"),
    "zero": ({"density": raster(((1.0, 0.0), (3.0, 4.0)))}, {THEOREM}, "0 in places"),
    "polynomial": (
        {"density": {"kind": "polynomial", "terms": [[1, 0, 1.0]]}}, {THEOREM}, "0 in",
    ),
    "loss": ({"network": {"loss": 0.2}}, {THEOREM, SYNC, LOCAL}, "lost or late"),
    "delay": ({"network": {"delay": 0.01}}, {THEOREM, SYNC, LOCAL}, "lost or late"),
    "dropout": ({"controller": {"t2": 0.05, "reset": "dropout", "loss": 0.3}}, {SYNC}, "shared"),
    "alone": ({"agents": {"start": START[:1]}}, {THEOREM}, "two agents"),
    "first velocities": ({"controller": {"initial_hold": [[1.0, 0.0]] * 5}}, {INSIDE}, "start"),
    "other region": (
        {"world": [{"from": 0.5, "workspace": MASK}]},
        {THEOREM, INSIDE}, "region",
    ),
    "other box": (
        {"world": [{"from": 0.5, "workspace": BOX | {"upper": [5, 5]}}]}, {INSIDE}, "changes",
    ),
    "leaving": ({"world": [{"from": 0.5, "leave": [0]}]}, {THEOREM, SYNC, LOCAL}, "leave"),
    "other network": (
        {"world": [{"from": 0.5, "network": {"loss": 0.5}}]}, {THEOREM, SYNC, LOCAL}, "lost",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_answer_for_design_certificate_and_flags(name: str, tmp_path: Path) -> None:
    tables, silent, words = CASES[name]
    if tables.get("density", {}).get("kind") == "raster":
        tables = {"density": stored(tables["density"], tmp_path)}
    case = scenario(**tables)
    scope = scope_of(build(case)[0])
    assert {statement for statement in STATEMENTS if scope[statement]} == silent
    assert all(any(re.search(words, why) for why in scope[statement]) for statement in silent)

    found = dwell.design(case, samples=0, run=False)
    value = found.as_json()
    assert {k: tuple(v) for k, v in value["not_applicable"].items()} == scope
    assert (found.verdict == SILENT) == (THEOREM in silent)
    assert (value["sync_global"]["applies"] is False) == (SYNC in silent)
    assert (value["async_local"]["applies"] is False) == (LOCAL in silent)
    for condition in found.setting.sharper:
        assert (f"{condition.name} (" in found.in_practice) == (condition.name not in silent)
    allowed = {None, False} if INSIDE in silent else {True}
    assert value["sync_global"]["met_without_overshoot"] in allowed

    run = dwell.run_scenario(case)
    statuses = {finding.status for finding in dwell.check(run).certificate}
    assert (statuses == {"not applicable"}) == (THEOREM in silent)
    flags = {flag.code: flag.says for flag in run.flags}
    apart = name in ("alone", "loss", "delay", "other network")  # with flags of their own
    says = flags.get("certificate-void", "")
    assert ("does not apply" in says) == (THEOREM in silent and not apart)


def test_other_laws_have_no_statement() -> None:
    box = dwell.Box((0, 0), (1, 1))
    scope = scope_of(CoverageSystem(box, dwell.Uniform(), dwell.Lloyd(), 2))
    assert all("law is Lloyd" in scope[name][0] for name in STATEMENTS)


def test_ranges_and_sensors_leave_the_cost_falling() -> None:
    box, law = dwell.Box((0, 0), (4, 4)), dwell.Timer(k1=1.0, nu=0.5, t1=0.5, t2=0.5)
    radii = CoverageSystem(box, dwell.Uniform(), law, 5, radius=(1.0, 1.5, 1.0, 0.7, 2.0))
    scope = scope_of(radii)
    assert {name for name in STATEMENTS if scope[name]} == {THEOREM}
    run = dwell.simulate(
        box, None, START, law, until=20.0, radius=(1.0, 1.5, 1.0, 0.7, 2.0), sample_every="off"
    )
    costs = np.asarray(run.cost(np.unique(np.append(0.0, run.events.time))))
    assert (np.diff(costs) <= 1e-12 * costs[:-1]).all()


def test_feed_forward_never_promises_to_stay_inside() -> None:
    """A Gaussian that moves to the wall carries an agent over it, within every limit of T2."""
    track = {"times": [0.0, 30.0], "values": [[1.0, 2.0], [3.95, 2.0]]}
    law = {"kind": "timer", "k1": 0.3, "nu": 0.1, "t1": 0.32, "t2": 0.32, "feedforward": "own"}
    case = scenario(
        density=GAUSSIAN | {"rate": 40.0, "center": track}, controller=law,
        agents={"start": [[1.0, 2.0], [0.5, 3.5]]}, run={"horizon": 30.0},
        certificate={"eta_max": 0.2, "lipschitz": 5.0},
    )  # fmt: skip
    sync = dwell.design(case, samples=0, run=False).as_json()["sync_global"]
    assert sync["limit_without_overshoot"] > 0.32
    assert sync["met_without_overshoot"] is False
    assert "feed-forward" in sync["reasons_without_overshoot"][0]


def test_what_holds_between_switches_says_so() -> None:
    """A switch may raise the cost and any hold error, whatever holds before and after it."""
    switch = [{"from": 0.3, "density": GAUSSIAN}]
    for tables, limited in (({}, False), ({"world": switch}, True)):
        found = dwell.design(scenario(**tables), samples=0, run=False)
        assert found.as_json()["between_switches"] is limited
        assert found.in_practice.startswith("between two switches") is limited
        assert any("between two switches" in note for note in found.notes) is limited
        assert any("next sample" in note for note in found.notes) is limited
