"""Pictures of soft modes: how agents move where the cost hardly resists, and how that decays."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.plotting import coordinate_pairs, line, maps, scene, timelines
from dwell.plotting.downsample import extremes
from dwell.plotting.figures import TALLEST, TWO_COLUMNS, blank, proportion
from dwell.plotting.save import write_figure
from dwell.plotting.style import COLOURS, PLAIN, Style, dress, explain, number, placeholder
from dwell.theory.decay import Decay, Prediction
from dwell.theory.rates import Rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 4  # modes in a figure
REACH = 0.85  # part of the way to the nearest agent that arrows may take
TALL = 1.5  # height over width from which maps go side by side
CURVES = 2.3  # inches for the decay
WORDS = 0.55  # inches above and below a map
MODE, FIT, FORETOLD = COLOURS[0], COLOURS[1], "#1A1A1A"


def soft_modes(
    rates: Rates,
    prediction: Prediction | None = None,
    decay: Decay | None = None,
    style: Style = PLAIN,
) -> Figure:
    """The softest modes, each with its gap and time constant; below, the decay seen in a run."""
    count = min(MOST, len(rates.spectrum))
    across = count if proportion(rates.workspace) > TALL else min(2, count)
    rows = -(-count // across)
    below = 0.0 if decay is None else CURVES
    most = (TALLEST - below) / rows - WORDS
    width = TWO_COLUMNS / across
    height = (
        float(np.clip((width - 0.6) * proportion(rates.workspace), 0.8, min(most, 3.2))) + WORDS
    )
    figure = blank(TWO_COLUMNS, rows * height + below)
    upper, lower = (figure, None) if decay is None else _parts(figure, rows * height, below)
    axes = np.atleast_1d(upper.subplots(rows, across)).ravel()
    for k, ax in enumerate(axes):
        if k < count:
            draw_mode(ax, rates, k, prediction, style=style, lines=1 if across < 3 else 2)
        else:
            ax.remove()
    if decay is not None and lower is not None:
        draw_decay(lower.subplots(), decay, style=style)
    return figure


def _parts(figure: Figure, maps_high: float, below: float) -> tuple[Any, Any]:
    parts: Any = figure.subfigures(2, 1, height_ratios=[maps_high, below])
    return parts[0], parts[1]


def save_modes(
    path: Path, rates: Rates, prediction: Prediction | None = None, decay: Decay | None = None
) -> Path:
    """Write the picture to `path`, whose ending says in which format."""
    return write_figure(lambda: soft_modes(rates, prediction, decay), path)


def draw_mode(
    ax: Axes,
    rates: Rates,
    mode: int,
    prediction: Prediction | None = None,
    *,
    style: Style = PLAIN,
    lines: int = 1,
) -> None:
    """Cells, agents, and an arrow for each along the mode; all arrows may as well be turned.

    The title takes one line, or two where there is less space.
    """
    arrows = _reach(rates, mode) * rates.modes[mode]
    if rates.workspace.dimension == 3:
        view = scene.View(rates.workspace, rates.positions, arrows=arrows, hiding=scene.GHOST)
        scene.draw_scene(ax, view, style=style)
    else:
        _draw_flat(ax, rates, arrows, style)
    words = (", " if lines == 1 else ",\n").join(_words(rates, mode, prediction))
    ax.set_title(words, fontsize=style.label_size, pad=4.0)


def _draw_flat(ax: Axes, rates: Rates, arrows: Points, style: Style) -> None:
    """A mode on the line or in the plane; from four dimensions on, its first two coordinates."""
    n, places = rates.workspace.dimension, rates.positions
    if n == 1:
        line.draw_line(ax, rates.workspace, rates.density, places, style=style)
        places, arrows = (np.column_stack([v, np.zeros(len(v))]) for v in (places, arrows))
    elif n == 2:
        maps.draw_cells(ax, rates.workspace, places, style=style)
        maps.draw_workspace(ax, rates.workspace, style=style)
        maps.draw_agents(ax, places, style=style, colour=style.cell)
        maps._include(ax, places + arrows)
    else:
        coordinate_pairs.draw_places(ax, rates.workspace, places, style=style)
    thick = max(0.5, 1.6 * math.sqrt(min(1.0, 30.0 / rates.agents)))
    ax.quiver(
        places[:, 0], places[:, 1], arrows[:, 0], arrows[:, 1],
        angles="xy", scale_units="xy", scale=1.0, units="dots", width=thick * ax.figure.dpi / 72.0,
        color=MODE, minlength=0.5, zorder=6, headwidth=3.6, headlength=4.2, headaxislength=3.8,
        clip_on=n > 1,
    )  # fmt: skip


def _words(rates: Rates, mode: int, prediction: Prediction | None) -> list[str]:
    gap = rf"mode {mode + 1}: gap ${number(float(rates.gaps[mode]), 3)}$"
    rate = None
    if prediction is not None and prediction.by_mode is not None:
        rate = float(prediction.by_mode[mode])
    if rate is None or rate == 0.0:
        return [gap]
    if math.isinf(rate):
        return [gap, "gone in one step"]
    what = "time constant" if rate > 0.0 else "grows, time constant"
    return [gap, rf"{what} ${number(1.0 / abs(rate), 4)}$"]


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


def draw_decay(ax: Axes, decay: Decay, *, style: Style = PLAIN) -> None:
    """The distance to the limit over time, on a log axis, with the fit and what was foretold."""
    dress(ax, style, "time $t$", "distance from the limit")
    last = float(decay.times[-1]) if len(decay.times) else 0.0
    ax.set_xlim((0.0, last) if last > 0.0 else (-0.5, 0.5))
    if not len(decay.times):
        placeholder(ax, style, "there are no times to show")
        return
    floor = timelines.log_axis(ax, [decay.distances, *_seen(decay)])
    shown: list[tuple[Floats, str, dict[str, Any]]] = [
        (
            decay.distances,
            "of all agents (root mean square)",
            {"color": style.faint, "lw": style.bold},
        ),
        (decay.along, f"along mode {decay.mode + 1}", {"color": MODE, "lw": style.bold}),
    ]
    for values, label, properties in shown:
        t, v = extremes((decay.times, values), last, style.columns)
        timelines.plot_line(ax, t, np.maximum(v, floor), label=label, **properties)
    if decay.rate is None:
        ax.plot([], [], " ", label=decay.says)
    else:
        _draw_fit(ax, decay, style)
    explain(ax, style, 2)


def _seen(decay: Decay) -> list[Floats]:
    """The mode's curve without what is far below everything that matters."""
    if decay.rate is None:
        return [decay.along[decay.along > 1e-3 * decay.distances]]
    within = (decay.times >= decay.since) & (decay.times <= decay.until)
    return [decay.along[within & (decay.along > 0.0)]]


def _draw_fit(ax: Axes, decay: Decay, style: Style) -> None:
    assert decay.rate is not None
    ends: Points = np.array([decay.since, decay.until])
    ax.axvspan(decay.since, decay.until, color=style.band, alpha=0.12, lw=0)
    fitted = decay.level * np.exp(-decay.rate * (ends - decay.since))
    label = f"observed rate ${number(decay.rate)}$"
    ax.plot(ends, fitted, color=FIT, lw=style.bold, ls=(0, (5, 3)), label=label, zorder=4)
    if decay.predicted is not None and math.isfinite(decay.predicted):
        foretold = 2.0 * decay.level * np.exp(-decay.predicted * (ends - decay.since))
        label = f"predicted rate ${number(decay.predicted)}$ (shifted)"
        ax.plot(ends, foretold, color=FORETOLD, lw=style.line, ls=(0, (1, 1.4)), label=label)
