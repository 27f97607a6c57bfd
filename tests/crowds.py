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
