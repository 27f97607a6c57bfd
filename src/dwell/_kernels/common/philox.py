"""Chance as a function: draw k of stream p under a key, by Philox4x32-10.

Random access by counter, so no draw depends on how many agents there are, on the order of
events, or on where a run was cut and resumed. Integers are kept in 64 bits and masked: the
same bits compiled (where products wrap) and as plain Python (where they grow).
"""

from dwell._kernels._jit import njit

MASK = 0xFFFFFFFF
MULTIPLIER_0 = 0xD2511F53
MULTIPLIER_1 = 0xCD9E8D57
WEYL_0 = 0x9E3779B9
WEYL_1 = 0xBB67AE85
TWO_26 = 67108864
TWO_MINUS_53 = 1.1102230246251565e-16

STREAM_RESETS = 0  # timer resets: counter (k, agent)
STREAM_STARTS = 1  # scattered starts
STREAM_TURNS = 2  # whose turn it is: counter (turn, 0)
STREAM_LOSSES = 3  # lost measurements and messages: counter (k, agent)


@njit
def philox(c0, c1, c2, c3, k0, k1):
    """The four 32-bit words of counter (c0, c1, c2, c3) under key (k0, k1)."""
    for _ in range(10):
        p0 = MULTIPLIER_0 * c0
        p1 = MULTIPLIER_1 * c2
        h0 = (p0 >> 32) & MASK
        h1 = (p1 >> 32) & MASK
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, p1 & MASK, h0 ^ c3 ^ k1, p0 & MASK
        k0 = (k0 + WEYL_0) & MASK
        k1 = (k1 + WEYL_1) & MASK
    return c0, c1, c2, c3


@njit
def uniform_pair(key0, key1, purpose, stream, k):
    """Two draws at once: a point of the unit square."""
    a, b, c, d = philox(k & MASK, (k >> 32) & MASK, stream, purpose, key0, key1)
    first = ((a >> 5) * TWO_26 + (b >> 6)) * TWO_MINUS_53
    return first, ((c >> 5) * TWO_26 + (d >> 6)) * TWO_MINUS_53


@njit
def uniform(key0, key1, purpose, stream, k):
    """Draw k of `stream`, in [0, 1), with 53 random bits."""
    return uniform_pair(key0, key1, purpose, stream, k)[0]


@njit
def fill_pairs(key0, key1, purpose, stream, k, out):
    """Row i of `out` (two columns) is the pair k[i] of stream[i]."""
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1] = uniform_pair(key0, key1, purpose, int(stream[i]), int(k[i]))
