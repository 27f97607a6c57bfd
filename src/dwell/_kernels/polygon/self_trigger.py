"""The self-trigger: how long a measurement stays valid, found by scanning ahead.

With its own path known and its neighbours anywhere within reach, an agent's cell lies between a
guaranteed and a dual guaranteed one. From their masses follows a bound on how far the centroid can
have moved; the next event comes before that bound, or that of the guaranteed cell, is violated.
"""

import math
from typing import NamedTuple

from dwell._kernels._jit import njit
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.segments import effective_time
from dwell._kernels.common.status import CEILING, FLOOR, IN_TIME
from dwell._kernels.polygon.guaranteed import gap_to_boundary, guaranteed_pair
from dwell._kernels.polygon.guaranteed_envelope import GUARANTEED


class Trigger(NamedTuple):
    """The self-trigger in numbers."""

    kappa: float  # gain of the approach
    v: float  # top speed of all agents
    tau_min: float
    tau_max: float
    delta: float  # how far the centroid may move
    scan: float  # time between two evaluations
    factor: float  # 1, or 2 for the weaker bound by the triangle inequality
    own_ball: bool  # count the own motion as uncertainty too
    sampled: bool  # watch the sampled centroid rather than that of the guaranteed cell
    by_circumradius: bool  # measure cells by twice the circumradius instead of the diameter
    after: bool  # take the first scanned time that violates the bound, not the last that keeps it


@njit
def trigger_value(s, age, y_x, y_y, left_x, left_y, n, qx, qy, radius, trigger, wx, wy, terms, env):
    """The trigger function h after a time s: below 0 while the last measurement is valid.

    (y_x, y_y): own position then; (left_x, left_y): from there to the sampled centroid. The
    neighbours were seen `age` before s began.
    """
    reach = trigger.v * (s + age)
    if trigger.own_ball:
        reach += trigger.v * s
    for j in range(n):
        radius[j] = reach
    status, mass_g, _, _, depth, mass_d, _, _, diameter, circumradius = guaranteed_pair(
        y_x, y_y, n, qx, qy, radius, wx, wy, terms, env
    )
    if status != 0:
        return math.inf
    size = 2.0 * circumradius if trigger.by_circumradius else diameter
    drift = trigger.factor * size * (1.0 - mass_g / mass_d)
    if trigger.sampled:
        depth = gap_to_boundary(GUARANTEED, left_x, left_y, y_x, y_y, n, qx, qy, radius, wx, wy)
        return larger(drift - trigger.delta, -depth)
    return drift - smaller(trigger.delta, depth)


@njit
def scan_trigger(
    px, py, ex, ey, hx, hy, cruise, age, n, qx, qy, radius, trigger, wx, wy, terms, env
):
    """Return (interval until the next event, evaluations, which limit set it).

    The agent at (px, py) heads for its centroid at + (ex, ey) with velocity (hx, hy).
    """
    good = 0.0
    steps = 0
    while good < trigger.tau_max:
        s = smaller((steps + 1) * trigger.scan, trigger.tau_max)
        steps += 1
        used = effective_time(s, cruise, trigger.kappa)
        dx = hx * used
        dy = hy * used
        h = trigger_value(
            s, age, px + dx, py + dy, ex - dx, ey - dy, n, qx, qy, radius, trigger, wx, wy, terms,
            env,
        )  # fmt: skip
        if not h < 0.0:
            if good < trigger.tau_min:
                wait = larger(s, trigger.tau_min) if trigger.after else trigger.tau_min
                return wait, steps, FLOOR
            return s if trigger.after else good, steps, IN_TIME
        good = s
    return trigger.tau_max, steps, CEILING
