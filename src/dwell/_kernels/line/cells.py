"""Which agents stand next to one, and the interval that is nearest to it.

Everything is seen from the agent. Labels: 0 and more is an agent, -1 the lower end of the
workspace, -2 the upper end.
"""

from dwell._kernels._jit import inner, njit

NOBODY = -1  # as a neighbor: there is none on that side
LOWER_END, UPPER_END = -1, -2


@njit
def scan(lo, hi, row, agent, x, left, right):
    """For looks lo..hi the nearest agent below (or at the same place) and the nearest above.

    For looks that are few for their configuration; where they are many, sorting is quicker.
    """
    for k in range(lo, hi):
        xs = x[row[k]]
        p = agent[k]
        below = NOBODY
        above = NOBODY
        for q in range(xs.shape[0]):
            if q == p:
                continue
            if xs[q] <= xs[p]:
                if below == NOBODY or xs[q] > xs[below]:
                    below = q
            elif above == NOBODY or xs[q] < xs[above]:
                above = q
        left[k] = below
        right[k] = above


@inner
def difference(x, y):
    """x - y, and what is lost by rounding it (Knuth)."""
    d = x - y
    back = d - x
    return d, (x - (d - back)) - (y + back)


@inner
def interval(p, xs, left, right, lower, upper):
    """(a, its rounding, b, its rounding, label at a, label at b, squared distance of the nearest).

    The cell of agent p is [a, b] seen from it; it is empty unless a < b. The distance is -1 if
    nobody else is there, and 0 where another agent stands at the same place.
    """
    a, a_low = difference(lower, xs[p])
    b, b_low = difference(upper, xs[p])
    label_a = LOWER_END
    label_b = UPPER_END
    nearest = -1.0
    if left != NOBODY:
        gap, low = difference(xs[left], xs[p])
        nearest = gap * gap
        if 0.5 * gap > a:
            a = 0.5 * gap
            a_low = 0.5 * low
            label_a = left
    if right != NOBODY:
        gap, low = difference(xs[right], xs[p])
        if nearest < 0.0 or gap * gap < nearest:
            nearest = gap * gap
        if 0.5 * gap < b:
            b = 0.5 * gap
            b_low = 0.5 * low
            label_b = right
    return a, a_low, b, b_low, label_a, label_b, nearest
