"""Polytopes in any dimension, from vertices and from half-spaces."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell import Box, Polytope
from dwell.errors import WorkspaceError


def cube(n: int) -> np.ndarray:
    return np.array(list(itertools.product((0.0, 1.0), repeat=n)))


def cross(n: int) -> np.ndarray:
    return np.vstack([np.eye(n), -np.eye(n)])


def simplex(n: int) -> np.ndarray:
    return np.vstack([np.zeros(n), np.eye(n)])


SHAPES = [
    (cube, lambda n: 1.0, lambda n: 2 * n),
    (cross, lambda n: 2.0**n / math.factorial(n), lambda n: 2**n),
    (simplex, lambda n: 1.0 / math.factorial(n), lambda n: n + 1),
]


def turned(n: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


def assert_sound(shape: Polytope) -> None:
    """Corners are on their walls and inside all others; loops go round; Euler's formula holds."""
    v, n = shape.vertices, shape.dimension
    middle = v.mean(axis=0)
    anchors = np.array([v[face[0]] for face in shape.faces])
    gaps = (shape.normals * (anchors - middle)).sum(axis=1)
    heights = (v - middle) @ shape.normals.T - gaps
    size = shape.diameter
    assert heights.max() <= 1e-11 * size
    assert np.linalg.norm(shape.normals, axis=1) == pytest.approx(np.ones(len(gaps)), abs=1e-14)
    for k, face in enumerate(shape.faces):
        assert len(face) >= n
        assert np.abs(heights[face, k]).max() <= 1e-11 * size
    if n == 3:
        edges = sum(len(face) for face in shape.faces) // 2
        assert len(v) - edges + len(shape.faces) == 2
        for face, normal in zip(shape.faces, shape.normals, strict=True):
            z = v[face]
            after = np.roll(z, -1, axis=0)
            turn = np.cross(after - z, np.roll(z, -2, axis=0) - after) @ normal
            assert (turn > 0.0).all()


@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize(("points", "volume", "facets"), SHAPES)
@pytest.mark.parametrize("size", [1.0, 1e-6, 1e20])
def test_volumes_in_closed_form(n, points, volume, facets, size):
    for turn in (np.eye(n), turned(n)):
        shape = Polytope(points(n) @ turn * size)
        assert shape.volume == pytest.approx(volume(n) * size**n, rel=1e-12, abs=0.0)
        assert (len(shape.vertices), len(shape.normals)) == (len(points(n)), facets(n))
        assert shape.repairs == ()
        assert_sound(shape)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize(("points", "volume", "facets"), SHAPES)
def test_half_spaces_lead_back_to_the_vertices_also_far_from_the_origin(n, points, volume, facets):
    shape = Polytope(points(n) @ turned(n, 3))
    back = Polytope.from_halfspaces(3.0 * shape.normals, 3.0 * shape.offsets)
    assert back.volume == pytest.approx(volume(n), rel=1e-12, abs=0.0)
    assert len(back.vertices) == len(shape.vertices)
    assert back.repairs == ()
    gaps = np.linalg.norm(back.vertices[:, None] - shape.vertices[None], axis=2).min(axis=1)
    assert gaps.max() <= 1e-12
    if n > 2:
        assert back.normals == pytest.approx(shape.normals, abs=1e-14)
        assert_sound(back)
    far = Polytope(points(n) * 4.0 + 5e6)
    assert far.volume == pytest.approx(volume(n) * 4.0**n, rel=1e-12, abs=0.0)
    assert (len(far.vertices), len(far.normals)) == (len(points(n)), facets(n))
    back = Polytope(halfspaces=(far.normals, far.offsets))
    assert back.volume == pytest.approx(far.volume, rel=1e-7)  # offsets round to 1e-9


@settings(max_examples=25)
@given(st.integers(3, 4), st.integers(0, 10**6), st.floats(-6, 6))
def test_hulls_of_random_points(n, seed, scale):
    points = np.random.default_rng(seed).normal(size=(n + 1 + seed % 20, n)) * 10.0**scale
    shape = Polytope(points)
    assert_sound(shape)
    assert shape.contains(points).all()
    assert (shape.repairs == ()) == (len(shape.vertices) == len(points))


@settings(max_examples=15)
@given(st.integers(3, 4), st.integers(0, 10**6))
def test_random_half_spaces_against_counting(n, seed):
    rng = np.random.default_rng(seed)
    rows, values = rng.normal(size=(5 * n, n)), rng.uniform(0.5, 1.5, 5 * n)
    rows, values = np.vstack([rows, cross(n)]), np.append(values, np.full(2 * n, 2.0))
    shape = Polytope(halfspaces=(rows, values))
    assert_sound(shape)
    lower, upper = shape.bounds
    points = rng.uniform(lower, upper, size=(20000, n))
    inside = (points @ rows.T <= values).all(axis=1)
    share = shape.volume / np.prod(upper - lower)
    assert inside.mean() == pytest.approx(share, abs=5 * math.sqrt(share / 20000) + 1e-3)
    assert (shape.outside_by(points[:200])[inside[:200]] == 0.0).all()


def test_points_that_are_no_corners_are_left_out_and_recorded():
    grid = np.array(list(itertools.product(np.linspace(0, 1, 4), repeat=3)))
    for turn in (np.eye(3), turned(3)):
        shape = Polytope(grid @ turn)
        assert (len(shape.vertices), len(shape.normals)) == (8, 6)
        assert any("56" in repair and "no corners" in repair for repair in shape.repairs)
        assert_sound(shape)
    doubled = Polytope(np.vstack([cube(3), cube(3)[:3]]))
    assert any("repeated" in repair for repair in doubled.repairs)


@pytest.mark.parametrize("noise", [1e-17, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-8])
def test_points_nearly_in_one_plane_do_no_harm(noise):
    grid = np.array(list(itertools.product(np.linspace(0, 1, 4), repeat=3)))
    shape = Polytope(grid + noise * np.random.default_rng(1).normal(size=grid.shape))
    assert shape.volume == pytest.approx(1.0, abs=1e-12 + 20 * noise)
    heights = shape.vertices @ shape.normals.T - shape.offsets
    assert heights.max() <= 1e-11


@pytest.mark.parametrize("thickness", [1e-3, 1e-6, 1e-9])
def test_thin_slabs(thickness):
    slab = Polytope((cube(3) * [1, 1, thickness]) @ turned(3, 2))
    assert (len(slab.vertices), len(slab.normals)) == (8, 6)
    assert slab.volume == pytest.approx(thickness, rel=1e-15 / thickness + 1e-12)


def test_redundant_half_spaces_are_left_out_and_recorded():
    rows, values = np.vstack([cross(3), [[1, 1, 1], [1, 0, 0]]]), [1, 1, 1, 1, 1, 1, 9, 1]
    shape = Polytope(halfspaces=(rows, values))
    assert len(shape.normals) == 6
    assert shape.repairs == ("left out 2 half-spaces that cut nothing off the workspace: 6, 7",)
    touching = Polytope(halfspaces=(rows[:7], [1, 1, 1, 1, 1, 1, 3]))  # only at a corner
    assert "6" in touching.repairs[0]
    assert touching.volume == pytest.approx(8.0)


def test_in_the_plane_it_is_a_polygon():
    shape = Polytope([(0, 0), (1, 1), (1, 0), (0, 1), (0.5, 0.5)])
    assert shape.area == shape.volume == 1.0
    assert (shape.vertices == shape.polygon.vertices).all()
    points = np.random.default_rng(0).normal(size=(20, 2))
    assert (shape.nearest(points) == shape.polygon.nearest(points)).all()
    assert Polytope(halfspaces=([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])).area == 0.5


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_nearest_point_is_the_projection(n, seed):
    rng = np.random.default_rng(seed)
    shape = Polytope(rng.normal(size=(4 * n, n)) if seed % 2 else cube(n) @ turned(n, seed))
    points = rng.normal(size=(60, n)) * rng.choice([1.0, 3.0, 100.0], size=(60, 1))
    nearest = shape.nearest(points)
    assert shape.outside_by(nearest).max() <= 1e-13 * shape.diameter
    for point, foot in zip(points, nearest, strict=True):
        gap = point - foot
        # No corner is farther along the gap than the foot: what makes it the nearest.
        ahead = (shape.vertices - foot) @ gap
        far = max(np.linalg.norm(gap), 1e-12 * shape.diameter)
        assert ahead.max() <= 1e-12 * shape.diameter * far * (1.0 + far)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_nearest_point_of_a_box_given_as_a_polytope(size):
    box, shape = Box(np.zeros(4), np.full(4, size)), Polytope(cube(4) * size)
    points = np.random.default_rng(0).normal(size=(100, 4)) * size
    assert np.abs(box.nearest(points) - shape.nearest(points)).max() <= 1e-14 * size
    assert (box.contains(points) == shape.contains(points)).all()


def refused(**given: object) -> WorkspaceError:
    with pytest.raises(WorkspaceError) as fault:
        Polytope(**given)
    assert str(fault.value)
    return fault.value


@pytest.mark.parametrize("offset", [0.0, 5e6])
@pytest.mark.parametrize("gap", [1e-3, 1.0, 1e5])
def test_half_spaces_that_contradict_each_other(gap, offset):
    rows = np.vstack([cross(3), [[-1, 0, 0]]])
    values = np.concatenate([np.ones(6), [-1.0 - gap]]) + rows @ np.full(3, offset)
    fault = refused(halfspaces=(rows, values))
    assert fault.code == "workspace.empty"
    assert "half-spaces 0, 6" in str(fault)
    assert f"{gap / 2:.3g}" in str(fault)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_half_spaces_that_leave_a_direction_open(n):
    for missing in range(2 * n):
        rows = np.delete(cross(n), missing, axis=0)
        fault = refused(halfspaces=(rows, np.ones(2 * n - 1)))
        assert fault.code == "workspace.unbounded"
        direction = np.array(eval(str(fault).split("direction ")[1].split(";")[0]))
        assert (rows @ direction <= 1e-9).all()
        assert np.linalg.norm(direction) > 0.5
    assert refused(halfspaces=(np.eye(n)[:1], [1.0])).code == "workspace.unbounded"
    flat = np.ones(2 * n)
    flat[n] = -1.0  # nothing is left but a flat
    assert refused(halfspaces=(cross(n), flat)).code == "workspace.degenerate"


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_flat_vertices_are_refused(n, offset):
    flat = np.random.default_rng(0).normal(size=(10, n))
    flat[:, -1] = 0.0
    flat = flat @ turned(n) + offset
    assert refused(vertices=flat).code == "workspace.degenerate"
    assert refused(vertices=flat[:n]).code == "workspace.degenerate"
    assert refused(vertices=np.ones((5, n))).code == "workspace.degenerate"
