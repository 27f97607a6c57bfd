"""Integrals of a Gaussian along rays from its peak: F(x) and, for rays that go on, D(x).

    F(x) = int_0^1 u**2 exp(-x u**2) du          D(x) = int_1^oo u**2 exp(-x u**2) du

With x the squared distance of a place on a face, F weighs the segment from the peak to it and D the
ray beyond. F is a Boys function and D(x) = e**-x d(x), d slowly falling. Both come from tables of
Taylor series, spaced so that a few terms give all digits.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential

STEPS = 4.0  # table entries per unit of x
TERMS = 12
LARGEST = 50.0  # end of the tables
LEAST_FAR = 2.0  # D is used from here on
PLAIN_EXPONENTIAL = getattr(exponential, "py_func", exponential)  # nothing to compile at import
QUARTER_ROOT_PI = 0.25 * math.sqrt(math.pi)


def _boys(orders: int, x: float) -> list[float]:
    """int_0^1 u**(2 n) exp(-x u**2) du for n below `orders`: a positive series, then downwards."""
    n = orders - 1
    term = total = 1.0 / (2 * n + 1)
    k = 1
    while term > 1e-18 * total:
        term *= 2.0 * x / (2 * n + 2 * k + 1)
        total += term
        k += 1
    decay = float(PLAIN_EXPONENTIAL(-x))
    found = [decay * total]
    for m in range(n - 1, -1, -1):
        found.append((2.0 * x * found[-1] + decay) / (2 * m + 1))
    return found[::-1]


def _beyond(orders: int, x: float) -> list[float]:
    """e**x int_1^oo u**(2 n) exp(-x u**2) du for n below `orders`: a fraction, then upwards."""
    s = math.sqrt(x)
    fraction = s
    for k in range(400, 0, -1):
        fraction = s + 0.5 * k / fraction
    found = [0.5 / (s * fraction)]  # e**x sqrt(pi) erfc(s) / (2 s)
    for n in range(1, orders):
        found.append((1.0 + (2 * n - 1) * found[-1]) / (2.0 * x))
    return found


def _tables() -> tuple[np.ndarray, np.ndarray]:
    rows = int(LARGEST * STEPS) + 1
    near, far = np.zeros((2, rows, TERMS))
    for k in range(rows):
        x = k / STEPS
        boys = _boys(TERMS + 1, x)
        near[k] = [boys[j + 1] * (-1) ** j / math.factorial(j) for j in range(TERMS)]
        if x >= LEAST_FAR:
            beyond = _beyond(TERMS + 1, x)
            series = [beyond[j + 1] * (-1) ** j / math.factorial(j) for j in range(TERMS)]
            for j in range(TERMS):  # times e**(x - x_k)
                far[k, j] = math.fsum(series[i] / math.factorial(j - i) for i in range(j + 1))
    return near, far


NEAR, FAR = _tables()


@inner
def inward(x):
    """F(x) for x >= 0."""
    if x > LARGEST:
        return QUARTER_ROOT_PI / (x * math.sqrt(x))  # the ray beyond weighs e**-50
    k = int(x * STEPS + 0.5)
    d = x - k / STEPS
    value = 0.0
    for j in range(TERMS - 1, -1, -1):
        value = value * d + NEAR[k, j]
    return value


@inner
def outward(x):
    """d(x) = e**x D(x) for x >= LEAST_FAR."""
    if x > LARGEST:
        value = 1.0  # asymptotic: the product of (3/2 - k) / x for k = 1, 2, ...
        for k in range(16, 0, -1):
            value = 1.0 + value * (1.5 - k) / x
        return 0.5 * value / x
    k = int(x * STEPS + 0.5)
    d = x - k / STEPS
    value = 0.0
    for j in range(TERMS - 1, -1, -1):
        value = value * d + FAR[k, j]
    return value
