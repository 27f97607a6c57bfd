"""Deployments for people."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dwell._types import counted
from dwell.cli.output import print_table

if TYPE_CHECKING:
    from dwell.studies.deployment import Deployment

_PLURAL = {
    "minimum": "strict minima",
    "degenerate": "degenerate minima",
    "saddle": "saddles",
    "unfinished": "unfinished",
    "weightless": "with a cell that weighs nothing",
}
MOST_LISTED = 12  # agents whose positions are shown


def show_deployment(found: Deployment, out: Path | None) -> None:
    """The best deployment, how sure one may be of it, and what it compares with."""
    rows = [*_rows(found), *(("note", note) for note in found.notes)]
    if found.interrupted:
        rows.append(("note", "interrupted: this is the best so far"))
    print_table(rows if out is None else [*rows, ("kept in", str(out))])


def _rows(found: Deployment) -> Iterator[tuple[str, str]]:
    if found.log_scale == 0.0:
        yield "cost", f"{found.cost:.10g}"
    else:
        yield "cost", f"exp({found.log_cost:.10g}), near or beyond the range of numbers"
    yield "agents", counted(found.agents, "agent")
    yield "this is", found.says
    yield "gradient", f"{found.gradient_norm:.2g} (largest error, over the workspace's diameter)"
    if found.spectral_gap is not None:
        yield "spectral gap", _gap(found.spectral_gap)
    yield "starts", _starts(found)
    best, worst = float(found.costs[0]), float(found.costs[-1])
    unit = "" if found.log_scale == 0.0 else f" (times exp({found.log_scale:.6g}))"
    three = f"{best:.7g} at best, {found.median:.7g} in the median, {worst:.7g} at worst"
    yield "", f"cost {three}{unit}"
    reference = found.reference
    if reference.value > 0.0:
        ratio = f"(the cost is {found.cost / reference.value:.4g} of it)"
        yield "reference", f"{reference.value:.7g}, the estimate for many agents {ratio}"
    for bound in reference.lower_bounds:
        yield "lower bound", f"{bound.value:.7g}: {bound.says}"
    cells = found.evaluations / max(len(found.descents), 1) / found.agents
    yield "cells", f"{found.evaluations} computed ({cells:.3g} per start and agent)"
    shown = "  ".join(_place(place) for place in found.positions[:MOST_LISTED].tolist())
    more = found.agents - MOST_LISTED
    yield "positions", shown if more <= 0 else f"{shown}  and {more} more; see --json"
    yield "time taken", f"{found.wall_seconds:.3g} s"


def _gap(gap: float) -> str:
    if not 0.0 < gap < 1.0:
        return f"{gap:.3g}"
    steps = math.log(10.0) / -math.log1p(-gap)
    return f"{gap:.4g} (one digit takes {max(steps, 1.0):,.0f} of Lloyd's steps)"


def _starts(found: Deployment) -> str:
    kinds = [descent.kind for descent in found.descents.values()]
    listed = ", ".join(
        f"{kinds.count(kind)} {_PLURAL[kind.value]}" for kind in dict.fromkeys(kinds)
    )
    return (
        f"{found.times_found} of {len(kinds)} led here, the first of them number {found.best}; "
        f"in all {listed}; seed {found.seed}"
    )


def _place(place: list[float]) -> str:
    """A place as people write it: on the line a number, elsewhere (x, y, ...)."""
    numbers = ", ".join(f"{v:.6g}" for v in place)
    return numbers if len(place) == 1 else f"({numbers})"
