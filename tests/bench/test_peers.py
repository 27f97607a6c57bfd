"""What is measured beside ours does the same work, and what is missing is told."""

from __future__ import annotations

import numpy as np
import pytest

import bench.runs
import bench.space
import bench.square
import bench.step
from bench.exact import sample
from bench.instructions import EVENTS, per_event
from bench.peers import catalogue
from bench.peers.install import installed
from bench.peers.squares import SYSTEMS, by_scipy
from bench.peers.timer_runs import by_loop, times_of
from bench.places import crowd
from bench.square import ours
from bench.timing import in_turns, in_unit
from tests.oracles import mp_moments as oracle
from tests.oracles import rational_cells


@pytest.mark.parametrize("name", SYSTEMS)
def test_cells_of_each_system_are_ours(name: str) -> None:
    if catalogue.why_missing(name):
        pytest.skip(f"{name} is not here")
    points, side = crowd(60)
    areas, centroids = SYSTEMS[name](points, side)
    expected = ours(points, side)
    np.testing.assert_allclose(areas, expected[0], rtol=1e-11)
    np.testing.assert_allclose(centroids, expected[1], rtol=0.0, atol=1e-11)


def test_a_sample_is_exact_though_cut_by_neighbours_only() -> None:
    points, side = crowd(150)
    found = sample(points, side, oracle.Uniform(), 8)
    square = [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)]
    for p, centroid in zip(found.who, found.centroids, strict=True):
        assert centroid == rational_cells.cell(square, points.tolist(), int(p)).centroid
    moved = by_scipy(points, side)[1] + 1e-6
    assert found.worst(moved) == pytest.approx(np.sqrt(2.0) * 1e-6, rel=1e-6)


def test_the_loop_over_shapely_repeats_our_run() -> None:
    run, task = bench.runs.ours(2.0)
    places, events = by_loop(task)
    assert events == len(run.events)
    np.testing.assert_allclose(places, run.positions(2.0), rtol=0.0, atol=1e-12)
    assert sum(len(times_of(task, p)) for p in range(12)) == events


@pytest.mark.parametrize("part", [bench.square, bench.runs, bench.step, bench.space])
def test_missing_systems_give_rows_that_say_so(
    part: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "why_missing", lambda name: "not installed")
    rows = [row for row in part.rows(True) if " / " in row.name and row.group == "peers"]
    assert rows
    assert all("not installed" in row.figure and row.met is None for row in rows)


def test_a_package_that_nobody_has_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = catalogue.Peer("nobody", "no-such-package", "import nothing")
    broken = catalogue.Peer("broken", "numpy", "raise ImportError('no such luck')")
    monkeypatch.setitem(catalogue.PEERS, "nobody", nobody)
    monkeypatch.setitem(catalogue.PEERS, "broken", broken)
    assert catalogue.why_missing("nobody") == "not installed"
    assert catalogue.why_missing("broken") == "cannot be imported: ImportError: no such luck"
    assert not installed("no-such-package>=1")
    assert installed("numpy>=1.26")


def test_every_peer_is_in_the_optional_group() -> None:
    wanted = " ".join(catalogue.requirements())
    assert all(peer.package in wanted for peer in catalogue.PEERS.values())


def test_calls_take_turns() -> None:
    seen: list[str] = []
    calls = {name: lambda name=name: seen.append(name) for name in "ab"}
    found = in_turns(calls, repeats=3)
    assert seen == list("ababab")
    assert found["a"].calls == 3
    assert in_unit(0.0025) == "2.5 ms"


def test_instructions_are_a_difference(tmp_path) -> None:
    few, many = EVENTS
    for k, (events, total) in enumerate(((few, 5_000_000), (many, 12_000_000))):
        words = f"desc: Trigger: dump N30-{events}\nsummary: {total}\n"
        (tmp_path / f"counts.{k}").write_text(words, encoding="utf-8")
    assert per_event(tmp_path) == {30: 7_000_000 / (many - few)}
