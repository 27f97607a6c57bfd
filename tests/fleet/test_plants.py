"""Fleets of robots of one's own, in one process and in virtual time."""

import numpy as np
import pytest

import dwell
from dwell.errors import InputError
from dwell.fleet.plant import Integrator, Pose
from tests.fleet.fleets import scenario


class Lagging:
    """A robot that covers 98 % of the way, and whose positions are a little old."""

    exact = False

    def __init__(self, place, age=0.0):
        self.place, self.age, self.now, self.ways = np.array(place), age, 0.0, []
        self.velocity, self.until, self.closed = np.zeros(len(place)), 0.0, 0

    def at(self, now):
        moved = max(min(now, self.until) - self.now, 0.0)
        return self.place + 0.98 * moved * self.velocity

    def pose(self, now):
        then = max(now - self.age, self.now)
        return Pose(self.at(then), then)

    def hold(self, velocity, now, cruise):
        self.place, self.now = self.at(now), now
        self.velocity, self.until = velocity, now + cruise
        self.ways.append((now, *velocity, cruise))

    def stop(self, now):
        self.hold(np.zeros(len(self.place)), now, 0.0)

    def close(self):
        self.closed += 1


def in_memory(case, **options):
    return dwell.run_fleet(case, transport="memory", progress=False, **options)


def test_exact_robots_of_ones_own_change_no_bit():
    case = scenario(horizon=3.0)
    plain, own = in_memory(case), in_memory(case, plants=lambda p, place: Integrator(place, np.inf))
    assert own.details.live.exact
    assert own.details.live.samples.tobytes() == plain.details.live.samples.tobytes()
    assert own.details.live.beliefs.tobytes() == plain.details.live.beliefs.tobytes()


@pytest.mark.parametrize("clearance", [0.0, 0.1])
@pytest.mark.parametrize("age", [0.0, 0.05])
def test_robots_that_lag_are_measured_and_their_record_holds(clearance, age):
    made = {}

    def robot(number, place):
        made[number] = Lagging(place, age)
        return made[number]

    case = scenario(horizon=6.0, fleet={"clearance": clearance, "silence": 3.0})
    run = in_memory(case, plants=robot)
    live = run.details.live
    assert sorted(made) == list(range(6))
    assert all(one.closed == 1 for one in made.values())
    assert not live.exact
    assert (live.samples["time"] - live.samples["measured"]).max() == pytest.approx(age)
    for p, one in made.items():
        rows = live.samples[live.samples["agent"] == p]
        ways = np.column_stack([rows["time"], rows["hold"], rows["cruise"]])
        assert (np.array(one.ways) == ways).all()
    report = dwell.check(run, progress=False)
    assert {f.name for f in report.findings if f.status == "violated"} == set()
    flow = next(f for f in report.findings if f.name == "flow")
    assert 0.0 < flow.worst < 0.05 + age / 0.2  # T1: segments begin where it was measured
    assert run.errors(6.0).max() < run.errors(0.0).max()


def test_robots_begin_where_they_are():
    run = in_memory(
        scenario(horizon=1.0), plants=lambda p, place: Lagging(np.add(place, [0.25, 0.0]))
    )
    assert (run.positions(0.0) == scenario().agents.start + np.array([0.25, 0.0])).all()
    assert dwell.check(run, progress=False).ok


def test_robots_are_closed_when_the_fleet_ends_with_an_error():
    made = []

    class Failing(Lagging):
        def hold(self, velocity, now, cruise):
            super().hold(velocity, now, cruise)
            if now > 1.0:
                raise RuntimeError("the driver failed")

    with pytest.raises(RuntimeError, match="the driver failed"):
        in_memory(scenario(), plants=lambda p, place: made.append(Failing(place)) or made[-1])
    assert [one.closed for one in made] == [1] * 6


@pytest.mark.parametrize(
    ("plants", "transport", "words"),
    [
        (lambda p, place: Lagging(place), "udp", "run_agent"),
        ([None] * 6, "memory", "a function is needed"),
        (lambda p, place: None, "memory", "agent 0 is None, which has no pose"),
        (lambda p, place: Pose(place, 0.0), "memory", "which has no pose"),
    ],
)
def test_what_is_no_robot_is_refused(plants, transport, words):
    with pytest.raises(InputError, match=words):
        dwell.run_fleet(scenario(), transport=transport, plants=plants)


def made_robots(made, fails=None):
    """Makes robots and keeps them; the one of agent 2 is `fails()`."""

    def robot(p, place):
        made.append(Lagging(place))
        return fails(made[-1]) if p == 2 and fails is not None else made[-1]

    return robot


class Poseless:
    """Has a connection that can be closed, but no pose."""

    exact = True

    def __init__(self, inner):
        self.close, self.hold, self.stop = inner.close, inner.hold, inner.stop


def test_no_robot_is_made_where_a_file_exists(tmp_path):
    made = []
    (tmp_path / "run.nc").write_text("a run")
    with pytest.raises(dwell.errors.StoreError):
        in_memory(scenario(), plants=made_robots(made), out=tmp_path / "run.nc")
    assert not made


def broken(robot):
    raise OSError("no such port")


@pytest.mark.parametrize(("fails", "fault"), [(broken, OSError), (Poseless, InputError)])
def test_robots_are_closed_where_one_cannot_be_made(fails, fault):
    made = []
    with pytest.raises(fault):
        in_memory(scenario(), plants=made_robots(made, fails))
    made = made[:2] if fails is broken else made
    assert [one.closed for one in made] == [1] * len(made)


@pytest.mark.parametrize(
    "pose",
    [
        None,
        "here",
        Pose(np.array([np.nan, 1.0]), 0.0),
        Pose("ab", 0.0),
        Pose(np.zeros(3), 0.0),
        Pose(np.ones(2), None),
    ],
    ids=["none", "text", "nan", "text as a place", "three numbers", "no time"],
)
@pytest.mark.parametrize("since", [0.0, 0.5])
def test_what_is_no_pose_is_refused(pose, since):
    made = []

    class Lost(Lagging):
        def pose(self, now):
            return pose if now >= since else super().pose(now)

    def robot(p, place):
        made.append((Lost if p == 2 else Lagging)(place))
        return made[-1]

    with pytest.raises(
        InputError, match=r"the robot of agent 2 measures .*two finite numbers"
    ) as bad:
        in_memory(scenario(horizon=3.0), plants=robot)
    assert bad.value.code == "fleet.plants"
    assert [one.closed for one in made] == [1] * 6


def test_robots_that_overlap_where_they_are_measured_are_refused():
    case, made = scenario(fleet={"clearance": 0.1, "silence": 3.0}), []

    def robot(p, place):
        made.append(Lagging(np.array([1.0 + 0.001 * p, 1.0])))
        return made[-1]

    with pytest.raises(InputError, match=r"start 0\.001 apart, but fleet.clearance"):
        in_memory(case, plants=robot)
    assert [one.closed for one in made] == [1] * 6
