"""Other agents in increasing distance: the one interface between a search and the cell kernel.

`open_search` gets ready, `next_nearest` hands out one agent at a time. Here the search is brute
force over a heap; another search need only keep the order, ties included.

key, who: the heap, squared distances and agents. dx, dy: displacement of each agent.
"""

from dwell._kernels._jit import inner


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
def open_search(p, lo, hi, px, py, xs, ys, key, who, dx, dy):
    """Line up agents lo..hi but p, seen from (px, py); gives how many there are."""
    size = 0
    for q in range(lo, hi):
        dx[q] = xs[q] - px
        dy[q] = ys[q] - py
        if q != p:
            key[size] = dx[q] * dx[q] + dy[q] * dy[q]
            who[size] = q
            size += 1
    for root in range(size // 2 - 1, -1, -1):
        sift_down(root, size, key, who, dx, dy)
    return size


@inner
def next_nearest(size, key, who, dx, dy):
    """Take the nearest candidate off the line; gives its index and leaves size - 1 behind."""
    q = who[0]
    key[0] = key[size - 1]
    who[0] = who[size - 1]
    sift_down(0, size - 1, key, who, dx, dy)
    return q
