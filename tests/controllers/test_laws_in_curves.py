"""The laws with guaranteed cells in discs, ellipses, balls and ellipsoids."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell import simulate
from dwell._types import lengths
from dwell.controllers import EventTriggered, SelfTriggered, SelfTriggeredCentroid
from dwell.controllers.uncertain import centroid_ball
from dwell.density import Function, Gaussian, Uniform
from dwell.density.ground import ground_of
from dwell.geometry import Ball, Ellipsoid, Polygon
from dwell.theory.plain_trigger_round import plain_trigger_round, wider

DISC, BALL = Ball((0, 0), 1.0), Ball((0, 0, 0), 1.0)
EGG, SEED = Ellipsoid((0, 0), (1.3, 0.8)), Ellipsoid((0, 0, 0), (1.2, 0.9, 1.0))
SELF = SelfTriggered(v=0.35, delta=0.3, tau_max=0.75, scan=0.05)
CENTROID = SelfTriggeredCentroid(v_max=0.5, dt=0.1, epsilon=0.05)
EVENTS = EventTriggered(s_max=0.5, dt=0.1, d_start=0.04, d_stop=0.02)
LAWS = (SELF, CENTROID, EVENTS)
NAMES = ("self", "centroid", "events")


def start(workspace, agents, seed=1):
    """Agents in the middle part of a workspace."""
    return 0.8 * (np.random.default_rng(seed).random((agents, workspace.dimension)) - 0.4)


def run_of(law, workspace, until, density=None, agents=5):
    places = start(workspace, agents)
    return simulate(workspace, density or Uniform(), places, law, until=until, seed=1)


def errors_at(run, t):
    """Centroid minus position of everybody, by looks alone."""
    return np.array([look.error for look in run.system.looks(run.positions(t))])


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
class TestCoverage:
    """Runs end where every agent is near its centroid, and the check finds nothing wrong."""

    def ends_well(self, run, near):
        before, after = lengths(errors_at(run, 0.0)), lengths(errors_at(run, run.horizon))
        assert before.max() > 0.1
        assert after.max() < near
        assert run.cost(run.horizon) < 0.8 * run.cost(0.0)
        assert (run.workspace.outside_by(run.positions(run.horizon)) == 0.0).all()
        report = dwell.check(run)
        assert report.ok
        assert ("trigger" in {found.name for found in report.findings}) == (run.law is SELF)

    @pytest.mark.parametrize("workspace", [DISC, EGG], ids=["disc", "ellipse"])
    def test_in_the_plane(self, law, workspace):
        self.ends_well(run_of(law, workspace, 12.0), 0.08)

    def test_with_a_hill(self, law):
        hill = Gaussian(center=(0.3, 0.2), rate=3.0)
        self.ends_well(run_of(law, DISC, 12.0, hill), 0.08)

    def test_in_a_ball(self, law):
        run = run_of(law, BALL, 4.0 if law is SELF else 8.0, agents=4)
        self.ends_well(run, 0.12)
