"""Figures and films of worlds that change: the world at the time shown, and who is in it."""

from __future__ import annotations

from functools import cache
from typing import Any

import matplotlib
import numpy as np
import pytest

import dwell
from dwell.cells.rings import cell_rings
from dwell.plotting import FIGURES, line, maps, scene, timelines, timers, worlds
from dwell.plotting.figures import blank, overview
from dwell.plotting.film import canvas_of
from dwell.plotting.film_frames import frames_of
from dwell.plotting.film_scenes import plane_scene
from dwell.plotting.panels import COMPARED
from tests.plotting.conftest import assert_fits, from_template, overlapping, words

LAW = {"kind": "timer", "k1": 1.0, "nu": 0.3, "t1": 0.1, "t2": 0.3}
WIDE = [[0, 0], [4, 0], [4, 4], [0, 4]]
FAR = [[2.5, 0], [7, 0.5], [7, 5], [2, 4]]
HILL = {"times": [0, 3], "values": [[1], [3.5]], "after": "hold"}
SCENARIOS: dict[str, dict[str, Any]] = {
    "walls": {
        "workspace": {"kind": "polygon", "vertices": {"times": [0, 6], "values": [WIDE, FAR]}},
        "agents": {"start": {"count": 5, "seed": 2}},
    },
    "line": {
        "workspace": {"kind": "interval", "bounds": [0, 4]},
        "density": {"kind": "gaussian", "center": HILL, "rate": 0.5},
        "agents": {"start": [[0.2], [0.5], [1.0]]},
        "world": [
            {
                "from": 2.0,
                "workspace": {"kind": "interval", "bounds": [-1, 6]},
                "leave": [1],
                "arrive": [[5.5]],
            },
            {"from": 9.0, "arrive": [[5.9]]},
        ],
    },
    "line-sensors": {
        "workspace": {"kind": "interval", "bounds": [0, 4]},
        "sensor": [
            {"name": "a", "density": {"kind": "uniform"}},
            {"name": "b$", "density": {"kind": "gaussian", "center": HILL, "rate": 1.0}},
        ],
        "agents": {"start": [[0.2], [0.5], [1.0]], "sensors": [["a"], ["a", "b$"], ["b$"]]},
    },
    "space": {
        "workspace": {"kind": "box", "lower": [0, 0, 0], "upper": [3, 3, 2]},
        "density": {"kind": "gaussian", "center": [2, 2, 1], "rate": 0.5},
        "agents": {"start": {"count": 4, "seed": 1}},
        "world": [
            {
                "from": 2.0,
                "workspace": {"kind": "box", "lower": [0, 0, 0], "upper": [5, 3, 2]},
                "leave": [0],
                "arrive": [[4.5, 0.5, 1.5]],
            }
        ],
    },
}
TEMPLATES = {
    "moving-hill": "run.horizon=45",
    "two-sensors": "run.horizon=5",
    "switching-site": "run.horizon=36",
}
EVERY = [*SCENARIOS, *TEMPLATES]


@cache
def run_of(name: str) -> dwell.Run:
    if name in TEMPLATES:
        return from_template(name, TEMPLATES[name], "run.record.sample_every=0.25")
    data = {"density": {"kind": "uniform"}, **SCENARIOS[name]}
    if "sensor" in data:
        del data["density"]
    rest = {"controller": LAW, "run": {"horizon": 6.0, "seed": 5, "record": {"sample_every": 0.3}}}
    return dwell.run_scenario({**data, **rest})


def drawn_on(draw: Any, *args: Any, **options: Any) -> Any:
    ax = blank(4.0, 3.0).subplots()
    draw(ax, *args, **options)
    return ax


def dots(ax: Any) -> int:
    """How many markers there are on axes, those of legends left out."""
    return sum(len(one.get_xdata()) for one in ax.lines if one.get_marker() not in ("None", ""))


@pytest.mark.parametrize("name", EVERY)
def test_nothing_overlaps(name: str) -> None:
    run = run_of(name)
    for draw in (*FIGURES.values(), overview):
        figure = draw(run)
        figure.canvas.draw()
        assert_fits(figure)
        assert overlapping(figure) == []


@pytest.mark.parametrize("name", ["walls", "switching-site"])
def test_maps_contain_all_worlds(name: str) -> None:
    run = run_of(name)
    figure = FIGURES["configurations"](run)
    film = blank(4.0, 3.0).subplots()
    plane_scene(film, frames_of(run, fps=4, seconds=1))
    maps_drawn = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    for ax in (*maps_drawn, drawn_on(maps.draw_trajectories, run), film):
        for t in np.linspace(0.0, run.horizon, 7):
            lower, upper = run.world(t).workspace.bounds
            low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
            assert (low < lower).all()
            assert (upper < high).all()


def test_lines_and_scenes_contain_all_worlds() -> None:
    run = run_of("line")
    for ax in (drawn_on(line.draw_space_time, run), drawn_on(line.draw_moment, run, 0.0)):
        low, high = ax.get_ylim() if "time" in ax.get_xlabel() else ax.get_xlim()
        assert low < -1.0
        assert high > 6.0
    assert worlds.scope_of(run_of("space")).bounds[1].tolist() == [5.0, 3.0, 2.0]
    assert worlds.scope_of(run_of("moving-hill")) is run_of("moving-hill").workspace


def test_absent_agents_have_no_marker_and_no_cell() -> None:
    run = run_of("switching-site")
    assert run.world(0.0).agents.tolist() == [0, 1, 2, 3, 4, 5]
    assert run.world(36.0).agents.tolist() == [0, 2, 3, 5, 6]
    for t, count in ((0.0, 6), (36.0, 5)):
        ax = drawn_on(maps.draw_moment, run, t)
        assert dots(ax) == count
        (cells,) = (
            c for c in ax.collections if isinstance(c, matplotlib.collections.PolyCollection)
        )
        assert len(cells.get_paths()) == count
    ax = drawn_on(maps.draw_trajectories, run)
    assert dots(ax) == 6 + 5 + 1 + 2  # start, end, arrives, leaves
    assert {"arrives", "leaves"} <= {text.get_text() for text in ax.get_legend().get_texts()}


def test_absent_agents_have_no_path_and_no_curve() -> None:
    run = run_of("line")
    times = line.instants(run)
    paths = line.path_curves(run, times, run.positions(times)[..., 0])
    ends = [(path[0, 0], path[-1, 0]) for path in paths if len(path)]
    assert ends == [(0.0, 6.0), (0.0, 2.0), (0.0, 6.0), (2.0, 6.0)]
    assert not len(paths[4])  # would arrive after the horizon
    for curves in (timelines.error_curves(run), timelines.count_curves(run)):
        assert [(t[0], t[-1]) for t, _ in curves[:4]] == ends
        assert not len(curves[4][0])
        assert all((values > 0.0).all() for _, values in curves)
    times, values = timers.saw_tooth(run, 3, 0.0, 6.0)
    assert times[0] == 2.0
    assert values[0] <= 0.3
    assert timers.time_since(run, 1)[0][-1] == 2.0
    assert timers.time_since(run, 3)[0][0] == 2.0
    assert not len(timers.time_since(run, 4)[0])
    assert len(maps.paths_of(run)[4]) == 0


def test_agents_of_space_keep_their_colours() -> None:
    run = run_of("space")
    view = scene.view_of(run, 6.0)
    assert [view.number(p) for p in range(4)] == [1, 2, 3, 4]
    assert view.workspace.bounds[1].tolist() == [5.0, 3.0, 2.0]
    assert scene.view_of(run, 0.0).workspace.bounds[1].tolist() == [3.0, 3.0, 2.0]


@pytest.mark.parametrize("name", ["moving-hill", "switching-site"])
def test_a_frame_shows_density_outline_and_agents_of_its_time(name: str) -> None:
    run = run_of(name)
    frames = frames_of(run, fps=5, seconds=3)
    ax = blank(4.0, 3.0).subplots()
    film = plane_scene(ax, frames)
    (image,), outline = ax.images, ax.patches[0]
    seen = []
    for k in (14, 0, 8, 12):
        film.show(k)
        world = run.world(frames.times[k])
        weights = maps.raster(world.workspace, world.density)
        np.testing.assert_array_equal(image.get_array(), weights)
        np.testing.assert_array_equal(outline.get_path().vertices[:-1], world.workspace.vertices)
        assert image.get_extent() == [
            v for pair in np.transpose(world.workspace.bounds) for v in pair
        ]
        seen.append(sum(len(one.get_xdata()) for one in ax.lines))
        assert seen[-1] == len(world.agents)
        assert len(ax.collections[0].get_paths()) == len(world.agents)
    assert image.norm.vmax >= weights.max()


@pytest.mark.parametrize("name", EVERY)
def test_films_are_drawn(name: str) -> None:
    canvas = canvas_of(frames_of(run_of(name), fps=4, seconds=1), (480, 270), 60.0)
    assert (canvas.frame(0) != canvas.frame(3)).any()


@pytest.mark.parametrize("name", ["line", "space", "switching-site"])
def test_both_costs_at_a_switch(name: str) -> None:
    run = run_of(name)
    (switch,) = run.summary()["world"]["switches"]
    times, costs = timelines.cost_curve(run)
    at = np.flatnonzero(times == switch["time"])
    assert costs[at].tolist() == [switch["cost_before"], switch["cost_after"]]
    (curve,) = (one for one in drawn_on(timelines.draw_cost, run).lines if len(one.get_xdata()) > 2)
    assert np.count_nonzero(curve.get_xdata() == switch["time"]) == 2


def test_switches_are_vertical_lines() -> None:
    run = run_of("line")
    axes = [
        drawn_on(draw, run)
        for draw in (timelines.draw_cost, timelines.draw_errors, timelines.draw_hold_errors)
    ]
    axes.append(drawn_on(timers.draw_timers, run, window=(1.0, 3.0)))
    for ax in axes:
        lines = [one for one in ax.lines if one.get_label() == "switch"]
        assert [one.get_xdata()[0] for one in lines] == [2.0]
    early = drawn_on(timers.draw_timers, run, window=(0.0, 1.0))
    assert not [one for one in early.lines if one.get_label() == "switch"]
    for draw in COMPARED.values():
        draw({"one": run, "other": run}).canvas.draw()


def test_without_events_a_curve_breaks_at_a_switch() -> None:
    data = {**SCENARIOS["line"], "controller": LAW}
    record = {"kind": "samples", "sample_every": 0.3}
    run = dwell.run_scenario({**data, "run": {"horizon": 6.0, "seed": 5, "record": record}})
    times, costs = timelines.cost_curve(run)
    assert np.isnan(costs[times == 2.0]).all()
    assert np.isfinite(costs[times != 2.0]).all()


def test_sensors_have_markers_lines_and_a_legend() -> None:
    run = run_of("two-sensors")
    assert [list(kind) for kind in worlds.kinds_of(run).values()] == [[0, 1, 2], [4, 5, 6], [3]]
    figure = FIGURES["configurations"](run)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["smoke", "heat", "smoke and heat"]
    ax = figure.axes[0]
    shown = [one for one in ax.lines if len(one.get_xdata())]
    assert [(one.get_marker(), len(one.get_xdata())) for one in shown] == [
        ("o", 3),
        ("^", 3),
        ("D", 1),
    ]
    styles = {str(c.get_linestyle()) for c in ax.collections}
    assert len(styles) == 2
    assert "Sum of densities" in words(figure)
    assert "circles, solid: smoke" in worlds.sensor_words(run)
    assert r"solid: a, dashed: b\$" in worlds.border_words(run_of("line-sensors"))


def test_an_edge_between_two_cells_is_drawn_once() -> None:
    rings = cell_rings(dwell.Box((0, 0), (2, 1)), np.array([(0.5, 0.5), (1.5, 0.5)]))
    (edge,) = worlds.shared_edges(rings or [])
    assert sorted(edge.tolist()) == [[1.0, 0.0], [1.0, 1.0]]
    assert worlds.shared_edges([]) == []
