"""Compiles most kernels once, so that two test workers do not compile the same ones side by side.

`python -m tests.warm flat` and `python -m tests.warm round` have little in common and take about
as long: run both at a time. What they miss is compiled when a test first needs it.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import dwell
from dwell import (
    Ball,
    Box,
    Gaussian,
    Interval,
    Mixture,
    Polynomial,
    SelfTriggered,
    SelfTriggeredCentroid,
    Timer,
    Uniform,
)
from dwell.scenario import parse_scenario, template_text, text_to_mapping

TIMER = Timer(k1=0.3, nu=0.2, t1=0.1, t2=0.3)


def hill(n: int) -> Gaussian:
    return Gaussian((0.1,) * n, rate=0.5)


def all_kinds(n: int) -> Mixture:
    """A density with a term of each kind."""
    return Mixture((Uniform(0.1), hill(n), Polynomial([(2, *(0,) * (n - 1), 0.3)])))


def places(n: int) -> list[list[float]]:
    return [[0.1] * n, [-0.3, *[0.2] * (n - 1)], [0.4, *[-0.2] * (n - 1)]]


def everything(site: Any) -> None:
    """Looks, a run and its check, and a search for a minimum with its second derivatives."""
    n = site.dimension
    dwell.tessellate(site, places(n), all_kinds(n))
    dwell.check(dwell.simulate(site, hill(n), places(n), TIMER, until=0.2))
    dwell.optimize(site, hill(n), 3, starts=1, workers=1)


def triggered(site: Any, *laws: Any) -> None:
    n = site.dimension
    for law in laws:
        dwell.simulate(site, hill(n), places(n), law, until=0.2)


def batch() -> None:
    scenario = parse_scenario(
        {**text_to_mapping(template_text("paper-12")), "run": {"horizon": 0.5, "seed": 1}}
    )
    dwell.simulate_many(scenario, seeds=range(2))


def flat() -> None:
    """The plane, the line, and looks in space."""
    plane = Box((-1, -1), (1, 1))
    everything(plane)
    triggered(plane, SelfTriggered(), SelfTriggeredCentroid())
    batch()
    line = Interval(-1, 1)
    everything(line)
    triggered(line, SelfTriggeredCentroid())
    everything(Box((-1,) * 3, (1,) * 3))


def curved() -> None:
    """Discs, ellipses and balls, and guaranteed cells outside polygons."""
    disc = Ball((0, 0), 1)
    everything(disc)
    ball = Ball((0,) * 3, 1)
    dwell.tessellate(ball, places(3), all_kinds(3))
    dwell.optimize(ball, hill(3), 3, starts=1, workers=1)
    for site in (Box((-1,) * 3, (1,) * 3), disc):
        triggered(site, SelfTriggeredCentroid())


PARTS = {"flat": flat, "round": curved}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    PARTS[sys.argv[1]]()
