"""Pictures of soft modes: nothing overlaps, arrows stay on the map, the right numbers are told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver

from dwell import Box, DiscreteLloyd, Gaussian, Lloyd, Timer, simulate
from dwell.plotting.modes import save_modes, soft_modes
from dwell.theory.decay import Decay, Prediction, observe, predict
from dwell.theory.rates import Rates, rates, rates_near, rates_of

from .conftest import overlapping

ROOM = Box((0, 0), (4, 3))
HILL = Gaussian((2.5, 1.2), rate=0.2)
START = [(0.5, 0.5), (1, 2), (3, 1), (3.5, 2.5), (2, 0.4)]

Drawn = tuple[Rates, Prediction | None, Decay | None]


def of_run(law: object, until: float) -> Drawn:
    run = simulate(ROOM, HILL, START, law, until=until, seed=3)
    found = rates_of(run)
    predicted = predict(found, law)
    return found, predicted, observe(run, found, predicted)


def of_box(width: float, height: float, count: int, law: object = None) -> Drawn:
    start = np.random.default_rng(0).uniform((0, 0), (width, height), (count, 2))
    found = rates_near(Box((0, 0), (width, height)), None, start)
    return found, None if law is None else predict(found, law), None


def saddle() -> Drawn:
    found = rates(Box((0, 0), (1, 2)), None, [(0.25, 1), (0.75, 1)])
    return found, predict(found, Lloyd()), None


CASES: dict[str, Callable[[], Drawn]] = {
    "run": lambda: of_run(Timer(k1=0.5, nu=0.5, t1=0.3, t2=0.9), 60.0),
    "together": lambda: of_run(Lloyd(dt=1.5), 60.0),
    "short": lambda: of_run(Lloyd(), 1.0),
    "instant": lambda: of_run(Lloyd(), 0.0),
    "one": lambda: of_box(4, 3, 1, DiscreteLloyd()),
    "two": lambda: of_box(4, 3, 2, Lloyd()),
    "tall": lambda: of_box(1, 5, 9, Lloyd()),
    "slim": lambda: of_box(1000, 2, 9, DiscreteLloyd()),
    "many": lambda: of_box(1, 1, 120),
    "saddle": saddle,
}


@cache
def drawn(name: str) -> Figure:
    figure = soft_modes(*CASES[name]())
    figure.canvas.draw()
    return figure


@pytest.mark.parametrize("name", CASES)
def test_every_picture_is_drawn_without_overlaps_and_arrows_stay_on_the_map(name: str) -> None:
    assert overlapping(drawn(name)) == []
    assert drawn(name).get_size_inches()[1] <= 9.0
    for ax in drawn(name).axes:
        for arrows in (child for child in ax.get_children() if isinstance(child, Quiver)):
            tips = arrows.XY + np.column_stack([arrows.U, arrows.V])
            low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
            assert ((tips >= low) & (tips <= high)).all()
            assert np.hypot(arrows.U, arrows.V).max() > 0.0


def test_titles_tell_gap_and_time_constant() -> None:
    found, predicted, _ = CASES["run"]()
    titles = [ax.get_title() for ax in drawn("run").axes if ax.get_title()]
    assert len(titles) == 4
    assert predicted is not None
    assert predicted.by_mode is not None
    for k, title in enumerate(titles):
        assert f"mode {k + 1}: gap ${found.gaps[k]:.3g}$" in title
        assert f"time constant ${1.0 / predicted.by_mode[k]:.4g}$" in title
    assert "grows" in drawn("saddle").axes[0].get_title()
    assert "gone in one step" in drawn("one").axes[0].get_title()
    assert "time" not in drawn("many").axes[0].get_title()


def test_the_decay_tells_both_rates() -> None:
    _, _, seen = CASES["run"]()
    assert seen is not None
    assert seen.predicted is not None
    labels = drawn("run").axes[-1].get_legend_handles_labels()[1]
    assert f"observed rate ${seen.rate:.4g}$" in labels
    assert f"predicted rate ${seen.predicted:.4g}$ (shifted)" in labels
    short = drawn("short").axes[-1].get_legend_handles_labels()[1]
    assert any("away from its limit" in label for label in short)


def test_pictures_are_kept(tmp_path: Path) -> None:
    path = save_modes(tmp_path / "modes.svg", *CASES["two"]())
    assert path.stat().st_size > 2000
