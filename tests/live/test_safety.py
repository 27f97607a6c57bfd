"""Laws of the limits between the controller and the robot."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dwell
from dwell._types import lengths
from dwell.agents import CoverageSystem
from dwell.agents.segments import Segments
from dwell.errors import InputError
from dwell.fleet.plant import Integrator
from dwell.fleet.virtual import VirtualFleet
from dwell.live.faults import Faults
from dwell.live.record import FENCE, NEAR, POSE, SPEED, STAND, STOP, belief_type
from dwell.live.safety import Circumstances, apart, inside, limited
from dwell.live.settings import MOST_ECHOES, LiveLaw, LiveSettings, live_law

FIELD = dwell.Polygon([(0, 0), (4, 0), (5, 2), (2, 4), (0, 3)])
BALL = dwell.Ball((2.0, 1.5), 2.0)
LAW = dwell.Timer(k1=0.5, nu=0.5, t1=0.2, t2=0.65)
T2 = 0.65
NOBODY = np.zeros(0, dtype=belief_type(2))

coordinate = st.floats(-1.0, 6.0)
points = st.tuples(coordinate, coordinate).map(np.array)
velocities = st.tuples(st.floats(-9.0, 9.0), st.floats(-9.0, 9.0)).map(np.array)


def law_of(workspace=FIELD, agents: int = 4, timer=LAW, **settings) -> LiveLaw:
    return live_law(
        CoverageSystem(workspace, dwell.Uniform(), timer, agents), LiveSettings(**settings)
    )


def believed(*agents: tuple) -> np.ndarray:
    """Beliefs from rows of a number, a position, a velocity and an age.

    Since T1 an agent may have done anything, and does it until T2.
    """
    made = np.zeros(len(agents), dtype=belief_type(2))
    for row, (number, position, velocity, age) in zip(made, agents, strict=True):
        row["agent"], row["position"], row["velocity"], row["age"] = number, position, velocity, age
        row["doubt"] = 0.0 if age < LAW.t1 else 2.0 * (age - LAW.t1) + T2
    made["k"] = 2
    return made


FREE_FIELD, FREE_BALL, SLOW = law_of(), law_of(BALL), law_of(top_speed=0.3)
ROUND = law_of(dwell.Box((-50.0, -50.0), (50.0, 50.0)), 8, clearance=0.25)
FREE = Circumstances(8, 8, 0.0, False, 0.0, NOBODY)


# Speed.


@given(points, velocities)
def test_a_robot_is_never_faster_than_its_limit_and_keeps_the_direction(place, velocity):
    found, flags = limited(SLOW, 0, place, velocity, math.inf, FREE)
    speed = math.hypot(*velocity)
    assert math.hypot(*found) <= 0.3 * (1 + 1e-15)
    assert (flags == SPEED) == (speed > 0.3)
    if speed <= 0.3:
        assert found.tolist() == velocity.tolist()
    else:
        assert found == pytest.approx(velocity * (0.3 / speed))


# Geofence.


@given(points, velocities, st.sampled_from([FREE_FIELD, FREE_BALL]), st.floats(0.01, 3.0))
def test_no_segment_leads_further_outside(place, velocity, law, hold):
    found, flags = limited(law, 0, place, velocity, hold, FREE)
    shape = law.system.workspace
    shares = np.linspace(0.0, 1.0, 33)[:, None]
    outside = shape.outside_by(place + shares * hold * found)
    assert outside.max() <= outside[0] + 1e-9
    assert (flags == FENCE) == (found.tolist() != velocity.tolist())


@given(points, velocities, st.sampled_from([FREE_FIELD, FREE_BALL]))
def test_the_geofence_leaves_as_much_of_a_segment_as_it_can(place, velocity, law):
    found, flags = limited(law, 0, place, velocity, T2, FREE)
    assume(flags)
    shape = law.system.workspace
    longer = place + T2 * found + 1e-6 * velocity / math.hypot(*velocity)
    assert shape.outside_by(longer[None])[0] > shape.outside_by(place[None])[0]


@given(points, points, st.sampled_from([FREE_FIELD, FREE_BALL]))
def test_the_timer_law_stays_inside_by_itself_whatever_the_centroid_is(place, centroid, law):
    """For k1 T2 <= (1 - eps) nu each segment ends between the position and the centroid."""
    shape = law.system.workspace
    place, centroid = (shape.nearest(one[None])[0] for one in (place, centroid))
    away = centroid - place
    velocity = LAW.k1 * away / max(math.hypot(*away), LAW.reach)
    found, flags = limited(law, 0, place, velocity, T2, FREE)
    assert flags == 0
    assert found.tolist() == velocity.tolist()


def test_the_geofence_does_not_act_on_beliefs_that_are_wrong():
    law, flags = law_of(partition="go on"), 0

    def watch(decided) -> None:
        nonlocal flags
        flags |= int(decided.sample["flags"])

    start = np.array([[0.3, 0.3], [3.5, 0.2], [4.6, 1.9], [1.0, 3.1]])
    VirtualFleet(law, start, Faults(loss=0.7, seed=3), watch).run(20.0)
    assert flags & ~FENCE
    assert not flags & FENCE


def test_the_geofence_acts_on_a_law_whose_intervals_are_too_long():
    place, beyond = np.array([0.02, 1.0]), np.array([-LAW.k1, 0.0])  # the centroid is nearer
    found, flags = limited(FREE_FIELD, 0, place, beyond, T2, FREE)
    assert flags == FENCE
    assert place[0] + T2 * found[0] == pytest.approx(0.0, abs=1e-9)


SHAPES = {
    "polygon": FIELD, "ball": BALL, "box": dwell.Box((0.0, 0.0), (4.0, 3.0)),
    "obtuse": dwell.Polygon([(0, 0), (3, 0), (4, 1.2), (3, 2.6), (0.2, 3)]),
}  # fmt: skip


@given(
    st.sampled_from(list(SHAPES)), points, points, velocities, st.floats(1e-6, 0.5),
    st.floats(0.0, 1.0),
)  # fmt: skip
def test_a_robot_of_which_an_old_position_is_known_stays_inside(
    name, place, around, velocity, astray, share
):
    """It is anywhere within a distance of the position that was measured."""
    shape = SHAPES[name]
    place = shape.nearest(place[None])[0]
    away = around / max(math.hypot(*around), 1e-9) * astray * share
    robot = place + away
    assume(shape.outside_by(robot[None])[0] == 0.0)
    found = inside(shape, place, velocity * T2, astray)
    assert 0.0 <= found <= 1.0
    ends = (robot + found * T2 * velocity)[None]
    slack = 1e-9 if name != "ball" else 0.5 * astray**2  # of a curved boundary
    assert shape.outside_by(ends)[0] <= slack


@pytest.mark.parametrize("tiny", [5e-324, 1.5e-311, 1e-300])
def test_steps_of_any_size_have_a_share(tiny):
    for step in ([0.0, tiny], [-tiny, 0.0]):
        for place in ([0.0, 0.0], [2.0, 2.0]):
            assert 0.0 <= inside(FIELD, np.array(place), np.array(step), 0.5) <= 1.0


def test_an_old_position_shortens_the_way_to_the_wall_by_what_it_hides():
    law = law_of(SHAPES["box"])
    place, fast = np.array([1.0, 1.0]), np.array([-4.0, 0.0])
    for age, ends in ((0.0, 0.0), (0.1, 0.05)):
        found, flags = limited(law, 0, place, fast, T2, FREE._replace(pose_age=age))
        assert flags == FENCE
        assert place[0] + T2 * found[0] == pytest.approx(ends, abs=1e-9)


def test_a_velocity_that_decays_after_its_hold_stops_inside():
    approach = dwell.SelfTriggered(kappa=2.0)
    slowing = replace(FREE_FIELD, system=replace(FREE_FIELD.system, controller=approach))
    found, flags = limited(slowing, 0, np.array([0.5, 0.5]), np.array([-1.0, 0.0]), 0.5, FREE)
    assert flags == FENCE
    assert found == pytest.approx([-0.5, 0.0])  # 0.5 s, and half a second's worth while it decays


# Keep-away.

others = st.lists(st.tuples(points, velocities, st.floats(0.0, 1.0)), min_size=1, max_size=5)


@given(points, velocities, others)
def test_robots_that_are_too_close_never_approach(place, velocity, rest):
    near = believed(*((k, *one) for k, one in enumerate(rest, 1)))
    near["velocity"] *= (LAW.k1 / np.maximum(lengths(near["velocity"]), LAW.k1))[:, None]
    found, _ = limited(ROUND, 0, place, velocity, T2, FREE._replace(near=near))
    for one in near:
        left = np.linspace(0.0, max(T2 - one["age"], 0.0), 65)
        path = one["position"] + np.outer(left, one["velocity"])
        fine = 0.5 * math.hypot(*one["velocity"]) * left[-1] / 64.0  # the path is between points
        begin = np.linalg.norm(path - place, axis=1).min()
        if begin < 2.0 * ROUND.settings.clearance:
            for share in (0.1, 0.5, 1.0):
                later = np.linalg.norm(path - (place + share * T2 * found), axis=1).min()
                assert later >= begin - fine - 1e-9


@given(points, velocities, others)
def test_keep_away_shortens_a_segment_and_does_not_turn_it(place, velocity, rest):
    assume(lengths(velocity) > 0.0)
    near = believed(*((k, *one) for k, one in enumerate(rest, 1)))
    found, flags = limited(ROUND, 0, place, velocity, T2, FREE._replace(near=near))
    share = apart(ROUND, place, velocity * T2, near)
    assert 0.0 <= share <= 1.0
    assert found == pytest.approx(share * velocity)
    assert (flags == NEAR) == (share < 1.0)


@pytest.mark.parametrize(
    ("age", "velocity", "free"),
    [
        (0.1, (0.0, 0.0), 2.0 - 2 * 0.25),  # 2 m, less two radii
        (0.14, (0.0, 0.0), 1.5),  # it has not sampled since
        (0.5, (0.0, 0.0), 1.5 - 0.5 * (2 * 0.3 + T2)),  # k1 (2 (age - T1) + T2)
        (0.1, (-1.0, 0.0), 1.5 - 0.55),  # it comes nearer until T2
        (0.1, (1.0, 0.0), 1.5 - 0.1),  # it goes away, or has stopped where its segment began
        (2.0, (0.0, 0.0), 0.0),
        (9.0, (0.0, 0.0), 0.0),  # silent
    ],
)
def test_the_free_way_is_the_distance_less_two_radii_and_error(age, velocity, free):
    near = believed((1, (2.0, 0.0), velocity, age))
    assert apart(ROUND, np.zeros(2), np.array([3.0, 0.0]), near) == pytest.approx(free / 3.0)
    away = np.array([-3.0, 1.0])
    assert apart(ROUND, np.zeros(2), away, near) == (0.0 if age >= 2.0 else 1.0)
    astray = apart(ROUND, np.zeros(2), np.array([3.0, 0.0]), near, 0.1)
    assert astray == pytest.approx(max(free - 0.1, 0.0) / 3.0)


def test_a_robot_beside_another_path_is_not_slowed_down():
    near = believed((1, (2.0, 0.51), (-3.0, 0.0), 0.0))
    assert apart(ROUND, np.zeros(2), np.array([4.0, 0.0]), near) == 1.0


@given(points, points, velocities, velocities, velocities, velocities, st.floats(0.2001, T2))
def test_two_robots_that_decide_at_once_stay_apart(a, b, va, vb, ua, ub, age):
    """Neither knows that the other one is giving up its old velocity, ua or ub."""
    clearance = ROUND.settings.clearance
    assume(np.linalg.norm(a - b) >= 2.0 * clearance)
    va, vb, ua, ub = (LAW.k1 * v / max(math.hypot(*v), 1.0) for v in (va, vb, ua, ub))
    own, _ = limited(ROUND, 0, a, va, T2, FREE._replace(near=believed((1, b, ub, age))))
    other, _ = limited(ROUND, 1, b, vb, T2, FREE._replace(near=believed((0, a, ua, age))))
    t, s = (x.ravel() for x in np.meshgrid(np.linspace(0.0, T2, 9), np.linspace(0.0, T2, 9)))
    gaps = (a + np.outer(t, own)) - (b + np.outer(s, other))
    assert np.linalg.norm(gaps, axis=1).min() >= 2.0 * clearance - 1e-9


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.95))
def test_robots_stay_apart_whatever_is_lost(seed, loss):
    """Commands are as bad as can be, at each other at full speed, and many messages are lost."""
    draw, clearance = np.random.default_rng(seed), ROUND.settings.clearance
    n = int(draw.integers(2, 5))
    place = draw.uniform(0.0, 3.0, (n, 2))
    gaps = np.linalg.norm(place[:, None] - place[None], axis=-1) + np.eye(n) * 9.0
    assume(gaps.min() >= 2.0 * clearance)
    never = np.full(n, math.inf)
    held = Segments(np.zeros(n), place, np.zeros((n, 2)), never, np.full(n, T2))
    heard = [held.copied() for _ in range(n)]  # by each
    due = draw.uniform(0.2, T2, n)
    for _ in range(40):
        p = int(due.argmin())
        now = float(due[p])
        where, fast, own = heard[p].at(now), heard[p].velocity_at(now), held.at(now)[p]
        target = int(draw.choice(np.delete(np.arange(n), p)))
        command = (where[target] - own) * draw.uniform(0.1, 9.0) + draw.normal(0.0, 0.3, 2)
        command *= LAW.k1 / max(math.hypot(*command), LAW.k1)
        rest = np.delete(np.arange(n), p)
        near = believed(*((q, where[q], fast[q], now - heard[p].since[q]) for q in rest))
        velocity, _ = limited(ROUND, p, own, command, T2, FREE._replace(near=near))
        for each in [held, *(heard[q] for q in rest if draw.random() >= loss)]:
            each.since[p], each.place[p], each.hold[p] = now, own, velocity
        due[p] = now + draw.uniform(0.2, T2)
        for t in np.linspace(now, float(due.min()), 7):
            here = held.at(t)
            apart_by = np.linalg.norm(here[:, None] - here[None], axis=-1) + np.eye(n) * 9.0
            assert apart_by.min() >= 2.0 * clearance - 1e-9


# Own position, quorum, emergency stop.


@given(velocities, st.floats(0.0, 2.0), st.integers(1, 8), st.booleans())
def test_a_robot_stands_without_a_position_a_quorum_or_after_the_stop(velocity, age, known, stop):
    now = FREE._replace(known=known, pose_age=age, stopped=stop)
    found, flags = limited(FREE_FIELD, 0, np.array([2.0, 2.0]), velocity, math.inf, now)
    wanted = (POSE if age > 0.2 else 0) | (STAND if known < 5 else 0) | (STOP if stop else 0)
    assert flags == wanted
    assert found.tolist() == ([0.0, 0.0] if wanted else velocity.tolist())


def test_without_a_t1_a_position_is_too_old_after_a_tenth_of_the_silence():
    slow = dwell.DiscreteLloyd(schedule="poisson", rate=1.0)
    law = law_of(timer=slow, silence=8.0, margin=0.02)
    step = np.array([0.1, 0.0])
    for age, flags in ((0.7, 0), (0.9, POSE)):
        assert (
            limited(law, 0, np.array([2.0, 1.5]), step, 1.0, FREE._replace(pose_age=age))[1]
            == flags
        )


@pytest.mark.parametrize(
    "law", [dwell.Lloyd(dt=0.1), dwell.DiscreteLloyd(step=0.3, schedule="poisson", speed=0.4)]
)
def test_keep_away_needs_a_shortest_interval_and_a_largest_speed(law):
    with pytest.raises(InputError, match=r"bounds on intervals and speed.* or use the timer law"):
        law_of(timer=law, silence=8.0, clearance=0.1)


def test_a_keep_away_has_as_many_agents_as_a_datagram_has_echoes():
    with pytest.raises(InputError, match=f"{MOST_ECHOES + 1} agents came; use at most"):
        law_of(ROUND.system.workspace, MOST_ECHOES + 1, clearance=0.1)


def test_a_silence_in_which_an_agent_need_not_sample_is_refused():
    with pytest.raises(InputError, match=r"fleet\.silence is 0\.6, in which"):
        law_of(silence=0.6)


def test_with_a_keep_away_holds_have_a_limit_in_virtual_time_too():
    law = law_of(ROUND.system.workspace, 2, margin=0.0, clearance=0.25)
    assert law.limit.tolist() == law.longest.tolist()
    assert math.isinf(law_of(ROUND.system.workspace, 2, margin=0.0).limit[0])
    near = FREE._replace(near=believed((1, (1.0, 0.0), (0.0, 0.0), 0.0)))
    velocity, flags = limited(law, 0, np.zeros(2), np.array([1.0, 0.0]), float(law.limit[0]), near)
    assert flags == NEAR
    assert velocity[0] * law.longest[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("settings", "present", "needed"),
    [
        ({}, 4, 3), ({}, 5, 3), ({}, 1, 1), ({}, 2, 2),
        ({"quorum": 4}, 4, 4), ({"quorum": 9}, 4, 4), ({"quorum": 1}, 4, 2),
        ({"partition": "go on"}, 4, 2), ({"partition": "go on"}, 1, 1),
    ],
)  # fmt: skip
def test_the_quorum_is_more_than_half_and_never_one_of_several(settings, present, needed):
    law = law_of(**settings)
    assert law.quorum(present) == needed
    for known in range(1, present + 1):
        now = FREE._replace(known=known, present=present)
        _, flags = limited(law, 0, np.array([2.0, 2.0]), np.array([0.1, 0.0]), T2, now)
        assert bool(flags & STAND) == (known < needed)


# The robot that is the exact integral of its velocity.


@given(
    st.lists(
        st.tuples(velocities, st.floats(0.01, 1.0), st.sampled_from([0.0, 0.3, 0.65, math.inf])),
        min_size=1, max_size=8,
    ),
    st.sampled_from([math.inf, 2.0]),
)  # fmt: skip
def test_the_integrator_is_where_segments_lead_bit_for_bit(holds, fade):
    now, place = 1.0, np.array([0.1, 0.7])
    robot = Integrator(place, fade, now)
    for velocity, until_next, cruise in holds:
        robot.hold(velocity, now, cruise)
        segment = Segments(
            np.array([now]), place[None], velocity[None], np.array([math.inf]),
            np.array([cruise]), fade,
        )  # fmt: skip
        for t in (now, now + 0.3 * until_next, now + until_next):
            assert robot.pose(t).position.tobytes() == segment.at(t)[0].tobytes()
            assert robot.velocity(t).tobytes() == segment.velocity_at(t)[0].tobytes()
            assert robot.pose(t).time == t
        now += until_next
        place = segment.at(now)[0]
    robot.stop(now)
    assert robot.pose(now + 9.0).position.tobytes() == place.tobytes()


@pytest.mark.parametrize("age", [0.0, 0.1, 0.3])
def test_an_old_position_of_another_robot_shortens_the_free_way(age):
    near = believed((1, (2.0, 0.0), (0.0, 0.0), 0.0), (2, (0.0, 40.0), (0.0, 0.0), 0.0))
    step = np.array([3.0, 0.0])
    free = apart(ROUND, np.zeros(2), step, near)
    assert 0.0 < free < 1.0
    near["pose_age"] = age, 0.0
    assert apart(ROUND, np.zeros(2), step, near) == pytest.approx(free - ROUND.speed * age / 3.0)
    near["pose_age"] = 0.0, age
    assert apart(ROUND, np.zeros(2), step, near) == free
