"""Where Python enters."""

from dwell._kernels._jit import inlined, njit
from dwell._kernels.space.cells import voronoi_cell
from dwell._kernels.space.clip import turned


@inlined
def list_loops(n, s):
    """Write the faces one after another: vertices to s.gone, first of each to s.crossing.

    What is behind a face goes to s.face. Gives how many there are.
    """
    for v in range(n):
        s.mark[v] = 0
    faces = 0
    filled = 0
    for start in range(4 * n):
        v = start >> 2
        k = start & 3
        if k == 3 or (s.mark[v] >> k) & 1:
            continue
        s.crossing[faces] = filled
        s.face[faces] = s.plane[s.left[start]]
        faces += 1
        e = start
        while True:
            s.mark[e >> 2] |= 1 << (e & 3)
            s.gone[filled] = e >> 2
            filled += 1
            e = turned(s.mate[e])
            if e == start:
                break
    s.crossing[faces] = filled
    for v in range(n):
        s.mark[v] = 0
    return faces


@njit
def cell_of(p, solid, grid, s):
    """One Voronoi cell, with its faces listed: (vertices, agents looked at, faces)."""
    n, looked, _, _ = voronoi_cell(p, solid, grid, s)
    faces = 0
    if n > 0:
        faces = list_loops(n, s)
    return n, looked, faces
