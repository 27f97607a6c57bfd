"""Laws at the edge of what they accept and decide: limits from both sides, closed forms."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.controllers import DiscreteLloyd, SelfTriggered, Timer
from dwell.controllers.discrete_lloyd import poisson_wait
from dwell.controllers.self_triggered import CEILING, FLOOR, IN_TIME
from dwell.errors import ControllerError

WAITS = {"t1": 0.1, "t2": 0.2}


def test_poisson_waits_are_the_logarithm_to_rounding() -> None:
    draws = [0.0, *(2.0 ** -np.arange(1.0, 54.0)), *np.random.default_rng(1).random(500)]
    for u in draws:
        exact = -3.0 * math.log(1.0 - u)
        assert poisson_wait(float(u), 3.0) == pytest.approx(exact, rel=1e-15, abs=0.0)


@pytest.mark.parametrize("rate", [None, 4.0])
def test_poisson_events_are_at_least_a_billionth_of_their_mean_apart(rate: float | None) -> None:
    law, mean = (
        DiscreteLloyd(step=0.5, schedule="poisson", rate=rate),
        0.5 if rate is None else 0.25,
    )
    for draw, wait in ((0.0, 1e-9 * mean), (1e-12, 1e-9 * mean), (1e-8, 1e-8 * mean)):
        seen: Any = SimpleNamespace(draw=draw, time=0.0)
        assert law._following(seen) == pytest.approx(wait, rel=1e-7, abs=0.0)


@pytest.mark.parametrize("schedule", ["synchronous", "round-robin"])
@pytest.mark.parametrize("speed", [None, 0.3])
def test_agents_begin_alike_one_by_one_and_all_at_once(schedule: str, speed: float | None) -> None:
    law = DiscreteLloyd(step=0.5, schedule=schedule, speed=speed)
    errors = np.array([(1.0, 0.5), (0.01, -0.02), (-3.0, 4.0)])
    together = law.begin_all(errors)
    for p, error in enumerate(errors):
        seen: Any = SimpleNamespace(
            agent=p,
            agents=3,
            time=0.0,
            position=np.zeros(2),
            measurement=SimpleNamespace(error=error),
        )
        alone = law.begin(seen)
        assert alone.hold.tolist() == together.hold[p].tolist()
        assert (alone.next_at, alone.cruise) == (together.next_at[p], together.cruise)


@pytest.mark.parametrize(("excess", "accepted"), [(0.0, True), (-1e-3, True), (1e-11, False)])
@pytest.mark.parametrize("k1", [0.7, 3.0])
def test_first_velocities_may_be_as_fast_as_the_law(
    k1: float, excess: float, accepted: bool
) -> None:
    hold = ((k1 * (1.0 + excess), 0.0), (0.0, 0.0))
    if accepted:
        law = Timer(k1=k1, nu=0.5, **WAITS, initial_hold=hold)
        assert law.numbers(2).t1.tolist() == [0.1, 0.1]
        return
    with pytest.raises(ControllerError, match=r"initial_hold\[0\].* not be longer than k1 = "):
        Timer(k1=k1, nu=0.5, **WAITS, initial_hold=hold)


@pytest.mark.parametrize(
    "hold",
    [((0.1, 0.0),), ((0.1, 0.0),) * 3, ((0.1, 0.0), (math.inf, 0.0)), (0.1, 0.2)],
    ids=["too few", "too many", "not finite", "no vectors"],
)
def test_first_velocities_are_one_for_each_agent(hold: Any) -> None:
    with pytest.raises(ControllerError, match="initial_hold"):
        Timer(k1=1.0, nu=0.5, **WAITS, initial_hold=hold).numbers(2)


@pytest.mark.parametrize("factor", [1, 2, 1.0, 2.0])
def test_the_factor_of_the_trigger_is_a_whole_number(factor: float) -> None:
    law = SelfTriggered(factor=factor)  # type: ignore[arg-type]
    assert (type(law.factor), law.option("factor")) == (int, int(factor))
    assert SelfTriggered().factor is None


@pytest.mark.parametrize(
    ("stop", "bad_from", "expected"),
    [
        ("before", 0.1, (0.25, 1, FLOOR)),  # at once: the shortest wait
        ("before", 0.3, (0.25, 3, FLOOR)),  # good until 0.2, below the shortest wait
        ("before", 0.4, (0.3, 4, IN_TIME)),
        ("after", 0.1, (0.25, 1, FLOOR)),
        ("after", 0.3, (0.3, 3, FLOOR)),
        ("after", 0.4, (0.4, 4, IN_TIME)),
        ("before", 9.0, (0.75, 8, CEILING)),
        ("after", 9.0, (0.75, 8, CEILING)),
    ],
)
def test_waits_follow_from_when_the_trigger_turns_bad(
    monkeypatch: pytest.MonkeyPatch, stop: str, bad_from: float, expected: tuple[float, int, int]
) -> None:
    law = SelfTriggered(tau_min=0.25, tau_max=0.75, scan=0.1, stop=stop)

    def value(*given: Any) -> float:
        return 1.0 if given[3] > bad_from - 1e-9 else -1.0

    monkeypatch.setattr(SelfTriggered, "_trigger_value", value)
    segment = law.approach(np.array([1.0, 0.0]))
    ground: Any = None
    wait, steps, mark = law._scan_in_python(
        np.zeros(2), np.array([1.0, 0.0]), segment, np.zeros((0, 2)), 0.0, ground
    )
    assert (pytest.approx(wait), steps, mark) == expected


def test_a_lost_sample_leads_on_to_the_centroid_of_the_one_before() -> None:
    """What an agent remembers is where the centroid was, not where it was seen from the agent."""
    box = dwell.Box((0, 0), (4, 3))
    run = dwell.simulate(box, None, [(0.5, 0.5), (3.0, 2.0)], SelfTriggered(), until=0.1, seed=1)
    cells = dwell.tessellate(box, run.start.positions)
    for memory, place, error in zip(
        run.start.memory, run.start.positions, cells.errors, strict=True
    ):
        assert np.asarray(memory) == pytest.approx(place + error, abs=1e-12)


@pytest.mark.parametrize("epsilon", [1e-8, 0.25, 0.5])
def test_velocities_saturate_from_the_reach_on(epsilon: float) -> None:
    """The reach is (1 - epsilon) nu; the velocity is in proportion to errors below it."""
    law = Timer(k1=0.6, nu=2.0, **WAITS, epsilon=epsilon)
    reach = 2.0 * (1.0 - epsilon)
    assert law.reach == pytest.approx(reach, rel=1e-15, abs=0.0)
    shares = np.array([0.25, 0.5, 0.999999, 1.000001, 3.0])
    errors = reach * shares[:, None] * np.array([0.6, 0.8])
    speeds = np.linalg.norm(law.begin_all(errors).hold, axis=1)
    assert speeds == pytest.approx(0.6 * np.minimum(shares, 1.0), rel=1e-12)
    for k1, inside in ((reach / 0.2 * 0.999, True), (reach / 0.2 * 1.001, False)):
        assert Timer(k1=k1, nu=2.0, **WAITS, epsilon=epsilon).traits.stays_inside is inside


@pytest.mark.parametrize(("own", "reach"), [("exact", 0.5 * 0.7), ("ball", 0.5 * 0.7 + 0.5 * 0.4)])
def test_neighbours_may_be_as_far_off_as_their_speed_allows(
    monkeypatch: pytest.MonkeyPatch, own: str, reach: float
) -> None:
    """Their positions are 0.3 old at the sample, and the wait is 0.4: 0.7 in all."""
    seen: list[float] = []

    def none(_ground: Any, _here: Any, _places: Any, radii: Any) -> None:
        seen.extend(radii)

    monkeypatch.setattr("dwell.controllers.self_triggered.pair_of", none)
    here, places, ground = np.zeros(2), np.ones((3, 2)), None
    law = SelfTriggered(v=0.5, own=own)
    value = law._trigger_value(here, here, 0.4, 0.3, places, ground)  # type: ignore[arg-type]
    assert value == math.inf
    assert seen == pytest.approx([reach] * 3, rel=1e-15, abs=0.0)
