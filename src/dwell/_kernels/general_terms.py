"""A density as plain arrays in any number of dimensions."""

from typing import NamedTuple

import numpy as np


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
