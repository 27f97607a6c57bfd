"""Double-double arithmetic: numbers h + l with twice the digits (Knuth, Dekker)."""

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import product_error


@inner
def difference(a, b):
    """a - b exactly, as h + l (Knuth)."""
    h = a - b
    t = h - a
    return h, (a - (h - t)) - (b + t)


@inner
def add(ah, al, bh, bl):
    """(ah + al) + (bh + bl)."""
    h = ah + bh
    t = h - ah
    e = (ah - (h - t)) + (bh - t) + al + bl
    s = h + e
    return s, e - (s - h)


@inner
def times(ah, al, bh, bl):
    """(ah + al) (bh + bl)."""
    h = ah * bh
    e = product_error(ah, bh, h) + (ah * bl + al * bh)
    s = h + e
    return s, e - (s - h)


@inner
def cross_product(ah, al, bh, bl, ch, cl, dh, dl):
    """a d - b c."""
    ph, pl = times(ah, al, dh, dl)
    qh, ql = times(bh, bl, ch, cl)
    return add(ph, pl, -qh, -ql)


@inner
def quotient(ah, al, bh, bl):
    """(ah + al) / (bh + bl)."""
    q = ah / bh
    ph, pl = times(q, 0.0, bh, bl)
    rh, _ = add(ah, al, -ph, -pl)
    e = rh / bh
    s = q + e
    return s, e - (s - q)
