"""The timer law in numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell._kernels.common import hold_law
from dwell._kernels.common.hold_law import HoldProgram, dropout_interval, next_sample, saturate

coordinate = st.floats(-1e6, 1e6)


def saturated(x, y, k1, reach):
    holds = np.empty((2, 1))
    saturate(0, np.array([[x], [y]], dtype=float), k1, reach, holds)
    return float(holds[0, 0]), float(holds[1, 0])


@given(coordinate, coordinate, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_saturation_never_exceeds_k1(x, y, k1, reach):
    ux, uy = saturated(x, y, k1, reach)
    assert math.hypot(ux, uy) <= k1 * (1 + 1e-15)


@given(coordinate, coordinate, st.floats(1e-3, 1e3))
def test_saturation_is_proportional_within_reach(x, y, reach):
    size = math.hypot(x, y)
    ux, uy = saturated(x, y, 2.0, reach)
    scale = max(size, reach)
    assert (ux, uy) == pytest.approx((2 * x / scale, 2 * y / scale), rel=1e-14, abs=1e-300)


def test_the_two_branches_meet():
    reach = 0.7
    for size in (math.nextafter(reach, 0), reach, math.nextafter(reach, 1)):
        assert saturated(size, 0.0, 0.5, reach)[0] == pytest.approx(0.5, rel=3e-16, abs=0.0)
    assert saturated(0.0, 0.0, 0.5, reach) == (0.0, 0.0)


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 0.99))
def test_dropouts_come_in_steps_of_t1_and_end_at_t2(u, loss):
    t = dropout_interval(u, 0.2, 0.65, loss)
    assert t in (0.2, 0.4, 0.2 * 3, 0.65)
    assert 0.2 <= t <= 0.65


def test_dropouts_have_the_stated_odds():
    draws = (np.arange(100_000) + 0.5) / 100_000
    found = np.array([dropout_interval(u, 1.0, 10.0, 0.5) for u in draws[::10]])
    assert (found == 1.0).mean() == pytest.approx(0.5, abs=1e-3)
    assert (found == 2.0).mean() == pytest.approx(0.25, abs=1e-3)


def program(rule):
    t1, t2, period, odd = np.array([[0.1, 0.2], [0.3, 0.5], [0.3, 0.4], [0.3, 0.5]])
    return HoldProgram(1.0, 1.0, rule, t1, t2, period, np.column_stack([t1, odd]), loss=0.0)


@pytest.mark.parametrize(
    ("rule", "agent", "sample", "expected"),
    [
        ("UNIFORM", 0, 0, 7.0 + 0.1 + 0.25 * (0.3 - 0.1)),
        ("EARLIEST", 1, 5, 7.0 + 0.2),
        ("LATEST", 1, 5, 7.0 + 0.5),
        ("PERIODIC", 1, 9, 3.0 + 10 * 0.4),
        ("SEQUENCE", 1, 2, 7.0 + 0.2),
        ("SEQUENCE", 1, 3, 7.0 + 0.5),
        ("DROPOUT", 0, 3, 7.0 + 0.1),
    ],
)
def test_each_rule(rule, agent, sample, expected):
    found = next_sample(agent, sample, 7.0, 3.0, 0.25, program(getattr(hold_law, rule)))
    assert found == pytest.approx(expected, rel=3e-16, abs=0.0)


def test_an_even_draw_never_exceeds_t2():
    assert 0.1 <= next_sample(0, 0, 0.0, 0.0, 1.0 - 2.0**-53, program(hold_law.UNIFORM)) <= 0.3
