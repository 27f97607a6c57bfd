"""Other agents in increasing distance: the one interface between a search and the cell kernel.

A few agents are sorted beforehand (`sort_few`); of many, `open_heap` makes a heap from which
`next_nearest` hands out one at a time. The order is the same, ties included.

key, who: squared distances and agents. dx, dy: displacement of each agent.
"""

from dwell._kernels._jit import inner
from dwell._kernels.polygon.buffers import SORTED


@inner
def comes_before(i, j, key, who, dx, dy):
    """Whether heap entry i is taken before j: by distance, then by displacement.

    The rule for ties names no index, so that renumbering agents changes no bit of a cell.
    """
    if key[i] != key[j]:
        return key[i] < key[j]
    a = who[i]
    b = who[j]
    if dx[a] != dx[b]:
        return dx[a] < dx[b]
    return dy[a] < dy[b]


@inner
def sift_down(root, size, key, who, dx, dy):
    """Restore the heap order below `root`."""
    while True:
        child = 2 * root + 1
        if child >= size:
            return
        if child + 1 < size and comes_before(child + 1, child, key, who, dx, dy):
            child += 1
        if not comes_before(child, root, key, who, dx, dy):
            return
        key[child], key[root] = key[root], key[child]
        who[child], who[root] = who[root], who[child]
        root = child


@inner
def measure_distances(p, lo, hi, px, py, xs, ys, key, who, dx, dy):
    """List agents lo..hi but p, seen from (px, py); gives how many there are."""
    size = 0
    for q in range(lo, hi):
        dx[q] = xs[q] - px
        dy[q] = ys[q] - py
        if q != p:
            key[size] = dx[q] * dx[q] + dy[q] * dy[q]
            who[size] = q
            size += 1
    return size


@inner
def sort_few(size, key, who, rank, far, sequence):
    """Sort a list by distance into far and sequence; gives whether that could be done.

    It cannot where two are equally far. Each one's place is the number of those nearer than it:
    more comparisons than sorts make, but all at once, and nothing to be guessed wrong.
    """
    if size > SORTED:
        return False
    total = 0
    for i in range(size):
        here = key[i]
        nearer = 0
        for j in range(size):
            nearer += 1 if key[j] < here else 0
        rank[i] = nearer
        total += nearer
    if total != size * (size - 1) // 2:  # places would be 0, 1, 2, ...
        return False
    for i in range(size):
        far[rank[i]] = key[i]
        sequence[rank[i]] = who[i]
    return True


@inner
def open_heap(size, key, who, dx, dy):
    """Make the list a heap."""
    for root in range(size // 2 - 1, -1, -1):
        sift_down(root, size, key, who, dx, dy)


@inner
def next_nearest(size, key, who, dx, dy):
    """Take the nearest candidate off the line; gives its index and leaves size - 1 behind."""
    q = who[0]
    key[0] = key[size - 1]
    who[0] = who[size - 1]
    sift_down(0, size - 1, key, who, dx, dy)
    return q
