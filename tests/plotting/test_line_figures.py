"""Runs on the line: density with cells, the space-time diagram, and the film of both."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from dwell import Ball, Gaussian, Interval, Mixture, Run, Timer, Uniform, simulate
from dwell.controllers import DiscreteLloyd
from dwell.plotting import FIGURES, save_figures
from dwell.plotting.figures import deployment
from dwell.plotting.film import canvas_of, frames_of
from dwell.plotting.line import borders_of, curve_of, slices
from dwell.plotting.panels import compared_trajectories

from .conftest import assert_fits

LAW = Timer(k1=1.0, nu=0.05, t1=0.1, t2=0.3)
HILL = Mixture((Uniform(0.1), Gaussian(center=(4.0,), rate=1.0, weight=2.0)))
START = [[0.4], [0.1], [1.5], [0.9]]  # not in order


def far_away() -> Run:
    start = [[5e6 + 2.0], [5e6 + 4.0]]
    return simulate(Interval(5e6, 5e6 + 60), None, start, LAW, until=3.0)


RUNS = {
    "four": lambda: simulate(Interval(0, 6), HILL, START, LAW, until=4.0, seed=1),
    "one": lambda: simulate(Interval(0, 6), HILL, [[1.0]], LAW, until=2.0),
    "ball": lambda: simulate(Ball((3.0,), 3.0), None, START, LAW, until=2.0),
    "many": lambda: simulate(
        Interval(0, 6), HILL, np.random.default_rng(1).uniform(0, 2, (60, 1)), LAW, until=2.0
    ),
    "lloyd": lambda: simulate(Interval(0, 6), HILL, START, DiscreteLloyd(step=0.2), until=2.0),
    "horizon-0": lambda: simulate(Interval(0, 6), HILL, START, LAW, until=0.0),
    "no-samples": lambda: simulate(Interval(0, 6), HILL, START, LAW, until=2.0, sample_every="off"),
    "far": far_away,
}


@cache
def run_named(name: str) -> Run:
    return RUNS[name]()


@cache
def drawn(figure: str, name: str) -> Figure:
    made = FIGURES[figure](run_named(name))
    made.canvas.draw()
    return made


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_fits_its_sheet(figure: str, name: str) -> None:
    assert_fits(drawn(figure, name))
    wide = drawn(figure, name).get_size_inches()[0]
    assert wide == (7.0 if figure == "configurations" else 3.5)


def test_borders_lie_half_way_between_neighbours() -> None:
    found = borders_of(Interval(0, 6), np.array([[4.0, 1.0, 2.0], [-3.0, 9.0, 20.0]]))

    np.testing.assert_array_equal(found, [[1.5, 3.0], [3.0, 6.0]])


def test_slices_are_the_cells_and_fill_the_area_under_the_curve() -> None:
    line = Interval(0, 6)
    places = run_named("four").positions(4.0)[:, 0]
    rings, owners = slices(line, curve_of(line, HILL), places)

    assert sorted(owners) == [0, 1, 2, 3]
    for ring, p in zip(rings, owners, strict=True):
        assert ring[0, 0] <= places[p] <= ring[-1, 0]
    areas = [(np.diff(r[:, 0]) * (r[1:, 1] + r[:-1, 1])).sum() / 2.0 for r in rings]
    exact = 0.6 + 2.0 * np.sqrt(np.pi) * (1.0 - 0.5 * 0.00467773)  # a little is cut off at 6
    assert sum(areas) == pytest.approx(exact, rel=1e-4)


def test_the_space_time_diagram_shows_the_positions_over_time() -> None:
    run = run_named("four")
    ax = drawn("trajectories", "four").axes[0]
    paths = [line for line in ax.lines if (line.get_label() or "").startswith("$p")]

    assert len(paths) == run.agents
    for p, line in enumerate(paths):
        times, places = line.get_data()
        assert (times[0], times[-1]) == (0.0, run.horizon)
        np.testing.assert_allclose(places, run.positions(times)[:, p, 0])
    assert ax.get_xlabel() == "time $t$"
    assert ax.get_ylabel() == "position $x$"


def test_borders_of_cells_and_samples_are_in_the_diagram() -> None:
    run = run_named("four")
    ax = drawn("trajectories", "four").axes[0]

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
        x for x in drawn("trajectories", "many").axes[0].lines if x.get_label() == "samples"
    ]


def test_configurations_show_agents_and_density_before_and_after() -> None:
    run = run_named("four")
    for ax, t in zip(drawn("configurations", "four").axes, (0.0, run.horizon), strict=True):
        curve, dots = ax.lines
        np.testing.assert_array_equal(dots.get_xdata(), run.positions(t)[:, 0])
        np.testing.assert_allclose(curve.get_ydata(), HILL.at(curve.get_xdata()[:, None]))
        assert len(ax.collections[0].get_paths()) == run.agents


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", RUNS)
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
    run = run_named("four")
    both = compared_trajectories({"timer": run, "lloyd": run_named("lloyd")})
    assert [ax.get_xlabel() for ax in both.axes] == ["time $t$"] * 2
    figure = deployment(run.workspace, HILL, run.positions(4.0), 1.0)
    assert figure.axes[0].get_ylabel() == r"density $\varphi$"
    assert len(save_figures(run, tmp_path, ["svg", "pdf"], ["trajectories"])) == 2
