"""A1 to A27: where agents stand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.agents import check_start
from dwell.errors import AgentsError
from tests.catalogue.kit import Bench, case, holds_words, table
from tests.cli.shell import dwell as command
from tests.oracles import rational_cells

SQUARE = dwell.Box((0, 0), (1, 1))
LAW = dwell.Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.2)


@case("A1-library")
def test_coincident_in_python(case: str) -> None:
    with pytest.raises(AgentsError) as caught:
        dwell.simulate(SQUARE, None, [(0.5, 0.5), (0.5, 0.5)], LAW, until=1.0)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.code, caught.value.key) == ("agents.coincident", "agents.start[1]")


@case("A2")
def test_meeting_ends_the_run_with_a_name(bench: Bench, case: str) -> None:
    # Head on: they meet at (2, 2) at t = 0.2, exactly when both sample.
    meeting = [
        "agents.start=[[1.8,2],[2.2,2],[3,3.5]]",
        "controller.initial_hold=[[1,0],[-1,0],[0,0]]",
        "controller.initial_timer=0.2",
    ]
    outcome = bench.run(*meeting)
    assert outcome.code == 1
    figures = outcome.json
    assert figures["stop"]["reason"] == "coincident"
    assert figures["stop"]["time"] == 0.2
    assert "agents 0 and 1" in figures["stop"]["detail"]
    assert figures["final_positions"][0] == [2.0, 2.0]
    assert figures["separation"]["min"] == 0.0
    undefined = [
        figures["cost"]["final"], figures["error"]["final_max"], figures["final_centroids"],
        figures["final_masses"], figures["coverage"]["reached_at"],
    ]  # fmt: skip
    assert undefined == [None] * 5
    stored = dwell.load_run(bench.folder / "run.nc")
    assert stored.stop.reason.value == "coincident"
    assert stored.cost(0.1) > 0.0
    with pytest.raises(dwell.InputError, match="two agents coincide"):
        stored.cost(0.2)
    assert command("check", bench.folder / "run.nc").code == 0
    shown = command("run", bench.file, *[w for o in meeting for w in ("--set", o)])
    assert shown.code == 1
    assert "coincident" in shown.out


@case("A2-between-samples")
def test_passing_through_each_other_between_samples(bench: Bench, case: str) -> None:
    # They stand at one place at t = 0.125, a time of the metrics, and of no event.
    figures = bench.accepted(
        "agents.start=[[1.875,2],[2.125,2],[3,3.5]]",
        "controller.initial_hold=[[1,0],[-1,0],[0,0]]",
        "controller.initial_timer=0.2",
    )
    assert figures["cost"]["final"] > 0.0
    assert figures["error"]["final_max"] < 4.0


@case("A3", "A4")
def test_very_near_neighbours_have_cells_of_their_own(bench: Bench, case: str) -> None:
    near = 1.0 + 1e-15 if case == "A3" else math.nextafter(1.0, 2.0)
    box = dwell.Box((0, 0), (2, 2))
    cells = dwell.tessellate(box, [(1.0, 1.0), (near, 1.0)])
    assert math.fsum(cells.masses) == pytest.approx(4.0, rel=1e-13, abs=0.0)
    assert cells.masses.tolist() == pytest.approx([2.0, 2.0], rel=1e-13, abs=0.0)
    codes = bench.flagged(f"agents.start=[[1.0,1.0],[{near!r},1.0]]")
    assert "near-coincident" in codes


@case("A4-at-zero")
def test_below_the_square_root_of_doubles_is_coincident(bench: Bench, case: str) -> None:
    text = bench.refused("agents.start=[[0.0,0.0],[5e-324,0.0]]")
    assert holds_words(text, ["agents.start[1]", "same place"])


@case("A7")
def test_outside_by_rounding_is_repaired(bench: Bench, case: str) -> None:
    beyond = math.nextafter(4.0, 5.0)
    assert bench.repaired(f"agents.start=[[1,1],[{beyond!r},2]]")["repairs"] == [
        "moved 1 agent onto the workspace's boundary (rounding)"
    ]
    places, repairs = check_start(dwell.Box((0, 0), (4, 4)), [(beyond, 2.0)])
    assert places.tolist() == [[4.0, 2.0]]
    assert repairs


# Four places on which other libraries made cells that overlap: geos 1040, geos 955, shapely 2264.
NEARLY_COCIRCULAR = {
    "A12-geos1040": [(6.6584, 53.583000000000006), (6.6576, 53.583600000000004),
                     (6.657, 53.5848), (6.6572000000000005, 53.5842)],
    "A12-geos955": [(18.68285714285716, 100.105), (13.41, 104.82100000000001),
                    (13.41, 107.179), (18.682857142857145, 111.89500000000001)],
    "A12-shapely2264": [(366.99763488064747, -45.610000000000014),
                        (366.2381975042589, -45.339682883479995),
                        (366.0603171165201, -45.161802495741185),
                        (365.7900000000001, -44.40236511935221)],
}  # fmt: skip


@table(NEARLY_COCIRCULAR)
@pytest.mark.parametrize("scale", [1.0, 10.0, 16.0])
def test_nearly_cocircular(row: list[tuple[float, float]], scale: float) -> None:
    places = np.array(row) * scale
    reach = float(np.ptp(places, axis=0).max())
    box = dwell.Box(places.min(axis=0) - reach, places.max(axis=0) + reach)
    cells = dwell.tessellate(box, places)
    assert math.fsum(cells.masses) == pytest.approx(box.area, rel=1e-13, abs=0.0)
    assert (cells.masses > 0.0).all()


@case("A13-3", "A13-4", "A13-7", "A13-100", "A13-1000")
def test_regular_polygon_of_agents(case: str) -> None:
    k = int(case[4:])
    turn = 2 * np.pi / k * np.arange(k)
    corners = np.column_stack([np.cos(turn + np.pi / k), np.sin(turn + np.pi / k)])
    agents = 0.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    cells = dwell.tessellate(dwell.Polygon(corners), agents)
    # Cells are wedges: their tips move by the rounding of the input times k / pi.
    tight = max(1e-12, 1e-14 * k)
    assert np.ptp(cells.masses) <= 1e-12 * cells.masses.mean()
    assert np.ptp(np.hypot(*cells.errors.T)) <= tight
    assert np.ptp(cells.second_moments) <= 10 * tight * cells.second_moments.mean()


def hexagonal(rows: int, spacing: float) -> np.ndarray:
    """A patch of the hexagonal lattice."""
    return np.array(
        [
            (spacing * (i + 0.5 * (j % 2)), spacing * math.sqrt(3) / 2 * j)
            for j in range(rows)
            for i in range(rows)
        ]
    )


@case("A14-hexagonal", "A14-square")
@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_lattices_are_at_rest(case: str, shift: float) -> None:
    spacing = 0.5
    places = hexagonal(14, spacing)
    if case == "A14-square":
        places = np.stack(np.meshgrid(*[spacing * np.arange(14)] * 2), axis=-1).reshape(-1, 2)
    places = places + shift
    low, high = places.min(axis=0), places.max(axis=0)
    cells = dwell.tessellate(dwell.Box(low - spacing, high + spacing), places)
    inner = ((places > low + 2.1 * spacing) & (places < high - 2.1 * spacing)).all(axis=1)
    assert inner.sum() > 50
    rounding = 1e-13 * spacing + 8 * np.spacing(shift)  # a shifted lattice is not quite a lattice
    assert np.hypot(*cells.errors[inner].T).max() <= rounding


@case("A15")
def test_one_agent(bench: Bench, case: str) -> None:
    figures = bench.accepted("agents.start=[[1,1]]")
    assert [flag["code"] for flag in figures["flags"]] == ["single-agent"]
    assert figures["final_centroids"] == [[2.0, 2.0]]
    assert figures["final_masses"] == [16.0]
    assert figures["separation"]["min"] is None


@case("A21-int", "A21-float32", "A21-fortran", "A21-strided", "A21-readonly", "A21-tuples")
def test_flavours_of_arrays(case: str) -> None:
    plain = np.array([[1.0, 1.0], [3.0, 2.0], [2.0, 3.0]])
    spread = np.zeros((6, 4))
    spread[::2, ::2] = plain
    frozen = plain.copy()
    frozen.setflags(write=False)
    flavour = {
        "A21-int": plain.astype(np.int16),
        "A21-float32": plain.astype(np.float32),
        "A21-fortran": np.asfortranarray(plain),
        "A21-strided": spread[::2, ::2],
        "A21-readonly": frozen,
        "A21-tuples": tuple(map(tuple, plain.tolist())),
    }[case]
    box = dwell.Box((0, 0), (4, 4))
    runs = [dwell.simulate(box, None, s, LAW, until=2.0, seed=3) for s in (plain, flavour)]
    assert runs[0].positions(2.0).tobytes() == runs[1].positions(2.0).tobytes()
    assert runs[0].metrics.costs.tobytes() == runs[1].metrics.costs.tobytes()


@case("A23")
def test_map_coordinates(case: str) -> None:
    shift = np.array([5e5, 5e6])
    random = np.random.default_rng(1)
    places = random.uniform(0, 10, (100, 2)) + shift
    there = dwell.tessellate(dwell.Box(shift, shift + 10), places)
    here = dwell.tessellate(dwell.Box((0, 0), (10, 10)), places - shift)
    assert math.fsum(there.masses) == pytest.approx(100.0, rel=1e-13, abs=0.0)
    assert np.abs(there.masses - here.masses).max() <= 1e-12
    assert np.abs(there.errors - here.errors).max() <= 1e-12
    assert there.neighbors == here.neighbors


@case("A24-large", "A24-small", "A24-too-large", "A24-too-small")
def test_extreme_coordinates(bench: Bench, case: str) -> None:
    size = {"large": 1e69, "small": 1e-69, "too-large": 1e150, "too-small": 1e-150}[case[4:]]
    changes = [
        f"workspace={{kind='box', lower=[0,0], upper=[{size!r},{size!r}]}}",
        f"agents.start=[[{0.1 * size!r},{0.2 * size!r}],[{0.7 * size!r},{0.6 * size!r}]]",
        f"controller.k1={size!r}",
        f"controller.nu={size!r}",
    ]
    if "too" in case:
        changes[2:] = ["controller.k1=1.0", "controller.nu=1.0"]
        assert holds_words(bench.refused(*changes), ["workspace.upper", "another unit"])
        return
    figures = bench.clean(*changes)
    assert math.fsum(figures["final_masses"]) == pytest.approx(size * size, rel=1e-13, abs=0.0)


@case("A25")
def test_tiny_workspace_is_the_scaled_problem(case: str) -> None:
    small, factor = 1e-9, 2.0**30
    start = small * np.random.default_rng(2).uniform(0, 1, (12, 2))
    runs = []
    for scale in (1.0, factor):
        site = dwell.Box((0, 0), (small * scale, 0.75 * small * scale))
        law = dwell.Timer(k1=0.5 * small * scale, nu=0.5 * small * scale, t1=0.1, t2=0.2)
        places = start * scale * (1.0, 0.75)
        runs.append(dwell.simulate(site, None, places, law, until=5.0, seed=9))
    assert (runs[0].positions(5.0) * factor).tobytes() == runs[1].positions(5.0).tobytes()
    assert (runs[0].metrics.costs * factor**4).tobytes() == runs[1].metrics.costs.tobytes()


@case("A26")
def test_a_cluster_and_one_far_away(case: str) -> None:
    random = np.random.default_rng(3)
    cluster = np.vstack([0.3 + 1e-6 * random.uniform(0, 1, (1499, 2)), [[0.9, 0.9]]])
    cells = dwell.tessellate(SQUARE, cluster)
    assert math.fsum(cells.masses) == pytest.approx(1.0, rel=1e-13, abs=0.0)
    for p in np.argsort(cells.masses)[:4]:  # inside the cluster, with neighbours all around
        near = np.argsort(np.hypot(*(cluster - cluster[p]).T))[:60]  # all that can touch the cell
        exact = rational_cells.cell(SQUARE.vertices.tolist(), cluster[near].tolist(), 0)
        assert cells.masses[p] == pytest.approx(float(exact.area), rel=1e-12, abs=0.0)
