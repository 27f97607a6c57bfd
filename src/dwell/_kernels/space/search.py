"""Other agents in increasing distance, by bins.

Agents lie sorted in cubic bins. Shell after shell of bins around the agent's own is emptied onto a
heap, and what lies nearer than all shells to come is handed out. Agents come by distance, then by
displacement: the order names neither bins nor numbers, so that brute force (a single bin) and any
numbering of the agents give the same cells to the last bit.
"""

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import larger, smaller

SLACK = 1e-6  # of a bin: agents may be filed so far off by rounding, and by much less


@inner
def comes_before(i, j, key, who, x, y, z):
    """Whether heap entry i is taken before j: by distance, then by place."""
    if key[i] != key[j]:
        return key[i] < key[j]
    a = who[i]
    b = who[j]
    if x[a] != x[b]:
        return x[a] < x[b]
    if y[a] != y[b]:
        return y[a] < y[b]
    return z[a] < z[b]


@inner
def sift_down(root, size, key, who, x, y, z):
    """Restore the heap order below `root`."""
    while True:
        child = 2 * root + 1
        if child >= size:
            return
        if child + 1 < size and comes_before(child + 1, child, key, who, x, y, z):
            child += 1
        if not comes_before(child, root, key, who, x, y, z):
            return
        key[child], key[root] = key[root], key[child]
        who[child], who[root] = who[root], who[child]
        root = child


@inner
def heapify(size, key, who, x, y, z):
    """Make a heap of the first `size` entries."""
    for root in range(size // 2 - 1, -1, -1):
        sift_down(root, size, key, who, x, y, z)


@inner
def bin_of(value, lower, width, count):
    """The bin along one axis, and the place in units of bins."""
    at = (value - lower) / width
    k = int(at)
    if k > count - 1:
        k = count - 1
    if k < 0:
        k = 0
    return k, at


@inner
def gap(k, own, at):
    """Least distance along one axis, in bins, from the place `at` in bin `own` to bin k."""
    if k > own:
        return larger(0.0, k - at - SLACK)
    if k < own:
        return larger(0.0, at - (k + 1) - SLACK)
    return 0.0


@inner
def gather(first, last, p, reach, x, y, z, size, key, who):
    """Add agents first to last - 1 within squared distance `reach` of agent p, but not p."""
    px = x[p]
    py = y[p]
    pz = z[p]
    for q in range(first, last):
        dx = x[q] - px
        dy = y[q] - py
        dz = z[q] - pz
        d2 = dx * dx + dy * dy + dz * dz
        key[size] = d2
        who[size] = q
        if d2 <= reach and q != p:
            size += 1
    return size


@inner
def least_gap(r, own, at, count):
    """How near, in bins along one axis, agents beyond shell r may be; inf where there are none."""
    nearest = np.inf
    if own - r > 0:
        nearest = at - (own - r) - SLACK
    if own + r < count - 1:
        nearest = smaller(nearest, own + r + 1 - at - SLACK)
    return larger(0.0, nearest)


@inner
def open_shell(r, p, reach, size, x, y, z, start, shape, lower, width, key, who):
    """Put the agents of shell r on the heap; shell 1 brings along shell 0.

    Gives the size of the heap, and the squared distance within which nobody is missing.
    """
    ni, nj, nk = shape[0], shape[1], shape[2]
    i0, ai = bin_of(x[p], lower[0], width, ni)
    j0, aj = bin_of(y[p], lower[1], width, nj)
    k0, ak = bin_of(z[p], lower[2], width, nk)
    in_bins = reach / (width * width)
    lowest = max(k0 - r, 0)
    highest = min(k0 + r, nk - 1)
    before = size
    for i in range(max(i0 - r, 0), min(i0 + r, ni - 1) + 1):
        gi = gap(i, i0, ai)
        for j in range(max(j0 - r, 0), min(j0 + r, nj - 1) + 1):
            gj = gap(j, j0, aj)
            if gi * gi + gj * gj > in_bins:
                continue
            row = (i * nj + j) * nk
            whole = r == 1 or i == i0 - r or i == i0 + r or j == j0 - r or j == j0 + r
            if whole:
                size = gather(
                    start[row + lowest], start[row + highest + 1],
                    p, reach, x, y, z, size, key, who,
                )  # fmt: skip
            else:
                if k0 - r >= 0:
                    b = row + k0 - r
                    size = gather(start[b], start[b + 1], p, reach, x, y, z, size, key, who)
                if k0 + r < nk:
                    b = row + k0 + r
                    size = gather(start[b], start[b + 1], p, reach, x, y, z, size, key, who)
    if size > before:
        heapify(size, key, who, x, y, z)
    safe = smaller(least_gap(r, i0, ai, ni), least_gap(r, j0, aj, nj))
    safe = smaller(safe, least_gap(r, k0, ak, nk)) * width
    return size, safe * safe


@inner
def take_first(size, key, who, x, y, z):
    """Take the nearest agent off the heap; gives its number and leaves size - 1 behind."""
    q = who[0]
    key[0] = key[size - 1]
    who[0] = who[size - 1]
    sift_down(0, size - 1, key, who, x, y, z)
    return q


@njit
def sort_into_bins(x, y, z, shape, lower, width, bin_, start, order):
    """Counting sort: fill `start` and `order` so that agents of a bin follow one another."""
    n = x.shape[0]
    start[:] = 0
    for q in range(n):
        i, _ = bin_of(x[q], lower[0], width, shape[0])
        j, _ = bin_of(y[q], lower[1], width, shape[1])
        k, _ = bin_of(z[q], lower[2], width, shape[2])
        b = (i * shape[1] + j) * shape[2] + k
        bin_[q] = b
        start[b + 1] += 1
    for b in range(start.shape[0] - 1):
        start[b + 1] += start[b]
    for q in range(n - 1, -1, -1):  # ends become starts
        b = bin_[q]
        start[b + 1] -= 1
        order[start[b + 1]] = q
    # start[b + 1] now holds where bin b begins: shift back by one
    for b in range(start.shape[0] - 1):
        start[b] = start[b + 1]
    start[start.shape[0] - 1] = n
