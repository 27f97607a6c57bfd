"""Frames, starts, settling levels, paces and folders: small parts, each against plain values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Ellipsoid, Gaussian, Interval, Mixture, Polygon, Polytope, Region
from dwell.density import Function, Polynomial, Raster, Uniform
from dwell.errors import InputError
from dwell.results.figures import figure_of, spread_of
from dwell.scenario import Scenario, parse_scenario
from dwell.studies.batch import cases_of, simulate_many
from dwell.studies.compare import Comparison
from dwell.studies.confined import beside_targets, is_admissible
from dwell.studies.deployment import Deployment, reference_for, root_mass
from dwell.studies.folder import refuse_other
from dwell.studies.laws import (
    beside_if_named,
    check_law_names,
    pace_of,
    paced,
    scenario_of_law,
    scenarios_of_laws,
    split_overrides,
)
from dwell.studies.newton import Descent, Kind
from dwell.studies.objective import steps_to_boundary
from dwell.studies.optimize import optimize, optimize_scenario
from dwell.studies.outcome import levels_of, match, resting_place
from dwell.studies.random_starts import CornerFrame, random_start

from .conftest import scenario

TURN = [[0.8, 0.6], [-0.6, 0.8]]
SITES: dict[str, Any] = {
    "polygon": Polygon([(7, 3), (11, 4), (10, 8), (6.5, 6)]),
    "box": Box((7, 3), (9, 8)),
    "ball": Ball((7, 3), 1.5),
    "ellipse": Ellipsoid((7, 3), (2.0, 0.7), TURN),
    "region": Region(
        [{"outer": [(7, 3), (12, 3), (12, 7), (7, 7)], "holes": [[(8, 4), (9, 4), (9, 5.5)]]}],
        stay=True,
    ),
    "interval": Interval(7, 9.5),
    "solid": Polytope([(7, 3, 1), (9, 3, 1), (7, 6, 1), (7, 3, 5)]),
    "bar": Box((7, 3, 1), (8, 5, 4)),
}
GRID = np.array([[1.0, 5.0, 2.0], [0.5, 3.0, 4.0]])
WEIGHTS: dict[str, Any] = {
    "uniform": Uniform(2.5),
    "hill": Gaussian((8.0, 5.0), 0.2),
    "tilted": Gaussian((8.0, 5.0), None, [[2.0, 0.7], [0.7, 1.0]], 3.0),
    "polynomial": Polynomial([(0, 0, 1.0), (2, 1, 0.5), (0, 2, 0.25)], (6.0, 2.0)),
    "raster": Raster(GRID, origin=(6.0, 2.0), pixel=(2.5, 4.0)),
    "mixture": Mixture((Uniform(1.0), Gaussian((8.0, 5.0), 0.2))),
    "function": Function(lambda z: 1.0 + z[:, 0] * z[:, 1] ** 2),
}


@pytest.mark.parametrize("name", SITES)
def test_a_frame_at_the_corner_is_the_same_place(name: str) -> None:
    site = SITES[name]
    frame = CornerFrame(site, Uniform())
    lower, upper = site.bounds
    assert frame.workspace.bounds[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(frame.workspace.bounds[1], upper - lower)
    assert frame.workspace.volume == pytest.approx(site.volume)
    points = lower + (upper - lower) * np.random.default_rng(1).random((40, len(lower)))
    np.testing.assert_allclose(
        frame.workspace.nearest(frame.inward(points)) + lower, site.nearest(points), atol=1e-9
    )
    assert getattr(frame.workspace, "stay", None) == getattr(site, "stay", None)
    start = random_start(frame, 6, 3, 1)
    assert start.shape == (6, len(lower))
    assert np.abs(frame.workspace.nearest(start) - start).max() < 1e-12
    rest = Descent(frame.inward(points), 1.0, 0.0, None, Kind.MINIMUM, 1, ())
    np.testing.assert_allclose(frame.outward(rest).positions, points)


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_density_in_that_frame_is_the_same_density(name: str) -> None:
    frame, weight = CornerFrame(SITES["polygon"], WEIGHTS[name]), WEIGHTS[name]
    points = np.random.default_rng(2).uniform((6.5, 3.2), (11, 8), (50, 2))
    np.testing.assert_allclose(
        frame.density.at(frame.inward(points)), weight.at(points), rtol=1e-12
    )


@pytest.mark.parametrize("name", [name for name in WEIGHTS if name != "function"])
def test_the_root_of_each_density_is_integrated(name: str) -> None:
    """Over a box of two unlike sides, against midpoints of a fine grid."""
    site, weight = Box((7, 3), (10, 8)), WEIGHTS[name]
    cells = dwell.tessellate(site, [(7.5, 4.0), (9.5, 7.0), (8.0, 6.0)], weight)
    x, y = (lo + (np.arange(600) + 0.5) * d / 600 for lo, d in ((7, 3), (3, 5)))
    points = np.stack(np.meshgrid(x, y), axis=2).reshape(-1, 2)
    expected = float(np.sqrt(weight.at(points)).mean()) * 15.0
    assert root_mass(cells, weight) == pytest.approx(expected, rel=2e-3)
    found = reference_for(cells, weight)
    hexagon = 5.0 / (18.0 * np.sqrt(3.0))
    assert found.value == pytest.approx(hexagon * expected**2 / 3, rel=5e-3)
    assert found.as_json(2.0)["ratio"] == 2.0 / found.value


def test_starts_differ_in_seed_and_number_and_follow_the_root_of_the_density() -> None:
    site = Box((0, 0), (2, 1))
    left = Function(lambda z: np.where(z[:, 0] < 1.0, 9.0, 1.0))
    frame = CornerFrame(site, left)
    starts = [random_start(frame, 4, *key) for key in ((1, 0), (1, 1), (2, 0), (0, 1))]
    assert len({start.tobytes() for start in starts}) == 4
    assert random_start(frame, 4, 1, 1).tobytes() == starts[1].tobytes()
    share = np.mean([(random_start(frame, 40, 5, k)[:, 0] < 1.0).mean() for k in range(40)])
    assert share == pytest.approx(0.75, abs=0.04)


def test_steps_to_the_boundary_of_unlike_sides() -> None:
    box, step = Box((0, 0), (4, 1)), np.array([[1.0, 0.0], [-0.5, 0.0], [0.0, 0.25], [0.0, 0.0]])
    places = np.array([[1.0, 0.5], [1.0, 0.5], [1.0, 0.9], [1.0, 0.5]])
    assert steps_to_boundary(box, places, step) == pytest.approx([3.0, 2.0, 0.4, np.inf])
    tilted = Ellipsoid((7, 3), (2.0, 0.5), TURN)
    centre = np.array([[7.0, 3.0]] * 4)
    free = steps_to_boundary(tilted, centre, np.vstack([np.array(TURN), -np.array(TURN)]))
    np.testing.assert_allclose(free, [2.0, 0.5, 2.0, 0.5])


def test_distances_from_targets_in_a_region_with_a_hole() -> None:
    region = SITES["region"]
    places = np.array([[7.5, 3.5], [8.9, 4.5]])
    at: Any = SimpleNamespace(positions=places, errors=np.array([[0.3, 0.0], [0.0, 0.0]]))
    far = beside_targets(region, at)
    assert far[0] == pytest.approx(0.3)
    assert far[1] == pytest.approx(0.1)  # to the wall of the hole at x = 9
    for x, inside in ((7.5, True), (8.9, False), (6.0, False)):
        here = Descent(np.array([[x, 4.5]]), 1.0, 0.0, None, Kind.MINIMUM, 1, ())
        assert is_admissible(region, here) is inside
    both = Descent(places, 1.0, 0.0, None, Kind.MINIMUM, 1, ())
    assert not is_admissible(region, both)


def descent(cost: float, kind: Kind = Kind.MINIMUM, evaluations: int = 3) -> Descent:
    places = np.array([[0.25, 0.4], [0.75, 0.6]])
    return Descent(places + cost / 100.0, cost, 0.0, 0.1, kind, evaluations, (1.0, cost))


def test_figures_of_a_deployment_are_those_of_starts_at_rest() -> None:
    found = Deployment(
        Box((0, 0), (1, 1)), Uniform(),
        {0: descent(3.0), 1: descent(1.0, Kind.UNFINISHED), 2: descent(2.0 * (1 + 5e-11)),
         3: descent(2.0, evaluations=5), 4: descent(np.inf, Kind.WEIGHTLESS), 5: descent(9.0)},
        seed=1, log_scale=np.log(10.0),
    )  # fmt: skip
    assert found.best == 2  # the first of those that differ by rounding
    assert found.times_found == 2
    assert found.median == pytest.approx(2.5)
    assert found.evaluations == 20
    assert found.costs.tolist() == [2.0, 2.0 * (1 + 5e-11), 3.0, 9.0]
    assert found.cost == pytest.approx(20.0)
    assert found.ending == "finished"
    assert replace(found, interrupted=True).ending == "interrupted"
    assert replace(found, descents={1: descent(1.0, Kind.UNFINISHED)}).ending == "unfinished"
    value = found.as_json()
    assert [row["start"] for row in value["starts"]["each"]] == [0, 1, 2, 3, 4, 5]
    assert value["starts"]["best_start"] == 2
    for name, cost in (("best", 20.0), ("median", 25.0), ("worst", 90.0)):
        assert value["starts"][name] == pytest.approx(cost)
    assert value["starts"]["each"][0]["cost"] == pytest.approx(30.0)
    assert value["starts"]["each"][4]["cost"] is None
    assert value["starts"]["kinds"] == {"minimum": 4, "unfinished": 1, "weightless": 1}
    assert value["positions"] == found.descents[2].positions.tolist()


def test_options_of_optimize_count() -> None:
    own = [[0.6, 0.5], [3.1, 1.2], [2.0, 2.2]]
    world = [{"from": 0.5, "density": {"kind": "uniform"}, "leave": [1]}]
    plain = {"agents": {"start": own}, "certificate": None}
    still, moving = scenario(**plain), scenario(world=world, **plain)
    one = optimize_scenario(still, starts=2, workers=1, progress=False)
    assert len(one.descents) == 2
    assert one.seed == 1
    assert one.name == "small"
    assert one.density == dwell.Gaussian((3, 1), 0.1)
    early = optimize(moving, starts=1, progress=False)
    late = optimize(moving, starts=1, at=0.5, progress=False)
    assert (early.agents, late.agents) == (3, 2)
    assert (early.density, late.density) == (one.density, Uniform())
    other = optimize(still, starts=2, seed=8, progress=False)
    assert other.seed == 8
    assert other.descents[0].positions.tolist() == one.descents[0].positions.tolist()
    assert other.descents[1].costs[0] != one.descents[1].costs[0]
    for options in ({"density": Uniform()}, {"agents": 2}):
        with pytest.raises(InputError, match="given beside a scenario"):
            optimize(still, **options)


def outcome(nu: float | None, diameter: float = 5.0) -> Any:
    return SimpleNamespace(
        workspace=SimpleNamespace(diameter=diameter), system=SimpleNamespace(nu=nu)
    )


def test_the_first_run_with_a_nu_sets_the_levels() -> None:
    assert levels_of([outcome(None), outcome(0.4), outcome(0.9)]) == pytest.approx(
        [0.4, 0.04, 0.004, 0.0004]
    )
    assert levels_of([outcome(None, 5.0), outcome(None, 9.0)])[0] == pytest.approx(0.05)


def test_ends_are_those_at_the_horizon_and_rests_those_of_the_last_world() -> None:
    start, law = [(1, 1), (2, 2), (3, 2.5), (0.5, 2)], dwell.Lloyd(dt=0.1)
    box, later = Box((0, 0), (4, 3)), Gaussian((0.5, 0.5), 0.3)
    run = dwell.simulate(
        box, None, start, law, until=1.0, switches=[dwell.Switch(at=0.5, density=later)]
    )
    assert figure_of(run, "error.final_max") == run.errors(1.0).max()
    assert figure_of(run, "cost.final") == run.cost(1.0)
    rest = resting_place(run)
    assert rest is not None
    assert np.abs(dwell.tessellate(box, rest, later).errors).max() < 1e-8
    assert match(run, run).settled == 0.0
    gone = [dwell.Switch(at=0.5, leave=[2])]
    for options in ({"radius": 0.8}, {"switches": gone}):
        assert resting_place(dwell.simulate(box, None, start, law, until=1.0, **options)) is None
    owned = [dwell.Sensor("a", later, (0, 2)), dwell.Sensor("b", Uniform(), (1, 2, 3))]
    run = dwell.simulate(box, None, start, law, until=0.5, sensors=owned)
    assert resting_place(run) is None


PACES: list[tuple[dict[str, Any], float | None, float | None]] = [
    ({"kind": "timer", "k1": 2.0, "nu": 0.5, "t1": 0.1, "t2": 0.2}, 2.0, 4.0),
    ({"kind": "lloyd", "k2": 3.0, "speed": 0.7}, 0.7, 3.0),
    ({"kind": "discrete-lloyd", "speed": 0.7}, 0.7, None),
    ({"kind": "self-triggered", "v": 0.6, "kappa": 1.5}, 0.6, 1.5),
    ({"kind": "self-triggered-centroid", "v_max": 0.6}, 0.6, None),
    ({"kind": "event-triggered", "s_max": 0.6, "k_v": 1.5}, 0.6, 1.5),
    ({"kind": "tvd", "speed": 0.6, "kappa": 1.5}, 0.6, 1.5),
    ({"kind": "minimum-energy", "speed": 0.6}, 0.6, None),
]


@pytest.mark.parametrize(("law", "speed", "gain"), PACES, ids=lambda v: str(v)[:24])
def test_the_pace_of_every_law_is_carried_to_every_other(
    law: dict[str, Any], speed: float | None, gain: float | None
) -> None:
    own = scenario(controller=law, certificate=None)
    assert pace_of(own) == (speed, gain)
    for other, _, has_gain in PACES:
        keys = paced(other["kind"], own)
        table = {**{k: other[k] for k in ("kind", "t1", "t2") if k in other}, **keys}
        if table["kind"] == "timer" and len(keys) < 2:
            assert keys == {"k1": speed}
            continue
        carried = pace_of(scenario(controller=table, certificate=None))
        assert carried[0] == speed
        if has_gain is not None and gain is not None:
            assert carried[1] == pytest.approx(gain)


def test_words_of_laws() -> None:
    given = ["run.horizon=3", "lloyd.k2=2", "timer.t2=1", "python.gain=2", "agents.start=1"]
    own, of_laws = split_overrides(given)
    assert own == [given[0], given[4]]
    assert of_laws == given[1:4]
    for names, code in (
        ([""], "compare.laws"),
        (["loyd"], "compare.law"),
        (["timer", "lloyd", "timer"], "compare.twice"),
    ):
        with pytest.raises(InputError) as caught:
            check_law_names(names)
        assert caught.value.code == code
    place = scenario()
    assert scenario_of_law(place, "lloyd", {"k2": 4.0}).controller.k2 == 4.0
    assert scenario_of_law(place, "lloyd", {}, match=False).controller.speed is None
    assert scenario_of_law(place, "lloyd", {}).controller.speed == 1.0
    for call, code in (
        (lambda: scenario_of_law(place, "lloyd", {"k9": 1}), "compare.override"),
        (lambda: scenarios_of_laws(place, ["timer"], ["lloyd.k2=1"]), "compare.override"),
        (lambda: scenarios_of_laws(place, ["lloyd"], ["lloyd=1"]), "compare.override"),
        (lambda: scenarios_of_laws(place, ["lloyd:fast"]), "compare.preset"),
        (lambda: scenarios_of_laws(place, ["self-triggered:fast"]), "compare.preset"),
        (
            lambda: scenarios_of_laws(place, ["self-triggered", "self-triggered:default"]),
            "compare.twice",
        ),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == code
    folder = Path("here")
    assert beside_if_named(place, ["timer", "lloyd"], folder) is place
    assert beside_if_named(place, ["timer", "code:Law"], folder).modules == str(folder.absolute())


def test_only_our_own_files_are_replaced(tmp_path: Path) -> None:
    refuse_other(tmp_path / "absent", "mark")
    (tmp_path / "ours").write_text("a mark in it")
    refuse_other(tmp_path / "ours", "mark")
    (tmp_path / "theirs").write_text("none")
    (tmp_path / "folder").mkdir()
    for name in ("theirs", "folder"):
        with pytest.raises(InputError, match="is not a file made here"):
            refuse_other(tmp_path / name, "mark")


def test_columns_of_a_comparison() -> None:
    assert spread_of(np.array([3, 1, 8])) == {"min": 1, "mean": 4.0, "max": 8}
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
    slow = dwell.Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.2)
    box, start = Box((0, 0), (4, 3)), [(0.2, 0.2), (0.3, 0.5), (0.6, 0.2)]
    runs = {
        name: dwell.simulate(box, None, start, one, until=1.0, seed=3)
        for name, one in (("fast", law), ("slow", slow))
    }
    found = Comparison(runs, unmatched=("unlike.",))
    assert found.reference == "fast"
    assert found.matches["fast"].distance == 0.0
    assert found.notes == ["unlike.", "the largest speeds that occurred differ: fast 1, slow 0.5."]
    for name, run in runs.items():
        assert found.figures[name]["samples"] == spread_of(run.counters.samples)
        assert found.figures[name]["cost.initial"] == run.cost(0.0)
    rows = {label: values for label, *values in found.rows()}
    for label, values in (
        ("path length", [one.counters.distance for one in runs.values()]),
        ("energy", [one.counters.energy for one in runs.values()]),
        ("positions received", [one.counters.received for one in runs.values()]),
        ("changes of velocity", [one.counters.updates for one in runs.values()]),
        ("messages sent", [one.counters.sent for one in runs.values()]),
        ("own positions measured", [one.counters.measurements for one in runs.values()]),
        ("cells of all kinds", [one.counters.cells for one in runs.values()]),
    ):
        assert rows[label] == [f"{v.mean():.5g} ({v.max():.5g})" for v in values], label
    assert rows["cost at the end"] == [f"{one.cost(1.0):.5g}" for one in runs.values()]


# Batches.


def many(**changes: Any) -> Scenario:
    """Four agents, unlike in all but what `changes` say."""
    return scenario(**{"certificate": None, **changes})


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 3.5]}}, "workspace"),
        ({"density": {"kind": "uniform"}}, "density"),
        ({"run": {"horizon": 2.5, "seed": 1}}, "horizon"),
        ({"run": {"horizon": 2.0, "seed": 1, "max_jumps": 9}}, "max_jumps"),
        (
            {"run": {"horizon": 2.0, "seed": 1, "integration": {"kind": "grid", "spacing": 0.3}}},
            "integration",
        ),
        ({"agents": {"start": [[1, 1], [2, 2], [3, 2.5]]}}, "number of agents"),
    ],
)
def test_runs_of_a_batch_have_these_in_common(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError, match=f"scenario 2 has another {name} than scenario 0"):
        simulate_many([many(), many(), many(**changes)], progress=False)


def test_seeds_and_starts_of_a_batch() -> None:
    place = many(run={"horizon": 2.0, "seed": 6})
    starts = np.random.default_rng(1).uniform(0.1, 2.9, (3, 4, 2))
    cases = cases_of(place, None, starts, None)
    assert [case.scenario.run.seed for case in cases] == [6, 7, 8]
    assert [case.system.seed for case in cases] == [6, 7, 8]
    for case, start in zip(cases, starts, strict=True):
        assert case.positions.tolist() == start.tolist()
        assert np.array(case.scenario.agents.start).tolist() == start.tolist()
    ranged = many(agents={"start": [[1, 1], [2, 2], [3, 2.5], [0.5, 2]], "radius": 0.7})
    assert [case.system.radius for case in cases_of(ranged, [4, 2], None, None)] == [
        cases_of(ranged, None, None, None)[0].system.radius
    ] * 2
    assert [case.system.seed for case in cases_of(ranged, [4, 2], None, None)] == [4, 2]
    scattered = many(agents={"start": {"count": 4, "seed": 3}})
    drawn = cases_of(scattered, None, None, [3, 8])
    assert [case.scenario.agents.start_seed for case in drawn] == [3, 8]
    assert (
        drawn[0].positions.tolist() == cases_of(scattered, None, None, None)[0].positions.tolist()
    )
    assert drawn[0].positions.tolist() != drawn[1].positions.tolist()
    for call in (
        lambda: cases_of(place, [1, 2], starts, None),
        lambda: cases_of(place, None, starts, [1, 2, 3]),
        lambda: cases_of(place, None, None, [1]),
        lambda: cases_of([place, place], [1, 2], None, None),
        lambda: cases_of([], None, None, None),
        lambda: cases_of(place, [-1], None, None),
        lambda: cases_of(place, 3, None, None),
        lambda: cases_of(place, None, starts[0], None),
    ):
        with pytest.raises(InputError):
            call()


def test_a_batch_of_a_changing_world_is_that_of_its_runs() -> None:
    world = [{"from": 0.5, "arrive": [[3.5, 0.3]], "leave": [1]}]
    batch = simulate_many(many(world=world), seeds=[3, 4], progress=False)
    starts = np.random.default_rng(5).uniform(0.2, 2.8, (2, 4, 2))
    moved = simulate_many(many(world=world), starts=starts, progress=False)
    for k in range(2):
        run = dwell.run_scenario(moved.scenarios[k], progress=False)
        assert moved["final_positions"][k].tolist() == run.positions(2.0).tolist()
        assert run.positions(0.0)[:4].tolist() == starts[k].tolist()
    for k, one in enumerate(batch.scenarios):
        run = dwell.run_scenario(parse_scenario(one.model_dump(exclude_none=True)), progress=False)
        assert batch["final_positions"][k].tolist() == run.positions(2.0).tolist()
        assert batch["events.total"][k] == run.details.tally.jumps
        assert batch["separation.seen"][k] == run.summary()["separation"]["seen"]
