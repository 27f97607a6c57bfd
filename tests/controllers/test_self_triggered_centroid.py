"""The self-triggered centroid law: what it knows is true, and its moves never raise the cost."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell import Box, Gaussian, Mixture, Polygon, Uniform, simulate, tessellate
from dwell._types import lengths
from dwell.agents import CoverageSystem, Network
from dwell.agents.interfaces import Observation, Sample, WeightedRegion
from dwell.cells.backend import pair_of
from dwell.controllers import SelfTriggeredCentroid
from dwell.controllers import self_triggered_centroid as module
from dwell.controllers.centroid_bounds import CentroidBall, ball_of, centroid_ball, velocity_to
from dwell.controllers.self_triggered_centroid import CentroidPlan
from dwell.density import as_density
from dwell.results import Run
from tests.conftest import differing
from tests.strategies import random_convex_polygon, random_positions

FOUR = Box((0, 0), (4, 4))
HILLS = Mixture((Gaussian((2, 3), rate=1.0), Gaussian((3, 1), rate=1.0)))
CORNER = np.array(
    [0.21, 0.32, 0.55, 0.24, 0.88, 0.37, 0.33, 0.68, 0.7, 0.61, 1.03, 0.72, 0.28, 1.05, 0.66, 0.98]
).reshape(8, 2)
ROUNDING = 1e-12
GROUNDS = [
    WeightedRegion(FOUR, Uniform(), Uniform().terms()),
    WeightedRegion(FOUR, as_density(lambda points: np.ones(len(points))), None),
]
SLOW = SelfTriggeredCentroid(v_max=0.3, dt=0.025, epsilon=0.1)


def random_world(seed: int, agents: int = 7) -> tuple[Polygon, Any, np.ndarray]:
    """A polygon, a density and a start."""
    rng = np.random.default_rng(seed)
    corners = random_convex_polygon(rng, int(rng.integers(3, 8)), 3.0, float(rng.uniform(1, 3)))
    hill = Gaussian(tuple(rng.uniform(-2, 2, 2)), rate=float(rng.uniform(0.05, 1.0)))
    density = Uniform() if seed % 3 == 0 else Mixture((Uniform(0.05), hill))
    return Polygon(corners), density, np.array(random_positions(rng, corners, agents))


def worst_rise(run: Run, dt: float) -> float:
    """How far the cost ever is above that at the beginning of the same step, relatively.

    The first sample of a step is at its beginning; each step ends where the next one begins, so a
    rise from step to step is found as well.
    """
    times, costs = run.metrics.times, run.metrics.costs
    step, k = np.floor(times / dt + 1e-6), np.arange(len(times))
    first = np.searchsorted(step, step)
    base = np.where(first < k, first, first[np.maximum(k - 1, 0)])
    assert len(np.unique(first)) > 10
    return float((costs / costs[base]).max()) - 1.0


class TestBall:
    """Going to a ball and no further."""

    @given(st.floats(0, 6), st.floats(0.01, 8), st.floats(0.01, 8))
    def test_the_place_reached_is_that_of_the_paper(self, radius, speed, time):
        p, q, delta = np.zeros(2), np.array([3.0, 4.0]), speed * time
        distance = np.hypot(*(p - q))
        if distance <= radius:
            place = p
        elif distance <= radius + delta:
            place = q + radius * (p - q) / distance
        else:
            place = p + delta * (q - p) / distance
        found = time * np.array(velocity_to(CentroidBall((3.0, 4.0), 5.0, radius), speed, time))
        assert found == pytest.approx(place, abs=1e-12)

    @given(st.floats(0, 6), st.floats(0.01, 8), st.floats(0, 2 * math.pi), st.floats(0, 1))
    def test_it_comes_closer_to_every_point_of_the_ball(self, radius, reach, angle, part):
        ball = CentroidBall((3.0, 4.0), 5.0, radius)
        step = np.array(velocity_to(ball, reach, 1.0))
        point = np.array([3.0, 4.0]) + part * radius * np.array([np.cos(angle), np.sin(angle)])
        before, after = np.hypot(*point), np.hypot(*(point - step))
        assert after <= before + 1e-12
        if ball.gap > 1e-6:
            assert after < before

    def test_balls_of_a_share(self):
        assert ball_of((3.0, 4.0), 2.0, 0.25) == CentroidBall((3.0, 4.0), 5.0, 1.5)
        assert ball_of((3.0, 4.0), 2.0, 0.25).gap == 3.5
        assert ball_of((1.0, 0.0), 2.0, 1.0 + 1e-15).radius == 0.0  # by rounding
        assert velocity_to(ball_of((0.0, 0.0), 2.0, 1.0), 1.0, 1.0) == (0.0, 0.0)


class TestKnowledge:
    """What is worked out from old positions is true."""

    @pytest.mark.parametrize("ground", GROUNDS, ids=["exact", "function"])
    def test_there_is_no_ball_outside_the_workspace_and_in_the_ball_of_another(self, ground):
        other = np.array([[1.5, 1.0]])
        assert centroid_ball(ground, (-0.1, 1.0), other, np.array([0.1]), "diameter") is None
        assert centroid_ball(ground, (1.0, 1.0), other, np.array([0.49]), "diameter") is not None
        assert centroid_ball(ground, (1.0, 1.0), other, np.array([0.51]), "diameter") is None

    def test_alone_the_centroid_is_that_of_the_workspace(self):
        ground = WeightedRegion(FOUR, Uniform(), Uniform().terms())
        ball = centroid_ball(ground, (1.0, 3.0), np.empty((0, 2)), np.empty(0), "diameter")
        assert ball is not None
        assert (*ball.middle, ball.radius) == pytest.approx((1.0, -1.0, 0.0))

    @pytest.mark.parametrize("seed", range(8))
    def test_neighbours_suffice(self, seed):
        """gV from the sampled neighbours is exact while the own way is within the radius; dgV is
        at least what all agents give."""
        workspace, density, places = random_world(seed, 12)
        rng = np.random.default_rng(seed)
        system = CoverageSystem(workspace, density, SLOW, len(places))
        smaller = 0
        for agent in range(len(places)):
            sample = system.sample(places, agent, 0.0)
            radius = rng.uniform(0, 0.4) * lengths(sample.positions - places[agent]).min()
            way, turn = radius * rng.uniform(0.5, 1.0), rng.uniform(0, 2 * np.pi)
            here = places[agent] + way * np.array([np.cos(turn), np.sin(turn)])
            here = workspace.nearest(here[None])[0]
            some, every = (
                pair_of(system.ground, here, known, np.full(len(known), radius))
                for known in (sample.positions, np.delete(places, agent, axis=0))
            )
            assert some.offset == pytest.approx(every.offset, rel=1e-11, abs=1e-15)
            assert some.clearance == pytest.approx(every.clearance, rel=1e-11, abs=0.0)
            assert some.share <= every.share * (1 + 1e-12)
            smaller += some.share < every.share * (1 - 1e-9)
        if seed == 0:
            assert smaller > 0  # the superset is a strict one now and then

    @pytest.mark.parametrize(
        ("seed", "network"),
        [(1, Network()), (2, Network()), (3, Network(delay=0.06)), (4, Network(loss=0.4))],
    )
    def test_the_true_centroid_is_always_in_the_ball(self, seed, network):
        """Balls put together again from the last successful look, at every step of every agent."""
        workspace, density, start = random_world(seed)
        law = SelfTriggeredCentroid(v_max=0.4, dt=0.02, epsilon=0.1)
        run = simulate(
            workspace, density, start, law, until=2.0, network=network, sample_every="off"
        )
        table, tight, slack = run.events, 0, 0
        looked = table.count("looked")
        for agent in range(len(start)):
            sample = run.system.sample(start, agent, 0.0)
            for k in table.of_agent(agent):
                t, here = float(table.time[k]), table.positions[k]
                if looked[k]:
                    then = max(t - network.delay, 0.0)
                    seen = run.positions(then)
                    seen[agent] = here
                    sample = run.system.sample(seen, agent, then)
                radii = np.full(len(sample.agents), law.v_max * (t - sample.time))
                ball = centroid_ball(
                    run.system.ground, tuple(here), sample.positions, radii, law.bound
                )
                if ball is None:
                    continue
                off = lengths(table.errors[k] - ball.middle)
                assert off <= ball.radius + 1e-12
                tight += ball.radius > 1e-3
                slack += off > 0.02 * ball.radius > 1e-5
        assert tight > 50
        assert slack > 20


class TestLaw:
    """Moves and looks."""

    def test_nothing_remembered_means_limited_lloyd(self):
        """With epsilon = 0 and a look at every step: towards the centroid at the speed limit."""
        law = SelfTriggeredCentroid(v_max=1.0, dt=0.1, epsilon=0.0, t_max=0.1)
        run = simulate(FOUR, HILLS, CORNER, law, until=3.0, sample_every="off")
        places = CORNER.copy()
        for k in range(30):
            assert run.positions(k * 0.1) == pytest.approx(places, abs=1e-10)
            errors = tessellate(FOUR, places, HILLS).errors
            sizes = np.hypot(*errors.T)
            places = places + errors * np.minimum(1.0, 0.1 / sizes)[:, None]
        assert run.events.looked is None  # every event is a look
        assert (run.events.count("guaranteed") == 1).all()
        speeds = lengths(run.events.holds)
        assert speeds.max() == pytest.approx(1.0)
        assert speeds.min() < 0.5

    def test_at_its_centroid_it_sleeps_until_the_uncertainty_is_epsilon(self):
        """In a thin strip the bound is v_max t: with 0.03 a step it reaches 0.1 at step 4."""
        strip = Box((0, 0), (1, 1e-5))
        law = SelfTriggeredCentroid(v_max=1.0, dt=0.03, epsilon=0.1)
        start = [(0.25, 5e-6), (0.75, 5e-6)]
        run = simulate(strip, None, start, law, until=1.0, sample_every="off")
        rows = run.events.of_agent(0)
        assert np.flatnonzero(run.events.count("looked")[rows]).tolist() == list(range(3, 33, 4))
        assert run.positions(1.0) == pytest.approx(np.array(start), abs=1e-12)

    @pytest.mark.parametrize("epsilon", [0.0, 0.045, 0.105])
    def test_two_agents_in_a_strip(self, epsilon):
        """Against a run of intervals: gV, dgV, bound and moves are then plain fractions."""
        law = SelfTriggeredCentroid(v_max=0.5, dt=0.02, epsilon=epsilon)
        strip = Box((0, 0), (1, 1e-6))
        start = [(0.05, 5e-7), (0.32, 5e-7)]
        run = simulate(strip, None, start, law, until=1.2, sample_every="off")
        paths, looks = two_on_a_line(0.05, 0.32, law, 60)
        for k in range(61):
            assert run.positions(k * law.dt)[:, 0] == pytest.approx(paths[k], abs=1e-7)
        for agent in (0, 1):
            rows = run.events.of_agent(agent)
            found = np.flatnonzero(run.events.count("looked")[rows[:-1]])
            assert found.tolist() == looks[agent]
        assert 0 < len(looks[0]) < 60

    def test_both_decisions_make_the_same_moves(self, monkeypatch):
        plans = simulate(FOUR, HILLS, CORNER, SLOW, until=6.0, sample_every="off")
        careful = SelfTriggeredCentroid(v_max=0.3, dt=0.025, epsilon=0.1, decision="one-step")
        steps = simulate(FOUR, HILLS, CORNER, careful, until=6.0, sample_every="off")
        assert differing(plans.events, steps.events) == ["guaranteed", "dual_guaranteed"]
        assert 0 < plans.events.count("looked").sum() < 0.9 * len(plans.events)
        for agent in range(8):
            assert_same_cells_between_looks(plans, steps, agent)
        monkeypatch.setattr(module, "LONGEST_PLAN", 2)
        pieces = simulate(FOUR, HILLS, CORNER, SLOW, until=6.0, sample_every="off")
        assert differing(plans.events, pieces.events) == ["guaranteed", "dual_guaranteed"]

    def test_counters_and_marks(self):
        run = simulate(FOUR, HILLS, CORNER, SLOW, until=6.0, sample_every="off")
        table = run.events
        assert (table.count("guaranteed") == table.count("dual_guaranteed")).all()
        assert (table.count("mark") == table.count("looked")).all()
        assert (table.count("received") == table.count("looked") * table.neighbors).all()
        assert table.sent is None
        follows = table.count("looked") == 0
        assert (table.count("guaranteed")[follows] == 0).all()
        assert (table.count("guaranteed")[~follows] >= 2).all()

    @pytest.mark.parametrize("t_max", [0.01, 0.05, 0.1, 0.12])
    def test_nobody_sleeps_longer_than_t_max(self, t_max):
        law = SelfTriggeredCentroid(v_max=0.01, dt=0.025, epsilon=0.5, t_max=t_max)
        run = simulate(FOUR, HILLS, CORNER, law, until=2.0, sample_every="off")
        rows = run.events.of_agent(3)
        looks = run.events.time[rows][run.events.count("looked")[rows] == 1]
        gaps = np.diff(np.append(0.0, looks))
        assert gaps == pytest.approx(max(1, math.floor(t_max / 0.025 + 1e-9)) * 0.025)

    def test_one_agent_never_looks_again(self):
        law = SelfTriggeredCentroid(dt=0.01)
        run = simulate(FOUR, HILLS, [(0.5, 0.5)], law, until=4.0, sample_every="off")
        assert run.events.count("looked").sum() == 0
        assert run.errors(4.0).max() < 1e-12
        assert len(run.events) == 400 > module.LONGEST_PLAN


class TestCost:
    """The theorem: the cost is never above what it was at the beginning of a step."""

    @pytest.mark.parametrize("seed", range(6))
    def test_random_runs(self, seed):
        workspace, density, start = random_world(seed)
        law = SelfTriggeredCentroid(
            v_max=(1.0, 0.3)[seed % 2],
            dt=(0.02, 0.1)[seed // 3],
            epsilon=(0.0, 0.1, 1.0)[seed % 3],
            bound=("circumradius", "diameter")[seed // 2 % 2],
        )
        run = simulate(workspace, density, start, law, until=30 * law.dt, sample_every=law.dt / 8)
        assert worst_rise(run, law.dt) <= ROUNDING
        assert run.metrics.costs[-1] < 0.999 * run.metrics.costs[0]

    @pytest.mark.parametrize(
        "network", [Network(loss=0.3), Network(delay=0.07), Network(0.5, 0.03)]
    )
    def test_lost_and_late_looks_do_not_break_it(self, network):
        law = SelfTriggeredCentroid(v_max=0.5, dt=0.025, epsilon=0.1)
        run = simulate(
            FOUR, HILLS, CORNER, law, until=3.0, sample_every=law.dt / 4, network=network
        )
        assert worst_rise(run, law.dt) <= ROUNDING
        assert run.metrics.costs[-1] < 0.5 * run.metrics.costs[0]

    def test_faster_neighbours_than_believed_break_it(self, monkeypatch):
        """The monitor can fail: with balls that hardly grow, agents run after old centroids."""
        real = module.centroid_ball

        def overconfident(ground, position, places, radii, bound):
            return real(ground, position, places, 1e-3 * radii, bound)

        monkeypatch.setattr(module, "centroid_ball", overconfident)
        law = SelfTriggeredCentroid(v_max=1.0, dt=0.025, epsilon=1.0)
        run = simulate(FOUR, HILLS, CORNER, law, until=6.0, sample_every=law.dt / 4)
        assert worst_rise(run, law.dt) > 1e-6


class TestSameAgain:
    """Runs do not depend on chance, numbering or threads."""

    def test_side_by_side(self):
        """Working memory is not shared by threads."""
        from concurrent.futures import ThreadPoolExecutor

        def go(k: int) -> Run:
            return simulate(FOUR, HILLS, CORNER[: 4 + k % 5], SLOW, until=0.5, sample_every="off")

        alone = [go(k) for k in range(8)]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(go, range(8)))
        for a, b in zip(alone, together, strict=True):
            assert differing(a.events, b.events) == []


class TestLookLost:
    """What an agent does without a look that it wanted."""

    @staticmethod
    def view(
        looks: int, sample_time: float, other: tuple[float, float] = (3.0, 2.0)
    ) -> Observation:
        sample = Sample(sample_time, np.array([1]), np.array([other]))
        return Observation(
            time=(looks + 1) * SLOW.dt, agent=0, agents=2, event_count=looks,
            first_event_at=SLOW.dt, position=np.array([1.5, 2.0]), hold=np.zeros(2),
            measurement=None, draw=0.5, memory=CentroidPlan(sample, 3, (), None),
            ground=WeightedRegion(FOUR, Uniform(), Uniform().terms()),
        )  # fmt: skip

    def test_it_goes_on_by_what_it_knows(self):
        view = self.view(looks=3, sample_time=0.0)
        order = SLOW.miss(view)
        plan: Any = view.memory
        radii = np.array([0.3 * 0.1])
        ball = centroid_ball(view.ground, (1.5, 2.0), plan.sample.positions, radii, "circumradius")
        assert order.hold == pytest.approx(np.array(velocity_to(ball, 0.3, 0.025)))
        assert order.measures
        assert order.next_at == 5 * SLOW.dt
        assert (order.guaranteed, order.dual_guaranteed, order.mark) == (1, 1, 0)
        assert order.memory.sample is plan.sample

    def test_it_stands_when_another_may_be_there(self):
        order = SLOW.miss(self.view(looks=300, sample_time=0.0))
        assert (order.hold == 0.0).all()
        assert order.measures

    def test_it_tries_again_at_every_step(self):
        """Looks after a lost one follow step by step, and each gets through in the end."""
        run = simulate(
            FOUR, HILLS, CORNER, SLOW, until=8.0, sample_every="off", network=Network(loss=0.6)
        )
        table, lost = run.events, 0
        for agent in range(8):
            rows = table.of_agent(agent)
            tried = False  # whether the event before this one was a look that was lost
            for k in rows:
                if not table.count("looked")[k] and table.count("guaranteed")[k] == 1:
                    lost += 1
                    tried = True
                elif tried:
                    assert table.count("looked")[k]
                    tried = False
        assert lost > 100

    def test_samples_before_the_beginning_are_from_the_beginning(self):
        late = simulate(FOUR, HILLS, CORNER, SLOW, until=0.02, network=Network(delay=0.2))
        fresh = simulate(FOUR, HILLS, CORNER, SLOW, until=0.02)
        assert (late.start.segments.hold == fresh.start.segments.hold).all()


def test_a_grid_of_points_will_do():
    run = simulate(FOUR, HILLS, CORNER, SLOW, until=1.0, spacing=0.01, sample_every=0.5)
    exact = simulate(FOUR, HILLS, CORNER, SLOW, until=1.0, sample_every=0.5)
    assert run.positions(1.0) == pytest.approx(exact.positions(1.0), abs=0.005)


def two_on_a_line(
    x: float, y: float, law: SelfTriggeredCentroid, steps: int
) -> tuple[list[list[float]], list[list[int]]]:
    """Two agents on [0, 1] by the rules of the paper, without planning: (paths, looks)."""
    here, seen, age = [x, y], [y, x], [0, 0]
    paths, looks = [[x, y]], [[], []]

    def goal(agent: int, radius: float) -> tuple[float, float]:
        """Centroid of gV and the bound, for an agent and the other one's ball."""
        p, q = (here[agent], seen[agent]) if agent == 0 else (1 - here[agent], 1 - seen[agent])
        c = (p + q - radius) / 4  # half of gV = [0, (p + q - radius) / 2]
        bound = (p + q + radius) / 2 * (1 - (p + q - radius) / (p + q + radius))
        return (c if agent == 0 else 1 - c), bound

    for k in range(steps):
        moves = []
        for agent in (0, 1):
            radius = law.v_max * law.dt * age[agent]
            c, bound = goal(agent, radius)
            tiny = abs(here[agent] - seen[agent]) <= radius
            if k > 0 and (tiny or bound >= max(abs(c - here[agent]), law.epsilon)):
                seen[agent], age[agent] = here[1 - agent], 0
                looks[agent].append(k - 1)
                c, bound = goal(agent, 0.0)
            way = min(law.v_max * law.dt, max(0.0, abs(c - here[agent]) - bound))
            moves.append(math.copysign(way, c - here[agent]))
            age[agent] += 1
        here = [here[0] + moves[0], here[1] + moves[1]]
        paths.append(list(here))
    return paths, looks


def assert_same_cells_between_looks(plans: Run, steps: Run, agent: int) -> None:
    """Planned at once or one by one, the cells between two looks are the same ones."""
    rows = plans.events.of_agent(agent)
    looks = np.flatnonzero(plans.events.count("looked")[rows])
    for begin, end in pairwise(looks):
        between = rows[begin:end]
        once, single = (run.events.count("guaranteed")[between] for run in (plans, steps))
        assert once.sum() == once[0] == single.sum()
        assert single.max() <= 2
