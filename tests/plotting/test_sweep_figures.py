"""Figures of a sweep: the right numbers on the right axes, and no run forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dwell import InputError, Network
from dwell._parameters import in_words, parameters_of
from dwell._units import METRIC, OPEN, Units
from dwell.controllers import LAWS
from dwell.density import DECLARED
from dwell.plotting.style import KEYS
from dwell.plotting.sweeps import save_sweep_figures, sweep_figures
from dwell.plotting.sweeps.panels import in_bins, in_ratios
from dwell.plotting.sweeps.varied import varied_keys

from .conftest import overlapping, words

T2, K1, KIND, N = "controller.t2", "controller.k1", "controller.kind", "agents.start.count"


@dataclass(frozen=True, eq=False)
class Rows:
    """A sweep's table made up for a test."""

    keys: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    marks: Mapping[str, Sequence[tuple[float, str]]] = field(default_factory=dict)
    units: Units = OPEN

    def __len__(self) -> int:
        return len(self.columns["case"])

    def numbers(self, name: str) -> np.ndarray:
        return np.array([np.nan if v is None else float(v) for v in self.columns[name]])


def table(rows: Sequence[Mapping[str, Any]], *keys: str, **options: Any) -> Rows:
    """Rows with the keys that were varied and the figures of made-up runs."""
    chance = np.random.default_rng(5)
    whole = []
    for k, row in enumerate(rows):
        samples = 100.0 / float(row.get(T2) or 1.0)
        whole.append(
            {
                "case": k, "agents": 4, "error.final_max": chance.lognormal(-3.0, 2.0),
                "cost.final": 400.0 + 9.0 * chance.random(), "coverage.nu": 0.5,
                "coverage.reached_at": 10.0 + chance.random(), "measurements": 4 * samples,
                "cells.per_agent.mean": samples, "messages": 16 * samples, "broadcasts": 0,
                "distance.mean": 7.0 + chance.random(), "hold_error.max": chance.random(),
                "hold_error.limit": 0.3, "separation.min": None, "separation.seen": 1.0,
                "stop.ok": True, "flags": [], **row,
            }
        )  # fmt: skip
    names = {name for row in whole for name in row}
    return Rows(keys, {name: [row.get(name) for row in whole] for name in names}, **options)


def grid(**axes: Sequence[Any]) -> list[dict[str, Any]]:
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def drawn(made: Rows, name: str = "over-t2") -> Figure:
    """A figure of a sweep; not yet laid out, which takes most of the time."""
    return sweep_figures(made)[name]()


def over_waits(count: int = 7) -> list[dict[str, Any]]:
    return grid(**{T2: WAITS, "repeat": range(count)})


def panel(figure: Figure, title: str) -> Axes:
    (found,) = [ax for ax in figure.axes if ax.get_title().startswith(title)]
    return found


REPEATS = range(7)
WAITS = (0.1, 0.4, 1.6)


def laws_over_waits() -> Rows:
    rows = grid(**{KIND: ["timer", "lloyd"], T2: WAITS, "repeat": REPEATS})
    lloyd = [{**row, T2: None, "coverage.nu": None, "coverage.reached_at": None,
              "hold_error.max": None, "hold_error.limit": None}
             for row in rows if row[KIND] == "lloyd" and row[T2] == 0.1]  # fmt: skip
    return table([row for row in rows if row[KIND] == "timer"] + lloyd, KIND, T2)


def test_curves_are_medians_and_bands_are_quartiles() -> None:
    made = table(over_waits(), T2)
    ax = panel(drawn(made), "cost")
    x, cost = made.numbers(T2), made.numbers("cost.final")
    (line,) = ax.get_lines()
    at = [cost[x == value] for value in WAITS]
    np.testing.assert_array_equal(line.get_xdata(), WAITS)
    np.testing.assert_allclose(line.get_ydata(), [np.median(some) for some in at], rtol=0)
    outline = ax.collections[0].get_paths()[0].vertices
    for value, some in zip(WAITS, at, strict=True):
        edges = outline[outline[:, 0] == value, 1]
        low, high = np.quantile(some, (0.25, 0.75))
        assert edges.min() == low
        assert edges.max() == high


@pytest.mark.parametrize("count", [2, 3])
def test_bands_of_few_runs_are_their_range(count: int) -> None:
    made = table(over_waits(count), T2)
    figure = drawn(made)
    x, cost = made.numbers(T2), made.numbers("cost.final")
    outline = panel(figure, "cost").collections[0].get_paths()[0].vertices

    for value in WAITS:
        edges = outline[outline[:, 0] == value, 1]
        assert edges.min() == cost[x == value].min()
        assert edges.max() == cost[x == value].max()
    assert "the range of the runs as bands" in figure.get_suptitle()
    assert "quartiles" not in figure.get_suptitle()
    assert "quartiles as bands" in drawn(table(over_waits(4), T2)).get_suptitle()


def test_a_sweep_at_a_site_has_units() -> None:
    site = drawn(table(over_waits(), T2, units=METRIC))
    other = drawn(table(over_waits(), T2))

    labels = {"largest error": "(m)", "time of": "(s)", "path length": "m", "largest hold": "(m/s)"}
    for title, unit in labels.items():
        assert panel(site, title).get_ylabel().endswith(unit)
    assert panel(site, "cost").get_xlabel() == "longest wait $T_2$ (s)"
    assert panel(other, "cost").get_xlabel() == "longest wait $T_2$ (time)"
    assert panel(other, "largest error").get_ylabel().endswith("(length)")


def test_every_law_has_a_line_and_one_without_the_key_a_level() -> None:
    made = laws_over_waits()
    figure = drawn(made)
    ax = panel(figure, "cost")
    labels = {line.get_label(): line for line in ax.get_lines()}
    assert set(labels) == {"timer", "lloyd (has no $T_2$)"}
    own = made.numbers("cost.final")[np.isnan(made.numbers(T2))]
    assert labels["lloyd (has no $T_2$)"].get_ydata()[0] == np.median(own)
    # Lloyd's law has no hold error: its panel holds the timer law and the limit alone.
    assert [line.get_label() for line in panel(figure, "largest hold").get_lines()] == [
        "timer",
        r"limit of the hold error, $\tilde\eta_{\max}$",
    ]


def test_runs_that_never_cover_are_counted() -> None:
    rows = over_waits(4)
    for row in rows:
        if row[T2] == 1.6 or (row[T2] == 0.4 and row["repeat"] == 0):
            row["coverage.reached_at"] = None
    figure = drawn(table(rows, T2))
    (share,) = panel(figure, "runs that reach").get_lines()
    np.testing.assert_allclose(share.get_ydata(), [100.0, 75.0, 0.0])
    time = panel(figure, "time of coverage")
    assert time.get_title().endswith("of the 58.3 % that reach it")  # 7 of 12
    np.testing.assert_array_equal(time.get_lines()[0].get_xdata(), [0.1, 0.4])


def test_laws_without_a_radius_do_not_count_as_never_covering() -> None:
    figure = drawn(laws_over_waits(), "by-kind")
    assert panel(figure, "time of coverage").get_title() == "time of coverage"
    assert "not defined" in words(figure)
    assert "never" not in words(figure)


def test_unseen_coverage_is_said_and_not_drawn() -> None:
    rows = over_waits(2)
    rows[0] |= {"flags": ["coverage-unseen"], "coverage.reached_at": None}
    figure = drawn(table(rows, T2))
    assert "took no samples" in words(figure)
    assert not [ax for ax in figure.axes if "coverage" in ax.get_title()]


def test_early_ends_have_a_panel() -> None:
    rows = over_waits(2)
    rows[-1]["stop.ok"] = False
    figure = drawn(table(rows, T2))
    np.testing.assert_allclose(
        panel(figure, "runs that ended early").get_lines()[0].get_ydata(), [0.0, 0.0, 50.0]
    )


def test_maps_show_medians_and_hatch_what_has_none() -> None:
    rows = grid(**{T2: WAITS, K1: (0.5, 1.0), "repeat": REPEATS})
    for row in rows:
        if row[T2] == 1.6 and row[K1] == 1.0:
            row["coverage.reached_at"] = None
    made = table(rows, T2, K1)
    figure = drawn(made, "map-t2-k1")
    (mesh,) = panel(figure, "cost").collections
    shown = np.asarray(mesh.get_array()).reshape(2, 3)
    cost = made.numbers("cost.final")
    for (row, k1), (column, t2) in product(enumerate((0.5, 1.0)), enumerate(WAITS)):
        mine = (made.numbers(T2) == t2) & (made.numbers(K1) == k1)
        assert shown[row, column] == np.median(cost[mine])
    assert len(panel(figure, "time of coverage").patches) == 1
    assert "hatched where no run has a value" in words(figure)


def test_a_second_number_with_few_values_has_lines_of_its_own() -> None:
    made = table(grid(**{T2: WAITS, K1: (0.5, 1.0), "repeat": REPEATS}), T2, K1)
    labels = [line.get_label() for line in panel(drawn(made), "cost").get_lines()]
    assert labels == ["$k_1$ = $0.5$", "$k_1$ = $1$"]


def test_keys_that_rise_together_share_an_axis() -> None:
    pairs = [(0.1, 0.03), (0.4, 0.12), (1.6, 0.5)]
    rows = [{T2: a, "controller.t1": b, "repeat": k} for a, b in pairs for k in range(2)]
    made = table(rows, T2, "controller.t1")
    assert list(sweep_figures(made)) == ["over-t2"]
    assert "longest wait $T_2$ (time); with it $T_1$" in words(drawn(made))


def sampled(count: int) -> Rows:
    chance = np.random.default_rng(1)
    points = np.exp(chance.uniform(-2.0, 2.0, (count, 2)))
    rows = [{T2: t2, K1: k1, "repeat": k} for t2, k1 in points.tolist() for k in range(3)]
    rows = [{**row, N: 3 + k % 9} for k, row in enumerate(rows)]
    rows[0]["coverage.reached_at"] = rows[1]["coverage.reached_at"] = None
    rows[2]["coverage.reached_at"] = None
    return table(rows, T2, K1, N)


def test_drawn_points_are_dots_with_running_medians() -> None:
    made = sampled(40)
    figures = {name: drawn(made, name) for name in ("over-t2", "map-t2-k1")}
    assert varied_keys(made).scattered(T2)
    assert varied_keys(made).scattered(N)
    dots, line = panel(figures["over-t2"], "cost").get_lines()
    assert len(dots.get_xdata()) == len(made)
    assert len(line.get_xdata()) == 8
    (cloud,) = panel(figures["map-t2-k1"], "cost").collections
    cost, point = made.numbers("cost.final"), made.numbers(T2)
    expected = [np.median(cost[point == t2]) for t2 in np.unique(point)]
    order = np.argsort(np.asarray(cloud.get_offsets())[:, 0])
    np.testing.assert_allclose(np.asarray(cloud.get_array())[order], expected)
    assert "crosses where no run has a value" in words(figures["map-t2-k1"])


def test_bins_are_ordered_and_lose_no_run() -> None:
    x = np.random.default_rng(2).random(50)
    parts = in_bins(x, np.arange(50))
    assert len(parts) == 8
    assert sorted(np.concatenate(parts)) == list(range(50))
    assert all(x[a].max() < x[b].min() for a, b in pairwise(parts))


@pytest.mark.parametrize(
    ("values", "log"),
    [((0.1, 0.4, 1.6), True), ((1, 2, 3, 4, 50), True), ((0, 0.3, 0.9), False), ((5, 9), False),
     (tuple(range(1, 30)), False)],
)  # fmt: skip
def test_scales(values: tuple[float, ...], log: bool) -> None:
    assert in_ratios(np.array(values, dtype=float)) == log


def test_marks_are_drawn_where_the_axis_reaches() -> None:
    marks = {T2: [(0.2, "a limit"), (70.0, "far away")]}
    figure = drawn(table(over_waits(), T2, marks=marks))
    assert "a limit" in words(figure)
    assert "far away" not in words(figure)


def test_nothing_to_draw_is_a_sentence() -> None:
    empty = Rows((T2,), {"case": [], T2: []})
    with pytest.raises(InputError, match="all failed"):
        sweep_figures(empty)
    with pytest.raises(InputError, match="one run only"):
        sweep_figures(table([{T2: 0.1}], T2))


def test_one_point_with_repeats_is_one_box() -> None:
    made = table(grid(**{T2: (0.1,), "repeat": REPEATS}), T2)
    assert list(sweep_figures(made)) == ["all"]
    assert drawn(made, "all").axes


def test_words_alone_are_boxes() -> None:
    made = table(grid(**{"controller.reset": ["uniform", "latest"], "repeat": REPEATS}),
                 "controller.reset")  # fmt: skip
    assert list(sweep_figures(made)) == ["by-reset"]
    medians = [line.get_ydata()[0] for line in panel(drawn(made, "by-reset"), "cost").get_lines()
               if len(line.get_xdata()) == 2]  # fmt: skip
    halves = made.numbers("cost.final").reshape(2, -1)
    np.testing.assert_array_equal(medians, np.median(halves, axis=1))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("made", "name"),
    [(laws_over_waits(), "over-t2"), (laws_over_waits(), "by-kind"), (sampled(12), "map-t2-k1")],
    ids=["curves", "boxes", "map"],
)
def test_titles_and_labels_do_not_meet(made: Rows, name: str) -> None:
    figure = drawn(made, name)
    figure.canvas.draw()
    assert overlapping(figure) == []
    frames = [ax.get_window_extent() for ax in figure.axes]
    for legend in figure.legends:
        assert not any(legend.get_window_extent().overlaps(frame) for frame in frames)


def test_files_are_written_under_the_names_of_keys(tmp_path: Path) -> None:
    made = table(grid(**{N: (5, 50), "repeat": range(2)}), N)
    written = save_sweep_figures(made, tmp_path, formats=("svg",))
    assert [path.name for path in written] == ["over-agents-start-count.svg"]
    first = written[0].read_bytes()
    save_sweep_figures(made, tmp_path, formats=("svg",))
    assert written[0].read_bytes() == first


def test_no_flat_line_at_a_hundred_percent() -> None:
    figure = drawn(table(over_waits(3), T2))
    titles = [ax.get_title() for ax in figure.axes]
    assert "time of coverage" in titles
    assert "path length per agent" in titles
    assert not any("reach coverage" in title for title in titles)


def test_keys_are_named_where_they_are_declared():
    """Beside them stand only keys of tables that no class declares."""
    declared = {f"density.{one.key or name}": one for cls in DECLARED
                for name, one in parameters_of(cls).items()}  # fmt: skip
    declared |= {f"network.{name}": one for name, one in parameters_of(Network).items()}
    of_laws = {name for law in LAWS for name in parameters_of(law)}
    assert set(KEYS) - set(declared) - of_laws == {"agents.start.count", "run.horizon"}
    for key, one in declared.items():
        assert KEYS[key] == (one.label or key, one.sign, in_words(one.unit))
