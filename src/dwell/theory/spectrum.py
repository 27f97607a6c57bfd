"""Eigenvalues of the derivative of the centroids: whole spectra of a few agents, ends of many."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.theory.derivatives import Derivatives

DENSE = 300  # agents up to which the whole spectrum is computed
SOFT = 12  # modes known beyond that, and the stiffest one
SMALL = 16  # rows up to which a sparse matrix is made dense
BASIS = 40  # vectors that the largest eigenvalue of a larger one is sought among
FLAT = 1e-6  # a gap that cannot be distinguished from 0 where errors are a millionth of a cell


def weighed(found: Derivatives, dense: int | None = None) -> Any:
    """M^1/2 Dc M^-1/2: a dense array for a few agents, a sparse one for many."""
    log = 0.5 * (found.log_masses[found.row] - found.log_masses[found.column])
    blocks = found.centroid * np.exp(np.clip(log, -300.0, 300.0))[:, None, None]
    whole: Any = replace(found, centroid=blocks).jacobian
    return whole.toarray() if found.agents <= (dense or DENSE) else whole


def symmetric(matrix: Any) -> Any:
    return 0.5 * (matrix + matrix.T)


def largest(matrix: Any) -> float:
    """The largest eigenvalue of a symmetric matrix."""
    return softest(matrix)[0]


def softest(matrix: Any) -> tuple[float, Floats]:
    """The largest eigenvalue of a symmetric matrix, and its eigenvector.

    Signs are such that the first large entry is positive.
    """
    if isinstance(matrix, np.ndarray) or matrix.shape[0] <= SMALL:
        whole = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        values, vectors = np.linalg.eigh(whole)
    else:
        from scipy.sparse.linalg import eigsh

        size = matrix.shape[0]
        values, vectors = eigsh(matrix, k=1, which="LA", v0=_seedling(matrix), ncv=min(size, BASIS))
    vector: Floats = vectors[:, -1]
    first = int(np.argmax(np.abs(vector) > 0.5 * np.abs(vector).max()))
    return float(values[-1]), vector if vector[first] > 0.0 else -vector


def eigenpairs(found: Derivatives, centroidal: bool) -> tuple[Floats, Floats, Floats]:
    """Eigenvalues of Dc, softest first, their imaginary parts, and displacements (K, N, n).

    At a centroidal configuration they are real, and those of a symmetric matrix.
    """
    n = found.dimension
    if centroidal:
        values, vectors = _pairs(symmetric(weighed(found)), np.linalg.eigh, "eigsh", "A")
        log = np.repeat(found.log_masses, n)[:, None]
        vectors = vectors * np.exp(-0.5 * np.clip(log - log.min(), 0.0, 600.0))
    else:
        whole: Any = found.jacobian
        whole = whole.toarray() if found.agents <= DENSE else whole
        values, vectors = _pairs(whole, np.linalg.eig, "eigs", "R")
    order = np.lexsort((np.abs(values.imag), -values.real))
    values, shapes = values[order], np.ascontiguousarray(vectors[:, order].real)
    if centroidal:
        shapes = _sharpened(found, values, shapes)
    modes = np.array([_normalised(shape.reshape(-1, n)) for shape in shapes.T])
    return values.real, values.imag, modes


def _pairs(matrix: Any, dense: Any, sparse: str, by: str) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors; of a sparse matrix the smallest one and the SOFT largest."""
    if isinstance(matrix, np.ndarray):
        values, vectors = dense(matrix)
        return values, vectors
    from scipy.sparse import linalg

    ends = ((1, f"S{by}"), (SOFT, f"L{by}"))
    solve, start = getattr(linalg, sparse), _seedling(matrix)
    low, high = (solve(matrix, k=k, which=which, v0=start, ncv=8 * SOFT) for k, which in ends)
    return np.append(low[0], high[0]), np.hstack([low[1], high[1]])


def _seedling(matrix: Any) -> Floats:
    """A reproducible first vector for an iteration."""
    return np.random.default_rng(0).standard_normal(int(matrix.shape[0]))


def _sharpened(found: Derivatives, values: Floats, shapes: Floats) -> Floats:
    """Modes with the digits back that agents of hardly any mass have lost in the weighed ones.

    One step of inverse iteration on Dc itself, in which every agent counts alike.
    """
    spread = float(np.ptp(found.log_masses))
    if spread < 20.0 or found.agents > DENSE:
        return shapes
    whole, one = found.jacobian.toarray(), np.eye(found.dimension * found.agents)
    sharper = [
        np.linalg.solve(whole - (value + 1e-9) * one, shape / np.abs(shape).max())
        for value, shape in zip(values, shapes.T, strict=True)
    ]
    return np.array(sharper).T


def _normalised(shape: Points) -> Points:
    """A mode whose largest displacement is 1, and whose largest coordinate is positive."""
    parts = shape / np.abs(shape).max()
    flat = np.abs(parts.ravel())
    first = int(np.argmax(flat >= (1.0 - 1e-6) * flat.max()))  # the first of equal ones
    sign = np.sign(parts.ravel()[first])
    mode: Floats = sign * parts / lengths(parts).max()
    return mode
