"""Statements of the paper about its simulations, and whether ours bear them out.

Each claim has the paper's number, ours with exact integrals, ours on a grid of points, and a
verdict by the column that can decide: exact integrals, or the grid where the paper's number can
only come from one. The statements themselves are in claims.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any, final

import numpy as np

from dwell._types import Ints
from dwell.results import Run
from dwell.results.figures import figure_of
from dwell.studies.outcome import SAME, largest_error, match, settled_at
from dwell.studies.paper.simulations import (
    OTHER_PRESET,
    TIDY,
    Pair,
    Simulations,
    TriggerFigures,
    cells_before_end,
    dwell_bound,
    largest_hold_error,
    late_intervals,
    patient_agents,
    samples_since,
    usual_least,
)

# Digits that the paper prints: a number that rounds to the same two counts as the same.
ROUNDED = 1.05
ABOUT = 0.15  # where the paper says "about", our number may differ by this part

Numbers = Pair[float | None]  # None where there is nothing to measure
Test = Callable[[float], bool]


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the paper beside our numbers."""

    id: str
    says: str
    paper: float | None  # None where the paper gives no number
    exact: float | None  # None where there is nothing to measure
    grid: float | None
    holds: bool
    by: str  # "exact" or "grid": the column that decides
    note: str

    @property
    def verdict(self) -> str:
        """`holds`, `on the grid` where it holds on the grid alone, or `does not hold`."""
        return ("holds" if self.by == "exact" else "on the grid") if self.holds else "does not hold"

    def as_json(self) -> dict[str, Any]:
        """The claim for programs."""
        return {**asdict(self), "verdict": self.verdict}


def borne_out(claims: Sequence[Claim]) -> str:
    """How many claims hold, and how many of them on the grid alone: one sentence."""
    verdicts = [claim.verdict for claim in claims]
    return (
        f"{len(claims) - verdicts.count('does not hold')} of {len(claims)} statements of the paper "
        f"about its simulations are borne out here, {verdicts.count('on the grid')} of them only "
        "on a grid of points whose spacing is our choice."
    )


class _Evidence:
    """Our numbers for a claim, the test that they have to pass, and words for the note."""

    def __init__(self, ours: Numbers, passes: Test, **words: Any) -> None:
        self.ours, self.passes, self.words = ours, passes, words


Evidence = dict[str, _Evidence]  # by claim


def judge(simulations: Simulations) -> list[Claim]:
    """Every claim, in the order of the paper."""
    statements = tomllib.loads(files(__package__).joinpath("claims.toml").read_text("utf-8"))
    parts = (_of_thirty, _of_errors, _of_cells, _of_guarantees, _beside_lloyd)
    phrases, evidence = statements.pop("phrases"), Evidence()
    for part in parts:
        evidence |= part(simulations)
    return [_claim(name, of, evidence[name], phrases) for name, of in statements.items()]


def _claim(
    name: str, statement: dict[str, Any], known: _Evidence, phrases: dict[str, str]
) -> Claim:
    by, ours = statement.get("by", "exact"), known.ours
    decisive = getattr(ours, by)
    holds = decisive is not None and bool(known.passes(decisive))
    note = statement["note"].format(**phrases, **known.words).format(**known.words)
    paper = statement.get("paper")
    return Claim(name, statement["says"], paper, ours.exact, ours.grid, holds, by, note)


def _at_most(limit: float) -> Test:
    return lambda value: value <= limit


def _about(paper: float) -> Test:
    return lambda value: abs(value / paper - 1.0) <= ABOUT


def _of_thirty(s: Simulations) -> Evidence:
    """Evidence on the claims about 30 agents."""
    return {
        "n30-cost": _Evidence(
            s.n30.each(lambda run: figure_of(run, "cost.final")),
            lambda cost: 199.0 <= cost <= 203.0,
        ),
        "n30-coverage": _Evidence(s.n30.each(lambda run: run.reached_at), _at_most(60.0)),
        "n30-hold-error": _Evidence(s.n30.each(largest_hold_error), _at_most(0.4)),
        "n30-error-final": _Evidence(
            s.n30.each(lambda run: figure_of(run, "error.final_max")),
            _at_most(1e-9),
            settled=_since(s.n30, 1e-9),
        ),
        "n30-dwell-bound": _Evidence(
            Pair(dwell_bound(s.n30.exact), None), lambda longest: longest >= 0.03
        ),
    }


def _of_errors(s: Simulations) -> Evidence:
    """Evidence on how small errors become from some time on, law by law."""

    def errors(pair: Pair[Run], level: float, since: float, rest: float) -> _Evidence:
        ours = pair.each(lambda run: largest_error(run, since))
        return _Evidence(ours, _at_most(ROUNDED * level), settled=_since(pair, rest))

    return {
        "lloyd-error": errors(s.lloyd, 1.23e-13, 80.0, ROUNDED * 1.23e-13),
        "self-triggered-error": errors(s.self_triggered, 1.26e-12, 149.5, 1.26e-12),
        "timer-error": errors(s.timer, 8.71e-14, 105.0, 8.71e-14),
    }


def _since(pair: Pair[Run], level: float) -> str:
    at = settled_at(pair.grid, level)
    return "at no time of this run" if at is None else f"from t = {at:.1f}"


def _of_cells(s: Simulations) -> Evidence:
    """Evidence on cells and intervals of the three laws."""

    def most(run: Run) -> float:
        return float(cells_before_end(run).max())

    def mean(run: Run) -> float:
        return float(cells_before_end(run).mean())

    late = np.concatenate(late_intervals(s.self_triggered.exact) or [np.empty(0)])
    share = patient_agents(s.self_triggered.exact)
    return {
        "lloyd-cells": _Evidence(s.lloyd.each(most), lambda cells: cells == 15_000.0),
        "self-triggered-cells": _Evidence(
            s.self_triggered.each(mean),
            _about(28_000.0),
            preset=OTHER_PRESET,
            other=mean(s.other_preset.exact),
        ),
        "self-triggered-intervals": _Evidence(
            s.self_triggered.each(usual_least),
            lambda wait: wait >= 0.1 - TIDY,
            kept=f"{np.mean(late >= 0.1 - TIDY):.1%}" if len(late) else "none",
            patient="none" if share is None else f"{share:.0%}",
        ),
        "timer-cells": _Evidence(s.timer.each(most), _at_most(400.0)),
    }


def _of_guarantees(s: Simulations) -> Evidence:
    """Evidence on what the self-trigger guarantees between two samples, with both presets."""
    hits = " and ".join(
        f"{figures.exact.floor_hits:,} of {figures.exact.intervals:,} ({name})"
        for name, figures in s.guarantees.items()
    )
    rounding = 1e-12 * s.self_triggered.exact.workspace.diameter

    def worst(quantity: str, of: Callable[[Iterable[float]], float]) -> Numbers:
        def both(*figures: TriggerFigures) -> float | None:
            seen = [getattr(one, quantity) for one in figures]
            return None if None in seen else of(seen)

        first, second = s.guarantees.values()
        return first.each(both, second)

    return {
        "self-triggered-drift": _Evidence(worst("drift", max), _at_most(3.0), hits=hits),
        "self-triggered-target": _Evidence(
            worst("room", min), lambda depth: depth >= -rounding, hits=hits
        ),
    }


def _beside_lloyd(s: Simulations) -> Evidence:
    """Evidence on the self-triggered and the timer law in comparison with Lloyd's."""
    limit = SAME * s.lloyd.exact.workspace.diameter
    same, timer = s.self_triggered, s.timer
    return {
        "self-triggered-communication": _Evidence(
            _ratios(same, s.lloyd, lambda run: samples_since(run, 50.0)), _at_most(0.1)
        ),
        "self-triggered-same-cvc": _matched(same, s.lloyd, _at_most(limit)),
        "self-triggered-slower": _slower(same, s.lloyd, 1.87, 1.26e-12),
        "timer-communication": _Evidence(_ratios(timer, s.lloyd, cells_before_end), _at_most(0.05)),
        "timer-different-cvc": _matched(timer, s.lloyd, lambda distance: distance > limit),
        "timer-slower": _slower(timer, s.lloyd, 1.31, 8.71e-14),
    }


def _ratios(pair: Pair[Run], benchmark: Pair[Run], of: Callable[[Run], Ints]) -> Numbers:
    """The largest count of an agent over the least count of an agent in the benchmark."""

    def ratio(run: Run, other: Run) -> float | None:
        least = int(of(other).min())
        return int(of(run).max()) / least if least else None

    return pair.each(ratio, benchmark)


def _matched(pair: Pair[Run], benchmark: Pair[Run], passes: Test) -> _Evidence:
    found = pair.each(match, benchmark)
    tolerance, distance = found.exact.tolerance, found.exact.distance
    ours = found.each(lambda one: one.settled)
    return _Evidence(ours, passes, tolerance=tolerance, distance=distance)


def _slower(pair: Pair[Run], benchmark: Pair[Run], paper: float, level: float) -> _Evidence:
    """On the grid to the level at which the paper sees each law; with exact integrals to 0.01."""

    def ratio(run: Run, other: Run, levels: tuple[float, float]) -> float | None:
        time, other_time = map(settled_at, (run, other), levels)
        return None if time is None or not other_time else time / other_time

    levels = Pair((1e-2, 1e-2), (level, ROUNDED * 1.23e-13))
    return _Evidence(pair.each(ratio, benchmark, levels), _about(paper))
