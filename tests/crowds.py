"""Many agents, spread over the unit square in ways that are hard on a search for neighbours."""

import numpy as np


def grid(count):
    side = int(np.sqrt(count))
    x, y = np.meshgrid((np.arange(side) + 0.5) / side, (np.arange(side) + 0.5) / side)
    return np.column_stack([x.ravel(), y.ravel()])


def crowd(count):
    """Most of them in one corner, a few far away."""
    rng = np.random.default_rng(1)
    return np.vstack([rng.uniform(0, 1, (5, 2)), 1e-4 * rng.uniform(0, 1, (count - 5, 2))])


def row(count):
    return np.column_stack([(np.arange(count) + 0.5) / count, np.full(count, 0.5)])


def pairs(count):
    """Everybody twice, a hair apart."""
    one = np.random.default_rng(2).uniform(0.01, 0.98, (count // 2, 2))
    return np.stack([one, one + 1e-12], axis=1).reshape(-1, 2)


PLACES = {
    "random": np.random.default_rng(0).uniform(0, 1, (300, 2)),
    "lattice": grid(256),
    "crowd": crowd(150),
    "row": row(120),
    "pairs": pairs(200),
    "sparse-side": np.random.default_rng(3).uniform(0, 1, (200, 2)) * (1.0, 0.02),
}


def _along(count, curve):
    """So many places along a curve, at random parameters in [0, 1]."""
    return np.column_stack(curve(np.random.default_rng(4).uniform(0.02, 0.98, count)))


def _ring(count):
    turn = 2.0 * np.pi * np.arange(count) / count
    return 0.5 + 0.3 * np.column_stack([np.cos(turn), np.sin(turn)])


def _clusters(count):
    rng, middle = np.random.default_rng(5), np.array([[0.2, 0.2], [0.8, 0.3], [0.4, 0.9]])
    return middle[np.arange(count) % 3] + 1e-4 * rng.normal(size=(count, 2))


def _far_one(count):
    near = 0.2 + 1e-4 * np.random.default_rng(6).uniform(-1, 1, (count - 1, 2))
    return np.vstack([near, [(0.9, 0.9)]])


def _decades(count):
    rng = np.random.default_rng(7)
    turn, radius = 2.0 * np.pi * rng.random(count), 0.4 * 10.0 ** (-10.0 * rng.random(count))
    return 0.5 + radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])


def _twins(count):
    """A row of pairs, one unit in the last place apart."""
    one = _along(count // 2, lambda u: (u, 0.3 + 0.4 * u))
    return np.stack([one, np.nextafter(one, 1.0)], axis=1).reshape(-1, 2)


def _outside(count):
    """A line that leaves the square, with agents on its walls."""
    places = _along(count, lambda u: (u, 2.0 * u - 0.5))
    places[:8, 1] = np.tile([0.0, 1.0], 4)
    return places


LAYOUTS = {
    "line": lambda count: _along(count, lambda u: (u, np.full_like(u, 0.37))),
    "upright": lambda count: _along(count, lambda u: (np.full_like(u, 0.5), u)),
    "slanted": lambda count: _along(count, lambda u: (u, 0.1 + 0.7 * u)),
    "parabola": lambda count: _along(count, lambda u: (u, 0.1 + 3.0 * (u - 0.5) ** 2)),
    "even-parabola": lambda count: np.column_stack(
        [row(count)[:, 0], 0.1 + 3.0 * (row(count)[:, 0] - 0.5) ** 2]
    ),
    "rows": lambda count: _along(count, lambda u: (u, np.where(np.arange(count) % 2, 0.4, 0.6))),
    "even-rows": lambda count: np.column_stack(
        [np.repeat(row(count // 2)[:, 0], 2), np.tile([0.4, 0.6], count // 2)]
    ),
    "clusters": _clusters,
    "far-one": _far_one,
    "decades": _decades,
    "small-lattice": lambda count: 0.3 + 1e-3 * np.vstack([grid(count - 1), [(400.0, 400.0)]]),
    "twins": _twins,
    "outside": _outside,
    "ring": _ring,
}
