"""Points counted to the nearest agent: right cells pass, wrong ones are found."""

import numpy as np
import pytest

import dwell
from dwell.density import as_density
from dwell.verify.quasi_monte_carlo import TOO_FAR, Counting

WORLDS = {
    "square": (dwell.Box((0, 0), (1, 1)), as_density(lambda z: 1.0 + z[:, 0] ** 2)),
    "cube": (dwell.Box((0, 0, 0), (1, 1, 1)), dwell.Polynomial([(0, 0, 0, 1.0), (1, 0, 0, 2.0)])),
    "ball": (dwell.Ball((0, 0, 0), 1), dwell.Uniform()),
    "ellipsoid": (dwell.Ellipsoid((1, 0, 0), (3, 2, 1)), dwell.Gaussian((1, 0, 0), rate=0.3)),
    "box-4": (dwell.Box((0, 0, 0, 0), (1, 1, 1, 1)), dwell.Uniform()),
    "ball-4": (dwell.Ball((0, 0, 0, 0), 1), dwell.Uniform()),
}


def scattered(workspace, seed, count=6):
    lower, upper = workspace.bounds
    drawn = np.random.default_rng(seed).uniform(lower, upper, (300, len(lower)))
    return drawn[workspace.contains(drawn)][:count]


@pytest.mark.parametrize("name", WORLDS)
def test_right_centroids_pass_and_wrong_ones_are_found(name):
    workspace, density = WORLDS[name]
    counting = Counting(workspace, density)
    answer = 0
    for seed in range(4):
        positions = scattered(workspace, seed)
        cells = dwell.tessellate(workspace, positions, density)
        for p, error in enumerate(cells.errors):
            doubt = float(cells.mass_errors[p])
            right = counting.compare(positions, p, error, doubt)
            if right is None:
                continue
            answer += 1
            assert right.apart < 0.6 * TOO_FAR
            assert right.sharp < 0.03 * workspace.diameter
            off = np.zeros_like(error)
            off[seed % len(off)] = 2.0 * right.sharp
            assert counting.compare(positions, p, error + off, doubt).apart > TOO_FAR
    assert answer >= 16


def test_a_neighbour_that_was_forgotten_is_found():
    workspace, density = WORLDS["box-4"]
    positions = scattered(workspace, 1)
    cells = dwell.tessellate(workspace, positions, density)
    p = int(cells.masses.argmax())
    apart = np.linalg.norm(positions - positions[p], axis=1)
    without = np.delete(positions, int(np.argsort(apart)[1]), axis=0)
    place = int(np.flatnonzero((without == positions[p]).all(axis=1))[0])
    error = dwell.tessellate(workspace, without, density).errors[place]
    assert Counting(workspace, density).compare(positions, p, error, 0.0).apart > TOO_FAR


def test_few_points_tell_nothing():
    workspace = dwell.Box((0, 0, 0), (1, 1, 1))
    positions = np.array([(0.5, 0.5, 0.5), (0.5 + 1e-3, 0.5, 0.5), (0.5 - 1e-3, 0.5, 0.5)])
    counting = Counting(workspace, dwell.Uniform())
    assert counting.compare(positions, 0, np.zeros(3), 0.0) is None
    narrow = Counting(workspace, dwell.Gaussian((0.5, 0.5, 0.5), rate=1e6))
    assert narrow.compare(positions[:1], 0, np.zeros(3), 0.0) is None


LAW = dwell.Timer(k1=0.5, nu=0.3, t1=0.1, t2=0.3)


@pytest.mark.parametrize("name", ["square", "ball", "box-4", "ball-4"])
def test_runs_get_a_second_opinion(name):
    workspace, density = WORLDS[name]
    start = scattered(workspace, 3, count=3)
    run = dwell.simulate(workspace, density, start, LAW, until=1.0, seed=1, sample_every="off")
    report = dwell.check(run)
    assert report.ok
    (found,) = [f for f in report.findings if f.name == "by-counting"]
    assert found.status == "holds"
    assert "would have been found" in found.says
    assert not [f for f in report.findings if f.name == "by-hand"]


def test_a_function_that_fails_elsewhere_is_no_violation():
    """Negative in a corner so small that no look has met it."""
    site = dwell.Box((0, 0), (1, 1))
    corner = as_density(lambda z: np.where(z.max(axis=1) > 0.9995, -1.0, 1.0))
    run = dwell.simulate(site, None, [(0.3, 0.3), (0.6, 0.6)], LAW, until=0.5, seed=1)
    object.__setattr__(run.system.ground, "density", corner)
    from dwell.verify.centroids import FEWER, counted

    found = counted(run.details.trajectory, FEWER, lambda what, share: None)
    assert found.status == "not applicable"
    assert "must not be negative" in found.where
