"""Stand-ins for balls and ellipsoids, with nothing but what the curved cells ask for."""

from dataclasses import dataclass, field

import numpy as np

from dwell.geometry.ellipsoid import CurvedRegion


@dataclass(frozen=True, eq=False)
class Curved(CurvedRegion):
    """sum over i of (axes[i] . (z - center) / semi_axes[i])**2 <= 1."""

    center: tuple
    semi_axes: tuple
    axes: np.ndarray = field(default=None)

    def __post_init__(self):
        if self.axes is None:
            object.__setattr__(self, "axes", np.eye(len(self.center)))

    def local(self, points):
        """Coordinates in which the region is the unit ball."""
        gap = np.asarray(points, dtype=float) - np.array(self.center)
        return (gap @ np.asarray(self.axes).T) / np.array(self.semi_axes)

    def place(self, local):
        """The way back."""
        stretched = np.asarray(local) * np.array(self.semi_axes)
        return stretched @ np.asarray(self.axes) + np.array(self.center)

    def contains(self, points):
        return (self.local(points) ** 2).sum(axis=-1) <= 1.0

    def nearest(self, points):
        """Right for balls only; elsewhere some point of the boundary."""
        local = self.local(points)
        size = np.maximum(np.sqrt((local**2).sum(axis=-1, keepdims=True)), 1.0)
        return self.place(local / size)


def ball(center, radius):
    return Curved(tuple(center), (radius,) * len(center))


def tilted(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def scatter(shape, count, seed, reach=1.0):
    """Points in the region, uniformly."""
    rng = np.random.default_rng(seed)
    n = len(shape.center)
    direction = rng.normal(size=(count, n))
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    radius = rng.uniform(0, 1, (count, 1)) ** (1 / n)
    return shape.place(reach * radius * direction)
