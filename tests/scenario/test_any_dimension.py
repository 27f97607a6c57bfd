"""Scenarios on the line, in space and above: every kind of workspace, and what must agree."""

from __future__ import annotations

import json
import math

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell.controllers import Timer
from dwell.density import Gaussian, Mixture, Polynomial, Uniform
from dwell.errors import ScenarioError
from dwell.geometry import Ball, Box, Ellipsoid, Interval, Polygon, Polytope
from dwell.scenario import (
    apply_overrides,
    dump_toml,
    parse_scenario,
    scenario_schema,
    text_to_mapping,
)
from dwell.scenario.build import build, build_density, build_workspace
from dwell.scenario.describe import describe, describe_density, describe_workspace
from tests.scenario.conftest import refusal_of

CUBE = [[x, y, z] for x in (0, 2) for y in (0, 2) for z in (0, 2)]
CUBE_ROWS = [
    [1, 0, 0, 2], [-1, 0, 0, 0], [0, 1, 0, 2], [0, -1, 0, 0], [0, 0, 1, 2], [0, 0, -1, 0]
]  # fmt: skip
TURNED = [[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]

# kind and dimension: the table, the class, and length, area or volume of the region
WORKSPACES = {
    "interval": ({"kind": "interval", "bounds": [0, 2]}, Interval, 2.0),
    "box-1": ({"kind": "box", "lower": [0], "upper": [2]}, Box, 2.0),
    "box-1-numbers": ({"kind": "box", "lower": 0, "upper": 2}, Box, 2.0),
    "box-2": ({"kind": "box", "lower": [0, 0], "upper": [2, 2]}, Box, 4.0),
    "box-3": ({"kind": "box", "lower": [0, 0, 0], "upper": [2, 2, 2]}, Box, 8.0),
    "box-5": ({"kind": "box", "lower": [0] * 5, "upper": [2] * 5}, Box, 32.0),
    "polygon": ({"kind": "polygon", "vertices": [[0, 0], [2, 0], [2, 2], [0, 2]]}, Polygon, 4.0),
    "polytope-1": ({"kind": "polytope", "vertices": [[0], [2]]}, Polytope, 2.0),
    "polytope-1-numbers": ({"kind": "polytope", "vertices": [0, 2]}, Polytope, 2.0),
    "polytope-2": ({"kind": "polytope", "vertices": [[0, 0], [2, 0], [0, 2]]}, Polytope, 2.0),
    "polytope-3": ({"kind": "polytope", "vertices": CUBE}, Polytope, 8.0),
    "halfspaces-1": ({"kind": "polytope", "halfspaces": [[1, 2], [-1, 0]]}, Polytope, 2.0),
    "halfspaces-2": (
        {"kind": "polytope", "halfspaces": [[-1, 0, 0], [0, -1, 0], [1, 1, 2]]},
        Polytope,
        2.0,
    ),
    "halfspaces-3": ({"kind": "polytope", "halfspaces": CUBE_ROWS}, Polytope, 8.0),
    "ball-1": ({"kind": "ball", "center": [1], "radius": 1}, Ball, 2.0),
    "ball-2": ({"kind": "ball", "center": [1, 1], "radius": 1}, Ball, math.pi),
    "ball-3": ({"kind": "ball", "center": [1, 1, 1], "radius": 1}, Ball, 4 * math.pi / 3),
    "ball-4": ({"kind": "ball", "center": [1] * 4, "radius": 1}, Ball, math.pi**2 / 2),
    "ellipsoid-2": (
        {"kind": "ellipsoid", "center": [1, 1], "semi_axes": [1, 0.5]},
        Ellipsoid,
        math.pi / 2,
    ),
    "ellipsoid-3": (
        {"kind": "ellipsoid", "center": [1, 1, 1], "semi_axes": [1, 0.75, 0.5], "axes": TURNED},
        Ellipsoid,
        math.pi / 2,
    ),
}
each_workspace = pytest.mark.parametrize(
    ("table", "kind", "size"), WORKSPACES.values(), ids=WORKSPACES
)


def dimension_of(table):
    for key in ("center", "lower"):
        if key in table:
            return len(table[key]) if isinstance(table[key], list) else 1
    if "halfspaces" in table:
        return len(table["halfspaces"][0]) - 1
    first = table.get("vertices", [0])[0]
    return len(first) if isinstance(first, list) else 1


def box(n):
    return {"kind": "box", "lower": [0.0] * n, "upper": [2.0] * n}


def gaussian(n):
    return {"kind": "gaussian", "center": [0.5] * n, "rate": 0.5}


def wide(n):
    rows = [[1.0 + (i == j) for j in range(n)] for i in range(n)]
    return {"kind": "gaussian", "center": [0.5] * n, "covariance": rows}


def polynomial(n):
    return {"kind": "polynomial", "terms": [[0] * n + [1.0], [2] + [0] * (n - 1) + [0.5]]}


def mixture(n):
    return {"kind": "mixture", "parts": [{"kind": "uniform"}, gaussian(n), polynomial(n), wide(n)]}


DENSITIES = {
    "uniform": lambda n: {"kind": "uniform", "level": 2.0},
    "gaussian": gaussian,
    "covariance": wide,
    "polynomial": polynomial,
    "mixture": mixture,
}


def places(n, count=3):
    """Near the middle of [0, 2]^n, and so in all the workspaces above, but for the triangles."""
    return [[0.9 - 0.05 * agent] * n for agent in range(count)]


def scenario_of(workspace, **tables):
    """A scenario that is right, in this workspace."""
    start = places(dimension_of(workspace))
    return {
        "workspace": workspace,
        "agents": {"start": start},
        "controller": {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.2},
        "run": {"horizon": 1.0, "seed": 1},
        **tables,
    }


class TestWorkspaces:
    """Each kind, from a table to the class and back."""

    @each_workspace
    def test_parsed_built_written_and_described(self, table, kind, size):
        scenario = parse_scenario(scenario_of(table))
        n = dimension_of(table)
        assert scenario.workspace.dimension == n
        workspace = build_workspace(scenario.workspace)
        assert type(workspace) is kind
        assert workspace.dimension == n
        assert workspace.volume == pytest.approx(size, rel=1e-14, abs=0.0)
        assert workspace.repairs == ()
        written = dump_toml(scenario)
        assert parse_scenario(text_to_mapping(written)) == scenario
        assert written.index("kind = ") < written.index("[agents]")
        assert parse_scenario(json.loads(scenario.model_dump_json())) == scenario
        jsonschema.validate(scenario_of(table), scenario_schema())
        described = describe_workspace(workspace)
        assert described["kind"] == table["kind"]
        again = build_workspace(parse_scenario(scenario_of(described)).workspace)
        assert type(again) is kind
        assert again.repairs == ()
        assert describe_workspace(again) == described
        for one, other in zip(workspace.bounds, again.bounds, strict=True):
            assert np.array_equal(one, other)
        if hasattr(workspace, "vertices"):
            assert np.array_equal(workspace.vertices, again.vertices)

    @given(st.integers(2, 5), st.integers(0, 2**32 - 1))
    def test_any_direction_is_described_to_the_last_bit(self, n, seed):
        chance = np.random.default_rng(seed)
        axes = np.linalg.qr(chance.normal(size=(n, n)))[0] * chance.uniform(0.5, 2.0, size=(n, 1))
        workspace = Ellipsoid([0.0] * n, [1.0 + k for k in range(n)], axes)
        table = describe_workspace(workspace)
        again = build_workspace(parse_scenario(scenario_of(table)).workspace)
        assert np.array_equal(again.axes, workspace.axes)
        assert again.repairs == ()

    @given(st.integers(1, 4), st.integers(0, 2**32 - 1))
    def test_corners_are_described_to_the_last_bit(self, n, seed):
        chance = np.random.default_rng(seed)
        rows = np.vstack([np.eye(n), -np.eye(n), chance.normal(size=(2 * n, n))])
        values = np.concatenate([np.full(2 * n, 3.0), chance.uniform(0.5, 2.0, 2 * n)])
        workspace = Polytope.from_halfspaces(rows, values)
        table = describe_workspace(workspace)
        again = build_workspace(parse_scenario(scenario_of(table)).workspace)
        assert np.array_equal(again.vertices, workspace.vertices)
        assert again.repairs == ()

    def test_vertices_inside_are_left_out_and_recorded(self):
        table = {"kind": "polytope", "vertices": [*CUBE, [1, 1, 1], [0, 0, 0]]}
        repairs = build(parse_scenario(scenario_of(table)))[2]
        assert "removed 1 repeated vertex of the workspace" in repairs
        assert any("left out 1 workspace vertex that" in repair for repair in repairs)

    def test_axes_of_the_coordinates_are_left_out(self):
        assert "axes" not in describe_workspace(Ellipsoid((0, 0), (2, 1)))
        described = describe_workspace(Ellipsoid((0, 0), (2, 1), [[0.6, 0.8], [-0.8, 0.6]]))
        assert np.allclose(described["axes"], [[0.6, 0.8], [-0.8, 0.6]], rtol=1e-15)


class TestDensities:
    """Every density in every dimension."""

    @pytest.mark.parametrize("n", [1, 2, 3, 5])
    @pytest.mark.parametrize("make", DENSITIES.values(), ids=DENSITIES)
    def test_there_and_back(self, make, n):
        data = scenario_of(box(n), density=make(n))
        scenario = parse_scenario(data)
        assert parse_scenario(text_to_mapping(dump_toml(scenario))) == scenario
        density = build_density(scenario.density)
        again = build_density(
            parse_scenario({**data, "density": describe_density(density)}).density
        )
        assert again == density
        assert np.isfinite(build(scenario)[0].density.at(np.array(places(n)))).all()

    def test_values(self):
        at = np.array([[1.0, 2.0, 3.0]])
        data = scenario_of(box(3), density=polynomial(3))
        assert build(parse_scenario(data))[0].density.at(at).tolist() == [1.5]
        data["density"]["origin"] = [1, 0, 0]
        assert build(parse_scenario(data))[0].density.at(at).tolist() == [1.0]

    def test_numbers_stand_for_points_of_the_line(self):
        plain = {"kind": "gaussian", "center": 0.5, "covariance": 0.25}
        listed = {"kind": "gaussian", "center": [0.5], "covariance": [[0.25]]}
        one, other = (parse_scenario(scenario_of(box(1), density=d)) for d in (plain, listed))
        assert one == other
        assert one.density.covariance == ((0.25,),)

    @given(st.integers(1, 5), st.integers(0, 2**32 - 1))
    def test_products_of_matrices_are_positive_definite(self, n, seed):
        root = np.random.default_rng(seed).normal(size=(n, n)) + 3 * np.eye(n)
        rows = root @ root.T
        rows = (rows + rows.T) / 2
        data = scenario_of(box(n), density={**wide(n), "covariance": rows})
        assert np.array_equal(parse_scenario(data).density.covariance, rows)
        rows[0, 0] -= 1.001 * np.linalg.det(rows) / (np.linalg.det(rows[1:, 1:]) if n > 1 else 1)
        assert refusal_of(data).code == "density.covariance"


class TestAgreement:
    """Workspace, density and agents have one dimension."""

    @each_workspace
    def test_every_workspace_is_held_against_its_agents(self, table, kind, size):
        n = dimension_of(table)
        data = scenario_of(table)
        data["agents"] = {"start": places(n + 1)}
        error = refusal_of(data)
        assert (error.key, error.code) == ("agents.start[0]", "scenario.dimension")
        assert f"has {n} dimension" in str(error)

    def test_several_tables_at_once(self):
        data = scenario_of(box(1), density=gaussian(2), agents={"start": places(3)})
        with pytest.raises(ScenarioError) as caught:
            parse_scenario(data)
        heads = [line.split()[0] for line in str(caught.value).splitlines()]
        assert heads == ["agents.start[0]", "density.center"]  # as in the file
        assert "as the workspace has 1 dimension, got" in str(caught.value)

    def test_callables_go_with_any_dimension(self):
        data = scenario_of(box(4), density={"kind": "callable", "function": "a.b:c"})
        assert parse_scenario(data).workspace.dimension == 4


class TestAgents:
    """Where agents start, in any dimension."""

    def test_numbers_are_places_on_a_line(self):
        table = {"kind": "interval", "bounds": [0, 1]}
        one = parse_scenario(scenario_of(table, agents={"start": [0.1, 0.5]}))
        other = parse_scenario(scenario_of(table, agents={"start": [[0.1], [0.5]]}))
        assert one == other
        assert one.agents.start == ((0.1,), (0.5,))
        assert build(one)[1].tolist() == [[0.1], [0.5]]
        moved = apply_overrides(
            scenario_of(table, agents={"start": [0.1]}), ["agents.start[0]=0.7"]
        )
        assert parse_scenario(moved).agents.start == ((0.7,),)

    def test_holds_on_a_line(self):
        table = {"kind": "interval", "bounds": [0, 2]}
        law = scenario_of(table)["controller"] | {"initial_hold": [0.5, -1, [0]]}
        scenario = parse_scenario(scenario_of(table, controller=law))
        assert scenario.controller.initial_hold == ((0.5,), (-1.0,), (0.0,))

    @each_workspace
    def test_scattered(self, table, kind, size):
        data = scenario_of(table, agents={"start": {"count": 5, "seed": 3}})
        start = build(parse_scenario(data))[1]
        assert start.shape == (5, dimension_of(table))
        assert build_workspace(parse_scenario(data).workspace).contains(start).all()

    def test_scattered_in_a_part_of_space(self):
        region = {"lower": [0.5, 0.5, 1.0], "upper": [1.0, 1.5, 1.25]}
        data = scenario_of(box(3), agents={"start": {"count": 40, "region": region}})
        start = build(parse_scenario(data))[1]
        assert (start >= region["lower"]).all()
        assert (start <= region["upper"]).all()


class TestWhatNeedsThePlane:
    """Grids, and laws with guaranteed cells."""

    @each_workspace
    def test_grids(self, table, kind, size):
        data = scenario_of(table)
        data["run"]["integration"] = {"kind": "grid", "spacing": 0.1}
        if dimension_of(table) == 2 and kind in (Polygon, Box, Polytope):
            assert parse_scenario(data).run.integration.spacing == 0.1
            return
        error = refusal_of(data)
        assert (error.key, error.code) == ("run.integration.kind", "integration.dimension")
        where = f"a {table['kind']} in {dimension_of(table)} dimensions"
        assert f"{where} cannot be integrated on a grid of points, only a polygon" in str(error)

    def test_guaranteed_cells(self):
        for n in (1, 2, 3):
            for law in ("self-triggered", "self-triggered-centroid", "event-triggered"):
                assert parse_scenario(scenario_of(box(n), controller={"kind": law})).workspace


def test_described_and_built_again():
    law = Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2, initial_hold=[[0.1, 0.0, 0.2]] * 2)
    density = Mixture((Uniform(), Gaussian((1, 1, 1), 0.5), Polynomial([(0, 0, 2, 1.0)])))
    start = np.array([[0.5, 0.5, 0.5], [1.0, 0.25, 0.5]])
    for workspace in (Box((0, 0, 0), (2, 2, 2)), Polytope(CUBE), Ball((1, 1, 1), 1)):
        scenario = describe(workspace, density, start, law, {"horizon": 1.0})
        assert scenario is not None
        again = parse_scenario(text_to_mapping(dump_toml(scenario)))
        assert again == scenario
        system, places_again, repairs = build(again)
        assert np.array_equal(places_again, start)
        assert system.density == density
        assert type(system.workspace) is type(workspace)
        assert repairs == ()
