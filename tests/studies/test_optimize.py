"""The best deployment: known ones are found, saddles are left, and nothing depends on the way."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Box, Gaussian, Mixture, Polygon, Polynomial, Uniform
from dwell._types import lengths
from dwell.density import Function
from dwell.errors import DensityError, InputError
from dwell.studies import objective as objectives
from dwell.studies.deployment import SAYS, Deployment, reference_for, root_mass
from dwell.studies.newton import Descent, Kind, descend, steihaug
from dwell.studies.objective import Objective, dot
from dwell.studies.optimize import ON_A_GRID, keep_deployment, optimize, optimize_scenario
from dwell.studies.random_starts import CornerFrame, random_start
from dwell.theory.spectrum import softest

from .conftest import scenario

SQUARE = Box((0, 0), (1, 1))
HILL = Gaussian((7.5, 4.5), 0.03)
HEXAGON = 5 / (18 * math.sqrt(3))
KEYS = {
    "schema", "scenario", "agents", "seed", "cost", "mass", "positions", "gradient_norm",
    "spectral_gap", "kind", "says", "starts", "reference", "evaluations", "notes", "stop",
    "wall_seconds",
}  # fmt: skip


def sorted_rows(points: np.ndarray) -> np.ndarray:
    """By the first coordinate, then the next, whatever their last digits say."""
    return points[np.lexsort(np.round(points, 9).T[::-1])]


def rectangle_pair(height: float) -> np.ndarray:
    """Two agents side by side in [0, 1] x [0, height]: a centroidal tessellation."""
    return np.array([(0.25, height / 2), (0.75, height / 2)])


# Known answers.


@pytest.mark.parametrize("weight", [None, HILL, Polynomial([(1, 0, 1.0)])])
def test_one_agent_stands_at_the_centroid(weight: Any) -> None:
    found = optimize(Box((0, 0), (3, 2)), weight, 1, starts=2)

    expected = dwell.moments([(0, 0), (3, 0), (3, 2), (0, 2)], weight)
    assert found.positions == pytest.approx(expected.centroid[None], abs=1e-14)
    assert found.cost == pytest.approx(expected.second_moment, rel=1e-14, abs=0.0)
    assert found.spectral_gap == 1.0
    assert found.kind is Kind.MINIMUM


def test_four_agents_on_a_square() -> None:
    found = optimize(SQUARE, None, 4, starts=6)

    quarters = np.array([(0.25, 0.25), (0.25, 0.75), (0.75, 0.25), (0.75, 0.75)])
    assert sorted_rows(found.positions) == pytest.approx(quarters, abs=1e-15)
    assert found.cost == pytest.approx(1 / 24, rel=1e-14, abs=0.0)
    assert found.spectral_gap == pytest.approx(1 / 3, rel=1e-12, abs=0.0)
    assert found.times_found == 6
    assert found.best == 0


@pytest.mark.parametrize(("agents", "height"), [(2, 1e-3), (5, 1e-3), (5, 0.05), (9, 1e-6)])
def test_on_a_thin_strip_agents_stand_at_equal_distances(agents: int, height: float) -> None:
    found = optimize(Box((0, 0), (1, height)), None, agents, starts=4)

    even = (np.arange(agents) + 0.5) / agents
    assert sorted_rows(found.positions)[:, 0] == pytest.approx(even, abs=1e-12)
    assert found.positions[:, 1] == pytest.approx(height / 2, rel=1e-12, abs=0.0)
    cost = height * (1 / agents**2 + height**2) / 12
    assert found.cost == pytest.approx(cost, rel=1e-12, abs=0.0)
    # Along the strip Dc has the eigenvalues of a path: the largest is cos^2 of half an angle.
    gap = 1 - math.cos(math.pi / (2 * agents)) ** 2
    assert found.spectral_gap == pytest.approx(gap, rel=1e-3 if height > 1e-2 else 1e-9)


# Saddles and degenerate minima.


@pytest.mark.parametrize("height", [1.3, 2.0, 5.0])
def test_a_saddle_is_left(height: float) -> None:
    """Side by side is a saddle for height > sqrt(3/2); the gradient there is zero."""
    start = rectangle_pair(height)
    place = Objective(Box((0, 0), (1, height)), Uniform()).evaluate(start)
    assert place is not None
    assert lengths(place.errors).max() < 1e-15

    found = optimize(Box((0, 0), (1, height)), None, start, starts=1)

    assert found.kind is Kind.MINIMUM
    assert found.cost < 0.98 * place.cost
    above = np.array([(0.5, height / 4), (0.5, 3 * height / 4)])
    assert sorted_rows(found.positions) == pytest.approx(above, abs=1e-12)


def test_a_hill_that_does_not_feel_the_walls_is_degenerate() -> None:
    """All may be turned about the hill at no cost: a soft mode without any resistance."""
    found = optimize(Box((-30, -30), (30, 30)), Gaussian((0, 0), 0.5), 4, starts=3)

    assert found.kind is Kind.DEGENERATE
    assert abs(found.spectral_gap or 0.0) < 1e-9
    assert found.gradient_norm <= 1e-12
    assert "degenerate" in found.says


# The way down.


@pytest.mark.parametrize("weight", [Uniform(2.0), HILL, Mixture((HILL, Uniform(0.1)))])
def test_gradient_and_curvature_against_differences(heptagon: np.ndarray, weight: Any) -> None:
    frame = CornerFrame(Polygon(heptagon), weight)
    points = random_start(frame, 6, 1, 1)
    sight = frame.objective()
    place = sight.evaluate(points)
    assert place is not None
    slope = -2.0 * place.masses[:, None] * place.errors
    roots = np.repeat(np.sqrt(place.masses), 2)
    hessian = 2.0 * roots[:, None] * (np.eye(12) - sight.curvature(place).toarray()) * roots
    step = 1e-4
    for k in range(12):
        move = np.zeros(12)
        move[k] = step
        ahead, behind = (sight.evaluate(points + s * move.reshape(6, 2)) for s in (1.0, -1.0))
        assert ahead is not None
        assert behind is not None
        difference = (ahead.cost - behind.cost) / (2 * step)
        assert difference == pytest.approx(slope.ravel()[k], abs=1e-5 * abs(slope).max())
        slopes = [-2.0 * (p.masses[:, None] * p.errors).ravel() for p in (ahead, behind)]
        column = (slopes[0] - slopes[1]) / (2 * step)
        assert column == pytest.approx(hessian[:, k], abs=1e-6 * abs(hessian).max())


@pytest.mark.parametrize("number", range(6))
def test_the_cost_never_rises(heptagon: np.ndarray, number: int) -> None:
    frame = CornerFrame(Polygon(heptagon), HILL)
    found = descend(frame.objective(), random_start(frame, 20, 3, number))

    costs = np.array(found.costs)
    assert (np.diff(costs) <= 1e-13 * costs[:-1]).all()
    assert found.cost == costs[-1]
    assert found.gradient_norm <= 1e-13
    assert found.kind is Kind.MINIMUM


def test_no_agent_leaves_the_workspace(heptagon: np.ndarray) -> None:
    seen: list[np.ndarray] = []
    frame = CornerFrame(Polygon(heptagon), HILL)
    sight = frame.objective()
    evaluate = sight.evaluate

    def watching(positions: np.ndarray, **options: Any) -> Any:
        seen.append(positions)
        return evaluate(positions, **options)

    sight.evaluate = watching  # type: ignore[method-assign]
    descend(sight, random_start(frame, 25, 1, 4))
    assert len(seen) > 10
    assert max(frame.workspace.outside_by(points).max() for points in seen) < 1e-12


def test_evaluations_are_all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = 0

    def counting(name: str) -> None:
        inner = getattr(objectives, name)

        def outer(*args: Any, **options: Any) -> Any:
            nonlocal cells
            cells += 5
            return inner(*args, **options)

        monkeypatch.setattr(objectives, name, outer)

    counting("measure_one")
    counting("borders")
    found = optimize(SQUARE, HILL, 5, starts=3, workers=1)
    assert found.evaluations == cells


def test_steihaug_solves_and_stops() -> None:
    from scipy.sparse import csr_array

    soft = csr_array(np.diag([0.0, 0.5, 0.9]))
    slope = np.array([1.0, -2.0, 3.0])
    y, at_edge = steihaug(soft, slope, 1e3, 1e-12)
    assert not at_edge
    assert y == pytest.approx(-slope / (2 * np.array([1.0, 0.5, 0.1])))
    for matrix, radius in ((soft, 1.0), (csr_array(np.diag([0.0, 0.5, 1.5])), 7.0)):
        y, at_edge = steihaug(matrix, slope, radius, 1e-12)
        assert at_edge
        assert math.sqrt(dot(y, y)) == pytest.approx(radius)


@pytest.mark.parametrize("size", [2, 12, 30])
def test_softest_is_the_largest_eigenvalue(size: int) -> None:
    from scipy.sparse import csr_array

    random = np.random.default_rng(size)
    root = random.normal(size=(size, size))
    matrix = root @ root.T / size
    value, vector = softest(csr_array(matrix))
    assert value == pytest.approx(np.linalg.eigvalsh(matrix)[-1], rel=1e-12, abs=0.0)
    assert matrix @ vector == pytest.approx(value * vector, abs=1e-9)
    assert vector[np.argmax(np.abs(vector) > 0.5 * np.abs(vector).max())] > 0


# What the answer must not depend on.


def test_workers_change_nothing(heptagon: np.ndarray) -> None:
    site = Polygon(heptagon)
    a, *others = (optimize(site, HILL, 15, starts=6, seed=4, workers=w) for w in (1, 2, 5))

    for b in others:  # the same way, to the last bit
        assert (list(b.descents), b.best) == (list(range(6)), a.best)
        for k in range(6):
            assert b.descents[k].costs == a.descents[k].costs
            assert (b.descents[k].positions == a.descents[k].positions).all()


def test_a_start_depends_on_its_seed_and_number_alone(heptagon: np.ndarray) -> None:
    frame = CornerFrame(Polygon(heptagon), HILL)
    assert (random_start(frame, 8, 3, 2) == random_start(frame, 8, 3, 2)).all()
    assert (random_start(frame, 8, 3, 2) != random_start(frame, 8, 3, 1)).all()
    assert (random_start(frame, 8, 3, 2) != random_start(frame, 8, 4, 2)).all()
    few = optimize(Polygon(heptagon), HILL, 8, starts=3, seed=9)
    more = optimize(Polygon(heptagon), HILL, 8, starts=5, seed=9)
    assert [few.descents[k].cost for k in range(3)] == [more.descents[k].cost for k in range(3)]


@pytest.mark.parametrize(
    ("scale", "offset"), [(1e-3, 0.0), (1e3, 0.0), (2.0**20, 0.0), (1.0, 5e6), (1e3, 5e6)]
)
def test_units_and_place_do_not_matter(heptagon: np.ndarray, scale: float, offset: float) -> None:
    plain = optimize(Polygon(heptagon), HILL, 12, starts=4, seed=1)
    center = (7.5 * scale + offset, 4.5 * scale + offset)
    moved = optimize(
        Polygon(heptagon * scale + offset), Gaussian(center, 0.03 / scale**2), 12, starts=4, seed=1
    )
    assert moved.cost == pytest.approx(plain.cost * scale**4, rel=1e-12, abs=0.0)
    assert moved.costs == pytest.approx(plain.costs * scale**4, rel=1e-11, abs=0.0)
    assert moved.spectral_gap == pytest.approx(plain.spectral_gap, rel=1e-6)
    # Far away coordinates have fewer digits, and along the soft mode a little is a lot.
    digits = 1e-10 if offset == 0.0 else 1e-8
    assert (moved.positions - offset) / scale == pytest.approx(plain.positions, abs=30 * digits)
    assert moved.gradient_norm <= max(1e-12, 4e-16 * offset / scale)


def test_the_level_of_the_density_does_not_matter() -> None:
    costs = [
        optimize(SQUARE, Uniform(level), 7, starts=3, seed=2).cost / level
        for level in (1.0, 1e-280, 1e280)
    ]
    assert costs == pytest.approx([costs[0]] * 3, rel=1e-12, abs=0.0)


# Densities of all kinds.


def test_two_hills() -> None:
    hills = Mixture((Gaussian((2, 2), 1.0), Gaussian((8, 3), 1.0, weight=4.0)))
    found = optimize(Box((0, 0), (10, 5)), hills, 6, starts=10)

    assert found.gradient_norm <= 1e-12
    left = int((found.positions[:, 0] < 5.0).sum())
    assert left == 2  # k agents on a hill of weight w cost about w / k, and 1/2 + 4/4 is least
    assert found.cost < 0.999 * found.costs[-1]


def test_a_function_gives_what_its_closed_form_gives() -> None:
    def weight(z: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * ((z - [0.3, 0.4]) ** 2).sum(axis=1))

    slow = optimize(SQUARE, weight, 3, starts=2, seed=5)
    quick = optimize(SQUARE, Gaussian((0.3, 0.4), 0.5), 3, starts=2, seed=5)

    assert slow.kind is quick.kind is Kind.MINIMUM
    assert slow.cost == pytest.approx(quick.cost, rel=1e-10, abs=0.0)
    assert slow.gradient_norm <= 1e-10
    assert slow.spectral_gap == pytest.approx(quick.spectral_gap, rel=1e-6)
    assert slow.reference.value == pytest.approx(quick.reference.value, rel=1e-9, abs=0.0)
    assert slow.reference.lower_bounds == ()


@pytest.mark.exhaustive
def test_agents_far_out_in_a_tail_come_in() -> None:
    """At the start some cells weigh less than the smallest number."""
    site, hill = Box((0, 0), (100, 100)), Gaussian((5, 5), 1.0)
    start = [(5.0, 6.0), (60.0, 60.0), (95.0, 90.0), (90.0, 95.0)]
    assert dwell.tessellate(site, start, hill).masses.min() == 0.0
    found = optimize(site, hill, start, starts=1)

    assert found.kind is not Kind.UNFINISHED
    assert found.cells.masses.min() > 0.1 * found.cells.masses.max()
    assert found.gradient_norm <= 1e-12


def test_starts_avoid_places_that_weigh_nothing() -> None:
    def corner(z: np.ndarray) -> np.ndarray:
        return np.maximum(0.25 - z[:, 0], 0.0) ** 2

    frame = CornerFrame(SQUARE, Function(corner))
    points = random_start(frame, 50, 1, 1)
    assert points.shape == (50, 2)
    assert points[:, 0].max() < 0.25


# Reference and bounds.


@pytest.mark.parametrize(
    "weight", [HILL, Gaussian((7, 4), covariance=((20.0, 5.0), (5.0, 10.0)), weight=3.0)], ids=repr
)
def test_the_reference_of_a_gaussian_is_exact(heptagon: np.ndarray, weight: Gaussian) -> None:
    cells = dwell.tessellate(Polygon(heptagon), [(0, 0), (5, 5), (9, 1)], weight)
    by_function = root_mass(cells, Function(weight.at))
    assert root_mass(cells, weight) == pytest.approx(by_function, rel=1e-10, abs=0.0)


def test_bounds_are_those_that_apply() -> None:
    def names(site: Any, weight: Any) -> dict[str, float]:
        cells = dwell.tessellate(site, [(0.4, 0.5), (0.6, 0.4)], weight)
        return {b.name: b.value for b in reference_for(cells, weight).lower_bounds}

    heptagon = Polygon([(math.cos(a), math.sin(a)) for a in 2 * math.pi * np.arange(7) / 7])
    square = names(SQUARE, Uniform(3.0))
    assert square == pytest.approx({"disc": 3 / (4 * math.pi), "fejes-toth": 3 * HEXAGON / 2})
    assert set(names(heptagon, Uniform())) == {"disc"}
    assert set(names(SQUARE, Gaussian((0.5, 0.5), 1.0))) == {"full-density"}
    assert names(SQUARE, Function(lambda z: z[:, 0])) == {}


# From a scenario; what is kept and told.


def test_a_scenario_gives_its_start_first() -> None:
    small = scenario()
    found = optimize_scenario(small, starts=3)

    assert found.name == "small"
    assert found.seed == 1
    alone = optimize(
        Box((0, 0), (4, 3)), Gaussian((3, 1), 0.1), small.agents.start, starts=1, seed=1
    )
    assert found.descents[0].costs == alone.descents[0].costs
    assert optimize_scenario(small, starts=3).cost == found.cost


def test_on_a_grid_exact_integrals_are_used_and_that_is_said() -> None:
    grid = {"horizon": 2.0, "seed": 1, "integration": {"kind": "grid", "spacing": 0.25}}
    found = optimize_scenario(scenario(run=grid), starts=2)

    assert found.notes == (ON_A_GRID,)
    assert found.cost == optimize_scenario(scenario(), starts=2).cost


def test_json() -> None:
    found = optimize(SQUARE, HILL, 3, starts=4)
    value = json.loads(json.dumps(found.as_json(), allow_nan=False))

    assert set(value) >= KEYS
    assert value["cost"] == found.cost
    assert value["mass"] == pytest.approx(
        dwell.moments(SQUARE.vertices, HILL).mass, rel=1e-13, abs=0.0
    )
    assert np.array(value["positions"]).shape == (3, 2)
    starts = value["starts"]
    assert starts["best"] <= starts["median"] <= starts["worst"]
    assert [row["start"] for row in starts["each"]] == [0, 1, 2, 3]
    assert sum(starts["kinds"].values()) == starts["count"] == 4
    assert sum(row["evaluations"] for row in starts["each"]) == value["evaluations"]
    assert value["reference"]["name"] == "zador-gersho"
    assert {bound["name"] for bound in value["reference"]["lower_bounds"]} == {"full-density"}


def outcome(cost: float, kind: Kind) -> Descent:
    gap = 0.1 if kind is Kind.MINIMUM else None
    return Descent(np.array([(0.5, 0.5)]), cost, 0.0, gap, kind, 1, (cost,))


def test_the_first_of_equals_is_the_best_and_only_at_rest() -> None:
    descents = {
        0: outcome(3.0, Kind.MINIMUM),
        1: outcome(2.0 + 1e-13, Kind.MINIMUM),
        2: outcome(2.0, Kind.MINIMUM),
        3: outcome(1.0, Kind.UNFINISHED),
        4: outcome(math.inf, Kind.WEIGHTLESS),
    }
    found = Deployment(SQUARE, Uniform(), descents, seed=0)
    assert (found.best, found.times_found, found.ending) == (1, 2, "finished")
    assert found.costs.tolist() == [2.0, 2.0 + 1e-13, 3.0]
    row = found.as_json()["starts"]["each"][4]
    assert (row["kind"], row["cost"]) == ("weightless", None)
    alone = Deployment(SQUARE, Uniform(), {3: descents[3]}, seed=0)
    assert (alone.best, alone.ending) == (3, "unfinished")
    assert set(SAYS) == set(Kind)


def test_figures_and_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = optimize(SQUARE, HILL, 5, starts=3)
    keep_deployment(found, tmp_path / "best", ["png", "svg"])
    keep_deployment(found, tmp_path / "best", ["png"])  # our own files are replaced

    names = {path.name for path in (tmp_path / "best").iterdir()}
    drawn = {f"{name}.{kind}" for name in ("deployment", "minima") for kind in ("png", "svg")}
    assert names == {"deployment.json", *drawn}
    kept = json.loads((tmp_path / "best" / "deployment.json").read_text())
    assert kept["cost"] == found.cost
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "deployment.json").write_text("{}")
    with pytest.raises(InputError, match="is not a file made here"):
        keep_deployment(found, tmp_path / "other")


def test_levels_close_to_the_costs_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    from dwell.plotting.figures import minima

    levels = {"near": 1.9, "far": 50.0}
    figure = minima({"minimum": [2.0, 2.5, 3.0], "degenerate": [2.2]}, levels)
    words = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert words == ["minimum", "degenerate", "near"]
    low, high = figure.axes[0].get_ylim()
    assert low < 1.9
    assert 3.0 < high < 4.0
    with pytest.raises(InputError, match="nothing to draw"):
        minima({}, {})


# What cannot be done.


def test_a_start_whose_cells_weigh_nothing_is_left_out_or_refused() -> None:
    start = [(0.1, 0.5), (0.6, 0.5), (0.9, 0.5)]
    with pytest.raises(DensityError, match="weighs nothing") as fault:
        optimize(SQUARE, lambda z: np.where(z[:, 0] < 0.3, 1.0, 0.0), start, starts=1)
    assert fault.value.code == "optimize.weightless"
    found = optimize(SQUARE, lambda z: np.maximum(0.5 - z[:, 0], 0.0) ** 2, start[::2], starts=2)
    assert found.best == 1
    assert found.descents[0].kind is Kind.WEIGHTLESS
    assert "left out" in found.notes[0]


# Interrupts.


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_leaves_the_best_so_far(
    heptagon: np.ndarray, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third start is interrupted on its way; those before it are whole."""
    from dwell.studies import newton

    calls = 0
    go = newton._Walk.go

    def impatient(self: Any, place: Any) -> None:
        nonlocal calls
        go(self, place)
        calls += 1
        if calls == 60:
            raise KeyboardInterrupt

    monkeypatch.setattr(newton._Walk, "go", impatient)
    found = optimize(Polygon(heptagon), HILL, 10, starts=50, workers=workers)

    assert found.interrupted
    assert found.ending == "interrupted"
    assert 1 <= len(found.descents) < 50
    assert found.as_json()["stop"] == {"reason": "interrupted", "ok": False}
    assert found.kind is Kind.MINIMUM
    assert any(d.kind is Kind.UNFINISHED for d in found.descents.values())


def test_an_interrupt_before_anything_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Objective, "evaluate", at_once)
    with pytest.raises(KeyboardInterrupt):
        optimize(SQUARE, None, 3, starts=2, workers=1)


def test_progress_is_told(heptagon: np.ndarray) -> None:
    answer: list[tuple[str, float]] = []
    optimize(
        Polygon(heptagon), HILL, 5, starts=4, workers=1,
        progress=lambda what, share: answer.append((what, share)),
    )  # fmt: skip
    shares = [share for _, share in answer]
    assert shares == sorted(shares)
    assert answer[0][0] == "0 of 4 starts"
    assert answer[-1][0] == "3 of 4 starts"


# Beyond the range of numbers.


def test_far_out_in_a_tail_costs_are_logarithms() -> None:
    """The same density with the factor exp(3050) is within the range."""
    site = Box((0, 0), (1, 1))
    start = [(0.3, 0.4), (0.7, 0.9), (0.9, 0.6)]
    far = Gaussian((40.0, 40.0), rate=1.0)

    def scaled(z: np.ndarray) -> np.ndarray:
        return np.exp(3050.0 - ((z - 40.0) ** 2).sum(axis=-1))

    found = dwell.optimize(site, far, start, starts=1)
    near = dwell.optimize(site, scaled, start, starts=1)
    assert (found.kind, found.ending) == (Kind.MINIMUM, "finished")
    assert found.gradient_norm < 1e-12
    assert found.positions == pytest.approx(near.positions, abs=1e-8)
    assert found.log_cost == pytest.approx(near.log_cost - 3050.0, abs=1e-8)
    assert found.cost == 0.0
    value = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert value["log_cost"] == found.log_cost
    assert any("near or beyond the range of numbers" in note for note in value["notes"])


def test_a_scenario_is_optimized_at_the_time_that_is_given() -> None:
    """A workspace, a density and agents that change; each counts at its own time."""
    world = [
        {"from": 0.5, "density": {"kind": "gaussian", "center": [1, 2], "rate": 0.3}},
        {"from": 1.0, "leave": [1]},
        {"from": 1.5, "workspace": {"kind": "box", "lower": [0, 0], "upper": [5, 3]}},
    ]
    changing = scenario(world=world)
    worlds = dwell.run_scenario(changing, progress=False)
    costs = []
    for at in (None, 0.0, 0.6, 1.2, 1.7):
        found = dwell.optimize(changing, starts=2, at=at)
        there = worlds.world(at or 0.0)
        assert found.density == there.density
        assert np.array_equal(found.workspace.bounds, there.workspace.bounds)
        assert len(found.positions) == len(there.agents)
        cells = dwell.tessellate(there.workspace, found.positions, there.density)
        assert found.cost == pytest.approx(cells.cost, rel=1e-9)
        costs.append(found.cost)
    assert costs[0] == costs[1]
    assert len(set(costs)) == 4
