"""Exports of a run whose agents leave and arrive in the middle of their numbers."""

from __future__ import annotations

import gzip
import json
import math
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.agents.state import counts_of
from dwell.exports.drawn_tables import drawn_tables
from dwell.exports.epoch import beginning_of
from dwell.exports.foxglove_topics import _in_space, _rgb, _turned
from dwell.exports.gis import layers_of
from dwell.exports.mcap import _lines, frame_step
from dwell.exports.messages import begin_message, sample_columns
from dwell.exports.recording import BOUND, INFINITE, recording_of
from dwell.exports.scene_shapes import (
    BAND,
    cells_at,
    rings_of_cells,
    rings_of_workspace,
)
from dwell.exports.workspace_json import workspace_json
from dwell.exports.world_json import world_json
from dwell.scenario import parse_scenario
from tests.exports.recorded_topics import area, direction, entities, places, rings, topics_of

START = [[0.6, 0.5], [3.1, 1.2], [2.0, 2.2], [0.9, 2.7], [3.4, 2.6]]
HILL = {"kind": "gaussian", "center": [1, 2], "rate": 0.3}
TABLES: dict[str, Any] = {
    "name": "changing",
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 3]},
    "density": {"kind": "gaussian", "center": [3, 1], "rate": 0.2},
    "agents": {"start": START},
    "controller": {"kind": "timer", "k1": 0.8, "nu": 0.3, "t1": 0.05, "t2": 0.2},
    "world": [
        {"from": 0.5, "arrive": [[3.7, 0.2], [0.2, 0.3]], "leave": [1, 3]},
        {"from": 0.75, "density": HILL, "leave": [5],
         "workspace": {"kind": "box", "lower": [0, 0], "upper": [5, 3]}},
    ],
    "run": {"horizon": 1.0, "seed": 4, "record": {"sample_every": 0.125}},
}  # fmt: skip
HERE = {0.0: [0, 1, 2, 3, 4], 0.5: [0, 2, 4, 5, 6], 1.0: [0, 2, 4, 6]}
PRESENT = {0: (0, 1), 1: (0, 0.5), 2: (0, 1), 3: (0, 0.5), 4: (0, 1), 5: (0.5, 0.75), 6: (0.5, 1)}
ZERO = np.datetime64("2026-05-01T06:00:00", "ms")


@pytest.fixture(scope="module")
def run() -> dwell.Run:
    return dwell.run_scenario(parse_scenario(TABLES), progress=False)


def dates(seconds: Any) -> list[np.datetime64]:
    return [ZERO + np.timedelta64(round(1000 * s), "ms") for s in seconds]


def test_layers_of_a_map_have_the_agents_that_are_there(run: dwell.Run) -> None:
    layers = {one.name: one for one in layers_of(run, 3, ZERO)}
    region = layers["region"]
    assert [shape.area for shape in region.shapes] == pytest.approx([12, 12, 15])
    assert region.columns["area"].tolist() == pytest.approx([12, 12, 15])
    assert region.columns["t0"].tolist() == [0.0, 0.5, 1.0]
    assert region.columns["t1"].tolist() == [0.5, 1.0, 1.0]
    for name in ("cells", "agents"):
        columns, k = layers[name].columns, 0
        for t, agents in HERE.items():
            world, positions = run.world(t), run.positions(t)
            cells = dwell.tessellate(world.workspace, positions[agents], world.density)
            for row, agent in enumerate(agents):
                shape = layers[name].shapes[k]
                assert columns["agent"][k] == agent
                assert columns["t0"][k] == t
                assert columns["mass"][k] == pytest.approx(cells.masses[row])
                assert columns["error"][k] == pytest.approx(run.errors(t)[agent])
                if name == "cells":
                    assert shape.area == pytest.approx(cells.cells[row].volume)
                    assert shape.buffer(1e-9).contains(_point(positions[agent]))
                else:
                    assert (shape.x, shape.y) == tuple(positions[agent])
                k += 1
        assert k == len(columns["agent"]) == len(layers[name].shapes)
        assert columns["begins"].tolist() == [d.item() for d in dates(columns["t0"])]
        assert columns["ends"].tolist() == [d.item() for d in dates(columns["t1"])]
        assert columns["t1"][0] == 0.5
    events = layers["events"].columns
    assert events["agent"].tolist() == run.events.agent.tolist()
    assert events["t0"].tolist() == events["t1"].tolist() == run.events.time.tolist()
    assert events["error"].tolist() == pytest.approx(np.hypot(*run.events.errors.T).tolist())
    assert events["neighbors"].tolist() == run.events.neighbors.tolist()
    assert [(p.x, p.y) for p in layers["events"].shapes] == [
        tuple(place) for place in run.events.positions.tolist()
    ]


def _point(place: np.ndarray) -> Any:
    import shapely

    return shapely.Point(place)


def test_paths_are_those_of_their_agents_while_they_are_there(run: dwell.Run) -> None:
    (layer,) = [one for one in layers_of(run, 2, ZERO) if one.name == "paths"]
    columns = layer.columns
    for k, line in enumerate(layer.shapes):
        agent, t0, t1 = int(columns["agent"][k]), columns["t0"][k], columns["t1"][k]
        begin, end = PRESENT[agent]
        assert begin <= t0 < t1 <= end
        (x, y), last = line.coords[0], line.coords[-1]
        np.testing.assert_allclose((x, y), run.positions(t0)[agent], atol=1e-9)
        if t1 < end:  # after a departure the place is no agent's
            np.testing.assert_allclose(last, run.positions(t1)[agent], atol=1e-9)
    for agent, (begin, end) in PRESENT.items():
        own = columns["agent"] == agent
        assert columns["t1"][own].max() == pytest.approx(end)
        if end - begin == 1:
            assert columns["t0"][own].min() < 0.1
    assert columns["begins"].tolist() == [d.item() for d in dates(columns["t0"])]


def test_times_of_layers() -> None:
    still = dwell.run_scenario(parse_scenario({k: v for k, v in TABLES.items() if k != "world"}))
    for frames, t0, t1 in ((1, [1.0], [1.0]), (2, [0.0, 1.0], [1.0, 1.0])):
        layers = {one.name: one for one in layers_of(still, frames, ZERO)}
        assert sorted(set(layers["agents"].columns["t0"])) == t0
        assert layers["agents"].columns["t1"][-1] == t1[-1]
        assert layers["region"].columns["t0"].tolist() == [0.0]
        assert layers["region"].columns["t1"].tolist() == [1.0]
    site: Any = SimpleNamespace(epoch="2026-05-01T06:00:00+02:00")
    for epoch, at, known in (
        (None, None, "1970-01-01T00:00:00"),
        (None, site, "2026-05-01T04:00:00"),
        ("2027-01-01T00:00:00", site, "2027-01-01T00:00:00"),
        (None, SimpleNamespace(epoch=None), "1970-01-01T00:00:00"),
    ):
        assert beginning_of(epoch, at) == np.datetime64(known)


def test_maps_of_sensors_ranges_and_regions() -> None:
    tables = {k: v for k, v in TABLES.items() if k not in ("world", "density")}
    sensors = [{"name": "a", "density": HILL}, {"name": "b", "density": TABLES["density"]}]
    owned = [["a"], ["b"], ["a", "b"], ["b"], ["a"]]
    two = dwell.run_scenario(
        parse_scenario({**tables, "sensor": sensors, "agents": {"start": START, "sensors": owned}})
    )
    (agents,) = [one for one in layers_of(two, 1, ZERO) if one.name == "agents"]
    assert agents.columns["agent"].tolist() == [0, 2, 4, 1, 2, 3]
    assert agents.columns["sensor"].tolist() == ["a"] * 3 + ["b"] * 3
    known = np.array([True, True, False, False, False])
    seen = list(cells_at(two.system, 1.0, two.positions(1.0), known))
    assert [(one.sensor, one.agents.tolist()) for one in seen] == [("a", [0]), ("b", [1])]
    seen = list(cells_at(two.system, 1.0, two.positions(1.0)))
    masses = [one.cells.masses.sum() for one in seen]
    boxes = [s.density for s in two.system.sensors]
    whole = [dwell.tessellate(two.workspace, [(1.0, 1.0)], w).masses[0] for w in boxes]
    assert masses == pytest.approx(whole)
    near = dwell.run_scenario(
        parse_scenario({**tables, "agents": {"start": START, "radius": [0.3, 0.4, 0.5, 0.6, 0.7]}})
    )
    (cells,) = [one for one in layers_of(near, 1, ZERO) if one.name == "cells"]
    for radius, shape in zip([0.3, 0.4, 0.5, 0.6, 0.7], cells.shapes, strict=True):
        assert 0.0 < shape.area <= math.pi * radius**2
    (one,) = cells_at(near.system, 1.0, near.positions(1.0), np.arange(5) > 1)
    assert one.cells.radius is not None
    assert np.array(one.cells.radius).tolist() == [0.5, 0.6, 0.7]
    square, hole = [(0, 0), (6, 0), (6, 4), (0, 4)], [(1, 1), (3, 1), (3, 3), (1, 3)]
    lake = dwell.Region([{"outer": square, "holes": [hole]}, {"outer": [(7, 1), (9, 1), (8, 3)]}])
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.3)
    run = dwell.simulate(lake, None, [(0.5, 0.5), (3.5, 0.6), (8.0, 1.6)], law, until=0.2)
    layers = {one.name: one for one in layers_of(run, 1, ZERO)}
    assert layers["region"].columns["area"].tolist() == pytest.approx([lake.area])
    total = sum(shape.area for shape in layers["cells"].shapes)
    assert total == pytest.approx(lake.area)
    curved = dwell.simulate(
        dwell.Box((0, 0), (4, 3)), None, START[:2], dwell.Lloyd(mode="ode"), until=1.0
    )
    (paths,) = [one for one in layers_of(curved, 1, ZERO) if one.name == "paths"]
    for k, line in enumerate(paths.shapes):
        agent = int(paths.columns["agent"][k])
        times = np.linspace(paths.columns["t0"][k], paths.columns["t1"][k], 17)
        np.testing.assert_allclose(line.coords, curved.positions(times)[:, agent], atol=1e-6)


# Records that the page plays, read by the format as it is described.


def decoded(packed: bytes) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray]]]:
    body = gzip.decompress(packed)
    (length,) = struct.unpack_from("<I", body)
    header, at = json.loads(body[4 : 4 + length]), 4 + length
    found: dict[str, dict[str, np.ndarray]] = {"events": {}, "samples": {}}
    steps = {}
    for part in ("events", "samples"):
        for column in header[part]["columns"]:
            shape, planes = column["shape"], column["planes"]
            size = math.prod(shape)
            raw = np.frombuffer(body, np.uint8, size * planes, at).reshape(planes, size)
            at += size * planes
            if part == "samples":
                kind = f"<{column['type']}"
                found[part][column["name"]] = np.ascontiguousarray(raw.T).view(kind).reshape(shape)
                continue
            odd = sum(raw[k].astype(np.int64) << (8 * k) for k in range(planes))
            rest = np.where(odd % 2, -(odd + 1) // 2, odd // 2).reshape(shape)
            found[part][column["name"]], steps[column["name"]] = rest, column["step"]
    assert at == len(body)
    _undo(found["events"], steps)
    return header, found


def _undo(rest: dict[str, np.ndarray], steps: dict[str, float]) -> None:
    """Rows from their differences, one after another."""
    last: dict[int, int] = {}
    whole = {name: rest[name].astype(float) for name in rest}
    for k in range(len(rest["agent"])):
        agent = int(rest["agent"][k])
        before = last.get(agent)
        for name, column in whole.items():
            if name in ("agent", "next_at", "time"):
                continue
            if before is None:
                continue
            guess = column[before]
            if name == "positions":
                continue
            column[k] += guess
        due = whole["next_at"][before] if before is not None else INFINITE
        previous = whole["time"][k - 1] if k else 0.0
        whole["time"][k] += due if due < INFINITE else previous
        whole["next_at"][k] += whole["time"][k]
        if before is not None:
            dt = (whole["time"][k] - whole["time"][before]) * steps["time"]
            if "cruise" in whole and whole["cruise"][before] < INFINITE:
                dt = min(dt, whole["cruise"][before] * steps["cruise"])
            moved = whole["holds"][before] * steps["holds"] * dt
            step = steps["positions"]
            guess = np.floor((whole["positions"][before] * step + moved) / step + 0.5)
            whole["positions"][k] += guess
        last[agent] = k
    for name, column in whole.items():
        rest[name] = np.where(column >= INFINITE, np.inf, column * steps[name])


@pytest.mark.parametrize("kind", ["timer", "discrete-lloyd", "self-triggered"])
def test_a_record_is_the_run(kind: str, run: dwell.Run) -> None:
    if kind != "timer":
        law = {"discrete-lloyd": {"schedule": "poisson", "step": 0.2}}.get(kind, {"v": 0.5})
        tables = {k: v for k, v in TABLES.items() if k != "world"}
        run = dwell.run_scenario(parse_scenario({**tables, "controller": {"kind": kind, **law}}))
    header, found = decoded(recording_of(run))
    table, events, size = run.events, found["events"], 5.0
    for name in ("agent", "received"):
        exact = table.agent if name == "agent" else table.count(name)
        assert events[name].tolist() == exact.tolist(), name
    for name, exact, within in (
        ("positions", table.positions, BOUND * size),
        ("errors", table.errors, BOUND * size),
        ("holds", table.holds, BOUND * size),
        ("time", table.time, 1e-8),
        ("next_at", table.next_at, 1e-8),
    ):
        np.testing.assert_allclose(events[name], exact, rtol=0, atol=within, err_msg=name)
    if table.cruise is not None:
        np.testing.assert_allclose(events["cruise"], table.cruise, atol=1e-7)
    samples, metrics = found["samples"], run.metrics
    assert samples["time"].tolist() == metrics.times.tolist()
    assert samples["cost"].tolist() == metrics.costs.tolist()
    np.testing.assert_allclose(samples["errors"], metrics.errors, rtol=1e-6)
    assert samples["error"].tolist() == metrics.errors.max(axis=1).tolist()
    assert header["start"] == run.start.positions[:5].tolist()
    assert header["events"]["count"] == len(table)
    assert header["samples"]["count"] == len(metrics.times)


def test_the_first_message_of_a_run(run: dwell.Run) -> None:
    assert run.scenario is not None
    begin, start = begin_message(run.system, run.start, run.scenario), run.start
    assert begin["start"]["positions"] == start.positions.tolist()
    assert begin["start"]["holds"] == start.segments.hold.tolist()
    assert begin["start"]["next_at"] == [
        t if t < np.inf else None for t in start.segments.next_at.tolist()
    ]
    for name in ("looked", "received", "sent"):
        assert begin["start"]["spent"][name] == counts_of(start.spent, name).tolist()
    errors = np.hypot(*np.array(begin["start"]["errors"]).T)
    np.testing.assert_allclose(errors[:5], run.errors(0.0)[:5])
    wanted = {"nu": 0.3, "law": "timer", "agents": 7, "dimension": 2, "horizon": 1.0, "seed": 4}
    assert {key: begin[key] for key in wanted} == wanted
    assert begin["eta_max"] is None
    certified = {k: v for k, v in TABLES.items() if k != "world"}
    certified["certificate"] = {"eta_max": 0.4, "lipschitz": 5.0}
    other = dwell.run_scenario(parse_scenario(certified))
    assert begin_message(other.system, other.start, other.scenario)["eta_max"] == 0.4
    columns = sample_columns(run.metrics)
    assert columns["hold_error"].tolist() == run.metrics.hold_errors.max(axis=1).tolist()
    assert columns["separation"].tolist() == run.metrics.separations.tolist()
    world = world_json(run.scenario, run.system.changes)
    assert world is not None
    assert [phase["from"] for phase in world["phases"]] == [0.0, 0.5, 0.75]
    assert [sorted(phase) for phase in world["phases"]] == [
        ["density", "from", "workspace"], ["from"], ["density", "from", "workspace"]
    ]  # fmt: skip
    assert world["phases"][2]["workspace"]["upper"] == [5, 3]
    assert world["arrivals"] == [0, 0, 0, 0, 0, 0.5, 0.5]
    assert world["departures"] == [None, 0.5, None, 0.5, None, 0.75, None]
    assert world_json(run.scenario, None) is None


TURN = [[0.8, 0.6], [-0.6, 0.8]]


@pytest.mark.parametrize(
    ("site", "own"),
    [
        (dwell.Interval(1, 3), {"kind": "interval", "bounds": [1, 3]}),
        (dwell.Polygon([(0, 0), (4, 1), (1, 3)]), {"vertices": [[0, 0], [4, 1], [1, 3]]}),
        (dwell.Ball((1, 2), 3), {"kind": "ball", "center": [1, 2], "semi_axes": [3, 3]}),
        (dwell.Ellipsoid((1, 2), (3, 0.5), TURN), {"semi_axes": [3, 0.5], "axes": TURN}),
        (dwell.Box((0, 1, 2), (4, 3, 9)), {"dimension": 3, "box": [[0, 1, 2], [4, 3, 9]]}),
    ],
)
def test_workspaces_are_drawn_as_they_are(site: Any, own: dict[str, Any]) -> None:
    found = workspace_json(site)
    assert {key: found[key] for key in own} == own
    assert found["box"] == np.array(site.bounds).tolist()
    loops, n = rings_of_workspace(site), site.dimension
    every = np.vstack(loops)[:, :n] if n > 1 else np.vstack(loops)[:, :1]
    np.testing.assert_allclose([every.min(axis=0), every.max(axis=0)], site.bounds, atol=2e-3)
    if n == 1:
        assert loops[0][:, 1].tolist() == [-2 * BAND, -2 * BAND, 2 * BAND, 2 * BAND]
    if n == 2:
        assert area(loops[0]) == pytest.approx(site.volume, rel=2e-3)
    if n == 3:
        assert len(found["faces"]) == 6
        for face in found["faces"]:
            corners = np.array(found["vertices"])[face]
            assert min(np.ptp(corners, axis=0)) == 0.0
    places = site.bounds[0] + np.array([[0.4], [0.55]]) * (site.bounds[1] - site.bounds[0])
    cells = dwell.tessellate(site, places)
    if n == 2:
        drawn = [abs(area(ring)) for ring in rings_of_cells(cells)]
        assert drawn == pytest.approx([cell.volume for cell in cells.cells], rel=5e-3)


# MCAP.


@pytest.fixture(scope="module")
def topics(run: dwell.Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("changing") / "run.mcap"
    return topics_of(dwell.export_mcap(run, path, progress=False))


def test_frames_and_scenes_have_the_agents_that_are_there(
    run: dwell.Run, topics: dict[str, Any]
) -> None:
    for one in topics["/tf"]:
        shown = [int(frame.child_frame_id[6:]) for frame in one.content.transforms]
        here = places(frame.translation for frame in one.content.transforms)[:, :2]
        for agent, place in zip(shown, here, strict=True):
            begin, end = PRESENT[agent]
            assert begin - 1e-9 <= one.time <= end + 1e-9
            if one.time < end:
                np.testing.assert_allclose(place, run.positions(one.time)[agent], atol=1e-6)
        if len(shown) > 1:
            assert shown == run.world(one.time).agents.tolist()
    for one in topics["/scene"]:
        parts, world = entities(one.content), run.world(one.time)
        positions, holds = run.positions(one.time), run.holds(one.time)
        spheres = places(parts["agents"].spheres)[:, :2]
        np.testing.assert_allclose(spheres, positions[world.agents], atol=1e-6)
        cells = dwell.tessellate(world.workspace, positions[world.agents], world.density)
        centroids = places(parts["centroids"].spheres)[:, :2]
        np.testing.assert_allclose(centroids, cells.centroids, atol=1e-5)
        moving = [p for p in world.agents if np.hypot(*holds[p]) > 0.0]
        arrows = [direction(arrow)[:2] for arrow in parts["velocities"].arrows]
        fastest = 0.8  # every agent is fast at times
        scale = 0.1 * run.workspace.diameter / fastest
        np.testing.assert_allclose(arrows, scale * holds[moving], atol=1e-6)
        assert rings(parts["workspace"])[0][:, 0].max() == (5.0 if one.time >= 0.75 else 4.0)


def test_grids_samples_and_lines(run: dwell.Run, topics: dict[str, Any]) -> None:
    assert [one.time for one in topics["/density"]] == [0.0, 0.5, 0.75]
    for one in topics["/density"]:
        grid, world = one.content, run.world(one.time)
        values = np.frombuffer(grid.data, "<f4").reshape(-1, grid.column_count)
        wide = world.workspace.bounds[1][0]
        assert grid.column_count == 128
        assert len(values) == math.ceil(128 * 3 / wide)
        corner, cell = grid.pose.position, grid.cell_size
        assert (corner.x, corner.y) == (0.0, 0.0)
        assert corner.z < 0.0
        x = corner.x + (np.arange(128) + 0.5) * cell.x
        y = corner.y + (np.arange(len(values)) + 0.5) * cell.y
        assert (x[-1] + cell.x / 2, y[-1] + cell.y / 2) == pytest.approx((wide, 3.0))
        points = np.stack(np.meshgrid(x, y), axis=2).reshape(-1, 2)
        expected = world.density.at(points).reshape(values.shape)
        np.testing.assert_allclose(values, expected, rtol=1e-6)
    samples = [one.content for one in topics["/agents/sample"]]
    first = sorted(samples[:7], key=lambda one: one["agent"])
    assert [one["position"] for one in first] == run.start.positions.tolist()
    assert {one["jump"] for one in first} == {0}
    measured = run.details.initial_measurements.error.tolist()
    assert [one["error"] for one in first] == measured
    later = samples[7:]
    for name in ("agent", "time", "neighbors", "nearest", "hold_error", "next_at"):
        rows = [v if v is not None else math.inf for v in (one[name] for one in later)]
        assert rows == getattr(run.events, name).tolist(), name
    metrics = run.metrics
    assert [one.content["time"] for one in topics["/errors"]] == metrics.times.tolist()
    largest = [one.content["largest"] for one in topics["/errors"]]
    assert largest == metrics.errors.max(axis=1).tolist()
    assert [(one.time, one.content.message) for one in topics["/log"]] == [
        (0.5, "the world switches"), (0.5, "agent 5 arrives"), (0.5, "agent 6 arrives"),
        (0.5, "agent 1 leaves"), (0.5, "agent 3 leaves"), (0.75, "the world switches"),
        (0.75, "agent 5 leaves"), (1.0, "the run ended: horizon"),
    ]  # fmt: skip
    assert [line[0] for line in _lines(run)] == sorted(line[0] for line in _lines(run))


def test_long_runs_have_frames_farther_apart() -> None:
    for horizon, agents, step in (
        (300.0, 10, 0.05),
        (301.0, 10, 301.0 / 6000),
        (50.0, 1000, 0.05),
        (51.0, 1000, 0.051),
        (51.0, 10_000, 0.51),
    ):
        one: Any = SimpleNamespace(horizon=horizon, agents=agents)
        assert frame_step(one) == pytest.approx(step)


def test_arrows_turn_by_the_shortest_way() -> None:
    for along in ([1, 2, 3], [-1, 2, -3], [0, 1, 0], [0, 0, -2], [1, 0, 0], [-2, 0, 0]):
        x, y, z, w = _turned([float(v) for v in along])
        axis = [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)]
        np.testing.assert_allclose(axis, np.array(along) / np.linalg.norm(along), atol=1e-12)
        assert math.hypot(x, y, z, w) == pytest.approx(1.0)
    assert _in_space(np.array([1.0])) == [1.0, 0.0, 0.0]
    assert _in_space(np.array([1.0, 2.0, 3.0])) == [1.0, 2.0, 3.0]
    assert _rgb("#0072B2") == [0.0, 0x72 / 255, 0xB2 / 255]


# Rasters.


@pytest.mark.parametrize("changing", [False, True])
def test_rasters_are_drawn_with_pixels_of_unlike_sides(changing: bool, tmp_path: Path) -> None:
    values = np.arange(1.0, 25.0).reshape(4, 6) ** 1.5
    raster = dwell.Raster(values, origin=(-1, -2), pixel=(1.0, 2.0), rows="north first")
    mixed = dwell.Mixture((dwell.Uniform(1.0), raster))
    switches = [dwell.Switch(at=0.2, density=dwell.Uniform(2.0))] if changing else []
    law = dwell.Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.3)
    run = dwell.simulate(
        dwell.Box((0, 0), (4, 3)), mixed, START[:3], law, until=0.3, switches=switches
    )
    assert run.scenario is not None
    table = drawn_tables(run.system, run.scenario.model_dump(mode="json", exclude_none=True))
    first, drawn = table["density"]["parts"]
    assert first["kind"] == "uniform"
    again = dwell.Raster(
        drawn["inline"], origin=drawn["origin"], pixel=drawn["pixel"], rows=drawn["rows"],
        interpolation=drawn["interpolation"], outside=0.0,
    )  # fmt: skip
    rows, columns = np.array(drawn["inline"]).shape
    low, high = ((-1, -2), (5, 6)) if changing else ((0, 0), (4, 3))
    assert drawn["origin"] == list(low)
    np.testing.assert_allclose(np.array(drawn["pixel"]) * [columns, rows], np.subtract(high, low))
    assert max(rows, columns) == 128
    middles = np.array(low) + (np.array([[5, 11], [60, 3], [20, 90]]) + 0.5) * drawn["pixel"]
    np.testing.assert_allclose(again.at(middles), raster.at(middles), rtol=1e-4)
