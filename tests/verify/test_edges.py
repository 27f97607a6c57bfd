"""Properties at the edge of their definition: a Lipschitz constant of 0, a spread of 0."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell.controllers import Timer
from dwell.verify.quasi_monte_carlo import TOO_FAR, Counting
from dwell.verify.run_certificate import certify

SQUARE = dwell.Box((0, 0), (1, 1))


@pytest.mark.parametrize("lipschitz", [0.0, 1e-300, 5.0])
def test_one_agent_alone_meets_every_lipschitz_constant(lipschitz: float) -> None:
    """Its cell is the workspace, whose centroid is constant."""
    law = Timer(k1=0.5, nu=0.4, t1=0.02, t2=0.05)
    run = dwell.simulate(SQUARE, None, [(0.2, 0.3)], law, until=0.2, seed=1)
    course = (run.system, run.start, run.events, run.horizon, run.metrics)
    found = certify(*course, {"eta_max": 0.3, "lipschitz": lipschitz})
    (one,) = [finding for finding in found if finding.name == "lipschitz"]
    assert (one.status, one.worst, one.per_agent) == ("holds", 0.0, (0.0,))


@pytest.mark.parametrize("axis", [0, 1])
def test_an_axis_along_which_all_points_agree_decides_nothing(axis: int) -> None:
    """All points lie on a line through the centroid: their spread across the line is 0."""
    positions = np.array([(0.5, 0.5)])
    counting = Counting(SQUARE, dwell.Uniform())
    counting.places[:, axis] = 0.5
    right = counting.compare(positions, 0, np.zeros(2), 0.0)
    assert right is not None
    assert right.apart < 0.6 * TOO_FAR
    along = np.zeros(2)
    along[1 - axis] = 2.0 * right.sharp
    wrong = counting.compare(positions, 0, along, 0.0)
    assert wrong is not None
    assert wrong.apart > TOO_FAR
