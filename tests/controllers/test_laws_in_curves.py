"""The laws with guaranteed cells in discs, ellipses, balls and ellipsoids."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell import simulate
from dwell._types import lengths
from dwell.cells.ground import ground_of
from dwell.controllers import EventTriggered, SelfTriggered, SelfTriggeredCentroid
from dwell.controllers.uncertain import centroid_ball
from dwell.density import Function, Gaussian, Uniform
from dwell.geometry import Ball, Ellipsoid, Polygon
from dwell.verify.reference_trigger import reference_trigger, wider

pytestmark = pytest.mark.slow

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

    def ends_well(self, run, near, checked=True):
        before, after = lengths(errors_at(run, 0.0)), lengths(errors_at(run, run.horizon))
        assert before.max() > 0.08
        assert after.max() < near
        assert run.cost(run.horizon) < 0.8 * run.cost(0.0)
        assert (run.workspace.outside_by(run.positions(run.horizon)) == 0.0).all()
        if not checked:
            return
        report = dwell.check(run)
        assert report.ok
        named = {found.name for found in report.findings}
        assert ("trigger" in named) == isinstance(run.system.controller, SelfTriggered)

    @pytest.mark.parametrize("workspace", [DISC, EGG], ids=["disc", "ellipse"])
    def test_in_the_plane(self, law, workspace):
        # A check of triggers takes seconds; a disc is an ellipse to it, and so are its cells.
        checked = workspace is EGG or law is not SELF
        self.ends_well(run_of(law, workspace, 8.0), 0.1, checked)

    def test_with_a_hill(self, law):
        hill = Gaussian(center=(0.3, 0.2), rate=3.0)
        self.ends_well(run_of(law, DISC, 6.0, hill), 0.12, checked=False)

    def test_in_a_ball(self, law):
        run = run_of(law, BALL, 1.0 if law is SELF else 3.0, agents=3)
        self.ends_well(run, 0.35)


class TestGuarantees:
    """What the agents believe is true, by code that knows where everybody is."""

    @pytest.mark.parametrize("workspace", [DISC, EGG, BALL], ids=["disc", "ellipse", "ball"])
    @pytest.mark.parametrize("law", [CENTROID, EVENTS], ids=NAMES[1:])
    def test_the_true_centroid_is_in_the_ball(self, law, workspace, monkeypatch):
        believed = []
        real = type(law)._ball

        def noted(self, view, *rest):
            ball = real(self, view, *rest)
            time, place = view.time, tuple(view.position)
            if len(rest) == 3:  # of a step to come, planned ahead: (step, sample, place)
                time, place = rest[0] * self.dt, rest[2]
            believed.append((view.agent, time, np.array(place), ball))
            return ball

        monkeypatch.setattr(type(law), "_ball", noted)
        run = run_of(law, workspace, 3.0 if workspace.dimension == 2 else 0.8)
        wide = 0
        for agent, time, place, ball in believed:
            if ball is None or time > run.horizon:
                continue
            assert run.positions(time)[agent] == pytest.approx(place, abs=1e-12)
            off = lengths(errors_at(run, time)[agent] - np.array(ball.middle))
            assert off <= ball.radius + 1e-9
            wide += ball.radius > 1e-3
        assert wide >= 10

    @pytest.mark.parametrize("law", [CENTROID, EVENTS], ids=NAMES[1:])
    def test_the_cost_never_rises(self, law):
        run = run_of(law, DISC, 6.0)
        costs = np.array([run.cost(t) for t in np.linspace(0.0, run.horizon, 60)])
        assert (np.diff(costs) <= 1e-9 * costs[:-1]).all()


class TestTrigger:
    """The trigger against other code and against polygons."""

    @pytest.mark.parametrize("workspace", [DISC, EGG, BALL, SEED])
    @pytest.mark.parametrize(
        "options",
        [{}, {"second": "sampled"}, {"bound": "circumradius"}, {"own": "ball", "factor": 2}],
    )
    def test_by_other_code(self, workspace, options):
        """Never below what other code finds, and above it by what sizes may be too large."""
        law, rng, n = SelfTriggered(**options), np.random.default_rng(3), workspace.dimension
        limit, seen = 3e-4 if n == 2 else 3e-3, 0
        for density in (Uniform(), Gaussian(center=(0.2,) * n, rate=2.0)):
            ground = ground_of(workspace, density)
            for _ in range(2 if n == 2 else 1):
                here, *others = start(workspace, 6, int(rng.integers(99)))
                others = np.array(others)
                left, s = 0.05 * rng.normal(size=n), 0.02 + 0.05 * rng.random()
                ours = law._trigger_value(here, left, s, 0.0, others, ground)
                known = (law, workspace, density, here, here + left, others, s)
                least = reference_trigger(*known)
                most = reference_trigger(*known, wider(workspace))
                if math.isinf(ours):
                    assert math.isinf(least)
                elif ours == 0.0 and "second" in options:  # outside: how far does not matter
                    assert least >= -limit
                else:
                    assert least - limit <= ours <= most + limit
                    seen += 1
        assert seen > 0

    def test_a_density_known_as_a_function_only(self):
        hill = Gaussian(center=(0.2, 0.1), rate=2.0)
        here, others = start(DISC, 1)[0], start(DISC, 4, seed=2)
        radii = 0.2 * lengths(others - here)
        known, blind = (
            centroid_ball(ground_of(DISC, density), tuple(here), others, radii, "diameter")
            for density in (hill, Function(hill.at))
        )
        assert blind.middle == pytest.approx(known.middle, abs=1e-8)
        assert blind.radius == pytest.approx(known.radius, abs=1e-7)


class TestManySides:
    """A polygon with many sides in a disc gives nearly the same run."""

    SIDES = 120

    @pytest.mark.parametrize("law", LAWS, ids=NAMES)
    def test_a_run(self, law):
        angles = np.arange(self.SIDES) * (2.0 * math.pi / self.SIDES)
        many = Polygon(np.column_stack([np.cos(angles), np.sin(angles)]))
        places = start(DISC, 4, seed=5)
        disc, polygon = (
            simulate(workspace, Uniform(), places, law, until=2.0) for workspace in (DISC, many)
        )
        assert abs(len(disc.events) - len(polygon.events)) <= 4
        for t in (0.5, 1.0, 2.0):
            assert disc.positions(t) == pytest.approx(polygon.positions(t), abs=5e-3)


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_numbering_does_not_matter(law):
    places = start(EGG, 5)
    order = np.random.default_rng(0).permutation(5)
    one, other = (
        simulate(EGG, Uniform(), some, law, until=1.0).positions(1.0)
        for some in (places, places[order])
    )
    assert other == pytest.approx(one[order], abs=1e-12)
