"""Pictures of a design: which nu, T2 and k1 go together, two at a time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from dwell._types import Floats
from dwell._units import OPEN, Units
from dwell.plotting.figures import TWO_COLUMNS, blank
from dwell.plotting.save import write_figure
from dwell.plotting.style import (
    COLOURS,
    DASHES,
    KEYS,
    PLAIN,
    Axes,
    Figure,
    label,
    number,
    plain_log_ticks,
)
from dwell.theory.design import Setting

MARGIN = 3.0  # factor by which the axes go beyond what must be seen
POINTS = 200

PAPER, LOCAL, SYNC = COLOURS[0], COLOURS[2], COLOURS[1]


def tradeoff(setting: Setting, units: Units = OPEN) -> Figure:
    """T2 over k1, T2 over nu, and k1 over nu, each with the third as it is in the scenario.

    On log axes. Where agents differ, for the one with the least margin.
    """
    figure = blank(TWO_COLUMNS, 2.75)
    first, second, third = figure.subplots(1, 3)
    s, p = setting, setting.tightest
    t2, spread, keep = float(s.t2[p]), float(s.spreads[p]), 1.0 - s.epsilon
    limit = float(s.max_dwell_times[p])
    k1s = _range(s.k1, s.eta_max, *(k for k in s.admissible_k1 or () if k > 0.0))
    nus = _range(s.nu, s.nu * t2 / limit if limit > 0.0 else s.nu)
    ones = np.ones(POINTS)

    def paper(k1: Floats, nu: Floats) -> Floats:
        """The limit of T2; none where k1 is not above eta_max."""
        eta = s.theta * k1 if s.tied else s.eta_max
        return np.where(eta < k1, eta * keep * nu / (k1 * k1 * spread), np.nan)

    numbers = {"k1": s.k1, "nu": s.nu, "t2": t2}
    panels = ((first, "k1", "t2", "nu"), (second, "nu", "t2", "k1"), (third, "nu", "k1", "t2"))
    for ax, x_key, y_key, other in panels:
        ax.set(xscale="log", yscale="log")
        PLAIN.dress(ax, label(x_key, units), label(y_key, units))
        _, sign, dimension = KEYS[other]
        PLAIN.entitle(ax, units.after(f"${sign} = {number(numbers[other])}$", dimension))
    _regions(first, k1s, paper(k1s, s.nu * ones), keep * s.nu / k1s, t2)
    _regions(second, nus, paper(s.k1 * ones, nus), keep * nus / s.k1, t2)
    least = 0.0 if s.tied else s.eta_max
    gains = s.theta * keep * nus / (t2 * spread)
    if not s.tied:
        gains = np.sqrt(s.eta_max * keep * nus / (t2 * spread))
    gains = np.where(gains > least, gains, np.nan)
    _regions(third, nus, gains, keep * nus / t2, s.k1, least=least)
    if not s.tied:
        edge: Any = {"color": PLAIN.cell, "lw": PLAIN.line, "ls": DASHES[2]}
        for draw in (first.axvline, third.axhline):  # beyond which the theorem does not go
            draw(s.eta_max, label=r"$k_1 = \tilde\eta_{\max}$", **edge)
    alike = len(set(s.t2.tolist())) == 1 and len(set(s.lipschitz.tolist())) == 1
    here: Any = {"color": PLAIN.final if s.feasible else PLAIN.start, "ms": 5.0, "mew": PLAIN.frame}
    here["label"] = "this scenario" if alike else f"this scenario, agent {p}"
    for ax, x_key, y_key, _ in panels:
        ax.plot([numbers[x_key]], [numbers[y_key]], "o", mec=PLAIN.ink, ls="none", zorder=5, **here)
    PLAIN.explain_all(figure, [first, second, third], 3)
    return figure


def _range(*values: float) -> Floats:
    """From well below the smallest to well above the largest."""
    return np.geomspace(min(values) / MARGIN, max(values) * MARGIN, POINTS)


def _regions(
    ax: Axes, x: Floats, paper: Floats, once: Floats, used: float, *, least: float = 0.0
) -> None:
    """What each condition admits: below its curve, and above `least` for the paper's."""
    shown = paper[np.isfinite(paper) & (paper > 0.0)]
    ends = np.concatenate([[used], once, 2.0 * once, shown])
    low, high = float(ends.min()) / MARGIN, float(ends.max())
    ax.set_xlim(float(x[0]), float(x[-1]))
    ax.set_ylim(low, high)
    _ticks(ax.xaxis, float(x[0]), float(x[-1]))
    _ticks(ax.yaxis, low, high)
    ax.fill_between(x, low, once, color=LOCAL, alpha=0.13, lw=0)
    ax.fill_between(x, once, 2.0 * once, color=SYNC, alpha=0.10, lw=0)
    floor = max(low, least)
    ax.fill_between(
        x, floor, paper, where=list(paper > floor), color=PAPER, alpha=0.38, lw=0,
        label="admissible by the paper",
    )  # fmt: skip
    for values, colour, dashes, words in (
        (paper, PAPER, "-", "paper's limit"),
        (once, LOCAL, DASHES[1], r"$k_1 T_2 = \tilde\nu$: async_local, no overshoot"),
        (2.0 * once, SYNC, DASHES[3], r"$k_1 T_2 = 2\tilde\nu$: sync_global"),
    ):
        ax.plot(x, values, color=colour, lw=PLAIN.bold, ls=dashes, label=words)


def _ticks(axis: Any, low: float, high: float) -> None:
    """Plain numbers, so few that they do not meet."""
    decades = math.log10(high / low)
    subs = (1.0, 2.0, 5.0) if decades < 1.5 else (1.0, 3.0) if decades < 2.2 else (1.0,)
    plain_log_ticks(axis, subs)


def save_tradeoff(setting: Setting, path: Path, units: Units = OPEN) -> Path:
    """Write the picture to `path`, whose ending says in which format."""
    return write_figure(lambda: tradeoff(setting, units), path)
