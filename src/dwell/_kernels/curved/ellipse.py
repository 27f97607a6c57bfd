"""Lines and arcs of an ellipse {z: |W (z - c)| <= 1}, W upper triangular.

W turns the ellipse into the unit disc; seen from an agent at p, a point u of its frame goes to
W (u + g) with g = p - c. K below is the quarter turn to the right in the disc's coordinates, taken
back to the agent's: for the chord D of an arc that runs counter-clockwise, K D points outward.

Numbers written h, l are double-double: see careful.py.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.careful import add, cross_product, quotient, times


@inner
def square_root(ah, al):
    """sqrt(ah + al) for ah > 0."""
    s = math.sqrt(ah)
    ph, pl = times(s, 0.0, s, 0.0)
    rh, _ = add(ah, al, -ph, -pl)
    e = rh / (2.0 * s)
    t = s + e
    return t, e - (t - s)


@inner
def whitened(w, xh, xl, yh, yl):
    """W (x, y) in double-double; w = (W11, W12, W22)."""
    ah, al = times(w[0], 0.0, xh, xl)
    bh, bl = times(w[1], 0.0, yh, yl)
    uh, ul = add(ah, al, bh, bl)
    vh, vl = times(w[2], 0.0, yh, yl)
    return uh, ul, vh, vl


@inner
def beyond(x, y, gx, gy, w):
    """How far the point (x, y) lies outside the ellipse: |W (z + g)|**2 - 1."""
    vy = y + gy
    a = w[0] * (x + gx) + w[1] * vy
    b = w[2] * vy
    return a * a + b * b - 1.0


@inner
def turned_right(dx, dy, w):
    """K (dx, dy)."""
    a = w[0] * dx + w[1] * dy
    b = w[2] * dy
    y = -a / w[2]
    return (b - w[1] * y) / w[0], y


@inner
def half_chord(dx, dy, w):
    """Half the length of the chord (dx, dy) in the disc's coordinates."""
    a = w[0] * dx + w[1] * dy
    b = w[2] * dy
    return 0.5 * math.sqrt(a * a + b * b)


@inner
def rise_of_chord(ax, ay, dx, dy, gx, gy, w):
    """Distance of the chord from the centre, in the disc; < 0 where the arc exceeds half a turn.

    Taken from the centre, not from the chord's length: that would lose half the digits near 0.
    """
    vy = (ay + 0.5 * dy) + gy
    mx = w[0] * ((ax + 0.5 * dx) + gx) + w[1] * vy
    my = w[2] * vy
    a = w[0] * dx + w[1] * dy
    b = w[2] * dy
    length = math.sqrt(a * a + b * b)
    return (mx * b - my * a) / length


@inner
def crossing(dxh, dxl, dyh, dyl, gxh, gxl, gyh, gyl, w):
    """The line with all points as near to (0, 0) as to d, against the ellipse.

    Gives (crosses, middle, sh, sl, th, tl): it enters the ellipse at d / 2 + s e, and leaves it at
    d / 2 + t e, with e = d turned left; `middle` is halfway. Without crossing s = t = middle.
    """
    xh, xl = add(gxh, gxl, 0.5 * dxh, 0.5 * dxl)
    yh, yl = add(gyh, gyl, 0.5 * dyh, 0.5 * dyl)
    yxh, yxl, yyh, yyl = whitened(w, xh, xl, yh, yl)
    fxh, fxl, fyh, fyl = whitened(w, -dyh, -dyl, dxh, dxl)
    ph, pl = times(fxh, fxl, fxh, fxl)
    qh, ql = times(fyh, fyl, fyh, fyl)
    squareh, squarel = add(ph, pl, qh, ql)
    ph, pl = times(yxh, yxl, fxh, fxl)
    qh, ql = times(yyh, yyl, fyh, fyl)
    slopeh, slopel = add(ph, pl, qh, ql)
    ch, cl = cross_product(yxh, yxl, yyh, yyl, fxh, fxl, fyh, fyl)
    ph, pl = times(ch, cl, ch, cl)
    disch, discl = add(squareh, squarel, -ph, -pl)
    middle = -slopeh / squareh
    if disch <= 0.0:
        return False, middle, middle, 0.0, middle, 0.0
    rh, rl = square_root(disch, discl)
    ph, pl = add(-slopeh, -slopel, -rh, -rl)
    qh, ql = add(-slopeh, -slopel, rh, rl)
    sh, sl = quotient(ph, pl, squareh, squarel)
    th, tl = quotient(qh, ql, squareh, squarel)
    return True, middle, sh, sl, th, tl


@inner
def place_on_line(dxh, dxl, dyh, dyl, sh, sl):
    """d / 2 + s e, as (xh, xl, yh, yl)."""
    ph, pl = times(sh, sl, dyh, dyl)
    xh, xl = add(0.5 * dxh, 0.5 * dxl, -ph, -pl)
    ph, pl = times(sh, sl, dxh, dxl)
    yh, yl = add(0.5 * dyh, 0.5 * dyl, ph, pl)
    return xh, xl, yh, yl
