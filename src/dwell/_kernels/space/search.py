"""Other agents in increasing distance, by bins.

Agents lie sorted in cubic bins. Shell after shell of bins around the agent's own is listed, sorted
as far as needed, and what lies nearer than all shells to come is handed out. Agents come by
distance, then by position: the order names neither bins nor numbers, so that brute force (a single
bin) and any numbering of the agents give the same cells to the last bit.

key, who: squared distances and numbers of the agents to come, those that may come next at the front
and those that must wait for farther shells at the back.
"""

import numpy as np

from dwell._kernels._jit import inlined, inner, njit
from dwell._kernels.common.arithmetic import larger, smaller

FEW = 12  # entries that are sorted at once
SLACK = 1e-6  # of a bin: agents may be filed so far off by rounding, and by much less


@inlined
def comes_before(i, a, j, b, grid):
    """Whether agent a at squared distance i precedes b at j: by distance, then by position."""
    if i != j:
        return i < j
    if grid.x[a] != grid.x[b]:
        return grid.x[a] < grid.x[b]
    if grid.y[a] != grid.y[b]:
        return grid.y[a] < grid.y[b]
    return grid.z[a] < grid.z[b]


@inlined
def sort_few(first, last, key, who, grid):
    """Sort entries first to last - 1, one after another put in its place."""
    for i in range(first + 1, last):
        k = key[i]
        q = who[i]
        j = i
        while j > first and comes_before(k, q, key[j - 1], who[j - 1], grid):
            key[j] = key[j - 1]
            who[j] = who[j - 1]
            j -= 1
        key[j] = k
        who[j] = q


@inlined
def part(first, last, key, who, grid):
    """Part entries first to last - 1 in two, none of the first after any of the second (Hoare).

    Returns where the second part begins; none of the two is empty.
    """
    middle = (first + last) >> 1
    k = key[middle]
    q = who[middle]
    i = first
    j = last - 1
    while True:
        while comes_before(key[i], who[i], k, q, grid):
            i += 1
        while comes_before(k, q, key[j], who[j], grid):
            j -= 1
        if i >= j:
            return i if i > first else first + 1
        key[i], key[j] = key[j], key[i]
        who[i], who[j] = who[j], who[i]
        i += 1
        j -= 1


@inlined
def sort_next(first, depth, ends, key, who, grid):
    """Sort the entries that come next, and no more than that: quicksort, put off as it goes.

    From `first` on, entries are in parts that end at ends[depth - 1] (the next part), ends[depth -
    2] and so on, each part before the following ones. Returns up to where entries are sorted, and
    the number of parts left.
    """
    while ends[depth - 1] - first > FEW:
        ends[depth] = part(first, ends[depth - 1], key, who, grid)
        depth += 1
    depth -= 1
    sort_few(first, ends[depth], key, who, grid)
    return ends[depth], depth


@inlined
def bin_of(value, lower, width, count):
    """Return the bin along one axis, and the position in units of bins."""
    at = (value - lower) / width
    k = int(at)
    if k > count - 1:
        k = count - 1
    if k < 0:
        k = 0
    return k, at


@inlined
def gap(k, own, at):
    """Return the least distance along one axis, in bins, from `at` in bin `own` to bin k."""
    if k > own:
        return larger(0.0, k - at - SLACK)
    if k < own:
        return larger(0.0, at - (k + 1) - SLACK)
    return 0.0


@inlined
def gather(first, last, p, near, far, grid, size, tail, key, who):
    """File agents first to last - 1 by their squared distance from agent p, but not p itself.

    Those up to `near` go to the end of the list, `size`; others up to `far` wait before `tail`.
    """
    px, py, pz = grid.x[p], grid.y[p], grid.z[p]
    for q in range(first, last):
        dx = grid.x[q] - px
        dy = grid.y[q] - py
        dz = grid.z[q] - pz
        d2 = dx * dx + dy * dy + dz * dz
        key[size] = d2
        who[size] = q
        key[tail - 1] = d2
        who[tail - 1] = q
        size += (d2 <= near) & (q != p)
        tail -= (d2 > near) & (d2 <= far)
    return size, tail


@inlined
def recall(near, size, tail, key, who):
    """Put those that wait and are no farther than `near` on the list."""
    i = tail
    while i < key.shape[0]:
        k = key[i]
        q = who[i]
        if k <= near:
            key[i] = key[tail]
            who[i] = who[tail]
            tail += 1
            key[size] = k
            who[size] = q
            size += 1
        i += 1
    return size, tail


@inlined
def least_gap(r, own, at, count):
    """Return how near, in bins along an axis, agents beyond shell r may be; inf if none is."""
    nearest = np.inf
    if own - r > 0:
        nearest = at - (own - r) - SLACK
    if own + r < count - 1:
        nearest = smaller(nearest, own + r + 1 - at - SLACK)
    return larger(0.0, nearest)


@inlined
def open_shell(r, p, reach, size, tail, grid, key, who):
    """List the agents up to shell r of bins, as far as the list is complete.

    Shells come one after another, 1 first, which brings along the agent's own bin. Agents beyond
    squared distance `reach` are left out. Return size and tail of the list, and the squared
    distance up to which it is complete.
    """
    start, lower, width = grid.start, grid.lower, grid.width
    ni, nj, nk = grid.shape[0], grid.shape[1], grid.shape[2]
    i0, ai = bin_of(grid.x[p], lower[0], width, ni)
    j0, aj = bin_of(grid.y[p], lower[1], width, nj)
    k0, ak = bin_of(grid.z[p], lower[2], width, nk)
    safe = smaller(least_gap(r, i0, ai, ni), least_gap(r, j0, aj, nj))
    safe = smaller(safe, least_gap(r, k0, ak, nk)) * width
    safe = safe * safe
    near = smaller(safe, reach)
    in_bins = reach / (width * width)
    k1 = max(k0 - r, 0)
    k2 = min(k0 + r, nk - 1)
    size, tail = recall(near, size, tail, key, who)
    for i in range(max(i0 - r, 0), min(i0 + r, ni - 1) + 1):
        gi = gap(i, i0, ai)
        for j in range(max(j0 - r, 0), min(j0 + r, nj - 1) + 1):
            gj = gap(j, j0, aj)
            if gi * gi + gj * gj > in_bins:
                continue
            row = (i * nj + j) * nk
            if r == 1 or abs(i - i0) == r or abs(j - j0) == r:  # a run of bins
                a, b = start[row + k1], start[row + k2 + 1]
                size, tail = gather(a, b, p, near, reach, grid, size, tail, key, who)
                continue
            for k in range(k0 - r, k0 + r + 1, 2 * r):  # both ends; the rest is listed already
                if k >= 0 and k < nk:
                    a, b = start[row + k], start[row + k + 1]
                    size, tail = gather(a, b, p, near, reach, grid, size, tail, key, who)
    return size, tail, safe


@inner
def range_of(n, x):
    """Return the least and the largest of the first n values."""
    low = high = x[0]
    for k in range(1, n):
        low = smaller(low, x[k])
        high = larger(high, x[k])
    return low, high


@inner
def counting_sort(bin_, start, order):
    """Fill `start` and `order` so that the agents of each bin follow one another, ascending."""
    n, last = bin_.shape[0], start.shape[0] - 1
    start[:] = 0
    for q in range(n):
        start[bin_[q] + 1] += 1
    for b in range(last):
        start[b + 1] += start[b]
    for q in range(n - 1, -1, -1):
        b = bin_[q]
        start[b + 1] -= 1
        order[start[b + 1]] = q
    for b in range(last):  # start[b + 1] was counted down to where bin b begins
        start[b] = start[b + 1]
    start[last] = n


@njit
def sort_into_bins(x, y, z, shape, lower, width, bin_, start, order):
    """Sort agents by bins: fill `start` and `order`."""
    for q in range(x.shape[0]):
        i, _ = bin_of(x[q], lower[0], width, shape[0])
        j, _ = bin_of(y[q], lower[1], width, shape[1])
        k, _ = bin_of(z[q], lower[2], width, shape[2])
        bin_[q] = (i * shape[1] + j) * shape[2] + k
    counting_sort(bin_, start, order)
