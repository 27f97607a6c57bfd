"""Runs as MCAP files: what they hold, bit for bit or as drawn, and what is refused."""

from __future__ import annotations

import math
import resource
import signal
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell._types import lengths
from dwell.exports import foxglove_topics, mcap
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from tests.cli.shell import dwell as shell
from tests.exports.recorded_topics import area, direction, entities, places, rings, topics_of

PARTS = ["workspace", "cells", "agents", "velocities", "centroids"]
SCHEMAS = {
    "/tf": "foxglove.FrameTransforms", "/scene": "foxglove.SceneUpdate",
    "/density": "foxglove.Grid", "/cost": "dwell.Cost", "/errors": "dwell.Errors",
    "/agents/sample": "dwell.Sample", "/log": "foxglove.Log",
}  # fmt: skip


def run_of(template: str, **run: Any) -> dwell.Run:
    table = text_to_mapping(template_text(template))
    table["run"] |= run
    return dwell.run_scenario(parse_scenario(table))


@pytest.fixture(scope="module")
def topics(two_hills: dwell.Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("mcap") / "run.mcap"
    assert dwell.export_mcap(two_hills, path) == path
    return topics_of(path)


def test_topics_and_schemas(topics: dict[str, Any]) -> None:
    assert {name: found[0].schema for name, found in topics.items()} == SCHEMAS
    for found in topics.values():
        times = [one.time for one in found]
        assert times == sorted(times)
        assert 0.0 <= times[0] <= times[-1] <= 5.0


def test_samples_read_back_bit_for_bit(two_hills: dwell.Run, topics: dict[str, Any]) -> None:
    samples = [one.content for one in topics["/agents/sample"]]
    first, later = samples[: two_hills.agents], samples[two_hills.agents :]
    table = two_hills.events
    assert [one["agent"] for one in first] == list(range(two_hills.agents))
    assert [one["position"] for one in first] == two_hills.start.positions.tolist()
    assert [one["hold"] for one in first] == two_hills.start.segments.hold.tolist()
    assert [one["jump"] for one in later] == list(range(1, len(table) + 1))
    same = {"time": "time", "agent": "agent", "next_at": "next_at"}
    for name, column in (same | {one: plural for plural, one in mcap.SINGULAR.items()}).items():
        assert [one[name] for one in later] == getattr(table, column).tolist()


def test_frames_at_each_event_and_twenty_times_a_second(
    two_hills: dwell.Run, topics: dict[str, Any]
) -> None:
    table, seen, all_at_once = two_hills.events, 0, []
    for one in topics["/tf"]:
        frames = one.content.transforms
        assert {frame.parent_frame_id for frame in frames} == {"map"}
        here = places(frame.translation for frame in frames)[:, :2]
        if len(frames) == 1:
            assert frames[0].child_frame_id == f"agent_{table.agent[seen]}"
            assert (here[0] == table.positions[seen]).all()
            seen += 1
        else:
            all_at_once.append(one.time)
            assert [frame.child_frame_id for frame in frames] == [f"agent_{p}" for p in range(8)]
            assert np.abs(here - two_hills.positions(one.time)).max() < 1e-8
    assert seen == len(table)
    assert np.allclose(np.diff(all_at_once), 0.05)


def test_scenes_show_what_there_is(two_hills: dwell.Run, topics: dict[str, Any]) -> None:
    for one in topics["/scene"][:: len(topics["/scene"]) // 4]:
        parts = entities(one.content)
        assert list(parts) == PARTS
        assert {part.frame_id for part in parts.values()} == {"map"}
        positions, holds = two_hills.positions(one.time), two_hills.holds(one.time)
        world = two_hills.world(one.time)
        cells = dwell.tessellate(world.workspace, positions, world.density)
        (outline,) = rings(parts["workspace"])
        assert np.allclose(outline[:, :2], world.workspace.vertices)
        for ring, cell in zip(rings(parts["cells"]), cells.cells, strict=True):
            assert area(ring) == pytest.approx(cell.volume, rel=1e-6)
        assert np.allclose(places(parts["agents"].spheres)[:, :2], positions, atol=1e-7)
        assert np.allclose(places(parts["centroids"].spheres)[:, :2], cells.centroids, atol=1e-6)
        moving = lengths(holds) > 0.0
        arrows = parts["velocities"].arrows
        assert np.allclose(places(arrows)[:, :2], positions[moving], atol=1e-7)
        drawn = np.array([direction(arrow) for arrow in arrows])[:, :2]
        scale = np.linalg.norm(drawn) / np.linalg.norm(holds)  # one for all arrows
        assert np.allclose(drawn, scale * holds[moving])


def test_density_cost_and_errors(two_hills: dwell.Run, topics: dict[str, Any]) -> None:
    ((_, _, grid),) = topics["/density"]
    values = np.frombuffer(grid.data, "<f4").reshape(-1, grid.column_count)
    row, column = len(values) // 3, grid.column_count // 4
    place = grid.pose.position
    x = place.x + (column + 0.5) * grid.cell_size.x
    y = place.y + (row + 0.5) * grid.cell_size.y
    density = two_hills.world(0.0).density
    assert values[row, column] == np.float32(density.at(np.array([[x, y]]))[0])
    assert (grid.row_stride, grid.cell_stride) == (4 * grid.column_count, 4)
    metrics = two_hills.metrics
    assert [one.content["cost"] for one in topics["/cost"]] == metrics.costs.tolist()
    assert [one.content["errors"] for one in topics["/errors"]] == metrics.errors.tolist()
    assert topics["/log"][-1].content.message == "the run ended: horizon"


@pytest.mark.parametrize("template", ["line-8", "space-12", "disc-9", "two-sensors"])
def test_other_worlds(template: str, tmp_path: Path) -> None:
    run = run_of(template, horizon=0.3)
    topics = topics_of(dwell.export_mcap(run, tmp_path / "a.mcap"))
    parts = entities(topics["/scene"][0].content)
    n, workspace = run.workspace.dimension, run.workspace
    assert ("/density" in topics) == (n < 3)
    assert np.allclose(places(parts["agents"].spheres)[:, :n], run.positions(0.0))
    every = np.vstack(rings(parts["cells"]))[:, :n]
    assert np.allclose([every.min(axis=0), every.max(axis=0)], workspace.bounds, atol=1e-2)
    outline = np.vstack(rings(parts["workspace"]))[:, :n]
    assert np.allclose([outline.min(axis=0), outline.max(axis=0)], workspace.bounds)
    if n == 2:
        total = sum(area(ring) for ring in rings(parts["cells"]))
        covers = len(run.system.sensors) or 1
        assert total == pytest.approx(covers * workspace.volume, rel=3e-3)


def test_cells_of_a_region_end_at_its_holes(tmp_path: Path) -> None:
    square, hole = [(0, 0), (4, 0), (4, 4), (0, 4)], [(1, 1), (3, 1), (3, 3), (1, 3)]
    lake = dwell.Region({"outer": square, "holes": [hole]})
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.3)
    run = dwell.simulate(lake, None, [(0.5, 0.5), (3.5, 0.6), (2.2, 3.6)], law, until=0.5)
    parts = entities(topics_of(dwell.export_mcap(run, tmp_path / "a.mcap"))["/scene"][0].content)
    assert len(rings(parts["workspace"])) == 2
    assert sum(abs(area(ring)) for ring in rings(parts["cells"])) == pytest.approx(lake.area)


def test_worlds_that_change(tmp_path: Path) -> None:
    run = run_of("switching-site")
    topics = topics_of(dwell.export_mcap(run, tmp_path / "a.mcap"))
    said = [one.content.message for one in topics["/log"]]
    assert said == [
        "the world switches", "agent 6 arrives", "agent 1 leaves", "agent 4 leaves",
        "the run ended: horizon",
    ]  # fmt: skip
    before, after = (entities(topics["/scene"][k].content) for k in (0, -1))
    assert (len(before["agents"].spheres), len(after["agents"].spheres)) == (6, 5)
    assert len(topics["/density"]) == 2
    widths = [np.ptp(rings(one["workspace"])[0][:, 0]) for one in (before, after)]
    assert widths[1] > widths[0]


def test_long_runs_have_fewer_frames_and_say_so(
    two_hills: dwell.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mcap.thinned(two_hills) is None
    monkeypatch.setattr(mcap, "MOST_FRAMES", 10)
    topics = topics_of(dwell.export_mcap(two_hills, tmp_path / "a.mcap"))
    assert sum(len(one.content.transforms) == 8 for one in topics["/tf"]) == 11
    assert topics["/log"][0].content.message.startswith("frames are 0.5 s apart")


def test_dates(two_hills: dwell.Run, tmp_path: Path) -> None:
    path = dwell.export_mcap(two_hills, tmp_path / "a.mcap", epoch="2026-05-01T06:00:00Z")
    assert topics_of(path)["/cost"][0].time == 1777615200.0
    for bad in ("soon", "1969-01-01T00:00:00Z"):
        with pytest.raises(dwell.InputError, match="epoch is"):
            dwell.export_mcap(two_hills, tmp_path / "b.mcap", epoch=bad)
    assert not (tmp_path / "b.mcap").exists()


def test_what_cannot_be_exported_is_refused(
    two_hills: dwell.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, target = tmp_path / "run.nc", tmp_path / "a.mcap"
    two_hills.save(stored)
    assert shell("export", stored, stored, "--mcap", target).code == 2
    assert shell("export", tmp_path / "none.nc", "--mcap", target).code == 2
    with pytest.raises(dwell.InputError, match="its events"):
        dwell.export_mcap(run_of("two-hills", horizon=1.0, record={"kind": "samples"}), target)
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.3)
    high = dwell.simulate(dwell.Box([0] * 4, [1] * 4), None, [[0.2] * 4, [0.7] * 4], law, until=0.2)
    with pytest.raises(dwell.InputError, match="1, 2 or 3 coordinates"):
        dwell.export_mcap(high, target)
    target.write_text("mine")
    done = shell("export", stored, "--mcap", target)
    assert (done.code, target.read_text()) == (2, "mine")
    assert "exists already" in done.err
    assert shell("export", stored, "--mcap", target, "--force").code == 0
    assert target.read_bytes().startswith(b"\x89MCAP")
    monkeypatch.setitem(sys.modules, "foxglove.channels", None)
    monkeypatch.setitem(sys.modules, "foxglove", None)
    with pytest.raises(dwell.InputError, match="pip install foxglove-sdk"):
        dwell.export_mcap(two_hills, tmp_path / "b.mcap")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.mcap", "run.nc"]


def test_a_full_disk_leaves_nothing(
    two_hills: dwell.Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before, most = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.RLIMIT_FSIZE
    limits = resource.getrlimit(most)
    resource.setrlimit(most, (20_000, limits[1]))
    try:
        with pytest.raises(dwell.errors.UnsavedError, match="File too large"):
            dwell.export_mcap(two_hills, tmp_path / "a.mcap", progress=False)
    finally:
        resource.setrlimit(most, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr().err == ""


def test_schemas_name_one_type_each_as_foxglove_studio_needs_it() -> None:
    def check(one: dict[str, Any]) -> None:
        assert one["type"] in {"number", "integer", "array", "object"}
        assert one["type"] != "number" or "null" in one["description"]
        for part in (*one.get("properties", {}).values(), *filter(None, [one.get("items")])):
            check(part)

    for fields in (foxglove_topics.COST, foxglove_topics.ERRORS, foxglove_topics.SAMPLE):
        check({"type": "object", "properties": fields})


def test_numbers_that_json_has_not() -> None:
    tiny = struct.unpack("<d", struct.pack("<q", 1))[0]
    text = foxglove_topics.as_json({"a": [math.inf, math.nan, 0.1 + 0.2], "b": {"c": tiny}})
    assert text == b'{"a":[null,null,0.30000000000000004],"b":{"c":5e-324}}'
