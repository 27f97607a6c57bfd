"""Laws side by side: the same start for all, figures that can be checked by hand, any workers."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import InputError, Scenario
from dwell.agents.interfaces import Command, Observation
from dwell.controllers import Lloyd, SelfTriggered
from dwell.errors import UnsavedError
from dwell.results import Run
from dwell.results.figures import figure_of
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from dwell.studies import compare, settled_at
from dwell.studies.compare import compare_scenarios, keep_comparison
from dwell.studies.laws import frequent, mismatches, scenarios_of_laws
from tests.conftest import differing

from .conftest import scenario

LAWS: dict[str, Any] = {
    "timer": dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2),
    "lloyd": {"kind": "lloyd", "k2": 2.0},
    "trigger": SelfTriggered(),
}


class Drift:
    """A law that no file can name."""

    def begin(self, view: Observation) -> Command:
        return Command(np.array([0.1, 0.0]), view.time + 0.5)

    decide = begin


def test_the_table_is_what_the_runs_say(small: Scenario) -> None:
    found = compare(small, LAWS)

    for name, row in found.figures.items():
        run = found.runs[name]
        summary = run.summary()
        for key in ("law", "cells.per_agent", "samples", "distance", "updates", "top_speed"):
            assert row[key] == figure_of(run, key)
        assert row["error.final_max"] == summary["error"]["final_max"]
        assert row["cost.final"] == summary["cost"]["final"]
        assert row["cost.initial"] == summary["cost"]["initial"]
        assert 4 * row["measurements"]["mean"] == pytest.approx(summary["measurements"])
        assert 4 * row["messages"]["mean"] == pytest.approx(summary["messages"])
        assert list(row.settled) == [0.5, 0.05, 0.005, 0.0005]  # the scenario's nu, for every law
        assert {level: settled_at(run, level) for level in row.settled} == row.settled
        worst = run.metrics.errors.max(axis=1)
        if (at := row.settled[0.5]) is not None:
            assert (worst[run.metrics.times >= at] <= 0.5).all()
    looks = np.bincount(found.runs["lloyd"].events.agent) + 1
    assert found.figures["lloyd"]["cells.voronoi"] == {"min": 201, "mean": 201.0, "max": 201}
    assert looks.tolist() == [201] * 4


def test_energy_and_distance_of_held_velocities(small: Scenario) -> None:
    run = compare(small, {"timer": LAWS["timer"]}).runs["timer"]
    times = np.linspace(0.0, 2.0, 200_001)
    speed = np.hypot(*np.moveaxis(run.holds(times[:-1]), -1, 0))

    np.testing.assert_allclose(speed.mean(axis=0) * 2.0, run.counters.distance, rtol=1e-4)
    np.testing.assert_allclose((speed**2).mean(axis=0) * 2.0, run.counters.energy, rtol=1e-4)


def test_everything_but_the_law_is_the_same() -> None:
    place = scenario(
        agents={"start": {"count": 5, "seed": 3}},
        run={"horizon": 1.0, "integration": {"kind": "grid", "spacing": 0.1}},
    )
    runs = compare(place, {**LAWS, "drift": Drift()}).runs

    assert len({run.system.seed for run in runs.values()}) == 1  # drawn once, for all
    assert {run.system.spacing for run in runs.values()} == {0.1}
    for run in runs.values():
        np.testing.assert_array_equal(run.start.positions, runs["timer"].start.positions)
        assert run.horizon == 1.0
    assert runs["drift"].scenario is None
    assert isinstance(runs["lloyd"].system.controller, Lloyd)


@pytest.mark.parametrize("workers", [2, 5])
def test_the_same_bits_for_any_number_of_workers(small: Scenario, workers: int) -> None:
    alone = compare(small, LAWS, workers=1)
    together = compare(small, LAWS, workers=workers)

    for name, run in alone.runs.items():
        other = together.runs[name]
        assert differing(run.events, other.events) == []
        for field in ("errors", "costs", "hold_errors", "separations"):
            mine, theirs = getattr(run.metrics, field), getattr(other.metrics, field)
            assert mine.tobytes() == theirs.tobytes()
    assert _without_times(alone.as_json()) == _without_times(together.as_json())


def _without_times(value: dict[str, Any]) -> dict[str, Any]:
    for row in value["laws"].values():
        del row["wall_seconds"]
    return value


def test_json_can_be_printed_and_says_which_tessellations_agree(small: Scenario) -> None:
    twin = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
    value = compare(small, {"one": LAWS["timer"], "two": twin, "drift": Drift()}).as_json()

    assert json.loads(json.dumps(value, allow_nan=False)) == value
    assert value["schema"] == 1
    assert set(value) >= {"scenario", "laws", "same_tessellation"}
    same = value["same_tessellation"]
    assert same["reference"] == "one"
    agreed = {"same": True, "distance": 0.0, "settled_distance": 0.0}
    assert same["laws"]["one"] == same["laws"]["two"] == agreed
    assert same["laws"]["drift"]["distance"] > 0.1


def test_laws_by_name(small: Scenario) -> None:
    names = ["timer", "lloyd", "self-triggered:paper-like", "self-triggered"]
    found = scenarios_of_laws(small, names, ["lloyd.k2=3", "timer.t2=0.3", "self-triggered.v=0.5"])

    assert list(found) == names
    assert found["timer"].controller.t2 == 0.3
    assert found["timer"].controller.k1 == 1.0  # its own law keeps its parameters
    assert found["timer"].certificate == small.certificate
    assert found["lloyd"].controller.k2 == 3.0
    assert found["lloyd"].certificate is None
    assert found["self-triggered:paper-like"].controller.preset == "paper-like"
    assert found["self-triggered"].controller.preset == "default"
    assert {found[name].controller.v for name in names[2:]} == {0.5}
    for name, one in found.items():
        assert (one.workspace, one.agents) == (small.workspace, small.agents)
        assert one.run.model_copy(update={"nu": None}) == small.run
        assert one.run.nu == (None if name == "timer" else 0.5)  # what counts as covered goes along


# The law of a scenario, and the keys that the page gives to a law of another kind beside it.
FAST = {"kind": "timer", "k1": 1.0, "nu": 0.3, "t1": 0.1, "t2": 0.2}
TRIGGER = {"kind": "self-triggered", "v": 0.7, "kappa": 1.4}
PACES: list[tuple[dict[str, Any], str, dict[str, float]]] = [
    (FAST, "lloyd", {"k2": 3.33333, "speed": 1.0}),
    (FAST, "discrete-lloyd", {"speed": 1.0}),
    (FAST, "self-triggered", {"kappa": 3.33333, "v": 1.0}),
    (FAST, "self-triggered-centroid", {"v_max": 1.0}),
    (FAST, "event-triggered", {"s_max": 1.0, "k_v": 3.33333}),
    (TRIGGER, "timer", {"k1": 0.7, "nu": 0.5}),
    ({"kind": "event-triggered", "s_max": 2.0, "k_v": 4.0}, "timer", {"k1": 2.0, "nu": 0.5}),
    ({"kind": "lloyd", "k2": 3.0}, "event-triggered", {"k_v": 3.0, "s_max": 1.0}),
    ({"kind": "self-triggered-centroid", "v_max": 3.0}, "self-triggered", {"v": 3.0, "kappa": 1.0}),
]


@pytest.mark.parametrize(("own", "kind", "keys"), PACES)
def test_other_laws_get_the_pace_of_the_scenario(
    own: dict[str, Any], kind: str, keys: dict[str, float]
) -> None:
    place = scenario(controller=own, certificate=None)
    waits = ["timer.t1=0.1", "timer.t2=0.2"] if kind == "timer" else []
    law = scenarios_of_laws(place, [kind], waits)[kind].controller
    assert {key: getattr(law, key) for key in keys} == keys


def test_unmatched_laws_have_their_defaults(small: Scenario) -> None:
    laws = ["lloyd", "discrete-lloyd", "event-triggered"]
    found = scenarios_of_laws(small, laws, match=False)
    assert found["lloyd"].controller.k2 == 1.0
    assert found["lloyd"].controller.speed is None
    assert found["discrete-lloyd"].controller.speed is None
    tables = {"event": {"kind": "event-triggered"}}
    runs = compare(small, tables, match=False).runs
    assert runs["event"].system.controller.k_v == 1.0
    assert compare(small, tables).runs["event"].system.controller.k_v == 2.0


@pytest.mark.exhaustive
def test_largest_speeds_are_equal_where_the_law_allows_it() -> None:
    harbour = parse_scenario(text_to_mapping(template_text("harbour-20")))
    short = harbour.model_copy(update={"run": harbour.run.model_copy(update={"horizon": 3.0})})
    found = compare(short, ["timer", "lloyd", "discrete-lloyd"])
    value = found.as_json()
    speeds = {name: row["top_speed"] for name, row in value["laws"].items()}
    assert all(speed == pytest.approx(2.5, rel=1e-9, abs=0.0) for speed in speeds.values())
    assert len(value["notes"]) == 1
    assert "discrete-lloyd: no key sets the speed per distance" in value["notes"][0]
    unlike = compare(short, ["timer", "lloyd"], match=False).as_json()
    assert "largest speeds that occurred differ: timer 2.5, lloyd 2" in " ".join(unlike["notes"])
    assert list(value["laws"]["lloyd"]["settled_at"]) == ["4", "0.4", "0.04", "0.004"]


def test_a_comparison_that_is_printed_has_its_notes(small: Scenario) -> None:
    found = compare(small, ["timer", "lloyd"], match=False, progress=False)
    assert "lloyd: speed is not given, so the largest speed is not matched." in found.notes
    assert all(note in str(found) for note in found.notes)
    assert all(escape(note) in found._repr_html_() for note in found.notes)


def test_a_full_disk_leaves_the_comparison(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(run: Run, path: Path, force: bool) -> None:
        raise UnsavedError(f"{path} could not be written (No space left on device)", run=run)

    monkeypatch.setattr(Run, "save", full)
    found = keep_comparison({"timer": small}, tmp_path / "out", progress=False)
    assert "No space left" in str(found.unsaved)
    assert found.figures["timer"]["stop.ok"]


def test_what_was_given_is_kept_and_noted(small: Scenario) -> None:
    found = compare(small, {"timer": LAWS["timer"], "slow": SelfTriggered(v=0.25, kappa=2.0)})
    assert found.runs["slow"].system.controller.v == 0.25
    assert len(found.notes) == 2
    assert "slow: v = 0.25 makes the largest speed 0.25" in found.notes[0]
    assert "that of the scenario's law is 1" in found.notes[0]


def test_a_scenario_without_a_largest_speed_says_so() -> None:
    place = scenario(controller={"kind": "lloyd"}, certificate=None)
    found = compare(place, ["lloyd", "self-triggered"])
    assert "the scenario's law (lloyd) sets no largest speed" in found.notes[0]
    assert next(iter(found.figures["lloyd"].settled)) == 0.05  # a hundredth of the diameter


def test_levels_of_ones_own(small: Scenario) -> None:
    found = compare(small, ["timer", "lloyd"], levels=[0.3, 0.1])
    assert [list(row.settled) for row in found.figures.values()] == [[0.3, 0.1]] * 2


@pytest.mark.parametrize("law", ["lloyd", "timer"])
def test_what_counts_as_covered_is_a_key_of_the_run(law: str) -> None:
    place = scenario(run={"horizon": 2.0, "seed": 1, "nu": 0.6})
    run = compare(place, [law]).runs[law]
    answer = run.summary()["coverage"]
    assert answer["nu"] == 0.6
    assert (run.errors(np.linspace(answer["reached_at"], 2.0, 9)) <= 0.6).all()
    assert run.errors(answer["reached_at"] - 1e-6).max() > 0.6
    finding = next((f for f in run.certificate if f.name == "attractor"), None)
    assert (finding is not None) == (law == "timer")
    assert finding is None or finding.limit == 0.5  # the theorem speaks of the law's own nu


def test_a_law_without_defaults_says_what_it_needs() -> None:
    place = scenario(controller={"kind": "lloyd"}, certificate=None)
    with pytest.raises(InputError) as caught:
        scenarios_of_laws(place, ["lloyd", "timer"], ["timer.nu=1"])

    text = str(caught.value)
    assert "needs k1, t1 and t2" in text
    assert "--set timer.k1=... --set timer.t1=... --set timer.t2=..." in text
    assert caught.value.key == "timer.k1"
    given = ["timer.k1=1", "timer.nu=1", "timer.t1=0.1", "timer.t2=0.2"]
    assert scenarios_of_laws(place, ["timer"], given)["timer"].controller.k1 == 1.0


@pytest.mark.parametrize("name", ["timer.nc", "errors.png"])
def test_files_of_others_are_not_replaced(small: Scenario, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="not"):
        keep_comparison({"timer": small}, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_no_samples_no_settling() -> None:
    run = {"horizon": 1.0, "seed": 1, "record": {"sample_every": "off"}}
    row = compare_scenarios({"timer": scenario(run=run)}).figures["timer"]

    assert set(row.settled.values()) == {None}
    assert row["error.final_max"] is not None


def test_laws_that_sample_very_often_by_default_are_named_before_the_run() -> None:
    own = scenario().model_copy(update={"run": scenario().run.model_copy(update={"horizon": 1e4})})
    wanted = scenarios_of_laws(own, ["timer", "lloyd"])
    given = scenarios_of_laws(own, ["timer", "lloyd"], ["lloyd.dt=1"])

    (note,) = frequent(own, wanted)

    assert note.startswith("lloyd: dt = 0.01")
    assert f"lloyd.dt={own.controller.t1:g}" in note
    (other,) = frequent(own, scenarios_of_laws(own, ["timer", "tvd"]))
    assert other.startswith("tvd: dt = 0.01")
    assert f"tvd.dt={own.controller.t1:g}" in other
    assert list(frequent(own, given)) == []
    assert list(frequent(scenario(), scenarios_of_laws(scenario(), ["timer", "lloyd"]))) == []


def test_at_a_site_lloyd_samples_as_often_as_the_timer_law() -> None:
    site = {"file": "bay.geojson", "crs": "EPSG:32631"}
    law = {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 20.0, "t2": 60.0}
    own = scenario(site=site, controller=law)

    wanted = scenarios_of_laws(own, ["timer", "lloyd"])
    given = scenarios_of_laws(own, ["timer", "lloyd"], ["lloyd.dt=5"])
    exact = scenarios_of_laws(own, ["timer", "lloyd"], ["lloyd.mode=ode"])

    assert wanted["lloyd"].controller.dt == 20.0
    assert "lloyd: dt = 20 s, the t1 of the scenario's law." in mismatches(own, wanted)
    assert given["lloyd"].controller.dt == 5.0
    assert not any("dt =" in note for note in mismatches(own, given))
    assert exact["lloyd"].controller.dt is None
