"""Runs to draw, ordinary and odd ones, and what every figure must keep to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import dwell
from dwell import Ball, Box, Gaussian, Interval, Mixture, Polygon, Run, Timer, Uniform, simulate
from dwell.controllers import (
    DiscreteLloyd,
    EventTriggered,
    Lloyd,
    SelfTriggered,
    SelfTriggeredCentroid,
)
from dwell.plotting import FIGURES
from dwell.scenario import apply_overrides, parse_scenario, template_text, text_to_mapping

LAW = Timer(k1=0.5, nu=0.2, t1=0.2, t2=0.6)
ROOM = Box((0, 0), (4, 3))
HILL = Gaussian(center=(3, 2), rate=1.0)


class Drift:
    """A law of one's own: no k1, no nu, a sample every half a unit."""

    def begin(self, view: object) -> object:
        from dwell.agents.interfaces import Command

        return Command(np.array([0.1, 0.0]), view.time + 0.5)

    decide = begin


def from_template(name: str, *overrides: str) -> Run:
    mapping = apply_overrides(text_to_mapping(template_text(name)), list(overrides))
    return dwell.run_scenario(parse_scenario(mapping))


def scattered(count: int, lower: tuple[float, float], upper: tuple[float, float]) -> np.ndarray:
    return np.random.default_rng(7).uniform(lower, upper, (count, 2))


def in_room(count: int, until: float, **options: object) -> Run:
    return simulate(ROOM, HILL, scattered(count, (0, 0), (2, 2)), LAW, until=until, **options)


def by_law(law: object, until: float = 3.0) -> Run:
    return simulate(ROOM, HILL, scattered(4, (0, 0), (2, 2)), law, until=until)


class OnceOnly(Drift):
    """Samples once, and never again."""

    def decide(self, view: object) -> object:
        from dwell.agents.interfaces import Command

        return Command(np.zeros(2), np.inf)


def far_away() -> Run:
    x, y = 5e6, -3e6
    corners = [(x, y), (x + 90, y + 5), (x + 70, y + 60), (x + 10, y + 50)]
    weight = Gaussian(center=(x + 40, y + 30), rate=1e-3, weight=3e7)
    start = scattered(6, (x + 15, y + 10), (x + 40, y + 40))
    return simulate(Polygon(corners), weight, start, Timer(k1=2, nu=1, t1=0.2, t2=0.6), until=5)


def box_run(width: float, height: float) -> Run:
    start = scattered(5, (0, 0), (width / 2, height))
    law = Timer(k1=0.1 * min(width, height), nu=1, t1=0.2, t2=0.6)
    return simulate(Box((0, 0), (width, height)), None, start, law, until=4)


def out_of_bounds() -> Run:
    start = scattered(4, (0, 0), (400, 2))
    return simulate(Box((0, 0), (1000, 2)), None, start, Timer(k1=20, nu=1, t1=2, t2=4), until=20)


RUNS: dict[str, Callable[[], Run]] = {
    "paper-30": lambda: from_template("paper-30", "run.horizon=2"),
    "two-hills": lambda: from_template("two-hills", "run.horizon=15"),
    "one": lambda: in_room(1, 15.0),
    "two": lambda: in_room(2, 3.0),
    "500": lambda: in_room(500, 1.5, sample_every=0.1),
    "horizon-0": lambda: in_room(5, 0.0),
    "no-samples": lambda: in_room(5, 6.0, sample_every="off"),
    "nothing": lambda: in_room(5, 0.0, sample_every="off"),
    "zero-error": lambda: simulate(Box((-1, -1), (1, 1)), None, [(0, 0)], LAW, until=3),
    "far": far_away,
    "wide": lambda: box_run(80, 10),
    "tall": lambda: box_run(10, 80),
    "slim": lambda: box_run(1000, 2),
    "slim-tall": lambda: box_run(2, 1000),
    "outside": out_of_bounds,
    "lloyd": lambda: by_law(Lloyd()),
    "ode": lambda: by_law(Lloyd(mode="ode"), 2.0),
    "discrete-lloyd": lambda: by_law(DiscreteLloyd(step=0.5)),
    "self-triggered": lambda: by_law(SelfTriggered()),
    "self-triggered-centroid": lambda: by_law(SelfTriggeredCentroid()),
    "event-triggered": lambda: by_law(EventTriggered()),
    "once": lambda: simulate(ROOM, HILL, [(0.5, 0.5), (1, 2)], OnceOnly(), until=2),
    "python-law": lambda: simulate(ROOM, HILL, [(0.5, 0.5), (1, 2)], Drift(), until=2),
}


SHORT = Timer(k1=1.0, nu=0.05, t1=0.1, t2=0.3)
PEAK = Mixture((Uniform(0.1), Gaussian(center=(4.0,), rate=1.0, weight=2.0)))
START = [[0.4], [0.1], [1.5], [0.9]]  # not in order


def on_line(
    start: object = START, law: object = SHORT, until: float = 2.0, **options: object
) -> Run:
    return simulate(Interval(0, 6), PEAK, start, law, until=until, **options)


# Runs on the line.
LINE_RUNS: dict[str, Callable[[], Run]] = {
    "line-four": lambda: on_line(until=4.0, seed=1),
    "line-one": lambda: on_line([[1.0]]),
    "line-ball": lambda: simulate(Ball((3.0,), 3.0), None, START, SHORT, until=2.0),
    "line-many": lambda: on_line(np.random.default_rng(1).uniform(0, 2, (60, 1))),
    "line-lloyd": lambda: on_line(law=DiscreteLloyd(step=0.2)),
    "line-horizon-0": lambda: on_line(until=0.0),
    "line-no-samples": lambda: on_line(sample_every="off"),
    "line-far": lambda: simulate(
        Interval(5e6, 5e6 + 60), None, [[5e6 + 2.0], [5e6 + 4.0]], SHORT, until=3.0
    ),
}
CUBOID = Box((0, 0, 0), (4, 3, 2))


def in_cuboid(agents: int) -> np.ndarray:
    return np.random.default_rng(0).uniform((0.1, 0.1, 0.1), (3.9, 2.9, 1.9), (agents, 3))


def flight() -> Run:
    law = Timer(k1=1.0, nu=0.1, t1=0.1, t2=0.3)
    return simulate(CUBOID, None, 0.4 * in_cuboid(6), law, until=3.0, seed=1, sample_every=0.1)


@cache
def run_named(name: str) -> Run:
    return {**RUNS, **LINE_RUNS, "flight": flight}[name]()


@cache
def drawn(figure: str, name: str) -> Figure:
    """A figure of a run, laid out once for all tests."""
    made = FIGURES[figure](run_named(name))
    made.canvas.draw()
    return made


def words(figure: Figure) -> str:
    """All text that is seen."""
    found = figure.findobj(matplotlib.text.Text)
    return " | ".join(text.get_text() for text in found if text.get_visible())


def _inside(figure: Figure, box: matplotlib.transforms.Bbox) -> bool:
    width, height = figure.bbox.size
    return box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1


def assert_fits(figure: Figure) -> None:
    """Nothing is cut off, no text is small, and no panel is."""
    for text in figure.findobj(matplotlib.text.Text):
        if text.get_text() and text.get_visible() and text.axes is not None:
            assert text.get_fontsize() >= 7.0
    for ax in figure.axes:
        assert _inside(figure, ax.get_tightbbox())
        if ax.get_label() != "<colorbar>":
            assert min(ax.get_window_extent().size) > 0.25 * figure.dpi


def overlapping(figure: Figure) -> list[str]:
    """Titles, names of axes and legends that lie on one another, or outside the figure."""
    boxes = []
    for ax in figure.axes:
        for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
            if text.get_text():
                boxes.append((text.get_text(), text.get_window_extent()))
    for legend in (*figure.legends, *(ax.get_legend() for ax in figure.axes)):
        if legend is not None:
            boxes.append(("legend", legend.get_window_extent()))
    if figure.get_suptitle():
        name = figure._suptitle.get_window_extent()
        boxes.append(("name", name.padded(figure.dpi * 2.0 / 72.0)))  # two points of air
    bad = [a for a, box in boxes if not _inside(figure, box)]
    for k, (a, box) in enumerate(boxes):
        bad += [f"{a} / {b}" for b, other in boxes[:k] if box.overlaps(other)]
    return bad
