"""Densities against plain formulas: unlike sides of pixels, turned axes, many parts and times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Gaussian, Mixture, Moving, MovingRaster, Polynomial, Raster, Uniform
from dwell.density.change import changes_of
from dwell.density.moving import density_at, keyframe_times, moves, tracks_of
from dwell.density.support import check_density
from dwell.errors import DensityError
from dwell.motion import Circle, Keyframes

VALUES = np.arange(1.0, 25.0).reshape(4, 6) ** 1.5
PLACE: dict[str, Any] = {"origin": (-1.0, -2.0), "pixel": (1.0, 2.0)}
TURNED = [[0.8, 0.6], [0.6, -0.8]]  # mirrored, too
OPTIONS: list[dict[str, Any]] = [
    {},
    {"rows": "north first"},
    {"interpolation": "bilinear"},
    {"amounts": True},
    {"axes": TURNED},
    {"axes": [[1, 0], [0.6, 0.8]], "interpolation": "bilinear", "rows": "north first"},
    {"coarsen": 2},
    {"origin": (-2.0, -1.0)},
    {"pixel": (2.0, 1.0)},
    {"outside": 0.0},
]


def plain(point: Any, options: dict[str, Any]) -> float:
    """The value at a point, one step after another."""
    given = {**PLACE, **options}
    rows, k = VALUES, given.get("coarsen", 1)
    rows = rows.reshape(4 // k, k, 6 // k, k).mean(axis=(1, 3))
    rows = rows[::-1] if given.get("rows") == "north first" else rows
    sides = np.array(given["pixel"]) * k
    axes = np.array(given.get("axes", np.eye(2)))
    u, v = np.linalg.solve(axes.T, np.subtract(point, given["origin"])) / sides
    high, wide = rows.shape
    if not (0 <= u <= wide and 0 <= v <= high):
        return 0.0
    area = abs(np.linalg.det(axes)) * sides.prod()
    scale = 1.0 / area if given.get("amounts") else 1.0
    if given.get("interpolation") != "bilinear":
        return float(scale * rows[min(int(v), high - 1), min(int(u), wide - 1)])
    x, y = (np.clip(c - 0.5, 0.0, n - 1.0) for c, n in ((u, wide), (v, high)))
    i, j = min(int(x), wide - 2), min(int(y), high - 2)
    x, y, f = x - i, y - j, rows
    low = (1 - x) * f[j, i] + x * f[j, i + 1]
    return float(scale * ((1 - y) * low + y * ((1 - x) * f[j + 1, i] + x * f[j + 1, i + 1])))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_each_option_of_a_raster(options: dict[str, Any]) -> None:
    raster = Raster(VALUES, **{**PLACE, **options})
    points = np.random.default_rng(4).uniform((-4, -8), (9, 9), (300, 2))
    found = raster.at(points)
    assert found == pytest.approx([plain(point, options) for point in points])
    assert (found > 0.0).sum() > 40
    pixels = raster.to_pixels(points)
    axes = np.array(options.get("axes", np.eye(2)))
    np.testing.assert_allclose(
        np.array(raster.origin) + (pixels * raster.sides) @ axes, points, atol=1e-9
    )
    high, wide = raster.values.shape
    ends = raster.to_pixels(raster.corners)
    np.testing.assert_allclose(ends, [(0, 0), (wide, 0), (wide, high), (0, high)], atol=1e-9)
    # Over part of the grid, against midpoints.
    box = dwell.Box((0.2, -0.6), (1.3, 1.7))
    sides = (np.arange(400) + 0.5) / 400
    grid = np.stack(np.meshgrid(0.2 + 1.1 * sides, -0.6 + 2.3 * sides), axis=2).reshape(-1, 2)
    if raster.uncovered(box.vertices) == 0.0:
        found_moments = dwell.moments(box, raster)
        values = raster.at(grid)
        assert found_moments.mass == pytest.approx(values.mean() * 1.1 * 2.3, rel=5e-3)
        centroid = (values[:, None] * grid).sum(axis=0) / values.sum()
        np.testing.assert_allclose(found_moments.centroid, centroid, atol=5e-3)


def test_the_digest_tells_all_densities_apart() -> None:
    rasters = [Raster(VALUES, **{**PLACE, **options}) for options in OPTIONS]
    rasters += [
        Raster(VALUES.astype(np.float32), **PLACE),
        Raster(VALUES.reshape(6, 4), **PLACE),
        Raster(np.where(VALUES[3, 5] == VALUES, 0.0, VALUES), **PLACE),
    ]
    assert len({one.digest for one in rasters}) == len(rasters)
    assert Raster(VALUES[::-1], rows="north first", **PLACE).digest == rasters[0].digest
    first = rasters[0]
    assert first.like(VALUES).digest == first.digest
    assert first.like(VALUES, (-2.0, -1.0)).digest == rasters[7].digest
    for one in rasters:
        assert one.like(one.grid).digest == one.digest
    assert first.difference(Raster(VALUES + 1.0, **PLACE)) is None
    for options in OPTIONS[2:9]:
        assert first.difference(Raster(VALUES, **{**PLACE, **options})), options
    assert first.difference(Raster(VALUES[:2], **PLACE))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_rasters_that_move_or_are_added_keep_each_option(options: dict[str, Any]) -> None:
    one = Raster(VALUES, **{**PLACE, **options})
    other = Raster(VALUES[::-1, ::-1], **{**PLACE, **options})
    points = np.random.default_rng(6).uniform((-4, -8), (9, 9), (200, 2))
    moving = MovingRaster([1.0, 3.0], [one, other])
    for t in (1.0, 1.5, 2.5, 3.0):
        share = (t - 1.0) / 2.0
        blended = (1.0 - share) * one.at(points) + share * other.at(points)
        assert moving.now(t).at(points) == pytest.approx(blended, abs=1e-12)
    box = dwell.Box((0.2, -0.6), (1.3, 1.7))
    if not max(one.uncovered(box.vertices), other.uncovered(box.vertices)):
        both = dwell.moments(box, Mixture((one, other)))
        single = [dwell.moments(box, part) for part in (one, other)]
        assert both.mass == pytest.approx(sum(part.mass for part in single), rel=1e-12)
        for k, part in enumerate(single):
            middle = dwell.moments(box, moving.now(1.0 + 2.0 * k))
            assert middle.mass == pytest.approx(part.mass, rel=1e-12)
            np.testing.assert_allclose(middle.centroid, part.centroid, atol=1e-12)


def test_windows_and_shares_beyond_the_grid() -> None:
    raster = Raster(VALUES, **PLACE)
    window = raster.window(np.array([[0.5, 0.5], [2.5, 1.5]]))
    assert window.tolist() == VALUES[1:2, 1:4].tolist()
    assert raster.window(np.array([[-9.0, -9.0], [-0.5, -1.0]])).tolist() == [[1.0]]
    for box, share in (
        (dwell.Box((0, 0), (4, 2)), 0.0),
        (dwell.Box((3, 0), (7, 2)), 0.5),
        (dwell.Box((-2, 0), (2, 2)), 0.25),
        (dwell.Box((0, 4), (1, 12)), 0.75),
        (dwell.Box((0, -4), (1, 0)), 0.5),
    ):
        assert raster.uncovered(box.vertices) == pytest.approx(share)
    masked = np.ma.masked_equal(VALUES, 1.0)
    assert Raster(masked, nodata=7.0, **PLACE).values[0, 0] == 7.0
    with pytest.raises(DensityError, match="row 0, column 0"):
        Raster(masked, **PLACE)
    with pytest.raises(DensityError, match="divides both"):
        Raster(VALUES, coarsen=3, **PLACE)
    for values in (-VALUES, np.zeros((2, 2)), np.full((2, 2), np.inf)):
        with pytest.raises(DensityError):
            Raster(values, **PLACE)


def test_a_mixture_is_the_sum_of_all_its_parts() -> None:
    parts = [
        Uniform(0.5),
        Gaussian((1.0, 2.0), 0.3, None, 2.0),
        Polynomial([(0, 0, 4.0), (2, 1, 0.05)], (0.5, -0.5)),
        Gaussian((3.0, 0.5), None, [[1.0, 0.4], [0.4, 0.6]], 3.0),
        Polynomial([(1, 0, 0.25)], (-1.0, -1.0)),
        Raster(VALUES, **PLACE),
        Raster(VALUES[::-1] ** 0.5, **PLACE),
        Uniform(0.25),
    ]
    site = dwell.Polygon([(0.2, 0.1), (3.5, 0.4), (3.0, 2.8), (0.6, 2.0)])
    whole = Mixture(tuple(parts))
    points = np.random.default_rng(5).uniform((0, 0), (4, 3), (50, 2))
    expected = sum(part.at(points) for part in parts)
    np.testing.assert_allclose(whole.at(points), expected)
    found, each = dwell.moments(site, whole), [dwell.moments(site, part) for part in parts]
    assert found.mass == pytest.approx(sum(one.mass for one in each))
    first = sum(one.mass * one.centroid for one in each) / found.mass
    np.testing.assert_allclose(found.centroid, first)
    cost = [one.second_moment + one.mass * ((one.centroid - first) ** 2).sum() for one in each]
    assert found.second_moment == pytest.approx(sum(cost))
    with pytest.raises(DensityError, match="one grid"):
        Mixture((parts[5], Raster(VALUES, origin=(0, 0), pixel=1.0)))
    with pytest.raises(DensityError, match="2 and 3"):
        Mixture((parts[1], Gaussian((1, 2, 3), 0.3)))


def test_formulas_in_the_plane_and_in_space() -> None:
    rng = np.random.default_rng(6)
    for n in (1, 2, 3, 4):
        half = rng.normal(size=(n, n))
        s, center = half @ half.T + np.eye(n), rng.normal(size=n)
        s = 0.5 * (s + s.T)
        hill = Gaussian(tuple(center), None, s.tolist(), 2.5)
        points = rng.normal(size=(20, n))
        z = points - center
        exact = 2.5 * np.exp(-0.5 * (z @ np.linalg.inv(s) * z).sum(axis=1))
        np.testing.assert_allclose(hill.at(points), exact)
        np.testing.assert_allclose(hill.matrix, 0.5 * np.linalg.inv(s), rtol=1e-9)
        np.testing.assert_allclose(hill.root.T @ hill.root, hill.matrix, rtol=1e-9)
        assert np.tril(hill.root, -1).any() == np.False_
        if n == 2:
            schur = hill.form[2] - hill.form[1] ** 2 / hill.form[0]
            assert hill.pivot == pytest.approx(schur)
        term = [(*(2 if k == 0 else 1 for k in range(n)), 0.5), (*[0] * n, 1.5)]
        sums = Polynomial(term, tuple(center))
        np.testing.assert_allclose(sums.at(points), 1.5 + 0.5 * z[:, 0] * z.prod(axis=1))
    for wrong in (
        [[1, 0.5], [0.4, 1]],
        [[1, 1], [1, 1]],
        [[-1, 0], [0, 1]],
        [[1, 0, 0], [0, 1, 0]],
    ):
        with pytest.raises(DensityError):
            Gaussian((0, 0), None, wrong)


PATH = Keyframes([0.0, 2.0, 6.0], [(0.0, 0.0), (4.0, 1.0), (4.0, 5.0)])


def test_parameters_that_move() -> None:
    rate = Keyframes([0.0, 4.0], [0.2, 0.6], "step", "hold")
    weight = Keyframes([0.0, 4.0], [1.0, 3.0], "linear", "hold")
    density = Moving(Gaussian, center=PATH, rate=rate, weight=weight)
    for t, center, own_rate, own_weight in (
        (0.0, (0, 0), 0.2, 1.0),
        (1.0, (2, 0.5), 0.2, 1.5),
        (3.0, (4, 2), 0.2, 2.5),
        (4.0, (4, 3), 0.6, 3.0),
        (6.0, (4, 5), 0.6, 3.0),
    ):
        now: Any = density.now(t)
        assert now.center == pytest.approx(center)
        assert (now.rate, now.weight) == pytest.approx((own_rate, own_weight))
    around = Moving(Gaussian, center=Circle((1.0, 2.0), 0.5, -4.0, 0.25), rate=0.3)
    mixed = Mixture((Uniform(1.0), around, density))
    assert moves(mixed)
    assert not moves(Mixture((Uniform(1.0),)))
    assert [name for name, _ in tracks_of(mixed)] == [
        "parts[1].center", "parts[2].center", "parts[2].rate", "parts[2].weight"
    ]  # fmt: skip
    assert keyframe_times(mixed) == [0.0, 2.0, 4.0, 6.0]
    points = np.random.default_rng(7).uniform(-1, 5, (20, 2))
    for t in (0.0, 1.0, 3.5):
        turn = 2.0 * math.pi * (0.25 - t / 4.0)
        hill = Gaussian((1.0 + 0.5 * math.cos(turn), 2.0 + 0.5 * math.sin(turn)), 0.3)
        exact = 1.0 + hill.at(points) + density.now(t).at(points)
        np.testing.assert_allclose(density_at(mixed, t).at(points), exact)
    np.testing.assert_allclose(mixed.at(points), density_at(mixed, 0.0).at(points))
    # The engine's own evaluation of the tracks: a cell at a time of the run.
    law = dwell.Lloyd(dt=0.5)
    run = dwell.simulate(dwell.Box((0, 0), (5, 6)), mixed, [(1, 2), (3, 4)], law, until=5.0)
    for t in (0.0, 1.3, 4.0, 4.7):
        cells = dwell.tessellate(run.workspace, run.positions(t), density_at(mixed, t))
        assert run.cost(t) == pytest.approx(cells.cost, rel=1e-9)
        assert run.errors(t) == pytest.approx(np.hypot(*cells.errors.T), rel=1e-7)
    frames = [[(1, 0, 1.0), (0, 0, 2.0)], [(1, 0, 3.0), (0, 0, 4.0)]]
    sloped = Moving(Polynomial, coefficients=Keyframes([0.0, 2.0], frames))
    assert sloped.now(0.5).at(np.array([[2.0, 9.0]])).item() == pytest.approx(5.5)
    for wrong in ({"center": PATH}, {"center": PATH, "rate": 0.1, "level": 3}):
        with pytest.raises(DensityError):
            Moving(Gaussian, **wrong)
    with pytest.raises(DensityError):
        Moving(Uniform, level=rate)


@pytest.mark.parametrize(("between", "share"), [("linear", 0.25), ("step", 0.0)])
def test_rasters_that_change(between: str, share: float) -> None:
    ebb, flood = Raster(VALUES, **PLACE), Raster(VALUES[::-1], **PLACE)
    moving = MovingRaster([0.0, 4.0], [ebb, flood], between=between, after="hold")
    points = np.random.default_rng(8).uniform((-1, -2), (5, 6), (30, 2))
    for t, part in ((0.0, 0.0), (1.0, share), (4.0, 1.0), (9.0, 1.0)):
        exact = (1 - part) * ebb.at(points) + part * flood.at(points)
        np.testing.assert_allclose(moving.now(t).at(points), exact)
    np.testing.assert_allclose(moving.at(points), ebb.at(points))
    for others in ([ebb], [ebb, Raster(VALUES, origin=(0, 0), pixel=1.0)]):
        with pytest.raises(DensityError):
            MovingRaster([0.0, 4.0], others)


@pytest.mark.parametrize("beside", [Uniform(0.1), Gaussian((1.0, 1.0), 0.5, None, 0.01), None])
def test_what_is_negative_inside_alone_is_refused_beside_any_other_part(beside: Any) -> None:
    """Positive at all vertices: 1 - 0.2 x (4 - x) y (3 - y) is least in the middle."""
    terms = [(0, 0, 1.0), (1, 1, -2.4), (2, 1, 0.6), (1, 2, 0.8), (2, 2, -0.2)]
    dip = Polynomial(terms, (0.0, 0.0))
    box = dwell.Box((0, 0), (4, 3))
    assert (dip.at(box.vertices) > 0.5).all()
    assert dip.at(np.array([[2.0, 1.5]]))[0] == pytest.approx(-0.8)
    for density in [dip] if beside is None else [Mixture((dip, beside)), Mixture((beside, dip))]:
        with pytest.raises(DensityError) as error:
            dwell.tessellate(box, [(1, 1), (3, 2)], density)
        assert error.value.code == "density.negative"
    lifted = Mixture((dip, Uniform(3.0)))
    assert dwell.tessellate(box, [(1, 1), (3, 2)], lifted).masses.sum() > 0.0


def test_a_raster_that_is_zero_in_the_workspace_may_be_a_part_of_a_mixture() -> None:
    site = dwell.Box((0.0, 0.0), (1.0, 1.0))
    away = Raster(np.pad(np.ones((1, 1)), ((3, 0), (3, 0))), origin=(0.0, 0.0), pixel=1.0)
    check_density(Mixture((Uniform(1.0), away)), site)
    with pytest.raises(DensityError):
        check_density(away, site)


def test_a_gaussian_that_turns_is_stretched_by_its_rate_times_its_inverse() -> None:
    begin, end = np.array([[1.0, 0.5], [0.5, 2.0]]), np.array([[2.0, -0.3], [-0.3, 1.0]])
    covariance = Keyframes((0.0, 1.0), (begin.tolist(), end.tolist()))
    (carried,) = changes_of(Moving(Gaussian, center=(0.3, 0.4), covariance=covariance), 0.25)
    inverse = np.linalg.inv(0.75 * begin + 0.25 * end)
    assert carried.stretch == pytest.approx(0.5 * (end - begin) @ inverse, rel=1e-12)
    assert not np.allclose((end - begin) @ inverse, inverse @ (end - begin))
