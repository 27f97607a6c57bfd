"""Runs on the line: density with cells, the space-time diagram, and the film of both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dwell import Interval
from dwell.plotting import save_figures
from dwell.plotting.figures import deployment
from dwell.plotting.film import canvas_of, frames_of
from dwell.plotting.line import borders_of, curve_of, slices
from dwell.plotting.panels import compared_trajectories

from .conftest import LINE_RUNS, PEAK, drawn, run_named


def test_borders_lie_half_way_between_neighbours() -> None:
    found = borders_of(Interval(0, 6), np.array([[4.0, 1.0, 2.0], [-3.0, 9.0, 20.0]]))

    np.testing.assert_array_equal(found, [[1.5, 3.0], [3.0, 6.0]])


def test_slices_are_the_cells_and_fill_the_area_under_the_curve() -> None:
    line = Interval(0, 6)
    places = run_named("line-four").positions(4.0)[:, 0]
    rings, owners = slices(line, curve_of(line, PEAK), places)

    assert sorted(owners) == [0, 1, 2, 3]
    for ring, p in zip(rings, owners, strict=True):
        assert ring[0, 0] <= places[p] <= ring[-1, 0]
    areas = [(np.diff(r[:, 0]) * (r[1:, 1] + r[:-1, 1])).sum() / 2.0 for r in rings]
    exact = 0.6 + 2.0 * np.sqrt(np.pi) * (1.0 - 0.5 * 0.00467773)  # a little is cut off at 6
    assert sum(areas) == pytest.approx(exact, rel=1e-4)


def test_the_space_time_diagram_shows_the_positions_over_time() -> None:
    run = run_named("line-four")
    ax = drawn("trajectories", "line-four").axes[0]
    paths = [line for line in ax.lines if (line.get_label() or "").startswith("$p")]

    assert len(paths) == run.agents
    for p, line in enumerate(paths):
        times, places = line.get_data()
        assert (times[0], times[-1]) == (0.0, run.horizon)
        np.testing.assert_allclose(places, run.positions(times)[:, p, 0])
    assert ax.get_xlabel() == "time $t$"
    assert ax.get_ylabel() == "position $x$"


def test_borders_of_cells_and_samples_are_in_the_diagram() -> None:
    run = run_named("line-four")
    ax = drawn("trajectories", "line-four").axes[0]

    (between,) = ax.collections
    segments = between.get_segments()
    assert len(segments) == run.agents - 1
    for k, segment in enumerate(segments):
        row = np.sort(run.positions(segment[:, 0])[..., 0], axis=1)
        np.testing.assert_allclose(segment[:, 1], 0.5 * (row[:, k] + row[:, k + 1]))
    (dots,) = (line for line in ax.lines if line.get_label() == "samples")
    np.testing.assert_array_equal(dots.get_xdata(), run.events.time)
    np.testing.assert_array_equal(dots.get_ydata(), run.events.positions[:, 0])
    assert not [
        x for x in drawn("trajectories", "line-many").axes[0].lines if x.get_label() == "samples"
    ]


def test_configurations_show_agents_and_density_before_and_after() -> None:
    run = run_named("line-four")
    for ax, t in zip(drawn("configurations", "line-four").axes, (0.0, run.horizon), strict=True):
        curve, dots = ax.lines
        np.testing.assert_array_equal(dots.get_xdata(), run.positions(t)[:, 0])
        np.testing.assert_allclose(curve.get_ydata(), PEAK.at(curve.get_xdata()[:, None]))
        assert len(ax.collections[0].get_paths()) == run.agents


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LINE_RUNS)
def test_every_run_can_be_filmed(name: str) -> None:
    run = run_named(name)
    stage = canvas_of(frames_of(run, fps=5, seconds=2), (480, 270), 60.0)
    for k in (9, 0, 5):
        stage.frame(k)
    now = run.positions(float(frames_of(run, fps=5, seconds=2).times[5]))[:, 0]
    between, paths, heads, cells, _, _, dots = stage.parts[0].artists
    np.testing.assert_array_equal(dots.get_offsets()[:, 1], now)
    np.testing.assert_array_equal(heads.get_offsets()[:, 1], now)
    assert len(cells.get_paths()) == run.agents
    assert len(paths.get_segments()) == run.agents
    assert len(between.get_segments()) == run.agents - 1


def test_compared_laws_and_deployments_are_drawn_on_the_line(tmp_path: Path) -> None:
    run = run_named("line-four")
    both = compared_trajectories({"timer": run, "lloyd": run_named("line-lloyd")})
    assert [ax.get_xlabel() for ax in both.axes] == ["time $t$"] * 2
    figure = deployment(run.workspace, PEAK, run.positions(4.0), 1.0)
    assert figure.axes[0].get_ylabel() == r"density $\varphi$"
    assert len(save_figures(run, tmp_path, ["svg", "pdf"], ["trajectories"])) == 2
