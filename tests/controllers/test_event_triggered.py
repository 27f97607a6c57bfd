"""The event-triggered law: promises are kept, knowledge is true, and everybody comes to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Uniform, simulate, tessellate
from dwell._types import lengths
from dwell.agents import Network
from dwell.agents.interfaces import Command, Message, Observation, WeightedRegion
from dwell.controllers import EventTriggered
from dwell.controllers.centroid_bounds import centroid_ball
from dwell.controllers.event_triggered import BroadcastMemory
from dwell.geometry import Polygon
from dwell.results import Run
from tests.conftest import differing
from tests.controllers.test_self_triggered_centroid import (
    CORNER,
    FOUR,
    HILLS,
    ROUNDING,
    random_world,
    worst_rise,
)

pytestmark = pytest.mark.slow

LAW = EventTriggered()


@pytest.fixture(scope="module")
def eight() -> Run:
    """Eight agents from a corner until nobody moves any more."""
    return simulate(FOUR, HILLS, CORNER, LAW, until=40.0, sample_every=LAW.dt / 4)


class TestPromises:
    """Along a run, everybody is where the others believe it to be."""

    @pytest.mark.parametrize("seed", range(3))
    def test_agents_are_where_their_last_messages_allow(self, seed):
        """From the table alone: at fine times, and for balls of a whole step to come.

        The balls of the law are tighter: a raised speed bound counts from the step after it.
        """
        run, law = a_run(seed)
        nearly, tighter = 0.0, 0
        for agent in range(run.agents):
            said = words_of(run, agent)
            for t in np.linspace(0.0, run.horizon, 300):
                answer = [word for word in said if word[0] <= t][-1]
                assert outside(run, agent, answer, float(t), t - answer[0]) <= 1e-13
            for step in range(1, round(run.horizon / law.dt)):
                known = [word for word in said if word[0] < step * law.dt - 1e-9]
                (made, bound, place), before = known[-1], known[max(len(known) - 2, 0)][1]
                for part in (0.0, 0.3, 0.7, 1.0):
                    t = min((step + part) * law.dt, run.horizon)
                    gap = outside(run, agent, known[-1], t, step * law.dt - made + law.dt)
                    assert gap <= 1e-13
                    if bound > 0.0 and part == 1.0:
                        nearly = max(nearly, gap)
                steps = round(step - made / law.dt)
                radius = law.dt * (min(before, bound) + (steps - 1) * bound)
                tighter += radius < bound * law.dt * steps - 1e-9
                here = run.positions(step * law.dt)[agent]
                assert np.hypot(*(here - place)) <= radius + 1e-13
        assert nearly > -1e-9  # some come to the very end of what their bound allows
        assert tighter > 10

    def test_a_raise_is_announced_one_step_before_it_is_used(self, eight):
        table, raised, lowered = eight.events, 0, 0
        for agent in range(8):
            rows = table.of_agent(agent)
            marks = np.append(0, table.count("mark")[rows])
            speeds = lengths(table.holds[rows])
            limits = np.array(LAW.levels)[np.minimum(marks[1:], marks[:-1])]
            assert (speeds <= limits + 1e-15).all()
            assert ((marks[1:] != marks[:-1]) == (table.count("sent")[rows] == 1)).all()
            raised += int((marks[1:] > marks[:-1]).sum())
            lowered += int((marks[1:] < marks[:-1]).sum())
        assert raised > 20
        assert lowered > 20

    def test_a_message_tells_which_promise_it_replaces(self):
        """Also to who missed the one before: what was last heard of is not what was replaced."""
        run, law = a_run(0, Network(loss=0.3))
        missed = 0
        for event, state in zip(run.arc.events, run.arc.states[1:], strict=True):
            for sender, message in state.mail[event.source].heard.items():
                said = words_of(run, sender)
                k = next(k for k, word in enumerate(said) if word[0] == message.time)
                assert message.before == said[max(k - 1, 0)][1]
                # The ball is true as long as nothing newer was said.
                newer = [word for word in said[k + 1 :] if word[0] < state.time]
                missed += bool(newer)
                if not newer:
                    away = np.hypot(*(state.positions[sender] - message.position))
                    assert away <= law.travel(message, state.time) + 1e-13
        assert missed > 10

    def test_the_check_judges_by_the_balls_that_the_law_uses(self, monkeypatch):
        """Balls a little too small for what others do are found, though promises are kept."""
        real = EventTriggered.travel
        monkeypatch.setattr(
            EventTriggered, "travel", lambda self, said, now: 0.9 * real(self, said, now)
        )
        world, density, start = random_world(0)
        law = EventTriggered(s_max=0.8, dt=0.05, k_v=2.0, d_stop=0.02, d_start=0.04)
        run = simulate(world, density, start, law, until=4.0, sample_every="off")
        found = {f.name: f.status for f in dwell.check(run).findings}
        assert found["promise"] == "violated"

    @pytest.mark.parametrize("network", [Network(delay=100.0), Network(loss=0.5)], ids=str)
    def test_what_is_said_at_the_beginning_is_neither_lost_nor_late(self, network):
        start = np.array([(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (3.0, 3.0)])  # a CVT
        run = simulate(FOUR, None, start, LAW, until=5.0, network=network)
        assert run.stop.reason.ok
        assert (run.positions(5.0) == start).all()
        for event, state in zip(run.arc.events, run.arc.states[1:], strict=True):
            assert len(state.mail[event.source].heard) == 3
        crowd = simulate(FOUR, HILLS, CORNER, LAW, until=4.0, network=network)
        assert crowd.stop.reason.ok
        assert dwell.check(crowd).ok

    def test_lost_messages_break_promises(self):
        assert worst_stray(a_run(0)[0]) <= 1e-13
        assert worst_stray(a_run(0, Network(loss=0.3))[0]) > 1e-3

    def test_a_delay_up_to_a_step_changes_nothing_and_a_longer_one_breaks_promises(self):
        run, law = a_run(1)
        for part in (0.3, 0.999):
            late, _ = a_run(1, Network(delay=part * law.dt))
            assert differing(run.events, late.events) == []
        assert worst_stray(a_run(1, Network(delay=2.5 * law.dt))[0]) > 1e-3


class TestSet:
    """The convex set that holds the centroid, and the way to it."""

    @pytest.mark.parametrize("seed", range(6))
    def test_the_projection_on_the_ball_is_that_on_the_set(self, seed):
        """X is the ball within the hull of dgV; the agent and the ball's middle are in that hull,
        so the way between them is, and the nearest point of the ball is the nearest of X."""
        world, density, places = random_world(seed, 6)
        rng = np.random.default_rng(seed)
        moving = 0
        for agent in range(6):
            others = np.delete(places, agent, axis=0)
            near = np.hypot(*(others - places[agent]).T).min()
            radii = rng.uniform(0, 0.2) * near * rng.uniform(0, 1, 5)
            ground = WeightedRegion(world, density, density.terms())
            ball = centroid_ball(ground, tuple(places[agent]), others, radii, "diameter")
            assert ball is not None
            target = np.array(ball.towards(ball.gap))
            hull = Polygon.hull_of(dual_corners(world, places[agent], others, radii))
            assert hull.outside_by(target[None])[0] <= 1e-9
            middle = np.array(ball.middle)
            points = hull_points(rng, hull, 4000)
            points = points[np.hypot(*(points - middle).T) <= ball.radius]
            if len(points):
                assert np.hypot(*points.T).min() >= ball.gap - 1e-12
            if ball.gap > 1e-6:
                moving += 1
                for part in (0.1, 0.5, 1.0):
                    assert (np.hypot(*(points - part * target).T) < np.hypot(*points.T)).all()
        assert moving > 0

    @pytest.mark.parametrize("seed", range(3))
    def test_the_true_centroid_is_always_in_the_ball(self, seed):
        run, law = a_run(seed)
        table, wide = run.events, 0
        beliefs = believed(run)
        for k, (places, radii) in enumerate(beliefs):
            here = tuple(map(float, table.positions[k]))
            ball = centroid_ball(run.system.ground, here, places, radii, law.bound)
            if ball is not None:
                off = lengths(table.errors[k] - ball.middle)
                assert off <= ball.radius + 1e-12
                wide += ball.radius > 1e-2
        assert wide > 50


class TestLevels:
    """Which speed an agent wants."""

    LAW = EventTriggered(s_max=2.0, k_v=1.0, d_stop=0.1, d_start=0.3)

    @pytest.mark.parametrize(
        ("now", "gap", "level"),
        [
            (0, 0.0, 0),
            (0, 0.2, 0),  # between the two: who waits goes on waiting,
            (1, 0.2, 1),  # who moves goes on moving
            (3, 0.2, 1),
            (0, 0.3, 1),
            (2, 0.1, 0),
            (1, 0.999, 1),  # rounded down
            (1, 1.0, 2),
            (1, 1.99, 2),
            (1, 2.0, 3),
            (0, 50.0, 3),
        ],
    )
    def test_hysteresis_and_rounding(self, now, gap, level):
        assert self.LAW.level_for(now, gap) == level

    def test_without_d_stop_it_goes_all_the_way(self):
        law = EventTriggered(d_stop=0.0)
        assert law.level_for(1, 1e-12) == 1
        assert law.level_for(1, 0.0) == 0


class TestLaw:
    """Moves and words."""

    def test_alone_it_goes_straight_at_constant_speed(self):
        """Announced at the first step, used from the second; it stops at the centroid itself."""
        law = EventTriggered(s_max=0.5, dt=0.1, levels=(0.0, 1.0))
        run = simulate(FOUR, None, [(0.5, 2.0)], law, until=5.0, sample_every="off")
        for t in (0.1, 0.2, 0.55, 2.0, 3.1):
            assert run.positions(t)[0] == pytest.approx((0.5 + 0.5 * max(0, t - 0.2), 2.0))
        assert run.positions(3.3)[0] == pytest.approx((2.0, 2.0), abs=1e-14)
        assert run.events.count("sent").sum() == 2

    def test_with_perfect_knowledge_it_is_lloyd_at_constant_speed(self):
        """The others stand and say so; two levels; each step towards the true centroid."""
        law = EventTriggered(s_max=0.4, dt=0.1, levels=(0.0, 1.0), d_stop=0.001, d_start=0.002)
        start = np.array([(0.3, 0.4), (3.0, 1.0), (1.5, 3.2)])
        run = simulate(FOUR, HILLS, start, Pinned(law), until=20.0, sample_every="off")
        places = start.copy()
        for k in range(2, 200):
            assert run.positions(k * 0.1) == pytest.approx(places, abs=1e-10)
            error = tessellate(FOUR, places, HILLS).errors[0]
            size = np.hypot(*error)
            if size <= law.d_stop:
                break
            places[0] += error * min(1.0, 0.04 / size)
        assert 10 < k < 199

    def test_everybody_comes_to_rest_within_d_start_of_its_centroid(self, eight):
        assert eight.errors(40.0).max() < LAW.d_start
        table = eight.events
        moving = table.time[lengths(table.holds) > 0.0]
        assert 5.0 < moving.max() < 38.0
        assert table.time[table.count("sent") == 1].max() <= moving.max() + 2 * LAW.dt

    @pytest.mark.parametrize("seed", range(2))
    def test_there_are_never_more_than_two_idle_steps_before_the_end(self, seed):
        """Whoever waits in a network at rest knows its cell exactly: no deadlock, no livelock."""
        world, density, start = random_world(seed)
        law = EventTriggered(s_max=0.5, dt=0.05, d_stop=0.03, d_start=0.06)
        run = simulate(world, density, start, law, until=30.0, sample_every="off")
        assert run.errors(30.0).max() < law.d_start
        table = run.events
        moving = lengths(table.holds) > 0.0
        steps = np.unique(np.round(table.time[moving] / law.dt))
        assert np.diff(np.append(0, steps)).max() <= 3
        assert steps.max() * law.dt < 25.0

    def test_a_margin_for_the_coming_step_would_never_come_to_rest(self, monkeypatch):
        """Why the balls are those of the instant: with more, all start and stop for ever."""
        real = EventTriggered._balls

        def wider(self: Any, now: float, heard: Any) -> Any:
            places, _ = real(self, now, heard)
            ages = [round((now - said.time) / self.dt) + 1 for said in heard.values()]
            spread = [said.promise for said in heard.values()]
            return places, self.dt * np.array(ages) * np.array(spread)

        monkeypatch.setattr(EventTriggered, "_balls", wider)
        run = simulate(FOUR, HILLS, CORNER, LAW, until=50.0, sample_every="off")
        late = run.events.time > 45.0
        assert lengths(run.events.holds)[late].max() == 0.0
        assert run.events.count("sent")[late].sum() > 100
        assert run.errors(50.0).max() > 2 * LAW.d_start

    def test_counters_marks_and_promises(self, eight):
        table = eight.events
        assert table.looked is not None
        assert table.looked.sum() == 0
        assert (table.count("guaranteed") == 1).all()
        assert (table.count("dual_guaranteed") == 1).all()
        said = table.count("sent") == 1
        assert table.promise is not None
        levels = np.array(LAW.levels)
        assert (table.promise[said] == LAW.s_max * levels[table.count("mark")[said]]).all()
        assert (table.promise[~said] == -1.0).all()
        assert table.count("received").sum() == 7 * (8 + said.sum())
        assert set(np.unique(table.count("mark"))) == {0, 1, 2, 3}

    def test_it_speaks_at_the_beginning(self):
        run = simulate(FOUR, HILLS, CORNER, LAW, until=0.01)
        assert [spent.sent for spent in run.start.spent] == [1] * 8
        assert (run.start.segments.hold == 0.0).all()
        assert len(run.events) == 0

    @pytest.mark.parametrize(("heartbeat", "steps"), [(0.5, 10), (0.51, 11), (0.05, 1), (0.01, 1)])
    def test_the_heartbeat_bounds_silence(self, heartbeat, steps):
        law = EventTriggered(heartbeat=heartbeat)
        run = simulate(FOUR, HILLS, CORNER, law, until=5.0, sample_every="off")
        said = [[word[0] for word in words_of(run, agent)] for agent in range(8)]
        silences = [np.diff([*times, 5.0]).max() for times in said]
        assert max(silences) == pytest.approx(steps * law.dt)


class TestView:
    """One decision, from what one agent has heard."""

    @staticmethod
    def view(heard: list[Message], level: int = 0, agents: int | None = None) -> Observation:
        return Observation(
            time=0.5, agent=0, agents=agents or 1 + len(heard), event_count=9, first_event_at=0.05,
            position=np.array([1.0, 2.0]), hold=np.zeros(2), measurement=None, draw=0.5,
            heard={message.sender: message for message in heard},
            memory=BroadcastMemory(level, 0),
            ground=WeightedRegion(FOUR, Uniform(), Uniform().terms()),
        )  # fmt: skip

    def test_alone_it_heads_for_the_centroid_of_the_workspace(self):
        order = EventTriggered(k_v=2.0).decide(self.view([], level=3))
        assert order.hold == pytest.approx((1.0, 0.0))
        assert not order.measures
        assert order.promise is None

    def test_who_has_not_heard_of_everybody_stands(self):
        near = Message(1, 0.0, np.array([0.0, 2.0]), 0.0, 0.0)
        order = LAW.decide(self.view([near], agents=3))
        assert (order.hold == 0.0).all()
        assert (order.promise, order.guaranteed, order.dual_guaranteed) == (None, 0, 0)
        stopped = LAW.decide(self.view([near], level=3, agents=3))
        assert (stopped.hold == 0.0).all()
        assert stopped.promise == 0.0
        assert np.hypot(*LAW.decide(self.view([near], level=3)).hold) == pytest.approx(1.0)

    def test_where_another_may_stand_it_stops_and_says_so(self):
        fast = Message(1, 0.0, np.array([1.4, 2.0]), 1.0, 1.0)
        order = LAW.decide(self.view([fast], level=2))
        assert (order.hold == 0.0).all()
        assert (order.promise, order.mark) == (0.0, 0)
        quiet = LAW.decide(self.view([fast], level=0))
        assert (quiet.promise, quiet.mark) == (None, 0)

    def test_it_slows_down_at_once_and_speeds_up_a_step_later(self):
        other = Message(1, 0.0, np.array([3.0, 2.0]), 0.0, 0.0)
        near = Message(2, 0.0, np.array([0.0, 2.0]), 0.0, 0.0)
        down = LAW.decide(self.view([near], level=3))
        assert np.hypot(*down.hold) == pytest.approx(1.0)  # the set is 1.25 away
        slow = LAW.decide(self.view([other, near], level=3))
        assert (slow.promise, np.hypot(*slow.hold)) == (0.25, pytest.approx(0.25))
        up = LAW.decide(self.view([near], level=1))
        assert (up.promise, np.hypot(*up.hold)) == (1.0, pytest.approx(0.25))
        assert up.memory.level == 3

    def test_it_stops_at_the_set(self):
        around = [Message(1, 0.0, np.array([3.02, 2.0]), 0.0, 0.0)]
        law = EventTriggered(d_stop=0.001, d_start=0.009)
        order = law.decide(self.view(around, level=1))
        assert order.cruise * np.hypot(*order.hold) == pytest.approx(0.005, rel=1e-6)
        assert order.cruise < law.dt

    def test_a_promise_just_raised_counts_from_the_next_step(self):
        place = np.array([3.0, 2.0])
        at_once = (0.4, 0.5, 0.05)  # a first word is taken as it is
        for made, before, radius in [
            (0.45, 0.0, 0.0), (0.4, 0.0, 0.025), (0.4, 0.25, 0.0375), at_once
        ]:  # fmt: skip
            said = Message(1, made, place, 0.5, before)
            assert LAW.travel(said, 0.5) == pytest.approx(radius, abs=1e-16)
            _, radii = LAW._balls(0.5, {1: said})
            assert radii == pytest.approx([radius], abs=1e-16)


class TestCost:
    """The cost is never above what it was at the beginning of a step."""

    @pytest.mark.parametrize("seed", range(6))
    def test_random_runs(self, seed):
        world, density, start = random_world(seed)
        law = EventTriggered(
            s_max=(1.0, 0.3)[seed % 2],
            dt=(0.05, 0.2)[seed // 3],
            k_v=(1.0, 4.0)[seed % 2],
            heartbeat=(None, 0.5)[seed // 2 % 2],
            bound=("circumradius", "diameter")[seed // 2 % 2],
        )
        run = simulate(world, density, start, law, until=60 * law.dt, sample_every=law.dt / 8)
        assert worst_rise(run, law.dt) <= ROUNDING
        assert run.metrics.costs[-1] < 0.99 * run.metrics.costs[0]

    def test_until_everybody_rests(self, eight):
        assert worst_rise(eight, LAW.dt) <= ROUNDING
        assert eight.metrics.costs[-1] < 0.05 * eight.metrics.costs[0]

    def test_believing_that_nobody_moves_breaks_it(self, monkeypatch):
        """The monitor can fail."""
        real = EventTriggered._balls

        def careless(self: Any, now: float, heard: Any) -> Any:
            places, radii = real(self, now, heard)
            return places, 0.0 * radii

        monkeypatch.setattr(EventTriggered, "_balls", careless)
        law = EventTriggered(k_v=5.0, dt=0.2)
        run = simulate(FOUR, HILLS, CORNER, law, until=20.0, sample_every=0.05)
        assert worst_rise(run, law.dt) > 1e-6


@dataclass(frozen=True)
class Pinned:
    """A law for agent 0; all others stand and say so."""

    law: EventTriggered

    @property
    def traits(self) -> Any:
        return self.law.traits

    def begin(self, view: Observation) -> Command:
        return self.law.begin(view)

    def decide(self, view: Observation) -> Command:
        if view.agent == 0:
            return self.law.decide(view)
        following = (view.event_count + 2) * self.law.dt
        return Command(np.zeros(2), following, self.law.dt, measures=False, memory=view.memory)


_RUNS: dict[Any, tuple[Run, EventTriggered]] = {}


def a_run(seed: int, network: Network | None = None) -> tuple[Run, EventTriggered]:
    """A short run in a random world, made once."""
    key = (seed, network)
    if key not in _RUNS:
        world, density, start = random_world(seed)
        law = EventTriggered(s_max=0.8, dt=0.05, k_v=2.0, d_stop=0.02, d_start=0.04)
        run = simulate(
            world, density, start, law, until=4.0, sample_every="off", network=network, seed=seed
        )
        _RUNS[key] = run, law
    return _RUNS[key]


def words_of(run: Run, agent: int) -> list[tuple[float, float, np.ndarray]]:
    """All that an agent said, from the table: (time, promise, place)."""
    law: Any = run.system.controller
    said = [(0.0, 0.0, run.start.positions[agent])]
    table = run.events
    for k in table.of_agent(agent):
        if table.count("sent")[k]:
            promise = law.levels[table.count("mark")[k]] * law.s_max
            said.append((float(table.time[k]), promise, table.positions[k]))
    return said


def outside(run: Run, agent: int, answer: Any, t: float, age: float) -> float:
    """How far an agent is outside the ball of something it told."""
    here = run.positions(t)[agent]
    return float(np.hypot(*(here - answer[2])) - answer[1] * age)


def believed(run: Run) -> list[tuple[np.ndarray, np.ndarray]]:
    """The balls of all others, for the agent of each jump; from the table alone."""
    law: Any = run.system.controller
    table = run.events
    said = [words_of(run, agent) for agent in range(run.agents)]
    found = []
    for k in range(len(table)):
        t, places, radii = float(table.time[k]), [], []
        for other in range(run.agents):
            if other == table.agent[k]:
                continue
            known = [word for word in said[other] if word[0] < t]
            promise, before = known[-1][1], known[max(len(known) - 2, 0)][1]
            steps = round((t - known[-1][0]) / law.dt)
            places.append(known[-1][2])
            radii.append(law.dt * (min(before, promise) + (steps - 1) * promise))
        found.append((np.array(places), np.array(radii)))
    return found


def worst_stray(run: Run) -> float:
    """How far anybody is outside a ball that somebody has heard of, at any event."""
    worst = -np.inf
    for event, state in zip(run.arc.events, run.arc.states[1:], strict=True):
        places = state.positions
        for sender, message in state.mail[event.source].heard.items():
            away = float(np.hypot(*(places[sender] - message.position)))
            worst = max(worst, away - message.promise * (state.time - message.time))
    return worst


def dual_corners(world: Any, here: Any, others: Any, radii: Any) -> np.ndarray:
    """Corners of the dual guaranteed cell, seen from the agent."""
    from dwell._kernels.polygon.guaranteed import corners_of
    from dwell._kernels.polygon.guaranteed_envelope import make_envelope

    wx, wy = np.ascontiguousarray(world.vertices.T)
    qx, qy = np.ascontiguousarray(others.T)
    env = make_envelope(len(others), len(wx))
    count = corners_of(True, *map(float, here), len(others), qx, qy, radii, wx, wy, env)
    return env.corner[:count, :2]


def hull_points(rng: np.random.Generator, hull: Polygon, count: int) -> np.ndarray:
    """Points all over a polygon."""
    low, high = hull.bounds
    points = rng.uniform(low, high, (count, 2))
    return points[hull.contains(points)]
