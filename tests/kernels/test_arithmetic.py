"""Products without cancellation, an exponential of our own."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell._kernels._jit import njit
from dwell._kernels.common.arithmetic import cross, exponential, product_error

numbers = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda v: v == 0 or abs(v) > 1e-100)


@given(numbers, numbers, numbers, st.integers(-3, 3))
def test_cross_keeps_its_digits_when_the_products_cancel(ax, ay, scale, ulps):
    bx = ax * scale
    by = ay * scale
    for _ in range(abs(ulps)):
        by = math.nextafter(by, math.copysign(math.inf, ulps))
    exact = Fraction(ax) * Fraction(by) - Fraction(ay) * Fraction(bx)
    found = Fraction(cross(ax, ay, bx, by))
    assert abs(found - exact) <= abs(exact) * Fraction(1, 2**50) + Fraction(1, 10**200)


@njit
def lost(a, b):
    return product_error(a, b, a * b)


@given(numbers, numbers)
def test_the_error_of_a_product_is_exact(a, b):
    assert Fraction(lost(a, b)) == Fraction(a) * Fraction(b) - Fraction(a * b)


PLACES = [0.0, -0.0, 1.0, -1.0, 1e-17, -745.0, -740.3, -708.4, 699.5, -1e-300, -746.0, -1e9]


@pytest.mark.parametrize("x", PLACES)
def test_exponential_at_chosen_places(x):
    """Down to where it is zero."""
    assert exponential(x) == pytest.approx(math.exp(x), rel=3e-16, abs=5e-324)
    assert (exponential(x) == 0.0) == (x < -744.4)


def test_exponential_is_within_one_unit_in_the_last_place():
    rng = np.random.default_rng(4)
    with mpmath.workdps(40):
        for x in map(float, rng.uniform(-700, 690, 2000)):
            exact = mpmath.exp(mpmath.mpf(x))
            assert abs((mpmath.mpf(exponential(x)) - exact) / exact) < 2.3e-16
