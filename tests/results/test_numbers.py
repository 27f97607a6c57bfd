"""The numbers of a run against plain computations, and its file against the run itself."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.agents.state import AgentsState
from dwell.errors import InputError
from dwell.measure import Metrics
from dwell.results.stated import _differences, _equal
from dwell.results.words import numbers_in_words, rows_of
from dwell.scenario import parse_scenario
from tests.conftest import differing

START = [[0.6, 0.5], [3.1, 1.2], [2.0, 2.2], [0.9, 2.7], [3.4, 2.6]]
HILL = {"kind": "gaussian", "center": [1, 2], "rate": 0.3}
MOVING = {
    "kind": "gaussian",
    "rate": 0.4,
    "center": {"times": [0.0, 0.4, 0.75], "values": [[1, 1], [2, 1], [3, 2]], "after": "hold"},
}
TABLES: dict[str, Any] = {
    "name": "numbers",
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 3]},
    "density": MOVING,
    "agents": {"start": START, "ids": [7, 3, 12, 5, 9, 1, 2]},
    "controller": {"kind": "timer", "k1": 0.8, "nu": 0.3, "t1": 0.05, "t2": 0.2},
    "world": [
        {"from": 1.0, "arrive": [[3.7, 0.2], [0.2, 0.3]], "leave": [1, 3]},
        {"from": 1.5, "density": HILL, "leave": [5]},
        {"from": 9.0, "leave": [0]},
    ],
    "run": {"horizon": 2.0, "seed": 4, "record": {"sample_every": 0.125}},
}


@pytest.fixture(scope="module")
def run() -> dwell.Run:
    """Agents leave and arrive in the middle of their numbers."""
    return dwell.run_scenario(parse_scenario(TABLES), progress=False)


@pytest.fixture(scope="module")
def plain() -> dwell.Run:
    """A world that does not change, with a certificate."""
    tables = {k: v for k, v in TABLES.items() if k != "world"}
    tables |= {"density": HILL, "agents": {"start": START}}
    tables["certificate"] = {"eta_max": 0.5, "lipschitz": [1.0, 2.0, 3.0, 4.0, 5.0]}
    return dwell.run_scenario(parse_scenario(tables), progress=False)


def spread(values: np.ndarray) -> dict[str, Any]:
    return {"min": values.min(), "mean": pytest.approx(values.mean()), "max": values.max()}


@pytest.mark.parametrize("which", ["run", "plain"])
def test_a_summary_is_what_events_and_state_say(which: str, request: pytest.FixtureRequest) -> None:
    run: dwell.Run = request.getfixturevalue(which)
    s, table, until = run.summary(), run.events, run.horizon
    counted = run.counters
    assert s["events"] == {
        "total": len(table),
        "per_agent": spread(np.bincount(table.agent, minlength=run.agents)),
    }
    for key, values in (
        ("updates", counted.updates),
        ("distance", counted.distance),
        ("energy", counted.energy),
    ):
        assert s[key] == spread(values), key
    assert s["cells"]["per_agent"] == spread(counted.cells)
    for key, name in (
        ("voronoi", "voronoi"),
        ("guaranteed", "guaranteed"),
        ("dual_guaranteed", "dual_guaranteed"),
    ):
        assert s["cells"][key] == getattr(counted, name).sum()
    assert s["measurements"] == counted.measurements.sum()
    assert s["messages"] == counted.received.sum()
    assert s["broadcasts"] == counted.sent.sum()
    assert len({s["measurements"], s["messages"], s["events"]["total"]}) == 3
    assert s["cost"] == {"initial": run.cost(0.0), "final": run.cost(until)}
    assert s["log_cost"] == {
        key: pytest.approx(math.log(value)) for key, value in s["cost"].items()
    }
    world = run.world(until)
    errors = run.errors(until)[world.agents]
    assert s["error"]["final_max"] == errors.max()
    assert s["final_positions"] == run.positions(until).tolist()
    cells = dwell.tessellate(world.workspace, run.positions(until)[world.agents], world.density)
    for key, expected in (("final_centroids", cells.centroids), ("final_masses", cells.masses)):
        np.testing.assert_allclose(np.array(s[key])[world.agents], expected, rtol=1e-9)
    assert s["top_speed"] == pytest.approx(
        max(np.sqrt((x**2).sum(axis=1)).max() for x in (run.start.segments.hold, table.holds))
    )
    reached = s["coverage"]["reached_at"]
    times = np.linspace(0.0, until, 801)
    worst = np.array([run.errors(t)[run.world(t).agents].max() for t in times])
    late = times[worst > 0.3]
    assert s["coverage"]["nu"] == 0.3
    if worst[-1] > 0.3:
        assert reached is None
    else:
        assert late[-1] - 1e-9 <= reached <= late[-1] + 0.0025 + 1e-9
    assert s["coverage"]["last_beyond"] is not None
    assert s["coverage"]["last_beyond"] <= late[-1] + 0.0025
    # Distances of agents that are both present.
    near = s["separation"]
    gaps = []
    for t in times:
        there = run.world(t).agents
        places = run.positions(t)[there]
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
        apart[np.tril_indices(len(there))] = np.inf
        k = np.unravel_index(apart.argmin(), apart.shape)
        gaps.append((float(apart.min()), float(t), [int(there[k[0]]), int(there[k[1]])]))
    least = min(gaps)
    assert near["min"] == pytest.approx(least[0], abs=2e-3)
    assert near["min"] <= least[0] + 1e-12
    assert near["agents"] == least[2]
    assert near["time"] == pytest.approx(least[1], abs=3e-3)
    assert near["min"] <= near["seen"]
    moves = {1.0: [1, 3, 5, 6], 1.5: [5]} if which == "run" else {}
    usual = np.array(
        [p not in moves.get(t, ()) for t, p in zip(table.time, table.agent, strict=True)]
    )
    assert s["hold_error"]["max"] == pytest.approx(
        max(table.hold_error[usual].max(), run.hold_errors(0.0).max(), run.hold_errors(until).max())
    )
    assert s["seed"] == 4
    assert s["stop"] == {"reason": "horizon", "ok": True, "time": 2.0, "detail": ""}


def test_the_switches_of_a_world(run: dwell.Run) -> None:
    world = run.summary()["world"]
    first, second = world["switches"]  # the one at 9 is beyond the horizon
    assert [first[k] for k in ("time", "agents", "leave", "arrive")] == [1.0, 5, [1, 3], [5, 6]]
    assert [second[k] for k in ("time", "agents", "leave", "arrive")] == [1.5, 4, [5], []]
    box = dwell.Box((0, 0), (4, 3))
    hill = dwell.Gaussian((1, 2), 0.3)
    end = dwell.Gaussian((3, 2), 0.4)  # of the moving one
    for switch, before, after, weights in (
        (first, [0, 1, 2, 3, 4], [0, 2, 4, 5, 6], (end, end)),
        (second, [0, 2, 4, 5, 6], [0, 2, 4, 6], (end, hill)),
    ):
        places = run.positions(switch["time"])
        for key, who, weight in zip(
            ("cost_before", "cost_after"), (before, after), weights, strict=True
        ):
            cost = dwell.tessellate(box, places[who], weight).cost
            assert switch[key] == pytest.approx(cost, rel=1e-9), key
    assert world["moving"] == [{"what": "density", "from": 0.0, "until": 0.75}]
    for time, agents in ((0.999, [0, 1, 2, 3, 4]), (1.0, [0, 2, 4, 5, 6]), (2.0, [0, 2, 4, 6])):
        assert run.world(time).agents.tolist() == agents
    assert run.world(1.5).density == hill
    rows = dict(rows_of(run.summary()))
    costs = [f"{one['cost_before']:.4g} -> {one['cost_after']:.4g}" for one in (first, second)]
    assert rows["world"] == (
        "density moves until t = 0.75; "
        f"switches at t = 1 (cost {costs[0]}; 2 agents leave, 2 arrive); "
        f"switches at t = 1.5 (cost {costs[1]}; 1 agent leaves)"
    )


PLAIN = {k: v for k, v in TABLES.items() if k != "world"} | {
    "density": HILL, "agents": {"start": START}
}  # fmt: skip
MOVES = {"kind": "gaussian", "rate": 0.2,
         "center": {"times": [0, 3], "values": [[1, 1], [3, 2]], "after": "hold"}}  # fmt: skip
WALLS = {"kind": "polygon", "vertices": {"times": [0, 0.9, 5], "values": [
    [[0, 0], [4, 0], [4, 3], [0, 3]], [[0, 0], [5, 0], [4, 3], [0, 3]],
    [[0, 0], [5, 0], [4, 4], [0, 3]]], "after": "hold"}}  # fmt: skip
BOX = {"kind": "box", "lower": [0, 0], "upper": [5, 4]}


@pytest.mark.parametrize(
    ("tables", "moving"),
    [
        ({"density": MOVES}, [("density", 0.0, None)]),
        ({"density": MOVES, "world": [{"from": 1.0, "density": HILL}]}, [("density", 0.0, 1.0)]),
        (
            {"density": MOVES, "workspace": WALLS, "world": [{"from": 1.5, "workspace": BOX}]},
            [("density", 0.0, None), ("workspace", 0.0, 1.5)],
        ),
        ({"world": [{"from": 1.0, "density": MOVES}]}, [("density", 1.0, None)]),
        (
            {"density": MOVES, "world": [{"from": 0.5, "density": HILL},
                                         {"from": 1.25, "density": MOVES},
                                         {"from": 1.75, "density": HILL}]},
            [("density", 0.0, 0.5), ("density", 1.25, 1.75)],
        ),
    ],
)  # fmt: skip
def test_what_moves_does_so_until_it_is_replaced(tables: dict[str, Any], moving: Any) -> None:
    run = dwell.run_scenario(parse_scenario({**PLAIN, **tables}), progress=False)
    world = run.summary()["world"]
    found = [(one["what"], one["from"], one["until"]) for one in world["moving"]]
    assert found == moving
    said = dict(rows_of(run.summary()))["world"]
    for what, begin, until in moving:
        end = "until the end" if until is None else f"until t = {until:g}"
        since = "" if begin == 0.0 else f" from t = {begin:g}"
        assert f"{what} moves{since} {end}" in said


def test_evaluation_keeps_the_order_of_the_times(run: dwell.Run) -> None:
    times = np.array([1.7, 0.1, 1.0, 0.1, 2.0, 0.0])
    for name in ("positions", "holds", "timers", "errors", "hold_errors", "cost"):
        ask = getattr(run, name)
        rows = ask(times)
        assert len(rows) == len(times)
        for t, row in zip(times, rows, strict=True):
            np.testing.assert_array_equal(row, ask(float(t)), err_msg=name)
    due = run.details.snapshots_at(0.1).next_at[0]
    np.testing.assert_allclose(run.timers(0.1), due - 0.1)
    for wrong in (-1e-12, 2.0000001, [0.5, 2.1], [[0.5]], "soon", [0.1, np.nan]):
        with pytest.raises(InputError):
            run.positions(wrong)
    with pytest.raises(InputError, match="one time is needed for one world"):
        run.world([0.1, 0.2])


@pytest.mark.parametrize("which", ["run", "plain", "samples", "summary"])
def test_a_file_holds_the_run(which: str, request: pytest.FixtureRequest, tmp_path: Any) -> None:
    if which in ("samples", "summary"):
        options = {**TABLES["run"], "record": {"kind": which, "sample_every": 0.125}}
        run = dwell.run_scenario(parse_scenario({**TABLES, "run": options}), progress=False)
    else:
        run = request.getfixturevalue(which)
    run.save(tmp_path / "run.nc")
    again = dwell.load_run(tmp_path / "run.nc")
    assert again.intact
    assert again.summary() == run.summary()
    assert again.scenario == run.scenario
    assert again.repairs == run.repairs
    assert again.stop == run.stop
    assert again.details.wall_seconds == run.details.wall_seconds
    for field in fields(Metrics):
        one, other = (getattr(x.metrics, field.name) for x in (run, again))
        assert one.tobytes() == other.tobytes(), field.name
    for name in ("since", "place", "hold", "next_at", "cruise"):
        one, other = (getattr(x.start.segments, name) for x in (run, again))
        assert np.array_equal(one, other), name
    for name in ("positions", "first"):
        one, other = (getattr(x.start, name) for x in (run, again))
        assert np.array_equal(one, other), name
    assert isinstance(again.start, AgentsState)
    assert tuple(again.start.spent) == tuple(run.start.spent)
    assert {k: v for k, v in again.provenance.items() if k != "intact"} == dict(run.provenance)
    if which in ("run", "plain"):
        assert differing(run.events, again.events) == []
    for name, values in run.details.tally.arrays().items():
        assert values.tobytes() == again.details.tally.arrays()[name].tobytes(), name


def test_each_variable_of_a_file_is_what_it_is_called(run: dwell.Run) -> None:
    data, table, start = run.to_xarray(), run.events, run.start
    for name, values in (
        ("event_time", table.time), ("event_agent", table.agent),
        ("event_position", table.positions), ("event_hold", table.holds),
        ("event_next_at", table.next_at), ("event_error", table.errors),
        ("event_hold_error", table.hold_error), ("event_neighbors", table.neighbors),
        ("event_nearest", table.nearest), ("event_empty", table.empty),
        ("start_position", start.positions), ("start_hold", start.segments.hold),
        ("start_next_at", start.segments.next_at), ("agent", np.arange(7)),
        ("error", run.metrics.errors), ("hold_error", run.metrics.hold_errors),
        ("cost", run.metrics.costs), ("separation", run.metrics.separations),
        ("sample_time", run.metrics.times),
    ):  # fmt: skip
        np.testing.assert_array_equal(data[name].values, values, err_msg=name)
    assert json.loads(data.attrs["stop"]) == ["horizon", 2.0, ""]
    assert data.attrs["title"] == "numbers"
    assert data.attrs["until"] == 2.0
    frame = run.to_pandas()
    assert (frame["error_6"] == run.metrics.errors[:, 6]).all() or run.metrics.errors.shape[1] != 7
    assert (frame["separation"] == run.metrics.separations).all()


# What a file states besides its events.


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("cost", "final"), 1.0),
        (("events", "per_agent", "max"), 1),
        (("certificate", "assumed_lipschitz", 3), 9.0),
        (("separation", "agents", 1), 9),
        (("stop", "reason"), "jump limit"),
        (("final_positions", 2, 0), 0.25),
    ],
)
def test_a_number_that_is_stated_wrongly_is_named(
    plain: dwell.Run, tmp_path: Any, path: tuple[Any, ...], value: Any
) -> None:
    from dwell.results.stated import misstated

    plain.save(tmp_path / "run.nc")
    kept = dwell.load_run(tmp_path / "run.nc")
    assert misstated(kept, True) == misstated(kept, False) == []
    assert kept.details.stated is not None
    numbers = copy.deepcopy(dict(kept.details.stated.numbers or {}))
    place: Any = numbers
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    details = replace(kept.details, stated=replace(kept.details.stated, numbers=numbers))
    (wrong,) = misstated(replace(kept, details=details), True)
    assert wrong.startswith(f"summary.{path[0]}")
    earlier = {key: value for key, value in kept.details.stated.numbers.items() if key != "samples"}
    less = replace(kept.details, stated=replace(kept.details.stated, numbers=earlier))
    assert misstated(replace(kept, details=less), True) == []
    stated = replace(kept.details.stated, labels=np.array([0, 2, 1, 3, 4]))
    assert misstated(replace(kept, details=replace(details, stated=stated)), True) == ["agent"]
    for name, given in (("stop_reason", "zeno"), ("stop_time", 1.0), ("until", 1.5)):
        attributes = {**kept.details.stated.attributes, name: given}
        stated = replace(kept.details.stated, attributes=attributes)
        assert misstated(replace(kept, details=replace(details, stated=stated)), True) == [name]


def test_numbers_of_other_versions_may_differ_in_the_last_digits_only() -> None:
    for a, b, exact, equal in (
        (1.0, 1.0 + 5e-10, False, True),
        (1.0, 1.0 + 5e-10, True, False),
        (1.0, 1.0 + 2e-9, False, False),
        (math.nan, math.nan, True, True),
        (math.nan, 1.0, False, False),
        (1, 1.0, True, True),
        (1, True, False, False),
        ("a", "a", True, True),
        (None, 0.0, False, False),
    ):
        assert _equal(a, b, exact) is equal, (a, b, exact)
    one, other = {"a": [1, 2], "says": "x", "b": 3}, {"a": [1, 4], "says": "y"}
    assert list(_differences(one, other, True, "s")) == ["s.a[1]", "s.b", "s.says"]
    assert list(_differences(one, other, False, "s")) == ["s.a[1]"]
    assert list(_differences([1, 2], [1, 2, 3], True, "s")) == ["s"]


# Words.


def test_numbers_of_agents_in_few_words() -> None:
    assert numbers_in_words([4]) == "agent 4"
    assert numbers_in_words([4, 5]) == "agents 4, 5"
    assert numbers_in_words([4, 5, 6]) == "agents 4 to 6"
    assert numbers_in_words([4, 6, 7]) == "agents 4, 6, 7"
    many = [*range(0, 26, 2)]
    assert numbers_in_words(many).endswith("20, 22 and 1 more")


def test_rows_are_the_numbers(plain: dwell.Run) -> None:
    s = plain.summary()
    rows = dict(rows_of(s))
    n, near = s["events"]["per_agent"], s["separation"]
    assert rows["law"] == "timer, 5 agents, exact integrals, seed 4"
    assert rows["ended"] == "horizon at t = 2"
    assert rows["events"].startswith(f"{len(plain.events)}  (per agent {n['min']} to {n['max']}")
    assert rows["messages"].startswith(f"{s['messages']} positions received")
    assert rows["cost"] == (
        f"{s['cost']['initial']:.6g} at the start, {s['cost']['final']:.6g} at the end"
    )
    low, high, mean = (f"{s['distance'][key]:.4g}" for key in ("min", "max", "mean"))
    assert rows["distance"] == f"{low} to {high} per agent, mean {mean}"
    pair = " and ".join(map(str, near["agents"]))
    assert rows["separation"] == (
        f"{near['min']:.4g} at least (agents {pair} at t = {near['time']:.4g})"
    )
    assert "limit 0.5" in rows["hold error"]
    assert rows["Lipschitz"].startswith("5 at most assumed")
    assert "all parts" not in rows["time taken"]
    assert "all parts" in dict(rows_of(s, resumed=True))["time taken"]
    repaired = {**s, "repairs": ["one", "two"], "flags": [{"code": "x", "says": "said"}]}
    assert rows_of(repaired)[-3:] == [("repaired", "one"), ("repaired", "two"), ("note", "said")]
