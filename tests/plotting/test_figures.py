"""Every figure of every run: it can be drawn, and shows what it should."""

from __future__ import annotations

import re

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from dwell import Box, Polygon, Timer, simulate, tessellate
from dwell.density import as_density
from dwell.geometry import voronoi_cells
from dwell.plotting import (
    FIGURES,
    PLAIN,
    draw_cell_counts,
    draw_cells,
    draw_cost,
    draw_density,
    draw_errors,
    draw_hold_errors,
    draw_timers,
    draw_trajectories,
)
from dwell.plotting.style import agent_label
from dwell.plotting.timelines import log_axis
from dwell.plotting.timers import default_window, saw_tooth

from .conftest import LINE_RUNS, RUNS, assert_fits, drawn, run_named, words

pytestmark = pytest.mark.slow


def data_of(ax: matplotlib.axes.Axes) -> np.ndarray:
    rows = [line.get_xydata() for line in ax.lines if line.get_transform() == ax.transData]
    rows = [row[np.isfinite(row).all(axis=1)] for row in rows if len(row)]
    return np.vstack(rows) if rows else np.empty((0, 2))


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("run", [*RUNS, *LINE_RUNS, "flight"])
def test_every_figure_of_every_run_fits_its_sheet_and_its_axes(name: str, run: str) -> None:
    figure = drawn(name, run)

    assert_fits(figure)
    width, height = figure.get_size_inches()
    assert width == (7.0 if name == "configurations" else 3.5)
    assert 1.0 < height <= 9.0
    if run not in RUNS:
        return
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert len(panels) == (4 if name == "configurations" else 1)
    for ax in panels:
        assert (ax.get_yscale() == "log" and ax.get_ylim()[0] > 0.0) or name not in (
            "errors",
            "cost",
        )
        for label in (ax.get_xlabel(), ax.get_ylabel()):
            assert re.search(
                "[a-z]{4}", re.sub(r"\$.*?\$", "", label)
            )  # a word, not a symbol alone
        for values, (low, high) in zip(data_of(ax).T, (ax.get_xlim(), ax.get_ylim()), strict=True):
            slack = 1e-9 * (high - low)
            assert ((values >= low - slack) & (values <= high + slack)).all()


def test_only_very_slim_workspaces_are_not_to_scale() -> None:
    slim = {n for n in RUNS if drawn("trajectories", n).axes[0].get_aspect() != 1.0}

    assert slim == {"slim", "slim-tall", "outside"}
    for name in RUNS:
        label = drawn("trajectories", name).axes[0].get_xlabel()
        assert ("not to scale" in label) == (name in slim)


def test_agents_stand_where_the_run_says() -> None:
    run = run_named("two-hills")
    axes = drawn("configurations", "two-hills").axes

    for panel, t in zip(axes[:4], (0.0, 0.0, run.horizon, run.horizon), strict=True):
        np.testing.assert_array_equal(panel.lines[0].get_xydata(), run.positions(t))


def test_cells_are_the_final_ones_and_paths_join_start_and_end() -> None:
    run = run_named("two-hills")
    cells, paths = drawn("trajectories", "two-hills").axes[0].collections

    expected = voronoi_cells(run.workspace.polygon, run.positions(run.horizon))
    assert len(cells.get_paths()) == run.agents
    for path, cell in zip(cells.get_paths(), expected, strict=True):
        np.testing.assert_array_equal(path.vertices[:-1], cell.vertices)
    for p, path in enumerate(paths.get_segments()):
        np.testing.assert_array_equal(path[0], run.positions(0.0)[p])
        np.testing.assert_array_equal(path[-1], run.positions(run.horizon)[p])


def test_the_density_is_clipped_to_the_workspace_and_its_scale_starts_at_zero() -> None:
    figure = drawn("configurations", "paper-30")
    image = figure.axes[1].images[0]

    assert image.get_clip_path() is not None
    assert image.get_clim() == pytest.approx((0.0, 1.0))
    assert image.get_cmap().name == "viridis"
    assert r"density $\varphi$" in figure.axes[4].get_ylabel()


def test_large_densities_and_far_places_stay_readable() -> None:
    figure = drawn("configurations", "far")
    ax, bar = figure.axes[0], figure.axes[4]

    assert "5\\,000\\,000" in ax.get_xlabel()
    assert "3\\,000\\,000" in ax.get_ylabel()
    assert all(len(tick.get_text()) <= 4 for tick in ax.get_xticklabels())
    assert "10^{7}" in bar.get_ylabel()


def test_nu_and_the_time_of_cover_are_marked() -> None:
    run = run_named("one")
    said = words(drawn("errors", "one"))

    assert r"$\nu = 0.2$" in said
    assert run.reached_at is not None
    assert f"{run.reached_at:.4g}" in said


def test_hold_errors_keep_their_largest_value_and_show_the_limit() -> None:
    run = run_named("paper-30")
    (ax,) = drawn("hold_errors", "paper-30").axes

    largest = max(run.events.hold_error.max(), run.metrics.hold_errors.max())
    curves = [line.get_ydata() for line in ax.lines if len(line.get_xydata()) > 2]
    assert max(curve.max() for curve in curves) == largest
    assert r"\tilde{\eta}_{\max} = 0.4" in words(ax.figure)
    assert ax.get_ylim()[0] < 0.4 < ax.get_ylim()[1]


def test_a_few_holds_are_drawn_tooth_by_tooth() -> None:
    run = run_named("two")
    (ax,) = drawn("hold_errors", "two").axes

    for p in range(2):
        rows = run.events.of_agent(p)
        times, values = ax.lines[p].get_data()
        for k in rows:
            at = values[times == run.events.time[k]]
            assert at.max() == run.events.hold_error[k]
            assert at.min() == 0.0


@pytest.mark.parametrize(
    ("figure", "run", "sentence"),
    [
        ("errors", "no-samples", "own samples only"),
        ("cost", "no-samples", "no samples were kept"),
        ("errors", "nothing", "no samples were kept"),
        ("hold_errors", "nothing", "no samples were kept"),
        ("cost", "nothing", "no samples were kept"),
        ("errors", "zero-error", "values of 0"),
        ("hold_errors", "python-law", "no hold error"),
        ("hold_errors", "lloyd", "no hold error"),
        ("hold_errors", "discrete-lloyd", "no hold error"),
        ("hold_errors", "self-triggered", "no hold error"),
        ("timers", "lloyd", "all agents at the same times"),
    ],
)
def test_a_sentence_stands_for_what_is_missing(figure: str, run: str, sentence: str) -> None:
    assert sentence in words(drawn(figure, run))


def test_long_curves_are_thinned_but_keep_their_extremes() -> None:
    run = run_named("two-hills")
    (ax,) = drawn("errors", "two-hills").axes

    for p in range(run.agents):
        values = ax.lines[p].get_ydata()
        assert len(values) <= 4 * PLAIN.columns
        assert values.max() == run.metrics.errors[:, p].max()
        assert values.min() == run.metrics.errors[:, p].min()


def test_agents_have_their_colour_in_every_figure() -> None:
    run = run_named("two-hills")
    colours = []
    for name in ("errors", "hold_errors", "timers"):
        (ax,) = drawn(name, "two-hills").axes
        lines = {line.get_label(): line.get_color() for line in ax.lines}
        colours.append([lines[agent_label(p)] for p in range(run.agents)])

    assert colours[0] == colours[1] == colours[2]
    assert len(set(colours[0])) == run.agents
    assert len({(PLAIN.colour(p), str(PLAIN.dashes(p))) for p in range(30)}) == 30


@pytest.mark.parametrize("name", RUNS)
def test_the_papers_window_is_used_where_it_fits_and_else_shows_a_few_resets(name: str) -> None:
    run = run_named(name)
    begin, end = default_window(run)

    assert (begin, end) == (0.1, 0.15) or name != "paper-30"
    assert 0.0 <= begin <= end <= run.horizon
    if run.horizon > 3.0:
        inside = (run.events.time >= begin) & (run.events.time <= end)
        assert 1.0 <= inside.sum() / run.agents <= 10.0


def test_the_saw_tooth_is_exact() -> None:
    run = run_named("paper-30")
    begin, end = default_window(run)

    for p in range(run.agents):
        times, values = saw_tooth(run, p, begin, end)
        assert times[0] == begin
        assert times[-1] == end
        np.testing.assert_allclose(np.diff(times)[::2], -np.diff(values)[::2], atol=1e-15)
        resets = run.events.time[run.events.of_agent(p)]
        np.testing.assert_array_equal(times[1:-1:2], resets[(resets > begin) & (resets <= end)])
        np.testing.assert_array_equal(times[1:-1:2], times[2::2])  # vertical
        middle = 0.5 * (times[::2] + times[1::2])
        expected = [run.timers(float(t))[p] for t in middle]
        np.testing.assert_allclose(0.5 * (values[::2] + values[1::2]), expected, atol=1e-12)


@pytest.mark.parametrize("values", [[], [0.0], [1e-300, 1.0], [5.0, 5.0], [1e-320], [0.0, 1e12]])
def test_log_axes_fit_any_values(values: list[float]) -> None:
    ax = Figure().subplots()
    floor = log_axis(ax, [np.array(values)])
    low, high = ax.get_ylim()

    assert 0.0 < low < floor < high
    assert high >= 9.99 * low
    assert all(v <= high for v in values)


def test_coincident_agents_have_no_cells_and_the_picture_says_so() -> None:
    figure = Figure()
    ax = figure.subplots()
    draw_cells(ax, Box((0, 0), (1, 1)), np.array([[0.5, 0.5], [0.5, 0.5]]))

    assert "two agents coincide" in words(figure)
    assert not ax.collections


def test_a_density_is_evaluated_inside_the_workspace_only() -> None:
    triangle = Polygon([(0, 0), (1, 0), (0, 1)])

    def weight(points: np.ndarray) -> np.ndarray:
        assert triangle.contains(points).all()
        return 1.0 + points[:, 0]

    image, label = draw_density(Figure().subplots(), triangle, as_density(weight))
    assert image.get_clim()[1] == pytest.approx(2.0, rel=0.01)
    assert label == r"density $\varphi$"


DRAWINGS = (
    draw_trajectories, draw_errors, draw_hold_errors, draw_cost, draw_timers, draw_cell_counts
)  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("name", ["two-hills", "500"])
def test_a_title_on_own_axes_is_not_cut_off(draw, name: str) -> None:
    figure = Figure(figsize=(9, 4))
    _, right = figure.subplots(1, 2)
    tops = set()
    for _ in range(2):  # drawing anew does not make the axes lower
        right.clear()
        draw(right, run_named(name))
        right.set_title("timer errors")
        figure.draw_without_rendering()
        title, legend = right.title.get_window_extent(), right.get_legend().get_window_extent()
        assert legend.y1 <= title.y0 < title.y1 <= figure.bbox.y1
        tops.add(figure.subplotpars.top)
    assert len(tops) == 1
    figure.tight_layout()
    figure.draw_without_rendering()
    assert right.title.get_window_extent().y1 <= figure.bbox.y1


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
@pytest.mark.parametrize("record", ["events", "summary"])
def test_a_run_and_a_tessellation_plot_themselves(dimension, record) -> None:
    places = np.random.default_rng(2).uniform(0.1, 0.9, (4, dimension))
    site = Box((0,) * dimension, (1,) * dimension)
    law = Timer(k1=0.4, nu=0.2, t1=0.1, t2=0.3)
    run = simulate(site, None, places, law, until=0.5, record=record)
    figure = run.plot()
    assert len(figure.axes) >= 2
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert "t = 0" in words(figure)
    assert "t = 0.5" in words(figure)
    assert "4 agents" in words(tessellate(site, places).plot())


def test_timers_are_those_of_a_window() -> None:
    run = run_named("two-hills")
    assert f"a window of the run, which ends at ${run.horizon:g}$" in words(
        drawn("timers", "two-hills")
    )
    assert "window" not in words(drawn("timers", "horizon-0"))


def test_many_agents_become_bands_and_stay_small() -> None:
    figure = drawn("errors", "500")

    assert "all 500 agents" in words(figure)
    assert len(figure.axes[0].lines) < 6
