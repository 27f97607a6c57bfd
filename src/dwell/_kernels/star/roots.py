"""Roots in an interval: a bracket for any function, all real roots of a quartic."""

from dwell._kernels._jit import inner

STEPS = 100


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
