"""A density as plain arrays, in the plane and in n dimensions."""

import math
from typing import Any, NamedTuple

import numpy as np

# Columns of a track of a density: row of Terms.gaussians, first column there, number of columns,
# kind, first keyframe, number of keyframes. Row OF_RASTER is the number of a raster's frame.
ROW, COLUMN, WIDTH, KIND, FIRST, KEYS = range(6)
OF_RASTER = -1


class RasterTerms(NamedTuple):
    """Values on a grid of pixels, with sums over blocks and tiles: see polygon/raster.py.

    The first axis of values, blocks and tiles is that of frames; one frame alone has none.
    """

    # (frames, rows of tiles, columns of tiles, TILE, TILE), in the type of the file: pixels near
    # each other lie on one page of memory
    values: np.ndarray
    rows: int  # of pixels
    columns: int
    bilinear: int  # 1: bilinear between pixel centres; 0: constant per pixel
    scale: float  # what values are multiplied by
    # (11,): x, y of the outer corner of values[0, 0]; rows of the matrix from offsets to columns
    # and rows; rows of its inverse; the determinant of the inverse
    place: np.ndarray
    blocks: np.ndarray  # (frames, rows of tiles, blocks, TILE, 3)
    tiles: np.ndarray  # (frames, rows of tiles, columns of tiles, 6)
    # (1,): the number of the present frame, and as its fraction the share of the next one. It is
    # overwritten where frames change over time.
    frame: np.ndarray


class Terms(NamedTuple):
    """The sum of a constant, polynomials and Gaussians; or weights on a lattice of points.

    Gaussians are rows of weight, center, Qxx, Qxy, Qyy, C11, C12, C22 with Q = C'C. No kernel
    writes to these arrays: defaults are shared.
    """

    constant: float = 0.0
    polynomials: np.ndarray = np.zeros((0, 1, 1))  # (m, d + 1, d + 1): of (x - a)**i (y - b)**j
    origins: np.ndarray = np.zeros((0, 2))  # (m, 2): (a, b)
    gaussians: np.ndarray = np.zeros((0, 9))
    lattice: np.ndarray = np.zeros((0, 0))  # (rows, columns) masses; empty: exact integrals
    frame: np.ndarray = np.zeros(3)  # first point x, y, and the spacing
    # Parameters that change over time: see tracks.py. What they refer to is overwritten.
    track: np.ndarray = np.zeros((0, 6), dtype=np.int64)
    key_times: np.ndarray = np.zeros(0)
    key_values: np.ndarray = np.zeros((0, 2))
    region: Any = None  # the pieces to which the density is confined: see polygon/pieces.py
    raster: RasterTerms | None = None  # added to the sum


def gaussian_row(
    weight: float,
    center: tuple[float, float],
    form: tuple[float, float, float],
    pivot: float,
) -> list[float]:
    """One row of Terms.gaussians: weight * exp(-(z - center)' Q (z - center)).

    `form` is (Qxx, Qxy, Qyy), positive definite; `pivot` is Qyy - Qxy**2 / Qxx, which the caller
    knows without that difference. Square roots are correctly rounded, so that scaling by powers of
    two stays exact.
    """
    qxx, qxy, qyy = form
    c11 = math.sqrt(qxx)
    c12 = qxy / c11
    c22 = math.sqrt(pivot)
    return [weight, *center, qxx, qxy, qyy, c11, c12, c22]


class GeneralTerms(NamedTuple):
    """The sum of a constant, monomials and Gaussians in n dimensions."""

    constant: float
    powers: np.ndarray  # (m, n) whole numbers: monomial k is the product of (z - origin)**power
    coefficients: np.ndarray  # (m,)
    origins: np.ndarray  # (m, n)
    weights: np.ndarray  # (g,)
    centers: np.ndarray  # (g, n)
    forms: np.ndarray  # (g, n, n) Q of weight * exp(-(z - center)' Q (z - center))
    roots: np.ndarray  # (g, n, n) upper triangular C with Q = C'C


def general_terms(
    dimension: int,
    constant: float = 0.0,
    monomials: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    gaussians: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None = None,
) -> GeneralTerms:
    """Terms from (powers, coefficients, origins) and (weights, centers, forms, roots)."""
    n = dimension
    if monomials is None:
        monomials = (np.zeros((0, n), dtype=np.int64), np.zeros(0), np.zeros((0, n)))
    if gaussians is None:
        gaussians = (np.zeros(0), np.zeros((0, n)), np.zeros((0, n, n)), np.zeros((0, n, n)))
    return GeneralTerms(float(constant), *monomials, *gaussians)
