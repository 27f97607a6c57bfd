"""D1 to D19: how much places matter."""

from __future__ import annotations

import math

import mpmath
import pytest

import dwell
from tests.catalogue.kit import Bench, case, table

LAW = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
FEW = ["run.record.sample_every='off'", "run.horizon=0.25"]  # quadrature in Python takes a while
FEWEST = ["run.record.sample_every='off'", "run.horizon=0", "agents.start=[[1,1]]"]


def named(function: str) -> list[str]:
    """Overrides that take a density from `kit`."""
    return [f"density={{kind='callable', function='tests.catalogue.kit:{function}'}}"]


@case("D2-minus-zero", "D3")
def test_nothing_on_a_whole_cell(bench: Bench, case: str) -> None:
    function = "corner" if case == "D3" else "minus_zero"
    start = f"agents.start=[[1,{1 if case == 'D3' else 2}],[3,2]]"
    figures = bench.accepted(*named(function), start, *FEW, judge=case == "D2-minus-zero")
    assert "empty-cells" in {flag["code"] for flag in figures["flags"]}
    assert figures["final_masses"][1] == 0.0
    assert figures["final_positions"][1] == [3.0, 2.0]  # nothing to go to: it stays


@pytest.mark.exhaustive
@case("D3-check")
def test_a_right_run_with_a_density_that_is_not_smooth_passes(bench: Bench, case: str) -> None:
    bench.accepted(*named("corner"), "agents.start=[[1,1],[3,2]]", *FEW)


@case("D7-step", "D7-ridge")
def test_a_density_that_is_not_smooth(bench: Bench, case: str) -> None:
    figures = bench.accepted(*named(case[3:]), *FEWEST, judge=False)
    mass, mean = (32.0, 2.5) if case == "D7-step" else (32.0, 2.0)
    assert figures["final_masses"] == pytest.approx([mass], rel=1e-6)
    assert figures["final_centroids"][0] == pytest.approx([mean, 2.0], rel=1e-6)


def slab_centroid(rate: float, near: float) -> float:
    """Mean of x over [near, near + 1] under exp(-rate x**2), by 60 digits."""
    with mpmath.workdps(60):
        r, a, b = mpmath.mpf(rate), mpmath.mpf(near), mpmath.mpf(near) + 1
        root = mpmath.sqrt(r)
        mass = mpmath.sqrt(mpmath.pi) / (2 * root) * (mpmath.erfc(root * a) - mpmath.erfc(root * b))
        first = (mpmath.exp(-r * a * a) - mpmath.exp(-r * b * b)) / (2 * r)
        return float(first / mass - a)


@case("D4-10", "D4-157", "D4-200", "D4-10000")
def test_tails(case: str) -> None:
    r = float(case[3:])
    box = dwell.Box((r, -0.5), (r + 1, 0.5))
    agent = [(r + 0.5, 0.0)]
    cells = dwell.tessellate(box, agent, dwell.Gaussian(center=(0, 0), rate=0.03))
    expected = slab_centroid(0.03, r) - 0.5
    assert cells.errors[0, 0] == pytest.approx(expected, rel=1e-9, abs=0.0)
    assert abs(cells.errors[0, 1]) <= 1e-15 * max(r, 1e4)  # the place itself is rounded
    assert math.isfinite(cells.log_masses[0])
    assert cells.log_masses[0] == pytest.approx(-0.03 * r * r, abs=10.0)


POWERS = {
    "D18-uniform": lambda scale: dwell.Uniform(1.0 * scale),
    "D18-gaussian": lambda scale: dwell.Gaussian(center=(1, 2), rate=0.7, weight=scale),
    "D18-polynomial": lambda scale: dwell.Polynomial([(0, 0, 1.0 * scale), (2, 1, 0.3 * scale)]),
    "D18-mixture": lambda scale: dwell.Mixture(
        (dwell.Gaussian(center=(1, 2), rate=0.7, weight=scale), dwell.Uniform(0.25 * scale))
    ),
}


@table(POWERS)
@pytest.mark.parametrize("power", [-830, -40, 1, 830])
def test_scaled_by_a_power_of_two(row, power: int) -> None:
    site, start = dwell.Box((0, 0), (4, 4)), [(1, 1), (2, 2), (3, 3.5)]
    scale = 2.0**power
    plain = dwell.simulate(site, row(1.0), start, LAW, until=2.0, seed=4)
    other = dwell.simulate(site, row(scale), start, LAW, until=2.0, seed=4)
    for column in ("time", "positions", "holds", "errors"):
        assert getattr(plain.events, column).tobytes() == getattr(other.events, column).tobytes()
    assert (plain.metrics.costs * scale).tobytes() == other.metrics.costs.tobytes()


@case("D11-1e-6", "D11-1e-300", "D11-100.0")
def test_budget_of_grid_points(bench: Bench, case: str) -> None:
    spacing = case.removeprefix("D11-")
    sentences = bench.refused(f"run.integration={{kind='grid',spacing={spacing}}}")
    assert "run.integration.spacing" in sentences
