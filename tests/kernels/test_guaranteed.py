"""Guaranteed and dual guaranteed cells against their definition, and against slow integrals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy.optimize import nnls

from dwell._kernels._jit import njit
from dwell._kernels.common.extent import (
    circle_round,
    make_ball_buffers,
    smallest_ball,
    widest_pair,
)
from dwell._kernels.polygon.buffers import make_scratch
from dwell._kernels.polygon.entry_points import cell_of
from dwell._kernels.polygon.entry_points import moments_of as polygon_moments_of
from dwell._kernels.polygon.guaranteed import (
    EMPTY,
    OK,
    OUTSIDE,
    corners_of,
    gap_of,
    guaranteed_pair,
    star_moments_of,
)
from dwell._kernels.polygon.guaranteed_envelope import make_envelope
from dwell.cells.grid import lattice_terms
from dwell.density import Gaussian, Mixture, Polynomial, Uniform
from dwell.geometry import Polygon
from dwell.verify.reference_trigger import _size
from tests import strategies
from tests.oracles.mp_moments import gauss_legendre

FIELDS = ("status", "mass", "x", "y", "gap", "dual_mass", "dual_x", "dual_y", "diameter", "circle")
HEPTAGON = np.array(
    [(-8, 0), (-3, -9), (10, -11), (22, -5), (24, 8), (12, 18), (-4, 14)], dtype=float
)
SQUARE = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
LD = np.longdouble


# ------------------------------------------------------------------ the kernels, from Python


def arguments(polygon, p, others, radii):
    """What the kernels take after `dual`."""
    others = np.asarray(others, dtype=float).reshape(-1, 2)
    radii = np.full(len(others), radii) if np.isscalar(radii) else np.asarray(radii, dtype=float)
    polygon = np.asarray(polygon, dtype=float)
    q, w = np.ascontiguousarray(others.T), np.ascontiguousarray(polygon.T)
    return (float(p[0]), float(p[1]), len(others), q[0], q[1], radii, w[0], w[1])


def buffers(polygon, others):
    return make_envelope(len(others), len(polygon))


def pair(polygon, p, others, radii, density):
    """`guaranteed_pair` with names."""
    terms = density if hasattr(density, "lattice") else density.terms()
    found = guaranteed_pair(*arguments(polygon, p, others, radii), terms, buffers(polygon, others))
    return dict(zip(FIELDS, found, strict=True))


def corners(dual, polygon, p, others, radii):
    """(offsets, labels) of one cell."""
    env = buffers(polygon, others)
    n = corners_of(dual, *arguments(polygon, p, others, radii), env)
    return env.corner[:n, :2].copy(), env.label[:n].copy()


# ---------------------------------------------------------------------- slow and independent


def constraints(dual, polygon, p, others, radii):
    """Rows (B, c) of 1 / rho >= u . B + c, edges first, in long doubles; None: empty."""
    p, polygon = np.asarray(p, LD), np.asarray(polygon, LD)
    rows = []
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        t = b - a
        n = np.array([t[1], -t[0]]) / np.sqrt((t * t).sum())
        rows.append([*(n / ((a - p) * n).sum()), LD(0)])
    radii = np.full(len(others), radii) if np.isscalar(radii) else radii
    for q, r in zip(others, radii, strict=True):
        d, r = np.asarray(q, LD) - p, LD(r)
        half = ((d * d).sum() - r * r) / 2
        if half > 0:
            rows.append([*(d / half), (-r if dual else r) / half])
        elif not dual:
            return None
    return np.array(rows, LD)


def corner_angles(rows):
    """Directions in which two functions are equal and on top, found by trying all pairs."""
    found = []
    for i in range(len(rows)):
        for j in range(i):
            m = rows[i] - rows[j]
            size = np.sqrt(m[0] ** 2 + m[1] ** 2)
            if size > 0 and abs(m[2]) <= size:
                middle, half = np.arctan2(m[1], m[0]), np.arccos(-m[2] / size)
                for t in (middle + half, middle - half):
                    values = rows @ np.array([np.cos(t), np.sin(t), 1], LD)
                    if values.max() - values[i] <= 1e-12 * np.abs(rows[i]).max():
                        found.append(t % (2 * LD(np.pi)))
    return np.sort(np.array(found, LD))


X, W = (np.array([LD(mp.nstr(pair[k], 25)) for pair in gauss_legendre(20)]) for k in range(2))


def rays(rows, t):
    """Unit vectors and radii in directions t."""
    u = np.stack([np.cos(t), np.sin(t)], axis=-1)
    return u, 1 / (u @ rows[:, :2].T + rows[:, 2]).max(axis=-1)


def pieces(rows, steepness):
    """Starts and ends of intervals of the angle between corners, short where anything changes.

    steepness: gives the density's logarithm at points relative to p, if that changes fast.
    """
    start = corner_angles(rows)
    end = np.append(start[1:], start[0] + 2 * LD(np.pi))
    for _ in range(60):
        u, radii = zip(*(rays(rows, t) for t in (start, 0.5 * (start + end), end)), strict=True)
        split = np.max(radii, axis=0) > 1.15 * np.min(radii, axis=0)
        if steepness is not None:
            logs = np.array([steepness(*(v * r[:, None]).T) for v, r in zip(u, radii, strict=True)])
            top, bottom = logs.max(axis=0), logs.min(axis=0)
            split |= (top - bottom > 4.0) & (top > top.max() - 60.0)
        split = (split | (end - start > 0.2)) & (end - start > 1e-15)
        if not split.any():
            break
        middle = 0.5 * (start[split] + end[split])
        start = np.concatenate([start[~split], start[split], middle])
        end = np.concatenate([end[~split], middle, end[split]])
    return start, end


def reference(dual, polygon, p, others, radii, weight, steepness=None):
    """(mass, centroid relative to p, second moment about it) by polar integrals."""
    rows = constraints(dual, polygon, p, others, radii)
    start, end = pieces(rows, steepness)
    length = end - start
    u, rho = rays(rows, (start[:, None] + length[:, None] * X).ravel())
    cuts = 1 - LD(0.5) ** np.arange(26 if steepness else 3)  # along a ray, finer towards its end
    cuts[-1] = 1
    r = rho[:, None] * (cuts[:-1, None] + np.diff(cuts)[:, None] * X).ravel()
    dr = rho[:, None] * (np.diff(cuts)[:, None] * W).ravel()
    x, y = r * u[:, :1], r * u[:, 1:]
    v = weight(LD(p[0]) + x, LD(p[1]) + y) * r * dr * (length[:, None] * W).reshape(-1, 1)
    mass = v.sum()
    centroid = np.array([(v * x).sum(), (v * y).sum()]) / mass
    spread = (x - centroid[0]) ** 2 + (y - centroid[1]) ** 2
    return mass, centroid, (v * spread).sum()


def at(density):
    """A density as a function of long doubles."""
    if isinstance(density, Uniform):
        return lambda x, y: np.full(np.broadcast(x, y).shape, LD(density.level))
    if isinstance(density, Mixture):
        parts = [at(part) for part in density.parts]
        return lambda x, y: sum(part(x, y) for part in parts)
    if isinstance(density, Polynomial):
        a, b = density.origin
        return lambda x, y: sum(
            LD(c) * (x - LD(a)) ** i * (y - LD(b)) ** j for i, j, c in density.coefficients
        )
    (cx, cy), (qxx, qxy, qyy) = density.center, density.form

    def gaussian(x, y):
        x, y = x - LD(cx), y - LD(cy)
        return LD(density.weight) * np.exp(
            -(LD(qxx) * x * x + 2 * LD(qxy) * x * y + LD(qyy) * y * y)
        )

    return gaussian


def boundary(dual, polygon, p, others, radii, count=4000):
    """Points of the boundary relative to p, corners among them."""
    rows = constraints(dual, polygon, p, others, radii)
    turn = np.linspace(0, 2 * np.pi, count).astype(LD)
    u, rho = rays(rows, np.sort(np.concatenate([corner_angles(rows), turn])))
    return (u * rho[:, None]).astype(float)


def edge_gap(polygon, p):
    """Distance of p from the nearest edge; negative outside."""
    polygon = np.asarray(polygon, dtype=float)
    steps = np.roll(polygon, -1, axis=0) - polygon
    normals = np.column_stack([steps[:, 1], -steps[:, 0]]) / np.hypot(*steps.T)[:, None]
    return float(((polygon - p) * normals).sum(axis=1).min())


def scene(seed, agents=6, share=0.5):
    """A workspace, an agent, others and radii that leave something certain."""
    rng = np.random.default_rng(seed)
    polygon = np.array(strategies.random_convex_polygon(rng, corners=6))
    p, *others = np.array(strategies.random_positions(rng, polygon.tolist(), agents + 1))
    nearest = min(np.hypot(*(q - p)) for q in others)
    return polygon, p, np.array(others), share * nearest * rng.uniform(0.3, 1.0, agents)


# ------------------------------------------------------------------------------------- shape


def circle_of(count):
    angle = 2 * np.pi * np.arange(count) / count
    return 0.4 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.5


LATTICE = np.array([(0.25 * i, 0.25 * j) for i in range(1, 4) for j in range(1, 4)])
SETS = {
    "random": np.random.default_rng(3).uniform(0.05, 0.95, (9, 2)),
    "lattice": LATTICE,
    "ring": circle_of(9),
    "ring and middle": np.vstack([circle_of(8), [(0.5, 0.5)]]),
    "two": np.array([(0.25, 0.5), (0.75, 0.5)]),
    "nearly coincident": np.array([(0.5, 0.5), (0.5 + 1e-9, 0.5), (0.2, 0.8)]),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dual", [False, True])
def test_without_uncertainty_it_is_the_voronoi_cell(name, dual):
    agents = SETS[name]
    xs, ys, wx, wy = (np.ascontiguousarray(v) for v in (*agents.T, *SQUARE.T))
    scratch = make_scratch(len(agents), 4)
    for i, p in enumerate(agents):
        n, _, _ = cell_of(i, xs, ys, wx, wy, scratch)
        voronoi = np.column_stack([scratch.x[:n], scratch.y[:n]])
        found, labels = corners(dual, SQUARE, p, np.delete(agents, i, axis=0), 0.0)
        # Where many lines meet, either may list a corner twice: compare as sets.
        gaps = np.hypot(*np.moveaxis(found[:, None] - voronoi[None], -1, 0))
        # Nearly the same line twice: only one of the two finds their meeting to all digits.
        slack = 1e-7 if name == "nearly coincident" else 1e-14
        assert gaps.min(axis=0).max() <= slack
        assert gaps.min(axis=1).max() <= slack
        edge = np.hypot(*(np.roll(voronoi, -1, axis=0) - voronoi).T) > 1e-12
        clear = {int(q) for q in scratch.label[:n][edge]}
        shifted = {int(q) + (int(q) >= i) if q >= 0 else int(q) for q in labels}
        assert clear <= shifted


@pytest.mark.parametrize("name", SETS)
def test_without_uncertainty_both_weigh_what_the_voronoi_cell_does(name):
    agents, density = SETS[name], Gaussian((0.6, 0.3), 1.7)
    xs, ys, wx, wy = (np.ascontiguousarray(v) for v in (*agents.T, *SQUARE.T))
    scratch = make_scratch(len(agents), 4)
    for i, p in enumerate(agents):
        n, _, _ = cell_of(i, xs, ys, wx, wy, scratch)
        _, mass, fx, fy, _ = polygon_moments_of(n, *p, density.terms(), 0.0, 0.0, False, scratch)
        found = pair(SQUARE, p, np.delete(agents, i, axis=0), 0.0, density)
        assert found["status"] == OK
        assert found["mass"] == found["dual_mass"]
        assert [found["x"], found["y"]] == pytest.approx([fx / mass, fy / mass], abs=1e-13)
        assert [found["dual_x"], found["dual_y"]] == [found["x"], found["y"]]


@pytest.mark.parametrize("radius", [0.0, 0.1, 0.4, 0.79])
def test_where_the_axis_ends(radius):
    """The guaranteed cell ends at (d - R) / 2 on the way to the other agent, the dual at
    (d + R) / 2."""
    p, q = np.array([3.0, 1.0]), np.array([3.64, 1.48])  # 0.8 apart
    toward = (q - p) / 0.8
    for dual, expected in ((False, (0.8 - radius) / 2), (True, (0.8 + radius) / 2)):
        for share, inside in ((1 - 1e-12, True), (1 + 1e-12, False)):
            z = share * expected * toward
            gap = gap_of(dual, *z, *arguments(HEPTAGON, p, [q], radius))
            assert (gap > 0.0) == inside
            assert abs(gap) <= 1e-11


@pytest.mark.parametrize("dual", [False, True])
@settings(max_examples=25)
@given(
    configuration=strategies.configurations(max_size=8),
    shares=st.lists(st.sampled_from((0.0, 0.01, 0.5, 0.9, 0.9999)), min_size=8, max_size=8),
)
def test_the_function_on_top_bounds_the_cell(dual, configuration, shares):
    """Between two vertices, the constraint of the agent named there is the largest of all."""
    polygon, agents = configuration
    p, others = np.array(agents[0]), np.array(agents[1:]).reshape(-1, 2)
    radii = np.array(shares[: len(others)]) * np.hypot(*(others - p).T)
    if edge_gap(polygon, p) < 1e-9 * np.ptp(polygon, axis=0).max():  # see the boundary tests
        return
    rows = constraints(dual, polygon, p, others, radii)
    offsets, labels = corners(dual, polygon, p, others, radii)
    start = np.arctan2(offsets[:, 1], offsets[:, 0])
    turn = np.mod(np.roll(start, -1) - start, 2 * np.pi)
    turn[turn > 2 * np.pi - 1e-9] = 0.0
    assert turn.sum() == pytest.approx(2 * np.pi, abs=1e-8)  # once round, counter-clockwise
    for a, b, label in zip(start, start + turn, labels, strict=True):
        t = np.linspace(a, b, 9)[1:-1]
        values = np.stack([np.cos(t), np.sin(t), np.ones(7)], axis=1).astype(LD) @ rows.T
        k = int(label) + len(polygon) if label >= 0 else -1 - int(label)
        # How far off, as a length: by how much the boundary would move.
        off = (values.max(axis=1) - values[:, k]) / values.max(axis=1) ** 2
        scale = np.abs(rows[k, :2]).max() / values.max(axis=1) ** 2
        assert (off <= 1e-9 * np.ptp(polygon, axis=0).max() + 1e-12 * scale).all()


def test_one_curve_may_bound_a_cell_in_two_places():
    """An edge that cuts off the tip of a branch leaves a piece on either side."""
    strip = [(-4.0, -4.0), (0.2, -4.0), (0.2, 4.0), (-4.0, 4.0)]
    _, labels = corners(False, strip, (0.0, 0.0), [(2.0, 0.0)], 1.5)
    assert labels.tolist() == [-1, 0, -2, 0, -3, -4] or sorted(labels) == [-4, -3, -2, -1, 0, 0]


def test_a_cell_far_thinner_than_a_quarter_turn():
    """Hardly any certainty is left: nearly all directions end at one branch."""
    offsets, labels = corners(False, SQUARE, (0.5, 0.5), [(0.75, 0.5)], 0.2499)
    assert labels.tolist() in ([0, -4], [-4, 0])
    angles = np.arctan2(offsets[:, 1], -offsets[:, 0])
    assert np.abs(angles).max() < 0.05
    found = pair(SQUARE, (0.5, 0.5), [(0.75, 0.5)], 0.2499, Uniform())
    mass, centroid, _ = reference(False, SQUARE, (0.5, 0.5), [(0.75, 0.5)], 0.2499, at(Uniform()))
    assert found["mass"] == pytest.approx(float(mass), rel=1e-9, abs=0.0)
    assert found["x"] == pytest.approx(float(centroid[0]), rel=1e-9, abs=0.0)


@pytest.mark.parametrize("p", [(0.0, 0.0), (1.0, 0.5), (0.5, 1.0 + 1e-12), (-1e-13, 1.0)])
@pytest.mark.parametrize("dual", [False, True])
def test_an_agent_on_the_boundary(p, dual):
    """The edges it touches are moved away by rounding only."""
    others, radius = [(0.5, 0.4), (0.8, 0.9)], 0.1
    found = pair(SQUARE, p, others, radius, Uniform())
    inside = np.clip(p, 1e-10, 1 - 1e-10)
    mass, centroid, _ = reference(dual, SQUARE, inside, others, radius, at(Uniform()))
    prefix = "dual_" if dual else ""
    assert found["status"] == OK
    assert found[prefix + "mass"] == pytest.approx(float(mass), rel=1e-8)
    assert found[prefix + "x"] == pytest.approx(float(centroid[0]), abs=1e-8)
    offsets, labels = corners(dual, SQUARE, p, others, radius)
    assert labels.min() >= -4
    assert np.abs(offsets + p - np.clip(offsets + p, 0, 1)).max() <= 1e-11


def test_outside_is_said_so():
    assert pair(SQUARE, (1.1, 0.5), [(0.5, 0.5)], 0.1, Uniform())["status"] == OUTSIDE
    assert len(corners(True, SQUARE, (1.1, 0.5), [(0.5, 0.5)], 0.1)[0]) == 0


@pytest.mark.parametrize("radius", [0.2, 0.3, 5.0])
def test_when_the_other_may_stand_here_nothing_is_certain(radius):
    others = [(0.7, 0.5), (0.1, 0.1)]
    found = pair(SQUARE, (0.5, 0.5), others, [radius, 0.05], Gaussian((0.5, 0.5), 1.0))
    alone = pair(SQUARE, (0.5, 0.5), others[1:], 0.05, Gaussian((0.5, 0.5), 1.0))
    assert found["status"] == EMPTY
    assert found["mass"] == found["gap"] == 0.0
    for name in FIELDS[5:]:
        assert found[name] == (alone[name] if radius != 0.2 else pytest.approx(alone[name]))
    assert len(corners(False, SQUARE, (0.5, 0.5), others, [radius, 0.05])[0]) == 0


def test_a_single_agent():
    found = pair(SQUARE, (0.3, 0.4), [], 0.0, Uniform())
    assert found["mass"] == pytest.approx(1.0, rel=1e-15, abs=0.0)
    assert found["gap"] == pytest.approx(0.5, rel=1e-15, abs=0.0)
    assert [found["x"], found["y"]] == pytest.approx([0.2, 0.1], abs=1e-15)
    assert found["diameter"] == pytest.approx(math.sqrt(2.0), rel=1e-15, abs=0.0)
    assert found["circle"] == pytest.approx(math.sqrt(0.5), rel=1e-15, abs=0.0)


def test_the_order_of_agents_does_not_matter():
    polygon, p, others, radii = scene(8, agents=9)
    density = Gaussian((1.0, 2.0), 0.05)
    found = pair(polygon, p, others, radii, density)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(others))
        again = pair(polygon, p, others[order], radii[order], density)
        assert list(again.values()) == pytest.approx(list(found.values()), rel=1e-13, abs=1e-13)


# ---------------------------------------------------------------------- width, and distances


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.3, 0.9, 3.0])
def test_width_of_the_dual(seed, share):
    polygon, p, others, radii = scene(seed, share=share)
    found = pair(polygon, p, others, radii, Uniform())
    points = Polygon.hull_of(boundary(True, polygon, p, others, radii, 500)).vertices
    widest = max(np.hypot(*(points - z).T).max() for z in points)
    assert found["diameter"] == pytest.approx(widest, rel=1e-12, abs=0.0)
    circle = 0.5 * _size(points, "circumradius")
    assert found["circle"] == pytest.approx(circle, rel=1e-8, abs=0.0)


@settings(max_examples=40)
@given(st.lists(strategies.points(10.0), min_size=1, max_size=9))
def test_smallest_circle_holds_all_and_cannot_shrink(points):
    z = np.array(points)
    diameter, x, y, radius = circle_round(len(z), np.pad(z, ((0, 0), (0, 1))), make_ball_buffers())
    away = np.hypot(*(z - (x, y)).T)
    assert (away <= radius * (1 + 1e-12) + 1e-300).all()
    assert radius <= diameter / math.sqrt(3.0) * (1 + 1e-12) + 1e-300  # Jung's theorem
    assert diameter <= 2 * radius * (1 + 1e-12) + 1e-300
    outline = z[away >= radius * (1 - 1e-9)]
    if radius > 1e-6:  # the points on it do not fit into an open half: the circle is held
        angle = np.sort(np.arctan2(outline[:, 1] - y, outline[:, 0] - x))
        assert np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() <= np.pi + 1e-3


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("dual", [False, True])
def test_distance_from_the_boundary(seed, share, dual):
    """Against many points of the boundary: never farther than the nearest, never much nearer."""
    polygon, p, others, radii = scene(seed, agents=4, share=share)
    outline = boundary(dual, polygon, p, others, radii, count=20_000)
    longest = np.hypot(*np.diff(outline, axis=0).T).max()
    rng = np.random.default_rng(seed)
    for _ in range(6):
        z = rng.uniform(0, 0.98) * outline[rng.integers(len(outline))]
        gap = gap_of(dual, *z, *arguments(polygon, p, others, radii))
        nearest = np.hypot(*(outline - z).T).min()
        assert gap <= nearest + 1e-12
        assert gap >= math.sqrt(max(0.0, nearest**2 - longest**2)) - 1e-12
    for z in outline[::400]:  # outside, the distance is not positive
        assert gap_of(dual, *(1.001 * z), *arguments(polygon, p, others, radii)) <= 0.0
        assert gap_of(dual, *(0.999 * z), *arguments(polygon, p, others, radii)) > 0.0


def test_distance_where_two_feet_are_as_near():
    """Deep inside a branch, on its axis, the nearest points lie on either side; in between there
    is a point where they part, and Newton's method meets a threefold root."""
    q, radius = (2.0, 0.0), 1.8
    big = [(-50.0, -50.0), (50.0, -50.0), (50.0, 50.0), (-50.0, 50.0)]
    f, a = 1.0, 0.9
    parting = f - f * f / a  # the centre of curvature of the tip, seen from p
    outline = boundary(False, big, (0.0, 0.0), [q], radius, count=400_000)
    for x in (parting, parting - 1e-9, parting - 0.3, parting + 0.05, -30.0):
        gap = gap_of(False, x, 0.0, *arguments(big, (0.0, 0.0), [q], radius))
        assert gap == pytest.approx(np.hypot(outline[:, 0] - x, outline[:, 1]).min(), abs=1e-6)


# ---------------------------------------------------------------------------------- moments

DENSITIES = {
    "uniform": Uniform(2.0),
    "wide gaussian": Gaussian((7.5, 4.5), 0.03),
    "gaussian": Gaussian((1.0, -2.0), 0.2, weight=3.0),
    "slanted gaussian": Gaussian((1.0, -2.0), covariance=((4.0, 1.5), (1.5, 1.0))),
    "polynomial": Polynomial([(0, 0, 1.0), (2, 0, 0.3), (0, 4, 0.01), (3, 2, 1e-3)], (-9.0, 1.0)),
    "mixture": Mixture(
        (
            Uniform(0.1),
            Gaussian((3.0, 3.0), 0.5),
            Polynomial([(2, 0, 0.01)]),
            Gaussian((-4.0, 0.0), 0.1),
        )
    ),
}


def assert_centroids(found, where, weight):
    """Both centroids are those of polar integrals; return the masses of these."""
    masses = []
    for dual, prefix in ((False, ""), (True, "dual_")):
        mass, centroid, _ = reference(dual, *where, weight)
        reach = np.hypot(*boundary(dual, *where, 50).T).max()
        middle = [found[prefix + "x"], found[prefix + "y"]]
        assert middle == pytest.approx(centroid.astype(float), abs=1e-12 * reach)
        masses.append(mass)
    return masses


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize(("seed", "share"), [(0, 0.1), (1, 0.5), (2, 0.9), (3, 0.3)])
def test_moments_of_both_cells(name, seed, share):
    where = scene(seed, share=share)
    found = pair(*where, DENSITIES[name])
    masses = assert_centroids(found, where, at(DENSITIES[name]))
    ratio = float(masses[0] / masses[1])
    assert found["mass"] / found["dual_mass"] == pytest.approx(ratio, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("size", [1e-9, 1e-4, 1e-3, 1e-2, 0.05, 0.3, 1.0, 3.0])
def test_cells_of_every_size_against_the_gaussian(size):
    """Small cells lose digits by contours: somewhere on the way patches must take over."""
    where = scene(1, share=0.7)
    p = where[1]
    density = Gaussian([p[0] + 6.0, p[1] + 3.0], 0.05 * size * size)
    assert_centroids(pair(*where, density), where, at(density))


@pytest.mark.parametrize("away", [12.0, 20.0, 60.0, 300.0, 5000.0])
def test_gaussians_far_away(away):
    """Masses far below the smallest double still have a ratio and centroids."""
    polygon, p, others, radii = scene(2, share=0.5)
    center, rate = p + away * np.array([0.8, 0.6]), 0.3
    found = pair(polygon, p, others, radii, Gaussian(center.tolist(), rate))

    def log(x, y):
        dx, dy = x + LD(p[0]) - LD(center[0]), y + LD(p[1]) - LD(center[1])
        return -LD(rate) * (dx * dx + dy * dy)

    tops, masses = [], []
    for dual, prefix in ((False, ""), (True, "dual_")):
        top = log(*boundary(dual, polygon, p, others, radii, 2000).astype(LD).T).max()
        mass, centroid, _ = reference(
            dual, polygon, p, others, radii,
            lambda x, y, top=top: np.exp(log(x - LD(p[0]), y - LD(p[1])) - top), log,
        )  # fmt: skip
        tops.append(top)
        masses.append(mass)
        slack = 1e-12 + 5e-16 * rate * away * away  # exponents themselves are rounded
        assert found[prefix + "x"] == pytest.approx(float(centroid[0]), abs=10 * slack)
        assert found[prefix + "y"] == pytest.approx(float(centroid[1]), abs=10 * slack)
    ratio = float(masses[0] / masses[1] * np.exp(tops[0] - tops[1]))
    assert found["mass"] / found["dual_mass"] == pytest.approx(ratio, rel=50 * slack, abs=1e-290)


def by_patches(dual, polygon, p, others, radii, density):
    """Centroid by sums of positive parts, which share no formula with contours."""
    where, env = arguments(polygon, p, others, radii), buffers(polygon, others)
    _, m, fx, fy, _ = star_moments_of(dual, *where, density.terms(), 0.0, 0.0, env)
    return [fx / m, fy / m]


@pytest.mark.parametrize("name", ["uniform", "gaussian", "polynomial"])
@pytest.mark.parametrize("dual", [False, True])
def test_second_moments_have_parallel_axes(dual, name):
    """About any point: that about the agent, less twice the first moment, plus the mass."""
    polygon, p, others, radii = scene(1, share=0.5)
    where, terms = arguments(polygon, p, others, radii), DENSITIES[name].terms()
    env = buffers(polygon, others)
    _, m, fx, fy, polar = star_moments_of(dual, *where, terms, 0.0, 0.0, env)
    x, y = 0.7, -1.3
    _, again, _, _, about = star_moments_of(dual, *where, terms, x, y, env)
    assert again == pytest.approx(m, rel=1e-12)
    expected = polar - 2.0 * (x * fx + y * fy) + m * (x * x + y * y)
    assert about == pytest.approx(expected, rel=1e-11)


@njit
def smallest_sphere(n, points, memory):
    i, j, _ = widest_pair(n, points)
    return smallest_ball(i, j, False, n, points, memory)


@pytest.mark.parametrize("seed", range(8))
def test_smallest_ball_in_space_holds_all_and_cannot_shrink(seed):
    points = np.random.default_rng(seed).normal(size=(7, 3))
    center, squared = smallest_sphere(len(points), points, make_ball_buffers())
    away = np.linalg.norm(points - center, axis=1)
    radius = math.sqrt(squared)
    assert away.max() == pytest.approx(radius, rel=1e-9)
    held = points[away >= radius * (1.0 - 1e-7)] - np.array(center)
    # The center is a convex combination of the points on it: else the ball could move and shrink.
    shares, rest = nnls(np.vstack([held.T, np.ones(len(held))]), np.array([0.0, 0.0, 0.0, 1.0]))
    assert rest == pytest.approx(0.0, abs=1e-6)
    assert shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("rate", [30.0, 1e3])
def test_narrow_gaussians(rate):
    """Inside, on the border and outside."""
    where = scene(3, share=0.6)
    outline = boundary(True, *where, 7)
    for z in (0.3 * outline[0], outline[2], 1.02 * outline[4]):
        density = Gaussian((where[1] + z).tolist(), rate)
        found = pair(*where, density)
        expected = by_patches(True, *where, density)
        assert [found["dual_x"], found["dual_y"]] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    ("radius", "angle", "away", "rate"),
    [
        (1.5, 0.0, 8.0, 1.0),
        (1.9, 0.1, 6.0, 4.0),
        (1.1545107658, 0.482309383, 8.169281231, 9.2878365),
    ],
)
def test_a_tip_that_points_at_the_peak(radius, angle, away, rate):
    """Along the tip's arc the density rises and falls again between ends that are alike."""
    box, others = [(-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0)], [(2.0, 0.0)]
    density = Gaussian((away * math.cos(angle), away * math.sin(angle)), rate)
    found = pair(box, (0.0, 0.0), others, radius, density)
    expected = by_patches(False, box, (0.0, 0.0), others, radius, density)
    assert [found["x"], found["y"]] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spacing", [0.9, 0.25])
@pytest.mark.parametrize("seed", range(3))
def test_lattice_against_the_definition(seed, spacing):
    polygon, p, others, radii = scene(seed, share=0.6)
    density = Gaussian((1.0, 2.0), 0.05)
    terms = lattice_terms(density, Polygon(polygon), spacing)
    found = pair(polygon, p, others, radii, terms)
    rows, columns = terms.lattice.shape
    x = terms.frame[0] + spacing * np.arange(columns)
    y = terms.frame[1] + spacing * np.arange(rows)
    z = np.stack(np.meshgrid(x, y), axis=-1)
    own = np.hypot(*np.moveaxis(z - p, -1, 0))
    gaps = np.hypot(*np.moveaxis(z[:, :, None] - others, -1, 0))
    for prefix, sign in (("", 1.0), ("dual_", -1.0)):
        weight = terms.lattice * (own[:, :, None] + sign * radii <= gaps).all(axis=2)
        mass = weight.sum()
        assert found[prefix + "mass"] == pytest.approx(mass, rel=1e-13, abs=0.0)
        middle = [(weight * (z[..., k] - p[k])).sum() / mass for k in range(2)]
        assert [found[prefix + "x"], found[prefix + "y"]] == pytest.approx(middle, abs=1e-12)


def test_a_lattice_point_halfway_belongs_to_both():
    terms = lattice_terms(Uniform(), Polygon(SQUARE), 0.25)
    found = pair(SQUARE, (0.375, 0.5), [(0.875, 0.5)], 0.0, terms)
    assert found["mass"] == found["dual_mass"] == 0.75  # columns 0.125, 0.375 and 0.625 itself


def test_a_cell_between_lattice_points_weighs_nothing():
    terms = lattice_terms(Uniform(), Polygon(SQUARE), 0.25)
    others = [(0.51, 0.5), (0.49, 0.5), (0.5, 0.51), (0.5, 0.49)]
    found = pair(SQUARE, (0.5, 0.5), others, 0.001, terms)
    assert found["status"] == EMPTY
    assert found["dual_mass"] == 0.0
    assert found["diameter"] > 0.0
