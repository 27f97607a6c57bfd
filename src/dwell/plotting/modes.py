"""Pictures of soft modes: how agents move where the cost hardly resists, and how that decays."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell._units import OPEN, Units
from dwell.plotting import maps, scene, timelines
from dwell.plotting.figures import TALLEST, TWO_COLUMNS, blank, draw_places, proportion
from dwell.plotting.save import write_figure
from dwell.plotting.scale import mark_scale
from dwell.plotting.style import COLOURS, PLAIN, Axes, Figure, number
from dwell.theory.decay import Decay, Prediction
from dwell.theory.rates import Rates

MOST = 4  # modes in a figure
REACH = 0.85  # part of the way to the nearest agent that arrows may take
TALL = 1.5  # height over width from which maps go side by side
CURVES = 2.3  # inches for the decay
WORDS = 0.55  # inches above and below a map
MODE, FIT, PREDICTED = COLOURS[0], COLOURS[1], "#1A1A1A"


def soft_modes(
    rates: Rates,
    prediction: Prediction | None = None,
    decay: Decay | None = None,
    units: Units = OPEN,
) -> Figure:
    """The softest modes, each with its gap and time constant; below, the decay seen in a run."""
    count = min(MOST, len(rates.spectrum))
    shape = proportion(rates.workspace)
    across = count if shape > TALL else min(2, count)
    rows = -(-count // across)
    below = 0.0 if decay is None else CURVES
    most = min((TALLEST - below) / rows - WORDS, 3.2)
    high = rows * (float(np.clip((TWO_COLUMNS / across - 0.6) * shape, 0.8, most)) + WORDS)
    figure = blank(TWO_COLUMNS, high + below)
    parts: Any = [figure]
    if decay is not None:
        parts = figure.subfigures(2, 1, height_ratios=[high, below])
    axes = np.atleast_1d(parts[0].subplots(rows, across)).ravel()
    for k, ax in enumerate(axes[:count]):
        draw_mode(ax, rates, k, prediction, 1 if across < 3 else 2, units)
    for ax in axes[count:]:
        ax.remove()
    if decay is not None:
        draw_decay(parts[1].subplots(), decay, units)
    return figure


def save_modes(
    path: Path,
    rates: Rates,
    prediction: Prediction | None = None,
    decay: Decay | None = None,
    units: Units = OPEN,
) -> Path:
    """Write the picture to `path`, whose ending says in which format."""
    return write_figure(lambda: soft_modes(rates, prediction, decay, units), path)


def draw_mode(
    ax: Axes, rates: Rates, mode: int, prediction: Prediction | None, lines: int, units: Units
) -> None:
    """Cells, agents, and an arrow for each along the mode; all arrows may as well be turned.

    The title takes one line, or two where there is less space. From four dimensions on, the first
    two coordinates are drawn.
    """
    n, places = rates.workspace.dimension, rates.positions
    arrows = _reach(rates, mode) * rates.modes[mode]
    words = (", " if lines == 1 else ",\n").join(_words(rates, mode, prediction, units))
    PLAIN.entitle(ax, words)
    if n == 3:
        view = scene.View(rates.workspace, places, arrows=arrows, hiding=scene.GHOST)
        scene.draw_scene(ax, view)
        return
    if n == 2:
        maps.draw_cells(ax, rates.workspace, places)
        maps.draw_workspace(ax, rates.workspace)
        mark_scale(ax, rates.workspace, units)
        maps.draw_agents(ax, places, colour=PLAIN.cell)
        maps.include(ax, places + arrows)
    else:
        draw_places(ax, rates.workspace, rates.density, places)
    if n == 1:
        places, arrows = (np.column_stack([v, np.zeros(len(v))]) for v in (places, arrows))
    thick = max(0.5, 1.6 * math.sqrt(min(1.0, 30.0 / rates.agents)))
    ax.quiver(
        places[:, 0], places[:, 1], arrows[:, 0], arrows[:, 1],
        angles="xy", scale_units="xy", scale=1.0, units="dots", width=thick * ax.figure.dpi / 72.0,
        color=MODE, minlength=0.5, zorder=6, headwidth=3.6, headlength=4.2, headaxislength=3.8,
        clip_on=n > 1,
    )  # fmt: skip


def _words(rates: Rates, mode: int, prediction: Prediction | None, units: Units) -> list[str]:
    gap = rf"mode {mode + 1}: gap ${number(float(rates.gaps[mode]), 3)}$"
    rate = None
    if prediction is not None and prediction.by_mode is not None:
        rate = float(prediction.by_mode[mode])
    if rate is None or rate == 0.0:
        return [gap]
    if math.isinf(rate):
        return [gap, "gone in one step"]
    what = "time constant" if rate > 0.0 else "grows, time constant"
    return [gap, units.after(rf"{what} ${number(1.0 / abs(rate), 4)}$", "time")]


def _reach(rates: Rates, mode: int) -> float:
    """Length of the longest arrow: no arrow reaches the nearest agent, or meets that one's."""
    lower, upper = rates.workspace.bounds
    shape, tiny = rates.modes[mode], 1e-9
    most = [0.4 * (upper - lower) / np.maximum(np.abs(shape).max(axis=0), tiny)]
    if rates.agents > 1:
        from scipy.spatial import cKDTree

        distances, others = cKDTree(rates.positions).query(rates.positions, k=2)
        nearest, other = distances[:, 1], others[:, 1]
        away = rates.positions[other] - rates.positions
        towards = ((shape - shape[other]) * away).sum(axis=1) / nearest
        most.append(REACH * nearest / np.maximum(lengths(shape), tiny))
        most.append(REACH * nearest / np.maximum(towards, tiny))
    return float(np.concatenate(most).min())


def draw_decay(ax: Axes, decay: Decay, units: Units = OPEN) -> None:
    """The distance to the limit over time, on a log axis, with the fit and the predicted rate."""
    last = float(decay.times[-1]) if len(decay.times) else 0.0
    label = units.beside("distance from the limit", "length")
    timelines.time_axis(ax, 0.0, last, label, units=units)
    if not len(decay.times):
        PLAIN.placeholder(ax, "there are no times to show")
        return
    floor = timelines.log_axis(ax, [decay.distances, _seen(decay)])
    for values, label, colour in (
        (decay.distances, "of all agents (root mean square)", PLAIN.faint),
        (decay.along, f"along mode {decay.mode + 1}", MODE),
    ):
        own: Any = {"label": label, "color": colour, "lw": PLAIN.bold}
        timelines.draw_curve(ax, (decay.times, values), last, PLAIN, floor, **own)
    if decay.rate is None:
        ax.plot([], [], " ", label=decay.says)
    else:
        _draw_fit(ax, decay)
    PLAIN.explain(ax, 2)


def _seen(decay: Decay) -> Floats:
    """The mode's curve without what is far below everything that matters."""
    if decay.rate is None:
        return decay.along[decay.along > 1e-3 * decay.distances]
    within = (decay.times >= decay.since) & (decay.times <= decay.until)
    return decay.along[within & (decay.along > 0.0)]


def _draw_fit(ax: Axes, decay: Decay) -> None:
    assert decay.rate is not None
    ends: Points = np.array([decay.since, decay.until])
    ax.axvspan(decay.since, decay.until, color=PLAIN.band, alpha=0.12, lw=0)
    fitted = decay.level * np.exp(-decay.rate * (ends - decay.since))
    label = f"observed rate ${number(decay.rate)}$"
    ax.plot(ends, fitted, color=FIT, lw=PLAIN.bold, ls=(0, (5, 3)), label=label, zorder=4)
    if decay.predicted is not None and math.isfinite(decay.predicted):
        predicted = 2.0 * decay.level * np.exp(-decay.predicted * (ends - decay.since))
        label = f"predicted rate ${number(decay.predicted)}$ (shifted)"
        ax.plot(ends, predicted, color=PREDICTED, lw=PLAIN.line, ls=(0, (1, 1.4)), label=label)
