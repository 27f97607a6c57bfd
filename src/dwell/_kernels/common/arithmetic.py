"""Floating-point building blocks: double-double numbers, exponentials, sums in a fixed order.

A double-double number h + l has twice the digits (Knuth, Dekker).
"""

import math

import numpy as np

from dwell._kernels._jit import ENABLED, inner, njit

SPLITTER = 134217729.0  # 2**27 + 1 (Veltkamp)
LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238  # the leading 33 bits of log 2: k * LN2_HIGH is exact
LN2_LOW = 1.9082149292705877e-10
EXP_UNDERFLOW = -744.4  # e**-744.4 is the smallest double, up to rounding
EXP_LARGEST = 709.0
LEAST = 1074  # 2**-1074 is the smallest double
POWERS = np.ldexp(1.0, np.arange(-LEAST, 1024))


@inner
def larger(a, b):
    """The larger of two numbers; quicker to compile than the built-in."""
    return a if a > b else b


@inner
def smaller(a, b):
    """The smaller of two numbers."""
    return a if a < b else b


@inner
def clamped(x, low, high):
    """The number in [low, high] that is nearest to x.

    What may be beyond all whole numbers is clamped before it is rounded to one.
    """
    return smaller(larger(x, low), high)


if ENABLED:
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def fused(typing, a, b, c):
        """a * b + c, rounded once."""

        def generate(context, builder, signature, arguments):
            return builder.fma(*arguments)

        return types.float64(types.float64, types.float64, types.float64), generate

    @intrinsic
    def prefetch(typing, array, index):
        """LLVM's prefetch of array[index]."""

        def generate(context, builder, signature, arguments):
            kind = signature.args[0]
            whole = context.make_array(kind)(context, builder, arguments[0])
            zero = context.get_constant(types.intp, 0)
            indices = [arguments[1]] + [zero] * (kind.ndim - 1)
            place = cgutils.get_item_pointer(context, builder, kind, whole, indices)
            hint = builder.bitcast(place, cgutils.voidptr_t)
            number = cgutils.int32_t
            kinds = cgutils.ir.FunctionType(cgutils.ir.VoidType(), [hint.type] + [number] * 3)
            call = builder.module.declare_intrinsic("llvm.prefetch", [hint.type], kinds)
            builder.call(call, [hint, number(0), number(3), number(1)])  # read, keep, data
            return context.get_dummy_value()

        return types.none(array, types.intp), generate

    @inner
    def fetch(array, index):
        """Request the cache line of array[index], without waiting for it."""
        prefetch(array, index)

    @inner
    def product_error(a, b, p):
        """The rounding error of p = fl(a * b), exactly."""
        return fused(a, b, -p)

else:

    def fetch(array, index):
        """Do nothing: plain Python has no control of the cache."""

    def product_error(a, b, p):
        """Product and its rounding error by + - * alone (Dekker), without a fused operation."""
        t = SPLITTER * a
        a1 = t - (t - a)
        a2 = a - a1
        t = SPLITTER * b
        b1 = t - (t - b)
        b2 = b - b1
        return ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


@njit
def cross(ax, ay, bx, by):
    """ax * by - ay * bx to a few units in the last place, however much the products cancel."""
    p = ax * by
    q = ay * bx
    d = p - q
    if abs(d) > 0.125 * (abs(p) + abs(q)):
        return d
    return d + (product_error(ax, by, p) - product_error(ay, bx, q))


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


@njit
def exponential(x):
    """e**x for any x <= 709 within 1 ulp or so, by + - * / alone: the same bits everywhere."""
    if x < EXP_UNDERFLOW:
        return 0.0
    if x > EXP_LARGEST:
        x = EXP_LARGEST
    k = math.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    # Taylor to degree 13 on |r| <= 0.347, the two leading terms added last.
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    return (1.0 + (r + r * r * p)) * POWERS[k + LEAST]


@inner
def small_exponential(y):
    """e**y - 1 for |y| up to 0.16, by its Taylor polynomial: without branches, for vector code.

    A larger argument is halved beforehand and the result squared back: e**2y - 1 = v (v + 2).
    """
    p = y * (1.0 / 3628800.0) + 1.0 / 362880.0
    p = p * y + 1.0 / 40320.0
    p = p * y + 1.0 / 5040.0
    p = p * y + 1.0 / 720.0
    p = p * y + 1.0 / 120.0
    p = p * y + 1.0 / 24.0
    p = p * y + 1.0 / 6.0
    p = p * y + 0.5
    return y + y * y * p


@inner
def sum_of_16(v):
    """Sixteen numbers by four sums of four: the additions need not wait for one another."""
    s0 = s1 = s2 = s3 = 0.0
    for k in range(0, 16, 4):
        s0 += v[k]
        s1 += v[k + 1]
        s2 += v[k + 2]
        s3 += v[k + 3]
    return (s0 + s1) + (s2 + s3)


@inner
def range_of(n, x):
    """Return the least and the largest of n numbers."""
    low = high = x[0]
    for k in range(n):
        low = smaller(low, x[k])
        high = larger(high, x[k])
    return low, high


@njit
def add_each(who, terms, high, low):
    """Add terms[k] to the sum of agent who[k], one after another.

    `low` gathers what rounding takes away from `high`; high + low is the sum, as good as exact for
    terms of one sign. The order of an agent's terms alone decides the bits.
    """
    for k in range(who.shape[0]):
        p = who[k]
        term = terms[k]
        before = high[p]
        total = before + term
        if math.fabs(before) >= math.fabs(term):
            low[p] += (before - total) + term
        else:
            low[p] += (term - total) + before
        high[p] = total
