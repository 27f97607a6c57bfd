"""Each option of `design` counts, and nothing else changes with it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.runner import run_scenario
from dwell.scenario import Scenario, parse_scenario
from dwell.scenario.build import build
from dwell.studies import constants
from dwell.studies.constants import (
    estimated_seconds,
    measure_constants,
    quick_run,
    samples_of,
    separation_of,
)
from dwell.studies.design import Design, caps_of, voronoi_graphs
from dwell.theory.design import Setting
from dwell.theory.lipschitz import Lipschitz, closest_pair, lipschitz_at, lipschitz_sampled

START = [[0.6, 0.5], [3.1, 1.2], [2.0, 2.2], [0.9, 2.7], [3.4, 2.6]]
LAW = {"kind": "timer", "k1": 0.8, "nu": 0.5, "t1": 0.1, "t2": [0.3, 0.2, 0.4, 0.5, 0.6]}
TABLES: dict[str, Any] = {
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 3]},
    "density": {"kind": "gaussian", "center": [3, 1], "rate": 0.1},
    "agents": {"start": START},
    "controller": LAW,
    "run": {"horizon": 1.0, "seed": 4},
}
CERTIFICATE = {"eta_max": 0.6, "lipschitz": [1.0, 2.0, 3.0, 4.0, 5.0]}


def place(**changes: Any) -> Scenario:
    return parse_scenario({**TABLES, **changes})


def designed(scenario: Scenario, **options: Any) -> Design:
    return dwell.design(scenario, progress=False, **{"samples": 2, **options})


def test_what_is_given_comes_before_the_certificate_and_that_before_what_is_measured() -> None:
    stated, open_ = place(certificate=CERTIFICATE), place()
    usual = designed(stated)
    measured = usual.lipschitz.values
    assert measured is not None
    for scenario, options, eta_max, lipschitz, tied in (
        (stated, {}, 0.6, [1, 2, 3, 4, 5], False),
        (stated, {"eta_max": 0.5}, 0.5, [1, 2, 3, 4, 5], False),
        (stated, {"lipschitz": 7.0}, 0.6, [7] * 5, False),
        (stated, {"lipschitz": [9, 8, 7, 6, 5]}, 0.6, [9, 8, 7, 6, 5], False),
        (open_, {}, 0.99 * 0.8, measured, True),
        (open_, {"eta_max": 0.5}, 0.5, measured, False),
        (open_, {"lipschitz": 7.0}, 0.99 * 0.8, [7] * 5, True),
        (open_, {"eta_max": 0.4, "lipschitz": 7.0}, 0.4, [7] * 5, False),
    ):
        found = designed(scenario, **options)
        assert found.setting.eta_max == pytest.approx(eta_max)
        assert found.setting.lipschitz.tolist() == pytest.approx(list(lipschitz))
        assert found.setting.tied is tied
        noted = " ".join(found.notes)
        assert ("No eta_max is given" in noted) is tied
        assert ("has no certificate" in noted) is (scenario is open_ and "lipschitz" not in options)
    adaptive = {**LAW, "reset": "adaptive", "eta_max": 0.33}
    assert designed(place(controller=adaptive)).setting.eta_max == 0.33
    assert designed(place(controller=adaptive), eta_max=0.3).setting.eta_max == 0.3


def test_constants_are_those_of_start_run_end_and_samples() -> None:
    scenario = place(certificate=CERTIFICATE)
    system, start, _ = build(scenario)
    run = run_scenario(scenario, progress=False)
    found = designed(scenario, samples=6, separation=0.4).lipschitz
    assert found.start is not None
    assert found.run is not None
    assert found.end is not None
    assert found.sampled is not None
    at = [
        lipschitz_at(system.workspace, x, system.density)
        for x in (start, run.positions(run.horizon))
    ]
    assert [found.start.values.tolist(), found.end.values.tolist()] == [
        one.values.tolist() for one in at
    ]
    assert found.start.values.tolist() != found.end.values.tolist()
    assert found.values is not None
    rows = [found.start.values, found.run.values, found.end.values]
    assert found.values.tolist() == np.max(rows, axis=0).tolist()
    again = lipschitz_sampled(system, 0.4, 6)
    assert found.sampled.configurations == 6
    assert found.sampled.values.tolist() == again.values.tolist()
    assert found.missing == {}
    assert designed(scenario, samples=0).lipschitz.sampled is None
    without = designed(scenario, run=False)
    assert without.lipschitz.run is without.lipschitz.end is None
    assert "No constant along a run: the scenario was not run." in without.notes
    # What a verdict rests on is the run where there is one, else the start.
    assert designed(scenario).locally is not without.locally is not None
    assert without.locally is without.lipschitz.start
    for one in (designed(scenario), without):
        seen = one.locally
        assert seen is not None
        assert one.neighbor_limits is not None
        assert one.rate_limits is not None
        s = one.setting
        scale = s.eta_max * s.reach / s.k1**2
        limits = scale / (s.lipschitz * np.sqrt(seen.neighbors + 1.0) + 1.0)
        np.testing.assert_allclose(one.neighbor_limits, limits)
        np.testing.assert_allclose(one.rate_limits, scale / seen.rates)
        assert one.lipschitz_margins is not None
        np.testing.assert_allclose(one.lipschitz_margins, s.lipschitz / one.lipschitz.values)


def test_no_separation_and_cells_without_weight_are_reasons() -> None:
    system, start, _ = build(place())
    assert measure_constants(system, start, None, 0.0, 5, None).missing == {
        "sampled": "without a separation there is no largest one"
    }
    bare = measure_constants(system, start, None, 0.2, 0, None)
    assert bare.sampled is None
    assert bare.missing == {}
    assert (
        bare.bound.as_json() != measure_constants(system, start, None, 0.3, 0, None).bound.as_json()
    )


def test_a_separation_is_the_least_of_what_was_seen() -> None:
    close = [[1.0, 1.0], [1.0, 1.05], *START[2:]]
    system, start, _ = build(place(agents={"start": close}))
    far, beginning, _ = build(place())
    fits = 0.5 * np.sqrt(12.0 / 5)
    assert closest_pair(beginning)[2] > fits
    assert separation_of(far, beginning, None, None) == pytest.approx(fits)
    assert separation_of(system, start, None, None) == pytest.approx(0.05)

    def run(distance: float, contact: bool = False) -> Any:
        close = SimpleNamespace(distance=distance)
        return SimpleNamespace(details=SimpleNamespace(ends_in_contact=contact, closest=close))

    assert separation_of(far, beginning, run(0.01), None) == 0.01
    assert separation_of(far, beginning, run(9.0), None) == pytest.approx(fits)
    assert separation_of(far, beginning, run(0.4, contact=True), None) == 0.0
    assert separation_of(far, beginning, run(0.01), 0.7) == 0.7
    assert separation_of(far, beginning, None, 0) == 0.0
    for wrong in (-1e-9, float("nan"), "far"):
        with pytest.raises(dwell.InputError, match="separation is"):
            separation_of(far, beginning, None, wrong)
    solid, inside, _ = build(
        place(
            workspace={"kind": "box", "lower": [0, 0, 0], "upper": [1, 2, 4]},
            density={"kind": "uniform"},
            agents={"start": [[0.5, 0.1, 0.1], [0.5, 1.9, 3.9]]},
            controller={**LAW, "t2": 0.4},
        )
    )
    assert separation_of(solid, inside, None, None) == pytest.approx(0.5 * 4 ** (1 / 3))


def test_fewer_samples_for_many_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    system = build(place())[0]
    for agents, usual, expensive in ((5, 100, 20), (200, 100, 1), (300, 66, 1), (30_000, 1, 1)):
        many = replace(system, agents=agents, controller=dwell.Timer(k1=1, nu=1, t1=1, t2=2))
        assert samples_of(many, None) == usual
        with monkeypatch.context() as patch:
            patch.setattr(constants, "is_expensive", lambda ground: True)
            assert samples_of(many, None) == expensive
            assert samples_of(many, 8) == 8


def test_estimated_times_follow_law_horizon_and_record() -> None:
    """With 5e-3 s for a jump of the loop, and cells of samples apart."""
    law = {**LAW, "t1": 0.1}
    t2 = np.array(LAW["t2"])

    def seconds(**changes: Any) -> float:
        scenario = place(**changes)
        return estimated_seconds(scenario, build(scenario)[0])

    def run(**more: Any) -> dict[str, Any]:
        return {"horizon": 60.0, "seed": 4, "record": {"sample_every": "off"}, **more}

    jump, cell = constants.PER_JUMP[True], constants.PER_CELL[True]
    jumps = {
        "uniform": float((60.0 / (0.5 * (0.1 + t2))).sum()),
        "latest": float((60.0 / t2).sum()),
        "dropout": 5 * 60.0 / 0.1,
    }
    for reset, count in jumps.items():
        more = {"loss": 0.1} if reset == "dropout" else {}
        given = {**law, "reset": reset, **more}
        assert seconds(controller=given, run=run()) == pytest.approx(count * jump)
    count = jumps["uniform"]
    assert seconds(run=run(max_jumps=100)) == pytest.approx(100 * jump)
    often = run(record={"sample_every": 0.5})
    assert seconds(run=often) == pytest.approx(count * jump + 120 * 5 * cell)
    usual = run()
    del usual["record"]
    assert seconds(run=usual) == pytest.approx(count * jump + 1000 * 5 * cell, rel=2e-3)


def test_only_a_quick_run_is_made_unless_one_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = place()
    system = build(scenario)[0]
    monkeypatch.setattr(constants, "run_scenario", lambda scenario, progress: "run")
    for seconds, wanted, made in (
        (10.0, None, True),
        (10.1, None, False),
        (1e9, True, True),
        (0.0, False, False),
    ):
        monkeypatch.setattr(constants, "estimated_seconds", lambda *_, s=seconds: s)
        run, why = quick_run(scenario, system, wanted, None)
        assert (run == "run", why == "") == (made, made)
        assert ("may take 10 s" in why) == (seconds == 10.1)


def setting(lipschitz: list[float], theta: float = 0.5) -> Setting:
    t2 = np.array([0.2, 0.3])
    return Setting(2.0, 0.5, 1e-8, 0.5 * t2, t2, theta * 2.0, np.array(lipschitz))


def test_a_gain_is_agreed_on_for_the_larger_constants() -> None:
    assumed = setting([2.0, 3.0])
    lower, note = caps_of(assumed, np.array([1.0, 3.0]))
    assert lower is not None
    assert (lower.tolist(), note) == (assumed.max_gains_in_theta.tolist(), "")
    assert caps_of(assumed, None)[1] == ""
    raised, note = caps_of(assumed, np.array([1.0, 4.0]))
    assert raised is not None
    assert raised.tolist() == setting([2.0, 4.0]).max_gains_in_theta.tolist()
    assert raised[0] == lower[0]
    assert raised[1] < lower[1]
    assert "these are larger" in note
    usual, note = caps_of(assumed, np.array([np.inf, 4.0]))
    assert usual is not None
    assert usual.tolist() == lower.tolist()
    assert "some are infinite" in note
    assert caps_of(setting([2.0, 3.0], theta=1.0), None) == (None, "")


def test_agreement_is_over_the_graph_that_is_wanted() -> None:
    scenario = place(certificate=CERTIFICATE)
    system, start, _ = build(scenario)
    run = run_scenario(scenario, progress=False)
    (first,) = voronoi_graphs(system, start, None)
    along = voronoi_graphs(system, start, run)
    times = np.linspace(0.0, 1.0, 50)
    for graphs, places in (([first], [start]), (along, run.positions(times))):
        assert len(graphs) == len(places)
        for graph, x in zip(graphs, places, strict=True):
            expected = dwell.tessellate(system.workspace, x, system.density).neighbors
            assert [list(a) for a in graph] == [list(b) for b in expected]
    found = designed(scenario, agree="flooding")
    assert found.agreement is not None
    assert found.caps is not None
    assert found.agreement.value == pytest.approx(found.caps.min())
    value = found.as_json()["agreement"]
    assert value["eta_max"] == pytest.approx(0.6 / 0.8 * found.agreement.value)
    assert value["messages_on_change"] < value["messages"]
    gossip = [designed(scenario, agree="gossip", graph=graph) for graph in ("start", "run")]
    assert all(one.messages_on_change is None for one in gossip)
    with pytest.raises(dwell.InputError, match="was not run"):
        designed(scenario, agree="gossip", graph="run", run=False)
    with pytest.raises(dwell.InputError, match="no k1 to agree on"):
        designed(scenario, eta_max=0.8, agree="flooding")
    for wrong in ({"agree": "vote"}, {"graph": "end"}):
        with pytest.raises(dwell.InputError, match="is not one of"):
            designed(scenario, **wrong)


def test_the_world_of_a_time_is_that_of_the_time() -> None:
    scenario = place(
        certificate=CERTIFICATE,
        world=[{"from": 0.5, "density": {"kind": "uniform"}, "leave": [1]}],
    )
    early, late = designed(scenario), designed(scenario, at=0.5)
    assert (early.setting.agents, late.setting.agents) == (5, 4)
    assert late.setting.t2.tolist() == [0.3, 0.4, 0.5, 0.6]
    assert late.setting.lipschitz.tolist() == [1, 3, 4, 5]
    for one, time in ((early, "t = 0, "), (late, "t = 0.5, ")):
        assert one.between_switches
        assert time in " ".join(one.notes)
        assert "hold between two switches only" in " ".join(one.notes)
    still = designed(place(certificate=CERTIFICATE))
    assert not still.between_switches
    assert "The world changes" not in " ".join(still.notes)


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        (
            {"run": {**TABLES["run"], "integration": {"kind": "grid", "spacing": 0.5}}},
            "measured with exact integrals",
        ),
        ({"controller": {**LAW, "initial_hold": [[0.1, 0.0]] * 5}}, "with initial_hold it may be"),
        ({"run": {**TABLES["run"], "max_jumps": 7}}, "The run ended early"),
        ({"certificate": {"eta_max": 0.6, "lipschitz": 0.01}}, "At random places the constant"),
    ],
)
def test_what_limits_the_conditions_is_noted(changes: dict[str, Any], note: str) -> None:
    usual = " ".join(designed(place(certificate={"eta_max": 0.6, "lipschitz": 99.0})).notes)
    assert note not in usual
    tables = {"certificate": {"eta_max": 0.6, "lipschitz": 99.0}, **changes}
    assert note in " ".join(designed(place(**tables)).notes)


def test_margins_are_those_of_each_agent() -> None:
    s = setting([2.0, 3.0])
    bound = designed(place()).lipschitz.bound

    def seen(values: list[float]) -> Any:
        return SimpleNamespace(values=np.array(values))

    known = Design(s, Lipschitz(bound, start=seen([4.0, 0.0])), (), (), (), ())
    assert known.lipschitz_margins is not None
    assert known.lipschitz_margins.tolist() == [0.5, np.inf]
    assert Design(s, Lipschitz(bound), (), (), (), ()).lipschitz_margins is None
    assert known.verdict == "conditions met"
    assert replace(known, reasons=("why",)).verdict == "certificate void"
    silent = replace(s, scope={**s.scope, "theorem": ("why",)})
    assert replace(known, setting=silent, reasons=("why",)).verdict == "not applicable"
    shared = replace(known, setting=replace(s, scope={}))
    assert shared.in_practice.startswith("sync_global (proved) is met")
    between = replace(shared, between_switches=True).in_practice
    assert between == f"between two switches of the world, {shared.in_practice}"
