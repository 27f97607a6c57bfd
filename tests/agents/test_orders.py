"""A controller written by somebody: what it may say, and what it is told when it says nonsense."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dwell import Box, InputError, Timer, simulate
from dwell.agents import Command, CoverageSystem, Information, Observation, Traits
from dwell.density import Uniform
from dwell.errors import AgentsError, ControllerError
from dwell.hybrid import simulate as solve

BOX = Box((0, 0), (1, 1))
START = [(0.2, 0.3), (0.7, 0.6)]
FADING = Traits(fade=2.0)


@dataclass(frozen=True)
class Drift:
    """Heads for the centroid at half the distance per unit of time, looking every half unit."""

    hold: object = None
    wait: float = 0.5

    def begin(self, view: Observation) -> Command:
        return self.decide(view)

    def decide(self, view: Observation) -> Command:
        hold = 0.5 * view.measurement.error if self.hold is None else self.hold
        return Command(hold, view.time + self.wait)


def test_a_law_in_python_runs_and_converges():
    run = simulate(BOX, None, START, Drift(), until=40.0, sample_every=1.0)
    assert run.metrics.errors[-1].max() < 1e-3
    assert run.metrics.hold_errors.shape == (41, 0)
    assert run.summary()["hold_error"]["max"] is None


@pytest.mark.parametrize(
    "law",
    [
        Drift(hold=(np.nan, 0.0)),
        Drift(hold=(1.0,)),
        Drift(hold="north"),
        Drift(wait=-0.1),
        Drift(wait=np.nan),
    ],
    ids=["nan", "short", "text", "past", "never"],
)
def test_orders_nobody_can_follow_are_refused(law):
    with pytest.raises(ControllerError) as fault:
        simulate(BOX, None, START, law, until=5.0)
    assert fault.value.code == "controller.order"


def test_a_law_that_never_lets_time_pass_is_zeno():
    run = simulate(BOX, None, START, Drift(wait=0.0), until=5.0)
    assert run.stop.reason.value == "zeno"


def test_times_that_are_none_are_refused():
    run = simulate(BOX, None, START, Drift(), until=1.0)
    assert run.errors([]).shape == (0, 2)
    for t in ("a", [[1.0], [2.0, 3.0]], 2.0, -1.0, 10**400):
        with pytest.raises(InputError):
            run.positions(t)


def test_a_list_of_corners_will_do_as_workspace():
    run = simulate([(0, 0), (1, 0), (0.5, 1)], None, [(0.5, 0.2)], Drift(), until=30.0)
    assert run.positions(30.0)[0] == pytest.approx((0.5, 1 / 3), abs=1e-3)


def test_intervals_too_short_to_move_the_clock_are_refused():
    with pytest.raises(InputError, match="clock"):
        simulate(BOX, None, START, Timer(k1=1.0, nu=1.0, t1=1e-17, t2=0.2), until=1e3)


@dataclass(frozen=True)
class Fading(Drift):
    """Slows down on its way, for which it must know where it is."""

    traits: Traits = FADING


def test_only_who_knows_its_position_always_may_slow_down_between_events():
    with pytest.raises(ControllerError, match="own position") as fault:
        simulate(BOX, None, START, Fading(), until=1.0)
    assert fault.value.code == "controller.information"
    allowed = Fading(traits=Traits(fade=2.0, information=Information(own="always")))
    assert simulate(BOX, None, START, allowed, until=1.0).stop.reason.ok
    never = Fading(traits=Traits(fade=np.inf))
    assert simulate(BOX, None, START, never, until=1.0).stop.reason.ok


def test_only_a_contact_ends_a_run_as_one(monkeypatch):
    def broken(self, *configurations, **options):
        raise AgentsError("something else", code="agents.other")

    system = CoverageSystem(BOX, Uniform(), Drift(), 2)
    state = system.start(np.array(START))
    monkeypatch.setattr(CoverageSystem, "measurement", broken)
    with pytest.raises(AgentsError, match="something else"):
        solve(system, state, until=5.0)


def test_updates_count_changes_of_velocity():
    class Rest:
        def begin(self, view: Observation) -> Command:
            return Command(np.zeros(2), 0.5)

        def decide(self, view: Observation) -> Command:
            hold = np.array([0.1, 0.0]) if view.agent == 1 and view.time > 1.0 else np.zeros(2)
            return Command(hold, view.time + 0.5)

    run = simulate(BOX, None, START, Rest(), until=2.0)
    assert run.counters.updates.tolist() == [0, 1]
    assert run.counters.measurements.tolist() == [5, 5]
    moving = simulate(BOX, None, START, Drift(hold=(0.0, 0.1)), until=1.2)
    assert moving.counters.updates.tolist() == [1, 1]


@pytest.mark.parametrize(("method", "when"), [("begin", "0"), ("decide", "0.5")])
def test_an_exception_of_a_law_names_the_law_the_agent_the_time_and_the_line(method, when):
    class Faulty(Drift):
        def begin(self, observation):
            return Command(np.zeros(2), 1 / 0 if method == "begin" else 0.5)

        def decide(self, observation):
            return 1 / 0

    words = (
        rf"Faulty failed for agent 0 at t = {when}: ZeroDivisionError: .* \(test_orders.py, line"
    )
    with pytest.raises(ControllerError, match=words) as caught:
        simulate(BOX, None, START, Faulty(), until=2.0)
    assert caught.value.code == "controller.failed"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert (caught.value.run is None) == (method == "begin")
