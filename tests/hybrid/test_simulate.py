"""Hybrid time, arcs and the loop, with systems that have nothing to do with agents."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dwell.errors import InputError
from dwell.hybrid import Event, Halt, HybridArc, StopReason, simulate


@dataclass(frozen=True)
class Ball:
    t: float
    height: float
    speed: float


@dataclass(frozen=True)
class BouncingBall:
    """Free fall; a bounce keeps the fraction `keep` of the speed."""

    gravity: float = 9.81
    keep: float = 0.8

    def time_of(self, state: Ball) -> float:
        return state.t

    def next_event(self, state: Ball) -> Event:
        root = math.sqrt(state.speed**2 + 2 * self.gravity * state.height)
        return Event(state.t + (state.speed + root) / self.gravity)

    def flow(self, state: Ball, to: float) -> Ball:
        dt = to - state.t
        height = state.height + state.speed * dt - 0.5 * self.gravity * dt**2
        return Ball(to, height, state.speed - self.gravity * dt)

    def jump(self, state: Ball, event: Event) -> Ball:
        return replace(state, height=0.0, speed=-self.keep * state.speed)


@dataclass(frozen=True)
class Ticking:
    """Jumps at the given times; the state counts them."""

    times: tuple[float, ...]

    def time_of(self, state: tuple[float, int]) -> float:
        return state[0]

    def next_event(self, state: tuple[float, int]) -> Event | None:
        return Event(self.times[state[1]]) if state[1] < len(self.times) else None

    def flow(self, state: tuple[float, int], to: float) -> tuple[float, int]:
        return (to, state[1])

    def jump(self, state: tuple[float, int], event: Event) -> tuple[float, int]:
        if event.time == 13.0:
            raise Halt(StopReason.COINCIDENT, "unlucky")
        return (state[0], state[1] + 1)


START = Ball(0.0, 10.0, 0.0)


def ticked(*times: float, until: float = 3.0, **options: Any) -> HybridArc[tuple[float, int]]:
    return simulate(Ticking(times), (0.0, 0), until=until, **options)


def test_bounce_times_are_the_known_series():
    ball = BouncingBall()
    fall = math.sqrt(2 * 10.0 / ball.gravity)
    arc = simulate(ball, START, until=8.0)
    expected = fall
    for n, event in enumerate(arc.events):
        assert event.time == pytest.approx(expected, rel=1e-12, abs=0.0)
        expected += 2 * fall * ball.keep ** (n + 1)
    assert arc.stop.reason is StopReason.HORIZON
    # At rest it bounces without end, and the loop says so.
    rest = simulate(ball, START, until=100.0, max_jumps=100_000)
    assert rest.stop.reason is StopReason.ZENO
    assert rest.until == pytest.approx(fall * (1 + ball.keep) / (1 - ball.keep), rel=1e-9, abs=0.0)


def test_energy_is_kept_between_bounces():
    ball = BouncingBall()
    arc = simulate(ball, START, until=8.0)
    for begin, end, j in arc.domain():
        energies = [
            0.5 * s.speed**2 + ball.gravity * s.height
            for s in (arc.at(begin + k * (end - begin) / 7, j) for k in range(8))
        ]
        assert energies == pytest.approx([energies[0]] * 8, rel=1e-9, abs=1e-9)


def impatient(t: float) -> None:
    if t >= 2.0:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("times", "options", "reason", "jumps", "until"),
    [
        ((1.0, 2.0, 2.5), {"max_jumps": 2}, StopReason.JUMP_LIMIT, 2, 2.0),
        ((1.0,) * 50, {"max_simultaneous": 20}, StopReason.ZENO, 21, 1.0),
        ((1.0, 13.0, 14.0), {"until": 20.0}, StopReason.COINCIDENT, 1, 13.0),
        ((1.0, 2.0, 3.0), {"until": 5.0, "progress": impatient}, StopReason.INTERRUPTED, 2, 2.0),
        ((1.0, 3.0, 3.0), {}, StopReason.HORIZON, 3, 3.0),  # also jumps exactly at the horizon
        ((1.0,), {"until": 0.0}, StopReason.HORIZON, 0, 0.0),
    ],
)
def test_every_end_is_an_outcome(times, options, reason, jumps, until):
    arc = ticked(*times, **options)
    assert arc.stop.reason is reason
    assert reason.ok == (reason is StopReason.HORIZON)
    assert reason.sentence.endswith(".")
    assert (arc.jumps, arc.until, arc.final) == (jumps, until, (until, jumps))
    assert arc.stop.detail == ("unlucky" if reason is StopReason.COINCIDENT else "")


def test_before_and_after_a_jump():
    arc = simulate(BouncingBall(), START, until=4.0)
    for j in range(1, arc.jumps + 1):
        before, after = arc.before(j), arc.after(j)
        assert before.t == after.t == arc.events[j - 1].time
        assert after.speed == -0.8 * before.speed > 0
        assert arc.at(before.t, j - 1) == before
        assert arc.at(before.t, j) == after
        assert arc.at(before.t) == after


def test_domain_is_well_formed():
    arc = ticked(1.0, 1.0, 1.0, 2.5)
    pieces = list(arc.domain())
    assert pieces == [(0.0, 1.0, 0), (1.0, 1.0, 1), (1.0, 1.0, 2), (1.0, 2.5, 3), (2.5, 3.0, 4)]
    assert arc.at(1.0, 1) == (1.0, 1)
    assert arc.at(1.0) == (1.0, 3)
    assert arc.final == (3.0, 4)
    assert arc.jumps_until(1.0) == 3


@pytest.mark.parametrize(("t", "j"), [(0.5, 1), (3.5, None), (-0.1, None), (2.0, 4), (1.0, 9)])
def test_times_outside_the_domain_are_refused(t, j):
    arc = ticked(1.0, 2.5)
    with pytest.raises(InputError, match="outside the arc's domain"):
        arc.at(t, j)


@pytest.mark.parametrize("j", [0, 3, -1])
def test_jumps_that_did_not_happen_are_refused(j):
    arc = ticked(1.0, 2.5)
    for ask in (arc.before, arc.after):
        with pytest.raises(InputError):
            ask(j)


def test_running_on_is_the_same_as_running_through():
    ball = BouncingBall()
    whole = simulate(ball, START, until=6.0)
    half = simulate(ball, START, until=3.0)
    rest = simulate(ball, half.states[-1], until=6.0)
    assert [*half.events, *rest.events] == list(whole.events)
    assert rest.final == whole.final


def test_events_sort_by_time_then_source():
    events = [Event(2.0, 0), Event(1.0, 5), Event(1.0, 2)]
    assert sorted(events) == [Event(1.0, 2), Event(1.0, 5), Event(2.0, 0)]
