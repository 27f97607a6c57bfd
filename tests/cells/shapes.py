"""Discs, ellipses, balls and ellipsoids, points and densities in them, and their measurements."""

import math

import numpy as np

from dwell import Ball, Ellipsoid
from dwell.cells.cones import measure
from dwell.cells.weighted_region import weighted_region
from dwell.density import Gaussian, Mixture, Uniform


def local(shape, points):
    """Coordinates in which the region is the unit ball."""
    return ((np.asarray(points) - shape.center) @ shape.axes.T) / shape.semi_axes


def placed(shape, inside):
    """The points with given coordinates of that kind."""
    return (np.asarray(inside) * shape.semi_axes) @ shape.axes + shape.center


def tilted(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def scatter(shape, count, seed):
    """Points in the region, uniformly."""
    rng = np.random.default_rng(seed)
    n = len(shape.center)
    direction = rng.normal(size=(count, n))
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    return placed(shape, rng.uniform(0, 1, (count, 1)) ** (1 / n) * direction)


def look(shape, positions, density=None, way=measure):
    """Measurements of all agents."""
    points = np.asarray(positions, dtype=float)
    ground = weighted_region(shape, Uniform() if density is None else density)
    return way(ground, points[None], np.zeros(len(points), dtype=np.int64), np.arange(len(points)))


DISC = Ball((0.3, -0.2), 2.0)
ELLIPSE = Ellipsoid((1.0, 2.0), (3.0, 1.0), tilted(0.7))
NEEDLE = Ellipsoid((1.0, 2.0), (1000.0, 1.0), tilted(0.7))
FAR = Ellipsoid((5e6, -5e6), (2.0, 1.0), tilted(2.0))
TURN = np.array([[2, 2, 1], [-2, 1, 2], [1, -2, 2]]) / 3  # orthonormal rows
BALL = Ball((0.3, -0.2, 0.1), 2.0)
EGG = Ellipsoid((1.0, 2.0, -1.0), (3.0, 1.0, 0.5), TURN)
CURVED = {
    "disc": DISC,
    "ellipse": ELLIPSE,
    "needle": NEEDLE,
    "far": FAR,
    "ball": BALL,
    "egg": EGG,
    "needle in space": Ellipsoid((0.0, 0.0, 0.0), (100.0, 1.0, 1.0), TURN),
    "far in space": Ellipsoid((5e6, -5e6, 1e6), (2.0, 1.0, 1.5), TURN),
}
HILLS = Mixture((Uniform(0.1), Gaussian((1.0, 1.0), 0.7), Gaussian((-1.0, 0.5), 5.0, weight=2.0)))
MIXTURE = Mixture(
    (Uniform(0.2), Gaussian((1.0, 1.0, 0.0), 0.7), Gaussian((0.0, 0.5, 1.0), 5.0, weight=2.0))
)
HARD = {
    "random": (DISC, scatter(DISC, 5, 1)),
    "tilted": (ELLIPSE, scatter(ELLIPSE, 5, 2)),
    "needle": (NEEDLE, scatter(NEEDLE, 5, 3)),
    "far": (FAR, scatter(FAR, 5, 4)),
    "nearly coincident": (DISC, [(1.0, 0.5), (1 + 1e-9, 0.5), (1 - 1e-9, 0.5 + 1e-12)]),
    "near the boundary": (Ball((0.0, 0.0), 1.0), [(0, 1 - 1e-9), (1e-9, 1 - 2e-9), (0, 0)]),
    "a strip": (Ball((0.0, 0.0), 1.0), [(-1e-9, 0.1), (0, 0.1), (1e-9, 0.1)]),
    "on the boundary": (
        Ball((0.0, 0.0), 1.0),
        [(math.cos(t), math.sin(t)) for t in (0.3, 0.3 + 1e-7, 0.3 - 1e-7)] + [(0.0, 0.0)],
    ),
    "a corner on the circle": (Ball((0.0, 0.0), 1.0), [(0.5, 0.5), (1.5, 0.5), (0.5, 1.5)]),
    "grazed": (Ball((0.0, 0.0), 1.0), [(0, 0), (2 - 1e-9, 0.0), (0.0, 2 - 1e-12)]),
    "cut twice": (Ball((0.0, 0.0), 1.0), [(0, 0), (0.8, 0.9), (0.9, -0.8), (-0.7, 0.7)]),
    "a sliver far off": (Ball((0.0, 0.0), 1.0), [(0.1, 0), (0.1, 1e-6), (-0.9, 0.3)]),
}
