"""Workspaces and agents in space, and the kernels behind a short call."""

from __future__ import annotations

import numpy as np

from dwell._kernels.common.density_terms import GeneralTerms, general_terms
from dwell.cells import polyhedron as space
from dwell.cells.measurement import CellMeasurements
from dwell.cells.weighted_region import WeightedRegion
from dwell.density import Uniform
from dwell.geometry import Box, Polytope

FAR = 5e6
UNIFORM = general_terms(3, 1.0)
OCTAHEDRON = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]


def cube(offset: float = 0.0, side: float = 1.0) -> Box:
    return Box((offset,) * 3, (offset + side,) * 3)


def hills(weights, centers, forms) -> GeneralTerms:
    """A sum of Gaussians w exp(-(z - c)' Q (z - c))."""
    q = np.asarray(forms, dtype=float).reshape(-1, 3, 3)
    roots = np.array([np.linalg.cholesky(form).T for form in q])
    c = np.asarray(centers, dtype=float).reshape(-1, 3)
    return general_terms(3, gaussians=(np.asarray(weights, dtype=float), c, q, roots))


def ground(workspace, terms: GeneralTerms = UNIFORM) -> WeightedRegion:
    return WeightedRegion(workspace, Uniform(), terms)


def measure(workspace, points, terms: GeneralTerms = UNIFORM, threads: int = 1) -> CellMeasurements:
    """What all agents see in one configuration."""
    points = np.asarray(points, dtype=float)
    all_agents = np.arange(len(points))
    where = ground(workspace, terms)
    return space.measure(
        where, points[None], np.zeros_like(all_agents), all_agents, threads=threads
    )


def mesh(*axes) -> np.ndarray:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def cubic(count: int = 8) -> np.ndarray:
    """Eight agents meet in every vertex."""
    steps = (np.arange(count) + 0.5) / count
    return mesh(steps, steps, steps)


def body_centred(count: int = 6) -> np.ndarray:
    steps = np.arange(count) / count
    corners = mesh(steps, steps, steps)
    return np.vstack([corners + 0.25 / count, corners + 0.75 / count])


def face_centred(count: int = 5) -> np.ndarray:
    steps = np.arange(count) / count
    corners = mesh(steps, steps, steps) + 0.25 / count
    moves = np.array([(0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1)]) * 0.5 / count
    return np.vstack([corners + move for move in moves])


def cospherical(count: int = 200) -> np.ndarray:
    arms = np.random.default_rng(2).normal(size=(count, 3))
    return np.vstack([0.5 + 0.4 * arms / np.linalg.norm(arms, axis=1)[:, None], [[0.5] * 3]])


def scattered(count: int = 300, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.0, 1.0, (count, 3))


def in_pairs(gap: float, count: int = 100) -> np.ndarray:
    points = scattered(count, 3)
    return np.unique(np.vstack([points, points + gap]), axis=0).clip(0.0, 1.0)


def on_walls() -> np.ndarray:
    """Agents inside, on faces, on edges and in corners of the unit cube."""
    points = scattered(120, 4)
    points[:40, 0] = 0.0
    points[40:60, 1] = 1.0
    points[60:70, 1:] = (0.0, 1.0)
    return np.vstack([points, mesh((0.0, 1.0), (0.0, 1.0), (0.0, 1.0))])


HARD = {
    "scattered": scattered(),
    "cubic": cubic(),
    "body-centred": body_centred(),
    "face-centred": face_centred(),
    "cospherical": cospherical(),
    "collinear": np.column_stack([np.linspace(0.01, 0.99, 99), np.full((99, 2), 0.5)]),
    "coplanar": np.column_stack([scattered(150, 5)[:, :2], np.full(150, 0.5)]),
    "on walls": on_walls(),
    "pairs 1e-9": in_pairs(1e-9),
    "clusters": np.vstack([scattered(20, 6), 0.3 + 1e-7 * scattered(40, 7)]),
    "nearly coincident": in_pairs(1e-15),
    "two": np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5 + 1e-9]]),
    "one": np.array([[0.1, 0.2, 0.3]]),
}


def polytopes() -> dict[str, Polytope]:
    """Workspaces with slanted walls, and with corners where more than three of them meet."""
    round_ = np.random.default_rng(8).normal(size=(24, 3))
    return {
        "octahedron": Polytope(OCTAHEDRON),
        "round": Polytope(round_ / np.linalg.norm(round_, axis=1)[:, None]),
        "slab": Polytope(np.array(OCTAHEDRON) * (1.0, 1.0, 1e-3)),
    }
