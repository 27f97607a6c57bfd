"""Every key of a scenario arrives in what is built of it, alone and unmixed, and comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Network, Sensor, Switch
from dwell._parameters import LARGEST, common_length, parameters_of
from dwell.agents import CoverageSystem
from dwell.density import (
    Function,
    Gaussian,
    Mixture,
    Moving,
    MovingRaster,
    Polynomial,
    Raster,
    Uniform,
)
from dwell.errors import ControllerError, DensityError, ScenarioError
from dwell.geometry import Ball, Box, Ellipsoid, Interval, MovingPolygon, Polygon, Polytope, Region
from dwell.motion import Circle, Keyframes
from dwell.scenario import Scenario, checks, parse_scenario
from dwell.scenario.build import (
    build,
    build_density,
    build_sensors,
    build_start,
    build_switches,
    build_without_code,
    build_workspace,
    with_seed,
)
from dwell.scenario.describe import (
    check_ids,
    check_options,
    describe,
    describe_density,
    describe_workspace,
    run_table,
)
from dwell.scenario.fleet import live_settings
from dwell.scenario.frozen import scenario_at
from dwell.scenario.laws import LAW_KINDS, LAW_TABLES
from dwell.scenario.load import parse_scenario_in
from dwell.scenario.places import DENSITY_TABLES
from dwell.scenario.problems import dotted
from dwell.scenario.rasters import describe_raster, pinned, raster_from, raster_tables
from dwell.scenario.site import as_epoch
from dwell.sites import Site

START = [[0.6, 0.5], [3.1, 1.2], [2.0, 2.2]]
SCATTERED = {"agents": {"start": {"count": 1}}}
HILL = {"kind": "gaussian", "center": [1, 2], "rate": 0.3}
TABLES: dict[str, Any] = {
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 3]},
    "agents": {"start": START},
    "controller": {"kind": "timer", "k1": 0.8, "nu": 0.5, "t1": 0.1, "t2": 0.3},
    "run": {"horizon": 2.0, "seed": 4},
}


def scenario(**changes: Any) -> Scenario:
    return parse_scenario({**TABLES, **changes})


def run(**more: Any) -> dict[str, Any]:
    return {"run": {**TABLES["run"], **more}}


def agents(**more: Any) -> dict[str, Any]:
    return {"agents": {**TABLES["agents"], **more}}


GRID = {"kind": "grid", "spacing": 0.2}
OPTIONS: list[tuple[dict[str, Any], Callable[[CoverageSystem], Any], Any]] = [
    ({"workspace": {"kind": "box", "lower": [0, 0], "upper": [5, 3]}},
     lambda s: s.workspace.upper, (5, 3)),
    ({"density": HILL}, lambda s: s.density, Gaussian((1, 2), 0.3)),
    (agents(ids=[5, 1, 3]), lambda s: s.ids, (5, 1, 3)),
    (agents(radius=0.7), lambda s: tuple(s.radius), (0.7, 0.7, 0.7)),
    (agents(radius=[0.7, 0.8, 0.9]), lambda s: tuple(s.radius), (0.7, 0.8, 0.9)),
    ({"network": {"loss": 0.25, "delay": 0.5}}, lambda s: s.network, Network(0.25, 0.5)),
    (run(seed=9), lambda s: s.seed, 9),
    (run(nu=0.3), lambda s: s.nu, 0.3),
    (run(integration=GRID), lambda s: s.spacing, 0.2),
    ({"world": [{"from": 1.0, "density": HILL}]}, lambda s: s.density_at(1.0)
     if hasattr(s, "density_at") else s.ground_at(1.0).density, Gaussian((1, 2), 0.3)),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "get", "value"), OPTIONS)
def test_each_key_arrives(
    changes: dict[str, Any], get: Callable[[CoverageSystem], Any], value: Any
) -> None:
    system, start, _ = build(scenario(**changes))
    assert get(system) == value
    assert start.tolist() == START
    try:
        usual = get(build(scenario())[0])
    except TypeError:  # None has no entries
        usual = None
    assert usual != value


TRACK = Keyframes((0.0, 1.0), ((1.0, 2.0), (3.0, 1.0)), "step", "hold")
RINGS = [{"outer": [(0, 0), (6, 0), (6, 4), (0, 4)], "holes": [[(1, 1), (2, 1), (2, 3)]]},
         {"outer": [(7, 1), (9, 1), (8, 3)]}]  # fmt: skip
PLACES = [
    Polygon([(0, 0), (5, 1), (3, 4)]),
    Box((0, 1), (5, 4)),
    Box((0, 1, 2), (5, 4, 3)),
    Interval(1, 3),
    Polytope([(0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 4)]),
    Ball((1, 2), 3),
    Ellipsoid((1, 2), (3.0, 0.5)),
    Ellipsoid((1, 2), (3.0, 0.5), [[0.8, 0.6], [-0.6, 0.8]]),
    Region(RINGS),
    Region(RINGS, stay=True),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda p: type(p).__name__)
def test_workspaces_there_and_back(place: Any) -> None:
    table = describe_workspace(place)
    n = place.dimension
    tables = {**TABLES, "workspace": table, "agents": {"start": {"count": 2}}}
    again = build_workspace(parse_scenario(tables).workspace)
    assert type(again) is type(place)
    assert describe_workspace(again) == table
    assert again.volume == pytest.approx(place.volume)
    assert np.array(again.bounds).tolist() == np.array(place.bounds).tolist()
    points = place.bounds[0] + np.random.default_rng(n).random((30, n)) * place.diameter
    np.testing.assert_allclose(again.nearest(points), place.nearest(points))
    assert getattr(again, "stay", None) == getattr(place, "stay", None)


VALUES = np.array([[1.0, 5.0, 2.0], [0.5, 3.0, 4.0]])
TURN = [[0.8, 0.6], [-0.6, 0.8]]
WEIGHTS: list[Any] = [
    Uniform(2.5),
    Polynomial([(0, 0, 1.0), (2, 1, 0.5)], (6.0, 2.0)),
    Gaussian((1, 2), 0.3, None, 4.0),
    Gaussian((1, 2), None, [[2.0, 0.5], [0.5, 1.0]], 4.0),
    Mixture((Uniform(1.0), Gaussian((1, 2), 0.3))),
    Moving(Gaussian, center=TRACK, rate=0.3, weight=2.0),
    Moving(Gaussian, center=Circle((1.0, 2.0), 0.5, -3.0, 0.25), rate=0.3, weight=1.0),
    Raster(VALUES, origin=(-1, -2), pixel=(3.0, 4.0), interpolation="bilinear"),
    Raster(VALUES, origin=(-1, -2), pixel=(3.0, 4.0), rows="north first", amounts=True),
    Raster(VALUES, origin=(0, -2), pixel=(3.0, 4.0), outside=0.0, axes=TURN),
]


@pytest.mark.parametrize("weight", WEIGHTS, ids=lambda w: type(w).__name__)
def test_densities_there_and_back(weight: Any) -> None:
    table = describe_density(weight)
    assert table is not None
    again = build_density(scenario(density=table).density)
    assert type(again) is type(weight)
    assert describe_density(again) == table
    points = np.random.default_rng(3).uniform((0, 0), (4, 3), (40, 2))
    for t in (0.0, 0.4, 1.0):
        one, other = (w.now(t) if hasattr(w, "now") else w for w in (again, weight))
        assert one.at(points).tolist() == other.at(points).tolist()


def test_a_raster_is_found_again_by_its_description() -> None:
    for raster in WEIGHTS[-3:]:
        again = raster_from(describe_raster(raster), raster.values)
        points = np.random.default_rng(3).uniform((0, 0), (4, 3), (40, 2))
        assert again.at(points).tolist() == raster.at(points).tolist()
    north = raster_from({**describe_raster(WEIGHTS[-3]), "rows": "north first"}, VALUES)
    assert north.digest != WEIGHTS[-3].digest
    values = WEIGHTS[-3].at([(-0.5, -1.0)]), WEIGHTS[-2].at([(-0.5, -1.0)])
    assert values[0].item() == pytest.approx(1.0)  # the first row is the southern one
    assert values[1].item() == pytest.approx(0.5 / 12.0)  # the second one, per area
    frames = MovingRaster([0.0, 2.0], WEIGHTS[-3:-2] * 2, between="step", after="hold")
    table = describe_density(frames)
    assert table is not None
    assert describe_density(build_density(scenario(density=table).density)) == table
    assert (table["file"]["between"], table["file"]["after"]) == ("step", "hold")


def test_all_objects_of_a_run_there_and_back() -> None:
    switches = [
        Switch(at=0.5, density=Gaussian((3, 1), 0.2), network=Network(0.1, 0.2), leave=[1, 0]),
        Switch(at=1.5, workspace=Box((0, 0), (3, 2.5)), arrive=[(2.5, 0.5), (0.2, 0.4)]),
    ]
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
    table = run_table(2.0, 7, 99, None, "samples", 0.5, 0.25)
    made = describe(
        Box((0, 0), (4, 3)), Gaussian((1, 2), 0.3), np.array(START), law, table,
        ids=(4, 2, 9, 8, 1), network=Network(0.3, 0.1), switches=switches,
        radius=(1.0, 2.0, 3.0, 4.0, 5.0),
    )  # fmt: skip
    assert made is not None
    assert made.run.model_dump(exclude_none=True, exclude={"checkpoint"}) == {
        "horizon": 2.0, "seed": 7, "nu": 0.25, "integration": {"kind": "exact"},
        "record": {"kind": "samples", "sample_every": 0.5}, "max_jumps": 99,
    }  # fmt: skip
    assert run_table(2.0, 7, 99, 0.2, "events", None, None)["integration"] == GRID
    assert made.agents.ids == (4, 2, 9, 8, 1)
    assert made.agents.radius == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert made.network is not None
    assert (made.network.loss, made.network.delay) == (0.3, 0.1)
    one, other = build_switches(made)
    assert (one.at, one.density, one.workspace) == (0.5, switches[0].density, None)
    assert (one.network, one.leave, one.arrive.size) == (Network(0.1, 0.2), (1, 0), 0)
    assert (other.at, other.density, other.network, other.leave) == (1.5, None, None, ())
    assert other.arrive.tolist() == [[2.5, 0.5], [0.2, 0.4]]
    assert describe_workspace(other.workspace) == describe_workspace(switches[1].workspace)
    sensors = [Sensor("a", Uniform(2.0), (0, 2)), Sensor("b", Gaussian((1, 2), 0.3), (1, 2, 3))]
    late = [Switch(at=1.0, arrive=[(0.2, 0.4)])]
    owned = describe(
        Box((0, 0), (4, 3)), Uniform(), np.array(START), law, {"horizon": 2.0},
        switches=late, sensors=sensors, radius=(2.0, 2.0, 2.0, 2.0),
    )  # fmt: skip
    assert owned is not None
    assert owned.agents.sensors == (("a",), ("b",), ("a", "b"), ("b",))
    assert owned.agents.radius == 2.0
    assert [(s.name, s.density, s.owners) for s in build_sensors(owned)] == [
        (s.name, s.density, s.owners) for s in sensors
    ]
    nameless = Function(lambda z: z[:, 0])
    for options in (
        {"switches": [Switch(at=0.5, density=nameless)]},
        {"sensors": [*sensors, Sensor("c", nameless, (0,))]},
    ):
        place: Any = (Box((0, 0), (4, 3)), Uniform(), np.array(START), law, {"horizon": 2.0})
        assert describe(*place, **options) is None


@pytest.mark.parametrize(
    ("option", "good", "bad"),
    [
        ("until", (0, 2.5), (-1e-9, np.nan, "x", None)),
        ("seed", (0, 5), (-1, 1.5, None)),
        ("max_jumps", (1, 5), (0, 1.5)),
        ("threads", (None, 1), (0, 1.5)),
        ("spacing", (None, 0.1), (0.0, -1)),
        ("sample_every", (None, "off", 0.1), (0, -1, "on")),
        ("record", ("events", "samples", "summary"), ("all", None)),
        ("nu", (None, 0.1), (0.0, -1, "x")),
    ],
)
def test_options_are_refused_just_beyond_their_limits(
    option: str, good: tuple[Any, ...], bad: tuple[Any, ...]
) -> None:
    usual: dict[str, Any] = {
        "until": 1.0, "seed": 0, "spacing": None, "sample_every": None, "max_jumps": 1,
        "threads": None, "record": "events", "nu": None,
    }  # fmt: skip
    for value in good:
        check_options(**{**usual, option: value})
    for value in bad:
        with pytest.raises(dwell.InputError):
            check_options(**{**usual, option: value})
    with pytest.raises(dwell.InputError, match="leaves nothing"):
        check_options(**{**usual, "record": "samples", "sample_every": "off"})
    check_ids([0, 2**31 - 1], 2, 0)
    for ids in ([0], [0, 0], [0, 2**31], [-1, 0], [0, 1, 2]):
        with pytest.raises(dwell.InputError):
            check_ids(ids, 2, 0)


def test_scattered_starts_follow_seed_count_and_region() -> None:
    site = Box((0, 0), (4, 3))

    def start(**table: Any) -> np.ndarray:
        return build_start(scenario(agents={"start": table}).agents, site)[0]

    region = {"lower": [1, 2], "upper": [1.5, 2.75]}
    many = start(count=40, region=region, seed=2)
    assert len(many) == 40
    assert ((many >= [1, 2]) & (many <= [1.5, 2.75])).all()
    assert many[:, 1].max() > 2.5
    assert start(count=5).tolist() == start(count=5, seed=0).tolist()
    assert start(count=5).tolist() != start(count=5, seed=1).tolist()
    one, other = (with_seed(scenario(run={"horizon": 1.0})).run.seed for _ in range(2))
    assert one != other
    assert with_seed(scenario(), 8).run.seed == 8
    assert with_seed(scenario()).run.seed == 4


@pytest.mark.parametrize(
    ("time", "who", "x"),
    [(0.0, [0, 1, 2], 4), (0.99, [0, 1, 2], 4), (1.0, [0, 2, 3, 4], 4), (2.0, [2, 3, 4], 3)],
)
def test_the_world_of_a_time_has_the_agents_of_the_time(
    time: float, who: list[int], x: int
) -> None:
    """Agents leave and arrive in the middle of numbers; lists go along, each with its agent."""
    later = [[3.5, 2.5], [0.2, 0.4]]
    world = [
        {"from": 1.0, "leave": [1], "arrive": later, "network": {"loss": 0.25}},
        {"from": 1.5, "leave": [0], "density": HILL,
         "workspace": {"kind": "box", "lower": [0, 0], "upper": [3, 3]}},
    ]  # fmt: skip
    given = [0.21, 0.22, 0.23, 0.24, 0.25]
    law = {**TABLES["controller"], "t1": [v - 0.1 for v in given], "t2": given,
           "initial_timer": given, "initial_hold": [[v, 0] for v in given]}  # fmt: skip
    whole = scenario(
        world=world, controller=law, agents={"start": START, "ids": [9, 7, 5, 3, 1]},
        certificate={"eta_max": 0.4, "lipschitz": [1, 2, 3, 4, 5]},
    )  # fmt: skip
    now = scenario_at(whole, time)
    places = [([*START, *later][p]) for p in who]
    expected = [[min(a, float(x)), b] for a, b in places]
    assert np.array(now.agents.start).tolist() == expected
    assert now.agents.ids == tuple([9, 7, 5, 3, 1][p] for p in who)
    for key in ("t2", "initial_timer"):
        assert getattr(now.controller, key) == tuple(given[p] for p in who), key
    assert [hold[0] for hold in now.controller.initial_hold] == [given[p] for p in who]
    assert now.controller.t1 == tuple(whole.controller.t1[p] for p in who)
    assert now.certificate is not None
    assert now.certificate.lipschitz == tuple(p + 1.0 for p in who)
    assert now.world is None
    system = build(now)[0]
    assert system.workspace.upper == (x, 3)
    assert system.density == (Gaussian((1, 2), 0.3) if time == 2.0 else Uniform())
    assert system.network.loss == (0.25 if time >= 1.0 else 0.0)
    for wrong in (-1e-9, 2.0001, "x"):
        with pytest.raises(dwell.InputError, match="the time is"):
            scenario_at(whole, wrong)


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_every_key_with_a_value_for_each_agent_goes_along(at: float) -> None:
    """The agent that leaves is in the middle, and no two values are equal."""
    law = {**TABLES["controller"], "reset": "periodic"}
    lists = {"t1": [0.01, 0.02, 0.03], "t2": [0.21, 0.22, 0.23], "period": [0.11, 0.12, 0.13],
             "initial_timer": [0.14, 0.15, 0.16],
             "initial_hold": [[0.01, 0], [0.02, 0], [0.03, 0]]}  # fmt: skip
    world, who = [{"from": 1.0, "leave": [1]}], [0, 2] if at else [0, 1, 2]
    for key, values in lists.items():
        whole = scenario(world=world, controller=law | {"t1": 0.01, "t2": 0.25, key: values})
        kept = getattr(scenario_at(whole, at).controller, key)
        assert np.array(kept).tolist() == [values[p] for p in who], key
    for key, value in (("t1", 0.01), ("t2", 0.25), ("period", 0.1), ("initial_timer", 0.2)):
        whole = scenario(world=world, controller=law | {"t1": 0.01, "t2": 0.25, key: value})
        assert getattr(scenario_at(whole, at).controller, key) == value


def test_lists_of_waits_go_along_too() -> None:
    world = [{"from": 1.0, "leave": [1]}]
    for intervals, kept in (
        ([[0.1, 0.2], [0.2, 0.2], [0.3, 0.2]], ((0.1, 0.2), (0.3, 0.2))),
        ([0.1, 0.2, 0.3], (0.1, 0.2, 0.3)),  # a sequence for all, as long as there are agents
    ):
        law = {**TABLES["controller"], "reset": "sequence", "intervals": intervals}
        now = scenario_at(scenario(world=world, controller=law), 1.0)
        assert now.controller.intervals == kept


# Sites: south-west of Greenwich, with a hole and two parts.

LON, LAT = -70.6, -33.4
MAP = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "properties": {"name": name}, "geometry": geometry}
        for name, geometry in (
            ("small", {"type": "Polygon", "coordinates": [
                [[LON + 0.05, LAT], [LON + 0.06, LAT], [LON + 0.06, LAT + 0.01], [LON + 0.05, LAT]]
            ]}),
            ("large", {"type": "MultiPolygon", "coordinates": [
                [[[LON, LAT], [LON + 0.01, LAT], [LON + 0.01, LAT + 0.02], [LON, LAT]]],
                [[[LON, LAT + 0.03], [LON + 0.03, LAT + 0.03], [LON + 0.0302, LAT + 0.04],
                  [LON + 0.03, LAT + 0.05], [LON + 0.01, LAT + 0.04], [LON, LAT + 0.05],
                  [LON, LAT + 0.03]]],
            ]}),
        )
    ],
}  # fmt: skip
INSIDE = [[LON + 0.004, LAT + 0.034], [LON + 0.02, LAT + 0.035]]


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    path = tmp_path / "chart.geojson"
    path.write_text(json.dumps(MAP))
    return path


def at_site(chart: Path, start: Any = None, **more: Any) -> Scenario:
    """A scenario at the large feature."""
    site = {"file": chart.name, "feature": 1, **more.pop("site", {})}
    tables = {key: value for key, value in TABLES.items() if key != "workspace"}
    table = {"start": {"count": 2}} if start is None else {"start": start, "coordinates": "degrees"}
    mapping = {**tables, "site": site, "agents": table, **more}
    return parse_scenario_in(mapping, chart.parent)


@pytest.mark.parametrize(
    "option",
    [
        {"feature": "name=small"},
        {"feature": 0},
        {"feature": "all"},
        {"clip": [LON, LAT + 0.03, LON + 0.005, LAT + 0.06]},
        {"parts": "largest"},
        {"parts": 1},
        {"stay": True},
        {"simplify": 200.0},
        {"densify": 300.0},
        {"frame": "EPSG:32719"},
    ],
    ids=lambda option: next(iter(option)),
)
def test_each_key_of_a_site_arrives(chart: Path, option: dict[str, Any]) -> None:
    found = at_site(chart, site=option)
    usual = at_site(chart)
    expected = Site.read(chart, **{"feature": 1, **option})
    assert (
        found.workspace.model_dump()
        == parse_scenario(
            {
                **TABLES,
                "workspace": describe_workspace(expected.workspace),
                "agents": {"start": {"count": 1}},
            }
        ).workspace.model_dump()
    )
    assert found.workspace != usual.workspace
    assert found.site is not None
    assert (found.site.crs, found.site.sha256) == (expected.frame.crs, expected.digest)
    assert found.site.file == str(chart)
    assert found.units.length == "m"
    assert usual.site is not None


def test_positions_in_degrees_become_metres_in_every_table(chart: Path) -> None:
    world = [{"from": 1.0, "leave": [0]}, {"from": 1.5, "arrive": INSIDE[1:]}]
    found = at_site(chart, INSIDE, world=world)
    assert found.site is not None
    frame = dwell.Frame(found.site.crs)
    np.testing.assert_allclose(np.array(found.agents.start), frame.from_map(INSIDE))
    assert found.world is not None
    assert found.world[0].arrive is None
    np.testing.assert_allclose(np.array(found.world[1].arrive), frame.from_map(INSIDE[1:]))
    assert [one.begin for one in found.world] == [1.0, 1.5]
    assert found.agents.coordinates is None
    swapped = [place[::-1] for place in INSIDE]
    far = [[LON + 3.0, LAT]]
    for start, arrive, key, words in (
        (swapped, None, "agents.start[0]", "exchanged it is there"),
        (INSIDE, swapped[:1], "world[0].arrive[0]", "exchanged it is there"),
        ([INSIDE[0], *far], None, "agents.start[1]", "in degrees within the site"),
    ):
        tables = {} if arrive is None else {"world": [{"from": 1.0, "arrive": arrive}]}
        with pytest.raises(ScenarioError, match=words) as refused:
            at_site(chart, start, **tables)
        assert refused.value.key == key
    bare = at_site(chart, agents={"start": INSIDE})
    assert bare.site is not None
    assert any("read as degrees" in note for note in bare.site.notes or ())
    assert not any("read as degrees" in note for note in found.site.notes or ())
    with pytest.raises(ScenarioError, match="drawn in metres"):
        at_site(chart, agents={"start": {"count": 2}, "coordinates": "degrees"})
    metres = [[0.0, 0.0], [400.0, 300.0]]
    assert np.array(at_site(chart, agents={"start": metres}).agents.start).tolist() == metres


def test_epochs_are_instants() -> None:
    for given, epoch in (
        ("2026-05-01T06:00:00Z", "2026-05-01T06:00:00Z"),
        ("2026-05-01T06:00:00", "2026-05-01T06:00:00Z"),
        ("2026-05-01T06:00:00+02:00", "2026-05-01T04:00:00Z"),
        ("2026-05-01T22:30:00-04:30", "2026-05-02T03:00:00Z"),
    ):
        assert as_epoch(given) == epoch
        import datetime

        assert as_epoch(datetime.datetime.fromisoformat(given)) == epoch


# Rasters that a scenario names.


def test_the_keys_of_a_raster_arrive(tmp_path: Path) -> None:
    np.save(tmp_path / "values.npy", np.arange(24.0).reshape(4, 6) + 1.0)
    place: dict[str, Any] = {
        "kind": "raster", "file": "values.npy", "origin": [-1, -2], "pixel": [1.0, 2.0],
        "rows": "south first",
    }  # fmt: skip

    def at(points: Any, **keys: Any) -> list[float]:
        one = scenario(density={**place, **keys}).model_copy(update={"modules": str(tmp_path)})
        density = build_density(one.density, one)
        return density.at(np.array(points, dtype=float)).tolist()

    points = [(0.5, 0.5), (3.5, 2.5), (0.1, 1.9)]
    assert at(points) == [8.0, 17.0, 8.0]
    for keys, values in (
        ({"rows": "north first"}, [14.0, 11.0, 14.0]),
        ({"pixel": [2.0]}, [7.0, 15.0, 7.0]),
        ({"origin": [-2, -2]}, [9.0, 18.0, 9.0]),
        ({"scale": 0.5}, [4.0, 8.5, 4.0]),
        ({"clip": [9, 16]}, [9.0, 16.0, 9.0]),
        ({"values": "amount"}, [4.0, 8.5, 4.0]),
        ({"interpolation": "bilinear"}, [6.5, 15.5, 10.3]),
        ({"coarsen": 2}, [4.5, None, 4.5]),
    ):
        found = at(points, **keys)
        for one, other in zip(found, values, strict=True):
            assert other is None or one == pytest.approx(other), keys
        assert found != [8.0, 17.0, 8.0]


def test_every_raster_is_pinned_and_noticed(tmp_path: Path) -> None:
    for k in range(5):
        np.save(tmp_path / f"{k}.npy", np.full((3, 3), k + 1.0) + np.arange(3))
    place = {"origin": [-1, -1], "pixel": [2, 2], "rows": "south first"}

    def raster(k: int) -> dict[str, Any]:
        return {"kind": "raster", "file": f"{k}.npy", **place}

    track = {"kind": "raster", **place,
             "file": {"times": [0.0, 9.0], "values": ["3.npy", "4.npy"]}}  # fmt: skip
    one = scenario(
        density={"kind": "mixture", "parts": [{"kind": "uniform"}, raster(0), raster(1)]},
        world=[
            {"from": 0.5, "leave": [0]},
            {"from": 1.0, "density": raster(2)},
            {"from": 1.5, "density": track},
        ],
    ).model_copy(update={"modules": str(tmp_path)})
    assert [spec.file for spec in raster_tables(one)] == [f"{k}.npy" for k in range(5)]
    fixed = pinned(one)
    digests = [spec.sha256 for spec in raster_tables(fixed)]
    assert all(isinstance(digest, str) for digest in digests)
    assert len(set(digests)) == 5
    assert pinned(fixed) is fixed
    for k in range(5):
        good = (tmp_path / f"{k}.npy").read_bytes()
        np.save(tmp_path / f"{k}.npy", np.full((3, 3), 77.0 + k))
        with pytest.raises(DensityError, match="are not those that"):
            build(fixed)
        (tmp_path / f"{k}.npy").write_bytes(good)
    build(fixed)
    owned = scenario(
        sensor=[{"name": "a", "density": raster(0)}, {"name": "b", "density": raster(2)}],
        agents={"start": START, "sensors": [["a"], ["b"], ["a", "b"]]},
    ).model_copy(update={"modules": str(tmp_path)})
    assert [spec.sha256 for spec in raster_tables(pinned(owned))] == [digests[0], digests[2]]


def test_code_is_replaced_in_every_table() -> None:
    code = {"kind": "callable", "function": "tests.sweep.worlds:calm"}
    own = {"kind": "python", "class": "tests.scenario.own_law:Own"}
    for tables in (
        {"density": code},
        {"controller": own},
        {"world": [{"from": 0.5, "density": HILL}, {"from": 1.0, "density": code}]},
    ):
        one = scenario(**tables).withhold("No code.")
        with pytest.raises(dwell.InputError, match="No code"):
            build(one)
        system, start, _ = build_without_code(one)
        assert start.tolist() == START
        if "world" in tables:
            assert system.ground_at(0.5).density == Gaussian((1, 2), 0.3)
            assert system.ground_at(1.0).density == Uniform()


# Rules between keys.


def problems(found: Any) -> list[tuple[Any, ...]]:
    return [one.where for one in found]


DEFAULTS = {
    kind: {name: one.default for name, one in parameters_of(law).items()}
    for kind, law in LAW_KINDS.items()
}


def law_problems(kind: str, **keys: Any) -> list[tuple[Any, ...]]:
    """Where the table of a law has faults; its class finds the first of them, too."""
    table = LAW_TABLES[kind].model_construct(None, **{"kind": kind, **DEFAULTS[kind], **keys})
    where = problems(table._problems())
    if not where:
        LAW_KINDS[kind](**keys)
        return where
    with pytest.raises(ControllerError) as caught:
        LAW_KINDS[kind](**keys)
    assert caught.value.key == "controller." + dotted(where[0])
    return where


def timer_problems(**keys: Any) -> list[tuple[Any, ...]]:
    return law_problems("timer", **{"k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.3, **keys})


def test_limits_of_laws_from_both_sides() -> None:
    assert timer_problems(t1=0.2, t2=0.2) == []
    assert timer_problems(t1=(0.1, 0.3), t2=0.2) == [("t1", 1)]
    assert timer_problems(t1=0.2, t2=(0.3, 0.1)) == [("t1",)]
    for value, wrong in ((0.1, []), (0.3, []), (0.0999, [("period",)]), (0.3001, [("period",)])):
        assert timer_problems(reset="periodic", period=value) == wrong
    periods = {"reset": "periodic", "period": (0.2, 0.2)}
    assert timer_problems(**periods, t1=(0.1, 0.3), t2=0.4) == [("period", 1)]
    assert timer_problems(reset="periodic", period=0.2, t2=(0.3, 0.15)) == [("period",)]
    assert timer_problems(reset="sequence", intervals=(0.2, 0.31)) == [("intervals", 1)]
    rows = {"reset": "sequence", "intervals": ((0.2, 0.3), (0.2, 0.5))}
    assert timer_problems(**rows, t2=(0.3, 0.5)) == []
    assert timer_problems(**rows, t2=(0.5, 0.3)) == [("intervals", 1, 1)]
    assert timer_problems(reset="adaptive", eta_max=0.999) == []
    assert timer_problems(reset="adaptive", eta_max=1.0) == [("eta_max",)]
    assert timer_problems(k1=2.0, t2=LARGEST) == [("t2",)]
    assert timer_problems(k1=1.0, t2=LARGEST) == []
    for levels, wrong in (
        ((0.0, 0.5, 1.0), []),
        ((0.0, 0.5, 0.5, 1.0), [("levels", 2)]),
        ((0.1, 1.0), [("levels", 0)]),
        ((0.0, 0.9), [("levels", 1)]),
    ):
        assert law_problems("event-triggered", levels=levels) == wrong


def gaussian_problems(rows: Any) -> list[tuple[Any, ...]]:
    """Where the table of a Gaussian has faults; its class finds the first of them, too."""
    keys = {"center": (0.0,) * len(rows), "covariance": rows, "rate": None, "weight": 1.0}
    table = DENSITY_TABLES["gaussian"].model_construct(None, kind="gaussian", **keys)
    where = problems(table._problems())
    if where:
        with pytest.raises(DensityError):
            Gaussian(**keys)
    else:
        Gaussian(**keys)
    return where


def test_limits_of_densities_from_both_sides() -> None:
    for rows, wrong in (
        (((2, 1), (1, 1)), False), (((1, 1), (1, 1)), True), (((2, 1), (0.5, 1)), True),
        (((2, 0, 0), (0, 2, 1.9), (0, 1.9, 2)), False),
        (((2, 0, 0), (0, 2, 2.1), (0, 2.1, 2)), True), (((-1, 0), (0, 1)), True),
    ):  # fmt: skip
        assert bool(gaussian_problems(rows)) is wrong, rows


def test_limits_from_both_sides() -> None:
    assert checks.least((0.3, 0.1, 0.2)) == ((1,), 0.1)
    assert checks.least(0.3) == ((), 0.3)
    assert common_length(1.0, None) == 1
    assert common_length((1, 2), 1.0) == 2
    assert common_length((1, 2), (1, 2, 3)) is None
    assert problems(checks.one_per_agent(("x",), (1, 2, 3), 3, 0)) == []
    assert problems(checks.one_per_agent(("x",), (1, 2), 3, 1)) == [("x",)]
    assert problems(checks.one_per_agent(("x",), 1.0, 3, 1)) == []
    for every, horizon, count, wrong in (
        (1e-7, 1.0, 1, False), (0.99e-7, 1.0, 1, True), (1e-6, 1.0, 100, False),
        (0.99e-6, 1.0, 100, True),
    ):  # fmt: skip
        assert bool(problems(checks.sample_count(every, horizon, count))) is wrong
    assert problems(checks.box((0, 0), (1, 1))) == []
    assert problems(checks.box((0, 1), (1, 1))) == [("lower", 1)]
    assert problems(checks.points(("s",), ((1, 2), (1, 2, 3)), 2)) == [("s", 1)]
    assert problems(checks.matrix(("m",), ((1, 2), (3, 4)), 3)) == [("m",)]
    assert problems(checks.terms(("terms",), ((0, 0, 1), (1, 0)), 2)) == [("terms", 1)]
    assert problems(checks.same_length("v", ((1, 2), (1,), (3, 4)), "c", "w")) == [("v", 1)]


@pytest.mark.parametrize(
    ("faults", "key"),
    [
        ({"clock_offset": 2.0}, "fleet.faults.clock_offset"),
        ({"tail": 1.0}, "fleet.faults.delay"),
        ({"delay": [0.2, 0.1]}, "fleet.faults.delay"),
        ({"partitions": [{"from": 1.0, "until": 1.0, "group": [0]}]},
         "fleet.faults.partitions[0].until"),
        ({"partitions": [{"from": 0.0, "until": 1.0, "group": [0]},
                         {"from": 0.5, "until": 1.0, "group": []}]},
         "fleet.faults.partitions[1].group"),
        ({"partitions": [{"from": 0.5, "until": 1.0, "group": [2, 3]}]},
         "fleet.faults.partitions[0].group"),
    ],
)  # fmt: skip
def test_faults_that_cannot_be(faults: dict[str, Any], key: str) -> None:
    good = {"clock_offset": 1.99, "delay": [0.1, 0.1], "tail": 1.5,
            "partitions": [{"from": 0.5, "until": 1.0, "group": [2, 0]}]}  # fmt: skip
    scenario(fleet={"faults": good})
    with pytest.raises(ScenarioError) as refused:
        scenario(fleet={"faults": faults})
    assert refused.value.key == key


def test_fleets_have_quorum_and_peers_for_all_agents() -> None:
    arriving = {"world": [{"from": 1.0, "arrive": [[0.3, 0.3]]}]}
    peers = [f"h:{k}" for k in range(4)]
    fleet = {"quorum": 4, "peers": peers, "margin": 0.03, "copies": 20, "faults": {"loss": 0.5}}
    found = scenario(fleet=fleet, **arriving)
    settings = live_settings(found)
    assert settings["quorum"] == 4
    assert settings["margin"] == 0.03
    assert not {"peers", "faults"} & set(settings)
    assert live_settings(scenario())["copies"] == 1
    for wrong in ({"quorum": 5}, {"peers": peers[:3]}, {"copies": 21}, {"copies": 0}):
        with pytest.raises(ScenarioError):
            scenario(fleet={**fleet, **wrong}, **arriving)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (agents(ids=[1, 2]), "agents.ids"),
        (agents(ids=[1, 2, 1]), "agents.ids[2]"),
        (agents(radius=[1, 2]), "agents.radius"),
        (agents(coordinates="degrees"), "agents.coordinates"),
        ({"world": [{"from": 1.0}, {"from": 1.0}]}, "world[1].from"),
        ({"world": [{"from": 1.0, "leave": [0, 0]}]}, "world[0].leave[1]"),
        ({"world": [{"from": 1.0, "arrive": [[1, 1, 1]]}]}, "world[0].arrive[0]"),
        ({"certificate": {"eta_max": 0.5, "lipschitz": [1, 2]}}, "certificate.lipschitz"),
        (run(record={"kind": "samples", "sample_every": "off"}), "run.record.sample_every"),
        ({"sensor": [{"name": "a", "density": HILL}]}, "agents.sensors"),
        (agents(sensors=[["a"]] * 3), "agents.sensors"),
        ({"controller": {"kind": "lloyd", "mode": "ode"}, "network": {"loss": 0.1}}, "network"),
        ({"controller": {**TABLES["controller"], "t1": 1e-16}}, "controller.t1"),
    ],
)
def test_keys_that_do_not_fit_together(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(**changes)
    assert refused.value.key == key


@pytest.mark.parametrize(
    ("owned", "names", "key"),
    [
        ([["a"], ["b"], ["a", "b"]], "ab", None),
        ([["a"], ["b"]], "ab", "agents.sensors"),
        ([["a"], ["b"], []], "ab", "agents.sensors[2]"),
        ([["a"], ["b"], ["a", "c"]], "ab", "agents.sensors[2]"),
        ([["a"], ["a"], ["a"]], "ab", "sensor[1].name"),
        ([["a"], ["a"], ["a"]], "aa", "sensor[1].name"),
    ],
)
def test_every_agent_has_a_sensor_and_every_sensor_an_owner(
    owned: Any, names: str, key: str | None
) -> None:
    tables = {
        "sensor": [{"name": name, "density": HILL} for name in names],
        **agents(sensors=owned),
    }
    if key is None:
        found = scenario(**tables)
        assert found.agents.sensors == (("a",), ("b",), ("a", "b"))
        for more in ({"density": HILL}, {"world": [{"from": 1.0, "density": HILL}]}):
            with pytest.raises(ScenarioError):
                scenario(**tables, **more)
        return
    with pytest.raises(ScenarioError) as refused:
        scenario(**tables)
    assert refused.value.key == key


def test_tracks_are_built_with_all_their_keys() -> None:
    ring = [[0, 0], [4, 0], [4, 3]]
    moving = {"times": [0.0, 3.0], "values": [ring, [[0, 0], [5, 0], [5, 3]]], "between": "step"}
    place = build_workspace(
        scenario(
            workspace={"kind": "polygon", "vertices": moving}, agents={"start": {"count": 1}}
        ).workspace
    )
    assert isinstance(place, MovingPolygon)
    assert place.vertices.between == "step"
    table = describe_workspace(place)
    assert table["vertices"]["between"] == "step"
    around = {"center": [1, 2], "radius": 0.5, "period": -4.0, "phase": 0.25}
    density = build_density(scenario(density={**HILL, "center": around}).density)
    assert isinstance(density, Moving)
    np.testing.assert_allclose(density.now(0.0).center, (1.0, 2.5))
    np.testing.assert_allclose(density.now(1.0).center, (1.5, 2.0))  # clockwise
    terms = {"times": [0.0, 2.0], "values": [[[1, 0, 1.0]], [[1, 0, 3.0]]], "after": "hold"}
    sloped = build_density(scenario(density={"kind": "polynomial", "terms": terms}).density)
    for t, value in ((0.0, 2.0), (1.0, 4.0), (2.0, 6.0), (5.0, 6.0)):
        assert sloped.now(t).at(np.array([[2.0, 1.0]])).item() == pytest.approx(value)
    described = describe_density(sloped)
    assert described is not None
    assert described["terms"]["values"] == [[(1, 0, 1.0)], [(1, 0, 3.0)]]
    for wrong in (
        {**terms, "times": [0.0, 0.0]},
        {**terms, "times": [0.0]},
        {**terms, "values": [[[1, 0, 1.0]], [[0, 1, 3.0]]]},
    ):
        with pytest.raises(ScenarioError):
            scenario(density={"kind": "polynomial", "terms": wrong})


def test_every_world_is_one_that_the_law_can_take() -> None:
    """A later world is looked at like the first."""
    ring = [[0, 0], [4, 0], [4, 3], [2, 1], [0, 3]]
    dented = {"kind": "region", "parts": [{"outer": ring}]}
    later = {"world": [{"from": 1.0, "workspace": dented}]}
    build(scenario(**later))
    for kind in ("self-triggered", "self-triggered-centroid", "event-triggered"):
        with pytest.raises(dwell.errors.DwellError):
            build(scenario(controller={"kind": kind}, **later))
        for world in ([{"from": 1.0, "leave": [1]}], [{"from": 1.0, "arrive": [[0.3, 0.3]]}]):
            with pytest.raises(dwell.InputError, match="the same agents all the time"):
                build(scenario(controller={"kind": kind}, world=world))
    for changes in (run(integration=GRID), {"controller": {"kind": "lloyd", "mode": "ode"}}):
        with pytest.raises(dwell.InputError, match="a world that does not change"):
            build(scenario(world=[{"from": 1.0, "density": HILL}], **changes))
