"""Vectors of three components as tuples, upper triangular matrices as six numbers, and roots.

Roots lie in an interval: a bracket for any function, all real roots of a quartic.
"""

from dwell._kernels._jit import inner

ZERO = (0.0, 0.0, 0.0)
STEPS = 100  # of a search for a root


@inner
def dot(u, v):
    """u . v."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@inner
def cross(u, v):
    """u x v."""
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@inner
def less(u, v):
    """u - v."""
    return u[0] - v[0], u[1] - v[1], u[2] - v[2]


@inner
def along(u, t, v):
    """u + t v."""
    return u[0] + t * v[0], u[1] + t * v[1], u[2] + t * v[2]


@inner
def scaled(t, v):
    """t v."""
    return t * v[0], t * v[1], t * v[2]


@inner
def across(u):
    """A vector across u, of no certain length."""
    if abs(u[0]) <= abs(u[1]) and abs(u[0]) <= abs(u[2]):
        return 0.0, u[2], -u[1]
    if abs(u[1]) <= abs(u[2]):
        return -u[2], 0.0, u[0]
    return u[1], -u[0], 0.0


@inner
def row_of(table, i, k):
    """The vector in columns k to k + 2 of row i."""
    return table[i, k], table[i, k + 1], table[i, k + 2]


@inner
def put(table, i, k, v):
    """Write a vector to columns k to k + 2 of row i."""
    table[i, k] = v[0]
    table[i, k + 1] = v[1]
    table[i, k + 2] = v[2]


@inner
def upper(m, v):
    """M v of an upper triangular M, given row by row."""
    x, y, z = v
    return m[0] * x + m[1] * y + m[2] * z, m[3] * y + m[4] * z, m[5] * z


@inner
def transposed(m, v):
    """M' v."""
    x, y, z = v
    return m[0] * x, m[1] * x + m[3] * y, m[2] * x + m[4] * y + m[5] * z


@inner
def solve_upper(m, v):
    """M**-1 v."""
    z = v[2] / m[5]
    y = (v[1] - m[4] * z) / m[3]
    return (v[0] - m[1] * y - m[2] * z) / m[0], y, z


@inner
def solve_lower(m, v):
    """M**-T v."""
    x = v[0] / m[0]
    y = (v[1] - m[1] * x) / m[3]
    return x, y, (v[2] - m[2] * x - m[4] * y) / m[5]


@inner
def times_upper(a, b):
    """A B of two upper triangular matrices."""
    return (
        a[0] * b[0],
        a[0] * b[1] + a[1] * b[3],
        a[0] * b[2] + a[1] * b[4] + a[2] * b[5],
        a[3] * b[3],
        a[3] * b[4] + a[4] * b[5],
        a[5] * b[5],
    )


@inner
def inverse_upper(m):
    """M**-1."""
    a = 1.0 / m[0]
    b = 1.0 / m[3]
    c = 1.0 / m[5]
    return a, -m[1] * a * b, (m[1] * m[4] * b - m[2]) * a * c, b, -m[4] * b * c, c


@inner
def upper_of(table):
    """The upper triangle of a (3, 3) array, row by row."""
    return table[0, 0], table[0, 1], table[0, 2], table[1, 1], table[1, 2], table[2, 2]


@inner
def value_of(degree, a, x):
    """The derivative of order 4 - degree of the quartic a[0] + ... + a[4] x**4, at x."""
    total = 0.0
    for k in range(4, 3 - degree, -1):
        factor = a[k]
        for j in range(4 - degree):
            factor *= k - j
        total = total * x + factor
    return total


@inner
def secant(bracket):
    """Where the line through both ends of a bracket (low, high, values there, side) is 0."""
    low, high, under, over, _ = bracket
    return (low * over - high * under) / (over - under)


@inner
def narrowed(bracket, x, at):
    """The bracket with one end moved to x, where the value is `at`, by the Illinois method."""
    low, high, under, over, side = bracket
    if (at > 0.0) == (over > 0.0):
        return low, x, 0.5 * under if side == 1 else under, at, 1
    return x, high, at, 0.5 * over if side == -1 else over, -1


@inner
def root_between(degree, a, low, high, under, over):
    """The root between two places of different sign."""
    bracket = (low, high, under, over, 0)
    x = low
    for _ in range(STEPS):
        before = x
        x = secant(bracket)
        if not bracket[0] < x < bracket[1] or abs(x - before) <= 2e-16 * abs(x):
            break
        at = value_of(degree, a, x)
        if at == 0.0:
            break
        bracket = narrowed(bracket, x, at)
    return x


@inner
def roots_between(a, low, high, out):
    """Roots of the quartic a in (low, high), ascending, in row 0 of `out` (2, 6): how many.

    Between two roots of a derivative there is at most one root.
    """
    w = max(abs(low), abs(high))
    rest = w * (abs(a[1]) + w * (abs(a[2]) + w * (abs(a[3]) + w * abs(a[4]))))
    if abs(a[0]) > rest:
        return 0
    count = 0
    for degree in range(1, 5):
        new, old = (0, 1) if degree % 2 == 0 else (1, 0)
        found = 0
        begin = low
        under = value_of(degree, a, low)
        for k in range(count + 1):
            end = out[old, k] if k < count else high
            over = value_of(degree, a, end)
            if under == 0.0 and k > 0:
                out[new, found] = begin
                found += 1
            elif (under < 0.0) != (over < 0.0) and over != 0.0 and under != 0.0:
                out[new, found] = root_between(degree, a, begin, end, under, over)
                found += 1
            begin, under = end, over
        count = found
    return count
