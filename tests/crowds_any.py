"""Many agents on the line and in space, spread in ways that are hard on a search for neighbours."""

import numpy as np

RNG = np.random.default_rng(7)


def lattice(side):
    at = (np.arange(side) + 0.5) / side
    return np.stack(np.meshgrid(at, at, at), axis=-1).reshape(-1, 3)


def crowd(count, n):
    """Most of them in one corner, a few far away."""
    return np.vstack([RNG.uniform(0, 1, (5, n)), 1e-4 * RNG.uniform(0.1, 1, (count - 5, n))])


def pairs(count, n):
    """Everybody twice, a hair apart."""
    one = RNG.uniform(0.01, 0.98, (count // 2, n))
    return np.stack([one, one + 1e-12], axis=1).reshape(-1, n)


def on_a_line(count):
    """All on a line through space."""
    return (np.arange(count) + 0.5)[:, None] / count * (1.0, 0.5, 0.25)


SPACE = {
    "random": RNG.uniform(0, 1, (300, 3)),
    "lattice": lattice(6),
    "crowd": crowd(200, 3),
    "plane": np.column_stack([RNG.uniform(0, 1, (200, 2)), np.full(200, 0.5)]),
    "line": on_a_line(150),
    "axis": np.column_stack([np.full((150, 2), 0.5), (np.arange(150) + 0.5) / 150]),
    "pairs": pairs(160, 3),
    "slab": RNG.uniform(0, 1, (200, 3)) * (1.0, 1.0, 0.02),
    "needle": RNG.uniform(0, 1, (200, 3)) * (0.01, 0.01, 1.0),
}
LINE = {
    "random": RNG.uniform(0, 1, (300, 1)),
    "even": (np.arange(200)[::-1, None] + 0.5) / 200,
    "crowd": crowd(200, 1),
    "pairs": pairs(160, 1),
    "few": np.array([[0.7], [0.2], [0.4]]),
}
