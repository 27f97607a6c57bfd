"""Polynomials in the plane."""

from dwell._kernels._jit import inner


@inner
def polynomial_at(c, x, y):
    """sum c[i, j] x**i y**j by Horner's rule."""
    d = c.shape[0]
    v = 0.0
    for i in range(d - 1, -1, -1):
        w = 0.0
        for j in range(d - 1 - i, -1, -1):
            w = w * y + c[i, j]
        v = v * x + w
    return v
