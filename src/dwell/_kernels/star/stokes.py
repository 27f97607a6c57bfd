"""Uniform density: mass and moments of a cell by integrals along the borders of its constraints.

Where gauge f = b t + c is the largest, t being the cosine of the angle with its own axis a, the
radial integrals of 1, z and |z|**2 are u-dependent parts times f**-3 / 3, f**-4 / 4 and f**-5 / 5.
With (t, phi) as coordinates on the sphere, Stokes' theorem turns the integral of any F(t) into one
of (int_t^1 F) dphi along the border, and that of F(t) times the part of u across the axis into one
of F(t) (u x a) dt. Both forms are smooth but for the far pole t = -1, where no gauge is positive.
"""

from dwell._kernels._jit import inner
from dwell._kernels.star.arc_pieces import (
    DEEPEST,
    NODES,
    WEIGHT,
    X,
    along_arc,
    is_short,
    middle,
    put_waiting,
    quarter,
)  # fmt: skip
from dwell._kernels.star.arrangement import EX, EY, EZ, FX, FY, FZ, MX, MY, MZ
from dwell._kernels.star.gauge import SHIFT, SLOPE, TOP, UX, UY, UZ


@inner
def side_terms(k, g, u, du, turn, gauge):
    """What one place of a border adds for the constraint k on its left, g = 1 / f there.

    turn: u x du. Gives (mass, first moments x, y, z, polar), the last two still to be divided.
    """
    ax, ay, az = gauge[k, UX], gauge[k, UY], gauge[k, UZ]
    t = ax * u[0] + ay * u[1] + az * u[2]
    h = 1.0 / gauge[k, TOP]
    # s_n = (int_t^1 f**-n) / (1 - t) = (g**(n-1) h + ... + g h**(n-1)) / (n - 1)
    gh = g * h
    s3 = 0.5 * gh * (g + h)
    s4 = gh * (g * g + gh + h * h) * (1.0 / 3.0)
    s5 = 0.25 * gh * (g + h) * (g * g + h * h)
    swept = (ax * turn[0] + ay * turn[1] + az * turn[2]) / (1.0 + t)  # (1 - t) dphi
    along = (s3 - gauge[k, SHIFT] * s4) / gauge[k, SLOPE] * swept
    across = g * g * g * g * (ax * du[0] + ay * du[1] + az * du[2])
    return (
        s3 * swept,
        along * ax + across * (u[1] * az - u[2] * ay),
        along * ay + across * (u[2] * ax - u[0] * az),
        along * az + across * (u[0] * ay - u[1] * ax),
        s5 * swept,
    )


@inner
def panel_terms(e, i, j, low, x, y, w, gauge, arc):
    """What a piece of arc e between the constraints i and j adds; `low` is the flatter one."""
    px = x * arc[e, EX] + y * arc[e, FX]
    py = x * arc[e, EY] + y * arc[e, FY]
    pz = x * arc[e, EZ] + y * arc[e, FZ]
    qx = x * arc[e, FX] - y * arc[e, EX]
    qy = x * arc[e, FY] - y * arc[e, EY]
    qz = x * arc[e, FZ] - y * arc[e, EZ]
    mx, my, mz = arc[e, MX], arc[e, MY], arc[e, MZ]
    f0, f1, f2 = along_arc(low, e, x, y, gauge, arc)
    mass = fx = fy = fz = polar = 0.0
    for s in range(NODES):
        v = w * X[s]
        d = 1.0 / (1.0 + v * v)
        cos = (1.0 - v * v) * d
        sin = 2.0 * v * d
        share = 2.0 * w * WEIGHT[s] * d
        u = (mx + cos * px + sin * qx, my + cos * py + sin * qy, mz + cos * pz + sin * qz)
        du = (cos * qx - sin * px, cos * qy - sin * py, cos * qz - sin * pz)
        turn = (
            u[1] * du[2] - u[2] * du[1],
            u[2] * du[0] - u[0] * du[2],
            u[0] * du[1] - u[1] * du[0],
        )
        g = 1.0 / (f0 + cos * f1 + sin * f2)
        a = side_terms(i, g, u, du, turn, gauge)
        b = side_terms(j, g, u, du, turn, gauge)
        mass += share * (a[0] - b[0])
        fx += share * (a[1] - b[1])
        fy += share * (a[2] - b[2])
        fz += share * (a[3] - b[3])
        polar += share * (a[4] - b[4])
    return mass, fx, fy, fz, polar


@inner
def arc_terms(e, i, j, gauge, arc, stack):
    """What arc e adds, piece by piece."""
    low = i if gauge[i, SLOPE] < gauge[j, SLOPE] else j
    mass = fx = fy = fz = polar = 0.0
    for step in range(4):
        x0, y0, x1, y1, last = quarter(e, step, arc)
        depth = 0
        put_waiting(0, x0, y0, x1, y1, stack)
        while depth >= 0:
            x0, y0, x1, y1 = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
            x, y, w = middle(x0, y0, x1, y1)
            f0, f1, f2 = along_arc(low, e, x, y, gauge, arc)
            if depth < DEEPEST and not is_short(f0, f1, f2, w):
                put_waiting(depth, x, y, x1, y1, stack)
                depth += 1
                put_waiting(depth, x0, y0, x, y, stack)
                continue
            m, a, b, c, p = panel_terms(e, i, j, low, x, y, w, gauge, arc)
            mass += m
            fx += a
            fy += b
            fz += c
            polar += p
            depth -= 1
        if last:
            break
    return mass, fx, fy, fz, polar


@inner
def uniform_moments(arcs, buffers):
    """(mass, first moments x, y, z, polar moment about the agent) of the cell with these arcs."""
    mass = fx = fy = fz = polar = 0.0
    for e in range(arcs):
        m, a, b, c, p = arc_terms(
            e, buffers.owner[e, 0], buffers.owner[e, 1], buffers.gauge, buffers.arc, buffers.stack
        )
        mass += m
        fx += a
        fy += b
        fz += c
        polar += p
    return mass / 3.0, fx / 4.0, fy / 4.0, fz / 4.0, polar / 5.0
