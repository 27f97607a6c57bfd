"""Several runs in one figure: the same axes for all, nothing cut off, the right numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dwell import InputError, Run
from dwell.plotting import COMPARED, errors_side_by_side, quartiles, time_since_events
from dwell.plotting.timelines import count_curves
from dwell.plotting.timers import time_since

from .conftest import overlapping, run_named, words

LAWS = (
    "lloyd", "ode", "discrete-lloyd", "self-triggered", "self-triggered-centroid",
    "event-triggered",
)  # fmt: skip
GROUPS: dict[str, tuple[str, ...]] = {
    "one": ("lloyd",),
    "two": ("two-hills", "lloyd"),
    "three": ("lloyd", "self-triggered", "event-triggered"),
    "all": LAWS,
    "odd": ("nothing", "no-samples", "horizon-0"),
    "many": ("500", "500"),
    "shapes": ("wide", "tall", "slim"),
    "named": ("two-hills", "two-hills", "two-hills"),
    "named-tall": ("paper-30", "paper-30", "paper-30", "paper-30", "paper-30"),
}


def runs_of(group: str) -> dict[str, Run]:
    return {f"{k} {name}": run_named(name) for k, name in enumerate(GROUPS[group])}


@cache
def drawn(name: str, group: str) -> Figure:
    figure = COMPARED[name](runs_of(group))
    figure.canvas.draw()
    return figure


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", COMPARED)
def test_every_figure_is_drawn_without_overlaps(name: str, group: str) -> None:
    figure = drawn(name, group)

    assert overlapping(figure) == []
    assert figure.get_size_inches()[1] <= 9.0
    assert len(figure.axes) == (1 if name == "costs" else len(GROUPS[group]))
    for text in figure.findobj(matplotlib.text.Text):
        if text.get_text() and text.get_visible() and text.axes is not None:
            assert text.get_fontsize() >= 7.0


@pytest.mark.parametrize("name", ["errors", "cells"])
@pytest.mark.parametrize("group", ["two", "three", "all"])
def test_panels_share_their_axis(name: str, group: str) -> None:
    limits = {ax.get_ylim() for ax in drawn(name, group).axes}

    assert len(limits) == 1
    for ax in drawn(name, group).axes:
        assert ax.get_yscale() == "log"
        values = np.concatenate([np.asarray(line.get_ydata()) for line in ax.lines])
        assert values.min() >= ax.get_ylim()[0]
        assert values.max() <= ax.get_ylim()[1]


def test_panels_are_named_and_explained_once() -> None:
    figure = drawn("trajectories", "three")

    assert [ax.get_title() for ax in figure.axes] == list(runs_of("three"))
    assert len(figure.legends) == 1
    assert all(ax.get_legend() is None for ax in figure.axes)
    assert len(drawn("costs", "all").legends[0].get_texts()) == len(LAWS)


@pytest.mark.parametrize("name", ["two-hills", *LAWS])
def test_counts_end_at_what_the_run_counted(name: str) -> None:
    run = run_named(name)
    curves = count_curves(run)

    assert [values[-1] for _, values in curves] == run.counters.cells.tolist()
    for times, values in curves:
        assert (np.diff(times) >= 0.0).all()
        assert (np.diff(values) >= 0.0).all()
        assert times[-1] == run.horizon
    total = f"{run.counters.cells.max():,} per agent"
    assert total in words(COMPARED["cells"]({name: run}))


@pytest.mark.parametrize("name", ["two-hills", "self-triggered", "event-triggered"])
def test_the_time_since_an_event_rises_and_falls_to_zero(name: str) -> None:
    run = run_named(name)
    for p in range(run.agents):
        times, values = time_since(run, p)
        np.testing.assert_allclose(np.diff(times)[::2], np.diff(values)[::2])
        assert (values[::2] == 0.0).all()
        np.testing.assert_array_equal(times[2::2], run.events.time[run.events.of_agent(p)])


@pytest.mark.parametrize("name", ["two-hills", "self-triggered", "one", "horizon-0"])
def test_the_saw_tooth_has_panels_of_three(name: str) -> None:
    run = run_named(name)
    figure = time_since_events(run)
    figure.canvas.draw()

    assert len(figure.axes) == -(-run.agents // 3)
    named = [t.get_text() for ax in figure.axes for t in ax.get_legend().get_texts()]
    assert named == [f"$p = {p}$" for p in range(run.agents)]
    assert overlapping(figure) == []


def test_pairs_of_errors_share_one_axis() -> None:
    pairs = {"first": (run_named("lloyd"), run_named("ode")), "second": (run_named("two"),) * 2}
    figure = errors_side_by_side(pairs, ("left", "right"))
    figure.canvas.draw()

    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["first, left", "first, right", "second, left", "second, right"]
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert overlapping(figure) == []


def box_values(ax: Axes) -> list[np.ndarray]:
    return [np.asarray(line.get_ydata()) for line in ax.lines]


def test_boxes_show_quartiles_dots_and_what_never_came() -> None:
    samples = {
        "time": {"a": [1.0, 2.0, 3.0, None], "b": [5.0] * 4, "c-d": [None] * 4},
        "error": {"a": [1e-3, 1e-5], "b": [1.0, 2.0], "c-d": [1.0, 1.0]},
    }
    figure = quartiles(samples, log=("error",))
    figure.canvas.draw()
    time, error = figure.axes

    assert (time.get_yscale(), error.get_yscale()) == ("linear", "log")
    medians = [line for line in box_values(time) if len(line) == 2 and line[0] == line[1]]
    assert [line[0] for line in medians] == [2.0, 5.0]
    dots = [line for line in time.lines if line.get_marker() == "o"]
    assert [len(line.get_ydata()) for line in dots] == [3, 4]
    said = {text.get_text() for text in time.texts}
    assert said == {"1 never", "4 never"}
    assert [tick.get_text() for tick in time.get_xticklabels()] == ["a", "b", "c-\nd"]
    highest = max(line.max() for line in box_values(time))
    assert time.transData.transform((0, highest))[1] < min(
        text.get_window_extent().y0 for text in time.texts
    )


def test_few_values_have_no_box() -> None:
    figure = quartiles({"cost": {"timer": [1.0, 2.0, 3.0], "lloyd": [1.0, 2.0, 3.0, 4.0]}})

    assert len(figure.axes[0].collections) == 1


@pytest.mark.parametrize("draw", [*COMPARED.values(), quartiles])
def test_nothing_to_draw_is_refused(draw: Callable[..., Figure]) -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw({})
