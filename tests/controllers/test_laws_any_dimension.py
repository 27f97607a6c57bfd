"""The laws with guaranteed cells on the line and in space."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import simulate
from dwell._kernels.marks import IN_TIME
from dwell._types import lengths
from dwell.cells.ground import ground_of
from dwell.controllers import EventTriggered, SelfTriggered, SelfTriggeredCentroid
from dwell.controllers.uncertain import centroid_ball
from dwell.density import Function, Gaussian, Uniform
from dwell.geometry import Box, Interval
from dwell.verify.finding import VIOLATED
from dwell.verify.guarantees import promises
from dwell.verify.reference_trigger import reference_trigger

LINE = Interval(0, 1)
CUBE = Box((0, 0, 0), (1, 1, 1))
SELF = SelfTriggered(v=0.35, delta=0.3, tau_max=0.75)
CENTROID = SelfTriggeredCentroid(v_max=0.3, dt=0.05, epsilon=0.02)
EVENTS = EventTriggered(s_max=0.3, d_start=0.02, d_stop=0.01)
LAWS = (SELF, CENTROID, EVENTS)
NAMES = ("self", "centroid", "events")


def start(dimension, agents, seed=1):
    """Agents in a part of the unit cube."""
    return 0.1 + 0.5 * np.random.default_rng(seed).random((agents, dimension))


def hill(dimension):
    return Gaussian(center=(0.6,) * dimension, rate=2.0)


def worlds(dimension):
    return (LINE if dimension == 1 else CUBE), (6 if dimension == 1 else 5)


def run_of(law, dimension, until, density=None):
    workspace, agents = worlds(dimension)
    places = start(dimension, agents)
    return simulate(workspace, density or Uniform(), places, law, until=until)


def errors_at(run, t):
    """Centroid minus position of everybody, by looks alone."""
    return np.array([look.error for look in run.system.looks(run.positions(t))])


class TestCoverage:
    """Runs end where every agent is near its centroid, as they do in the plane."""

    @pytest.mark.parametrize("dimension", [1, 3])
    @pytest.mark.parametrize("law", LAWS, ids=NAMES)
    def test_everybody_comes_to_its_centroid(self, law, dimension):
        until = 20.0 if dimension == 1 else (32.0 if law is EVENTS else 8.0)
        run = run_of(law, dimension, until)
        before, after = lengths(errors_at(run, 0.0)), lengths(errors_at(run, run.horizon))
        assert before.max() > 0.08
        assert after.max() < 0.06
        assert run.cost(run.horizon) < 0.8 * run.cost(0.0)
        assert (run.workspace.outside_by(run.positions(run.horizon)) == 0.0).all()

    def test_self_triggered_on_a_line_finds_the_quantizer(self):
        """Uniform on [0, 1]: (2 k + 1) / 2 N."""
        law = SelfTriggered(v=0.35, delta=0.3, tau_max=0.75, kappa=2.0)
        run = simulate(LINE, Uniform(), start(1, 4), law, until=40.0)
        places = np.sort(run.positions(40.0).ravel())
        assert places == pytest.approx([0.125, 0.375, 0.625, 0.875], abs=2e-3)

    @pytest.mark.parametrize("dimension", [1, 3])
    def test_a_hill_and_a_function(self, dimension):
        """The same ball whether the density is known as terms or only as a function."""
        workspace, _ = worlds(dimension)
        here, others = start(dimension, 1)[0], start(dimension, 3, seed=2)
        radii = 0.2 * lengths(others - here)
        known, blind = (
            centroid_ball(ground_of(workspace, density), tuple(here), others, radii, "diameter")
            for density in (hill(dimension), Function(hill(dimension).at))
        )
        assert blind.middle == pytest.approx(known.middle, abs=1e-8)
        assert blind.radius == pytest.approx(known.radius, abs=1e-7)
        assert blind.radius >= known.radius - 1e-9


class TestGuarantees:
    """What the agents believe is true, by code that knows where everybody is."""

    @pytest.mark.parametrize("dimension", [1, 3])
    @pytest.mark.parametrize("law", [CENTROID, EVENTS], ids=NAMES[1:])
    def test_the_true_centroid_is_in_the_ball(self, law, dimension, monkeypatch):
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
        run = run_of(law, dimension, 3.0 if dimension == 1 else 1.5)
        wide = 0
        for agent, time, place, ball in believed:
            if ball is None or time > run.horizon:
                continue
            assert run.positions(time)[agent] == pytest.approx(place, abs=1e-12)
            off = lengths(errors_at(run, time)[agent] - np.array(ball.middle))
            assert off <= ball.radius + 1e-9
            wide += ball.radius > 1e-3
        assert wide > 40

    @pytest.mark.parametrize("dimension", [1, 3])
    @pytest.mark.parametrize("law", [CENTROID, EVENTS], ids=NAMES[1:])
    def test_the_cost_never_rises(self, law, dimension):
        run = run_of(law, dimension, 4.0 if dimension == 1 else 2.0)
        costs = np.array([run.cost(t) for t in np.linspace(0.0, run.horizon, 60)])
        assert (np.diff(costs) <= 1e-9 * costs[:-1]).all()

    @pytest.mark.parametrize("dimension", [1, 3])
    @pytest.mark.parametrize("density", ["uniform", "hill"])
    def test_a_centroid_drifts_by_delta_at_most(self, dimension, density):
        """G1 and G2 at times between looks, by looks and distances alone."""
        law = SelfTriggered(v=0.35, delta=0.05, tau_max=0.75)
        weight = Uniform() if density == "uniform" else hill(dimension)
        until = 3.0 if dimension == 1 else (1.0 if density == "uniform" else 0.3)
        run = run_of(law, dimension, until, weight)
        table, checked = run.events, 0
        for k in range(len(table)):
            agent, t = int(table.agent[k]), float(table.time[k])
            if table.count("mark")[k] != IN_TIME:
                continue
            target = table.positions[k] + table.errors[k]
            for part in (0.3, 0.7, 0.999):
                when = t + part * (float(table.next_at[k]) - t)
                if when > run.horizon:
                    continue
                places = run.positions(when)
                centroid = places[agent] + errors_at(run, when)[agent]
                assert lengths(centroid - target) <= law.delta + 1e-9
                others = lengths(np.delete(places, agent, axis=0) - target)
                assert lengths(places[agent] - target) <= others.min() + 1e-9
                checked += 1
        assert checked > 20

    @pytest.mark.parametrize("dimension", [1, 3])
    def test_the_judge_agrees(self, dimension):
        run = run_of(SELF, dimension, 2.0 if dimension == 1 else 0.4)
        found = list(promises(run.system, run.start, run.events, run.horizon))
        assert {"drift", "target", "trigger"} <= {finding.name for finding in found}
        assert [finding for finding in found if finding.status == VIOLATED] == []


class TestTrigger:
    """The trigger against closed forms and against other code."""

    @pytest.mark.parametrize(("delta", "v"), [(3.0, 0.35), (3.0, 1.0), (0.1, 0.35), (0.05, 1.0)])
    def test_two_agents_at_rest_on_a_line(self, delta, v):
        """beta = r and room = (1 - r) / 4, so the event comes at min(delta, 1 / 5) / v exactly."""
        law = SelfTriggered(v=v, delta=delta, tau_min=1e-4, tau_max=0.75, scan=1e-4)
        run = simulate(LINE, Uniform(), np.array([[0.25], [0.75]]), law, until=1e-3)
        expected = min(delta, 0.2) / v
        assert expected - 1.01e-4 <= float(run.start.next_at[0]) <= expected + 1e-9

    @pytest.mark.parametrize("dimension", [1, 3])
    @pytest.mark.parametrize(
        "options",
        [{}, {"second": "sampled"}, {"bound": "circumradius"}, {"own": "ball", "factor": 2}],
    )
    def test_by_other_code(self, dimension, options):
        law, rng = SelfTriggered(**options), np.random.default_rng(3)
        workspace, _ = worlds(dimension)
        limit = 1e-12 if dimension == 1 else 2e-3
        seen = 0
        for density in (Uniform(), hill(dimension)):
            ground = ground_of(workspace, density)
            for _ in range(8 if dimension == 1 else 2):
                here, others = rng.random(dimension), rng.random((5, dimension))
                left, s = 0.05 * rng.normal(size=dimension), 0.05 + 0.05 * rng.random()
                ours = law._trigger_value(here, left, s, 0.0, others, ground)
                theirs = reference_trigger(law, workspace, density, here, here + left, others, s)
                if ours == 0.0 and "second" in options:  # outside: how far does not matter
                    assert theirs >= 0.0
                elif np.isinf(ours):
                    assert np.isinf(theirs)
                else:
                    assert ours == pytest.approx(theirs, abs=limit)
                    seen += 1
        assert seen > 1


class TestThin:
    """A slab is nearly a plane, a strip nearly a line."""

    WIDTH = 1e-4
    SAMPLED = SelfTriggered(v=0.35, delta=0.3, tau_max=0.75, second="sampled")

    @pytest.mark.parametrize("law", [SAMPLED, CENTROID, EVENTS], ids=NAMES)
    def test_a_strip(self, law):
        """The room of the guaranteed cell's own centroid is not that of a line: sampled ones."""
        places = start(1, 4)
        line = simulate(LINE, Uniform(), places, law, until=4.0)
        strip = simulate(
            Box((0, 0), (1, self.WIDTH)), Uniform(), self.thick(places), law, until=4.0
        )
        assert abs(len(strip.events) - len(line.events)) <= 2
        for t in (1.0, 2.0, 4.0):
            assert strip.positions(t)[:, :1] == pytest.approx(line.positions(t), abs=2e-3)

    @pytest.mark.parametrize("law", [SAMPLED, CENTROID, EVENTS], ids=NAMES)
    def test_a_slab(self, law):
        places = start(2, 4, seed=5)
        plane = simulate(Box((0, 0), (1, 1)), Uniform(), places, law, until=2.0)
        slab = simulate(
            Box((0, 0, 0), (1, 1, self.WIDTH)), Uniform(), self.thick(places), law, until=2.0
        )
        assert abs(len(slab.events) - len(plane.events)) <= 2
        for t in (0.5, 1.0, 2.0):
            assert slab.positions(t)[:, :2] == pytest.approx(plane.positions(t), abs=2e-3)

    def thick(self, places):
        return np.column_stack([places, np.full(len(places), self.WIDTH / 2)])


@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_numbering_does_not_matter(law, dimension):
    workspace, agents = worlds(dimension)
    places = start(dimension, agents)
    order = np.random.default_rng(0).permutation(agents)
    until = 0.6 if dimension == 1 else 0.3
    one = simulate(workspace, Uniform(), places, law, until=until).positions(until)
    other = simulate(workspace, Uniform(), places[order], law, until=until).positions(until)
    assert other == pytest.approx(one[order], abs=1e-12)
