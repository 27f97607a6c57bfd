"""A coverage step, everybody's centroid under a Gaussian: ours beside CoverageControl's pixels.

Both on a square of 1024 by 1024 with the same Gaussian; accuracy is the distance of some centroids
from references with 50 digits.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import numpy as np

import dwell
from bench.exact import Sample, sample
from bench.peers.catalogue import PEERS, why_missing
from bench.peers.coverage_control import in_child
from bench.places import Points
from bench.square import ours
from bench.table import Row, absent, at_least
from bench.timing import Timing, timed, wall_ratio
from tests.oracles import mp_moments as oracle

AGENTS, FEW = 1000, 12
PIXELS, FEW_PIXELS = 1024, 128
FASTER, CLOSER = 200.0, 1e9


def rows(quick: bool) -> Iterator[Row]:
    """How much faster, and how much closer to the truth."""
    agents, pixels = (FEW, FEW_PIXELS) if quick else (AGENTS, PIXELS)
    title = f"CoverageControl / dwell, step of {agents} agents"
    what = f"ComputeActions on {pixels}² pixels; all centroids, Gaussian"
    missing = why_missing("CoverageControl")
    if missing:
        yield absent("peers", title, what, f"CoverageControl: {missing}")
        return
    points = np.random.default_rng(1).uniform(1.0, pixels - 1.0, (agents, 2))
    sigma, side = 0.25 * pixels, float(pixels)
    hill = dwell.Gaussian((0.5 * side, 0.5 * side), rate=0.5 / sigma**2)
    exact = sample(points, side, oracle.Gaussian.isotropic(hill.center, hill.rate), 20)
    try:
        theirs = in_child(points, pixels, sigma, 2 if quick else 7)
    except (subprocess.SubprocessError, ValueError, IndexError) as fault:
        yield absent("peers", title, what, f"CoverageControl: {type(fault).__name__}")
        return
    fast = timed(lambda: ours(points, side, hill), repeats=5 if quick else 50)
    slow = Timing.of(theirs["walls"], theirs["cpus"])
    what = f"{what}; {PEERS['CoverageControl']}"
    yield _speed(title, what, slow, fast, quick)
    both = np.array(theirs["goals"]), ours(points, side, hill)[1]
    yield _accuracy(title, exact, *both, side, quick)


def _speed(title: str, what: str, slow: Timing, fast: Timing, quick: bool) -> Row:
    ratio, figure = wall_ratio(slow, fast)
    if quick:
        return Row("peers", title, what, figure, ratio)
    return at_least("peers", title, what, ratio, FASTER, figure)


def _accuracy(
    title: str, exact: Sample, theirs: Points, ours: Points, side: float, quick: bool
) -> Row:
    wrong, right = exact.worst(theirs) / side, exact.worst(ours) / side
    ratio = wrong / right
    figure = f"{ratio:.0e} × ({wrong:.0e} and {right:.0e} of the side)"
    name, what = f"... its error / ours, {title.split(', ')[1]}", "largest error of a centroid"
    if quick:
        return Row("peers", name, what, figure, ratio)
    return at_least("peers", name, what, ratio, CLOSER, figure)
