"""Points in balls and ellipsoids, and the coordinates in which these are unit balls."""

import numpy as np


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
