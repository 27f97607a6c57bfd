"""Any function as a density: the error estimate must bound the error."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell.cells import moments
from dwell.cells.polygon_moments import polygon_moments
from dwell.density import Function, Gaussian
from dwell.errors import DensityError
from dwell.geometry import Box, Polygon
from tests import strategies

SQUARE = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])

# A function on the unit square and its exact integral.
KNOWN = {
    "exp": (lambda z: np.exp(3 * z[:, 0] - z[:, 1]), (math.exp(3) - 1) / 3 * (1 - math.exp(-1))),
    "wave": (lambda z: 2 + np.sin(40 * z[:, 0]), 2 + (1 - math.cos(40)) / 40),
    "kink": (lambda z: np.abs(z[:, 0] - 0.37), (0.37**2 + 0.63**2) / 2),
    "slanted kink": (lambda z: np.abs(z[:, 0] + z[:, 1] - 1.0), 1 / 3),
    "step": (lambda z: (z[:, 0] < 1 / math.pi).astype(float), 1 / math.pi),
    "slanted step": (lambda z: (z[:, 0] + 2 * z[:, 1] < 1.0).astype(float), 0.25),
    "root": (lambda z: np.sqrt(z[:, 0] * z[:, 1]), 4 / 9),
    "peak": (
        lambda z: 1.0 / ((z[:, 0] - 0.3) ** 2 + 1e-4),
        (math.atan(0.7 / 0.01) + math.atan(0.3 / 0.01)) / 0.01,
    ),
    "zero": (lambda z: np.zeros(len(z)), 0.0),
}


GOAL = 2e-11  # relative error at which halving ends


@pytest.mark.parametrize("name", KNOWN)
def test_the_estimate_bounds_the_error(name):
    function, exact = KNOWN[name]
    found = polygon_moments(SQUARE, np.zeros(2), Function(function))
    assert abs(found.mass - exact) <= found.error * exact + 1e-15


@pytest.mark.parametrize(
    ("name", "converges"), [("exp", True), ("wave", True), ("peak", True), ("slanted step", False)]
)
def test_smooth_functions_converge_and_a_step_has_a_stated_error(name, converges):
    found = polygon_moments(SQUARE, np.zeros(2), Function(KNOWN[name][0]))
    assert (0.0 < found.error <= GOAL) == converges
    assert found.error > 0.0


@pytest.mark.parametrize("n", [1, 3])
def test_kinks_and_steps_on_the_line_and_in_space(n):
    """The estimate bounds the error where a kink or a step runs beside the sides of pieces."""
    for edge in (0.37, 1 / math.pi):
        for function, exact in (
            (lambda z, c=edge: np.abs(z[:, 0] - c), (edge**2 + (1 - edge) ** 2) / 2),
            (lambda z, c=edge: (z[:, 0] < c).astype(float), edge),
        ):
            found = moments(Box([0.0] * n, [1.0] * n), function)
            assert abs(found.mass - exact) <= found.error * exact + 1e-15


@settings(max_examples=40)
@given(
    strategies.random_polygons(span=3.0, max_points=6),
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.floats(0.05, 3.0),
)
def test_against_the_kernels_on_gaussians(polygon, x, y, rate):
    weight = Gaussian((x, y), rate)
    shape = Polygon(polygon)
    if shape.diameter**2 > 1e4 * shape.area:
        return
    exact, numeric = moments(shape, weight), moments(shape, Function(weight.at))
    assert abs(numeric.mass - exact.mass) <= (numeric.error + 1e-13) * exact.mass
    assert numeric.centroid == pytest.approx(exact.centroid, abs=1e-9 * shape.diameter)
    assert numeric.second_moment == pytest.approx(exact.second_moment, rel=1e-7)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda z: -np.ones(len(z)), "must not be negative"),
        (lambda z: np.full(len(z), np.nan), "finite"),
        (lambda z: z, "one number per point"),
        (lambda z: z[:, 0] > 0, "numbers are needed"),
        (lambda z: z[:, 0] + 1j, "real numbers"),
        (lambda z: ["a"] * len(z), "numbers are needed"),
    ],
)
def test_functions_that_are_no_density(function, says):
    with pytest.raises(DensityError, match=says):
        moments(SQUARE, function)


def test_a_constant_may_be_one_number():
    assert moments(SQUARE, lambda z: 3).mass == pytest.approx(3.0, rel=1e-14, abs=0.0)
