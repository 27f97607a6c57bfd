"""Where a polynomial of the second degree in (cos, sin) vanishes on a circle.

On a quarter turn, with cos = (1 - w**2) / (1 + w**2) and sin = 2 w / (1 + w**2), it is a quartic
in w over (1 + w**2)**2. Its Bernstein coefficients bound it, and the changes of their signs count
its roots: none for no change, one for one; else the piece is halved. So no root is missed.
"""

import math

from dwell._kernels._jit import inner, njit

QUARTER = math.sqrt(2.0) - 1.0  # tan of an eighth of a turn
DEEPEST = 24  # halvings; two roots nearer than that are one place for our purposes
NEWTON = 60
CLOSE = 4e-16

# Columns of a piece that waits: from LOW to HIGH in units of QUARTER, and five coefficients.
LOW, HIGH, FIRST = 0, 1, 2
COLUMNS = 7


@inner
def turned(quarter, q):
    """The polynomial (1, x, y, x**2, x y, y**2) with angles counted from a quarter's middle."""
    q0, q1, q2, q11, q12, q22 = q
    if quarter == 0:
        return q
    if quarter == 1:
        return q0, q2, -q1, q22, -q12, q11
    if quarter == 2:
        return q0, -q1, -q2, q11, q12, q22
    return q0, -q2, q1, q22, -q12, q11


@inner
def quartic_of(q):
    """Coefficients of the quartic in v = w / QUARTER from -1 to 1."""
    q0, q1, q2, q11, q12, q22 = q
    w = QUARTER
    return (
        q0 + q1 + q11,
        2.0 * (q2 + q12) * w,
        (2.0 * q0 - 2.0 * q11 + 4.0 * q22) * (w * w),
        2.0 * (q2 - q12) * (w * w * w),
        (q0 - q1 + q11) * (w * w * w * w),
    )


@inner
def put_bernstein(p, stack):
    """The quartic over [-1, 1] by Bernstein coefficients, as the first piece that waits."""
    p0, p1, p2, p3, p4 = p
    row = stack[0]
    row[LOW] = -1.0
    row[HIGH] = 1.0
    row[FIRST] = p0 - p1 + p2 - p3 + p4
    row[FIRST + 1] = p0 - 0.5 * p1 + 0.5 * p3 - p4
    row[FIRST + 2] = p0 - p2 / 3.0 + p4
    row[FIRST + 3] = p0 + 0.5 * p1 - 0.5 * p3 - p4
    row[FIRST + 4] = p0 + p1 + p2 + p3 + p4


@inner
def changes_of(row):
    """How often the coefficients of a piece change their sign."""
    count = 0
    before = row[FIRST] > 0.0
    for k in range(FIRST + 1, FIRST + 5):
        now = row[k] > 0.0
        if now != before:
            count += 1
        before = now
    return count


@inner
def halve(depth, stack):
    """The last piece that waits as two, by de Casteljau's scheme."""
    low = stack[depth]
    high = stack[depth + 1]
    middle = 0.5 * (low[LOW] + low[HIGH])
    high[LOW] = middle
    high[HIGH] = low[HIGH]
    low[HIGH] = middle
    b0, b1, b2, b3, b4 = low[2], low[3], low[4], low[5], low[6]
    c0, c1, c2, c3 = 0.5 * (b0 + b1), 0.5 * (b1 + b2), 0.5 * (b2 + b3), 0.5 * (b3 + b4)
    d0, d1, d2 = 0.5 * (c0 + c1), 0.5 * (c1 + c2), 0.5 * (c2 + c3)
    e0, e1 = 0.5 * (d0 + d1), 0.5 * (d1 + d2)
    f = 0.5 * (e0 + e1)
    low[3], low[4], low[5], low[6] = c0, d0, e0, f
    high[2], high[3], high[4], high[5], high[6] = f, e1, d2, c3, b4


@inner
def root_between(low, high, rising, p):
    """The root of the quartic in an interval with just one: Newton's steps, kept inside."""
    p0, p1, p2, p3, p4 = p
    v = 0.5 * (low + high)
    for _ in range(NEWTON):
        value = p0 + v * (p1 + v * (p2 + v * (p3 + v * p4)))
        slope = p1 + v * (2.0 * p2 + v * (3.0 * p3 + v * (4.0 * p4)))
        if (value > 0.0) == rising:
            high = v
        else:
            low = v
        following = 0.5 * (low + high)
        if slope != 0.0:
            step = v - value / slope
            if low < step < high:
                following = step
        if abs(following - v) <= CLOSE * (1.0 + abs(v)):
            return following
        v = following
    return v


@njit
def roots_on_circle(q, place, stack):
    """Places (x, y) on the unit circle where the polynomial changes its sign; gives how many.

    place: (16, 2) at least. Places where it only touches 0 may be missing or come twice.
    """
    found = 0
    for quarter in range(4):
        p = quartic_of(turned(quarter, q))
        put_bernstein(p, stack)
        depth = 0
        while depth >= 0:
            row = stack[depth]
            changes = changes_of(row)
            low, high = row[LOW], row[HIGH]
            if changes > 1 and high - low > 2.0 / 2.0**DEEPEST:
                halve(depth, stack)
                depth += 1
                continue
            depth -= 1
            if changes == 0 or found >= place.shape[0]:
                continue
            v = 0.5 * (low + high)
            if changes == 1:
                v = root_between(low, high, row[FIRST + 4] > 0.0, p)
            w = QUARTER * v
            s = 1.0 / (1.0 + w * w)
            x, y = (1.0 - w * w) * s, 2.0 * w * s
            if quarter == 1:
                x, y = -y, x
            elif quarter == 2:
                x, y = -x, -y
            elif quarter == 3:
                x, y = y, -x
            place[found, 0], place[found, 1] = x, y
            found += 1
    return found
