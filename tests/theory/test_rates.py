"""Spectra, what they predict of each law, and what runs show."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dwell
from dwell import (
    Ball,
    Box,
    DiscreteLloyd,
    EventTriggered,
    Gaussian,
    Interval,
    Lloyd,
    Mixture,
    Polygon,
    SelfTriggered,
    SelfTriggeredCentroid,
    Timer,
    Uniform,
    optimize,
    run_scenario,
    simulate,
    tessellate,
)
from dwell.agents.network import Network
from dwell.errors import DensityError
from dwell.scenario import apply_overrides, parse_scenario, template_text, text_to_mapping
from dwell.theory.decay import observe, predict
from dwell.theory.lipschitz import lipschitz_at
from dwell.theory.rates import Rates, rates, rates_near, rates_of, settled

ROOM = Box((0, 0), (4, 3))
HILL = Gaussian((2.5, 1.2), rate=0.2)
START = [(0.5, 0.5), (1, 2), (3, 1), (3.5, 2.5), (2, 0.4)]
SQUARE = Box((0, 0), (1, 1))
PAIR = [(0.25, 0.5), (0.75, 0.5)]


@cache
def minimum() -> Rates:
    return rates_near(ROOM, HILL, START)


def rectangle(width: float) -> Rates:
    places = [(0.25, width / 2), (0.75, width / 2)]
    return rates(Box((0, 0), (1, width)), None, places)


# What kind of configuration it is.


@pytest.mark.parametrize(
    ("width", "says"),
    [
        (0.5, "minimum: every displacement raises the cost (gap 0.5)"),
        (1.0, "minimum: every displacement raises the cost (gap 0.333)"),
        (math.sqrt(1.5 * (1 - 3e-4)), "minimum: every displacement raises the cost (gap 0.0003)"),
        (math.sqrt(1.5 * (1 - 3e-7)), "degenerate: one neutral mode (gap 3e-07)"),
        (math.sqrt(1.5), "degenerate: one neutral mode (gap "),
        (2.0, "saddle: one direction down (gap -1.67)"),
    ],
)
def test_two_agents_side_by_side_in_a_rectangle(width: float, says: str) -> None:
    found = rectangle(width)
    assert found.says.startswith(says)
    assert found.kind == says.partition(":")[0]
    known = sorted([2.0 * width**2 / 3.0, 0.5, 0.0, 0.0], reverse=True)
    assert found.spectrum == pytest.approx(known, abs=1e-12)
    assert (found.lambda_max, found.lambda_min) == pytest.approx((known[0], 0.0), abs=1e-12)
    assert found.gap == 1.0 - found.lambda_max
    assert (found.descending, found.neutral) == (found.kind == "saddle", found.kind == "degenerate")


def test_kinds_that_depend_on_numbers_and_tolerance() -> None:
    row = rates(Box((0, 0), (1, 4)), None, [(0.125 + k / 4, 2.0) for k in range(4)])
    assert row.says.startswith("saddle: three directions down")
    strict = rates(Box((0, 0), (1, 1.22)), None, [(0.25, 0.61), (0.75, 0.61)], tolerance=1e-2)
    assert (strict.kind, strict.tolerance) == ("degenerate", 1e-2)


def test_two_agents_on_a_line() -> None:
    """Only their border moves: each centroid by half of it, and that by half of either agent."""
    found = rates(Interval(0, 1), None, [[0.25], [0.75]])
    assert found.spectrum == pytest.approx([0.5, 0.0], abs=1e-14)
    assert lipschitz_at(Interval(0, 1), [[0.25], [0.75]], Uniform()).value == pytest.approx(
        np.hypot(0.25, 0.25), abs=1e-14
    )


def test_a_disc_itself_can_be_turned() -> None:
    found = rates_near(Ball((1, 2), 2), None, [(1.5, 2.0), (0.6, 2.8), (0.5, 1.3)])
    assert found.kind == "degenerate"
    assert found.neutral == 1


def test_a_configuration_that_is_not_centroidal() -> None:
    found = rates(ROOM, HILL, START)
    assert found.kind == "unsettled"
    assert found.says.startswith("unsettled: an agent is 0.6")
    expected = np.linalg.eigvals(found.derivatives.jacobian.toarray())
    assert found.spectrum == pytest.approx(np.sort(expected.real)[::-1], abs=1e-12)
    assert predict(found, Lloyd()).rate is None
    # Along Lloyd's flow the errors change by (Dc - I) e.
    h = 1e-5
    errors = [tessellate(ROOM, np.array(START) + s * found.derivatives.errors, HILL).errors
              for s in (h, -h)]  # fmt: skip
    change = ((errors[0] - errors[1]) / (2 * h)).ravel()
    rest = found.derivatives.jacobian.toarray() - np.eye(10)
    assert change == pytest.approx(rest @ found.derivatives.errors.ravel(), abs=1e-8)


def test_optimize_uses_the_same_words() -> None:
    """A gap of 1e-5 is a slow minimum to both, one of 1e-7 a degenerate one."""
    for short, kind in ((1e-5, "minimum"), (1e-7, "degenerate")):
        found = rectangle(math.sqrt(1.5 * (1.0 - short)))
        assert found.kind == kind
        assert optimize(found.workspace, None, found.positions, starts=1).kind.value == kind


# Identities.


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 9))
def test_modes_are_eigenvectors_orthogonal_by_mass(seed: int, count: int) -> None:
    start = np.random.default_rng(seed).uniform((0.1, 0.1), (3.9, 2.9), (count, 2))
    found = rates_near(ROOM, HILL, start)
    assert found.error < 1e-9
    flat = found.modes.reshape(2 * count, -1).T
    left = found.derivatives.jacobian.toarray() @ flat
    assert np.abs(left - flat * found.spectrum).max() < 1e-8
    weighed = flat.T @ (np.repeat(found.shares, 2)[:, None] * flat)
    size = np.sqrt(np.diag(weighed))
    assert np.abs(weighed / np.outer(size, size) - np.eye(2 * count)).max() < 1e-9
    assert np.hypot(*found.modes.T).max(axis=0) == pytest.approx(1.0)
    assert (found.spectrum >= -1e-12).all()  # A is nowhere negative
    assert found.contraction == pytest.approx(-found.gap, abs=1e-9)


def test_signs_are_fixed() -> None:
    for mode in minimum().modes:
        assert mode.ravel()[np.argmax(np.abs(mode))] > 0.0
    again = rates(ROOM, HILL, minimum().positions)
    assert again.modes == pytest.approx(minimum().modes, abs=1e-12)


def test_coordinates_take_a_displacement_apart() -> None:
    found = minimum()
    displacement = np.random.default_rng(0).standard_normal((3, 5, 2))
    parts = found.coordinates(displacement)
    assert parts.shape == (3, 10)
    norm = (found.shares[:, None] * displacement**2).sum(axis=(1, 2))
    assert (parts**2).sum(axis=1) == pytest.approx(norm, rel=1e-9, abs=0.0)
    assert np.flatnonzero(np.abs(found.coordinates(found.modes[3])) > 1e-9).tolist() == [3]


def test_contraction_is_the_worst_growth_of_the_mass_weighed_error() -> None:
    found = rates(ROOM, HILL, START)
    root = np.sqrt(np.repeat(found.derivatives.masses, 2))
    whole = root[:, None] * found.derivatives.jacobian.toarray() / root - np.eye(10)
    assert found.contraction == pytest.approx(np.linalg.eigvalsh(0.5 * (whole + whole.T))[-1])
    assert found.contraction < 0.0
    crowded = rates(SQUARE, None, [(0.5, 0.45), (0.5, 0.55), (0.52, 0.5)])
    assert crowded.contraction > 0.0


def test_a_negative_contraction_does_not_show_that_the_flow_contracts() -> None:
    """It is the rate with frozen masses: their motion can win, and nearby solutions part."""
    site = dwell.Polygon([(0.0, 0.2), (3.6, 0.0), (4.4, 2.0), (2.2, 3.4), (0.3, 2.8)])
    peak = dwell.Gaussian((2.02, 2.36), rate=0.8)
    places = np.array([(0.546, 2.374), (1.812, 2.392), (0.434, 1.276)])
    found = rates(site, peak, places)
    assert -0.28 < found.contraction < -0.25
    assert not found.centroidal
    apart = 1e-5 * np.array([(-0.379, 1.192), (-0.04, -0.105), (-0.854, 1.193)])
    flow = dwell.Lloyd(mode="ode", tolerance=1e-12)
    one, other = (
        dwell.simulate(site, peak, start, flow, until=0.05, sample_every="off")
        for start in (places, places + apart)
    )

    def distance(t: float, still: bool) -> float:
        at = places if still else one.positions(t)
        masses = dwell.tessellate(site, at, peak).masses
        square = ((one.positions(t) - other.positions(t)) ** 2).sum(axis=1)
        return float(np.sqrt((masses * square).sum()))

    moving, still = (np.log(distance(0.02, s) / distance(0.0, s)) / 0.02 for s in (False, True))
    assert moving > 0.05
    assert still <= found.contraction + 0.02


def test_cells_far_in_a_tail() -> None:
    """Masses below the smallest double, and masses of very different sizes."""
    far = rates_near(ROOM, Gaussian((-150.0, 1.0), rate=0.5), START)
    assert far.derivatives.masses.max() == 0.0
    assert far.kind == "minimum"
    assert far.shares.sum() == pytest.approx(1.0)
    parts = (Gaussian((1, 1), rate=3.0), Gaussian((11, 1), rate=3.0, weight=1e-25))
    start = [(0.5, 1), (1.2, 0.8), (10.5, 0.7), (11.3, 1.2), (10.9, 1.5)]
    found = rates_near(Box((0, 0), (12, 2)), Mixture(parts), start)
    assert found.shares.min() < 1e-24
    flat = found.modes.reshape(10, -1).T
    left = found.derivatives.jacobian.toarray() @ flat
    assert np.abs(left - flat * found.spectrum).max() < 1e-6


def test_one_agent() -> None:
    found = rates_near(ROOM, HILL, [(1.0, 1.0)])
    assert found.spectrum.tolist() == [0.0, 0.0]
    assert predict(found, DiscreteLloyd()).rate == math.inf  # there in one step
    assert predict(found, Lloyd(k2=2.0, mode="ode")).rate == pytest.approx(2.0)


def test_beyond_three_hundred_agents_the_ends_of_the_spectrum_are_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = np.random.default_rng(1).uniform(0, 1, (40, 2))
    whole = rates_near(SQUARE, None, start)
    monkeypatch.setattr("dwell.theory.spectrum.DENSE", 20)
    monkeypatch.setattr("dwell.theory.decay.DENSE", 20)
    ends = rates(SQUARE, None, whole.positions)
    assert (whole.whole, ends.whole) == (True, False)
    assert ends.spectrum[:12] == pytest.approx(whole.spectrum[:12], abs=1e-10)
    assert ends.lambda_min == pytest.approx(whole.lambda_min, abs=1e-10)
    assert ends.modes[0] == pytest.approx(whole.modes[0], abs=1e-6)
    assert predict(ends, Lloyd(dt=1.9)).rate == pytest.approx(predict(whole, Lloyd(dt=1.9)).rate)
    assert "at most 20 agents" in predict(ends, DiscreteLloyd(schedule="round-robin")).says
    moving = rates(SQUARE, None, start)
    monkeypatch.undo()
    general = rates(SQUARE, None, start)
    assert moving.spectrum[:5] == pytest.approx(general.spectrum[:5], abs=1e-8)
    assert moving.contraction == pytest.approx(general.contraction, abs=1e-8)


# Polishing.


def test_polishing_ends_where_errors_are_rounding() -> None:
    places = settled(ROOM, HILL, START)
    cells = tessellate(ROOM, places, HILL)
    assert np.abs(cells.errors).max() < 1e-14
    assert cells.cost < tessellate(ROOM, START, HILL).cost


def test_polishing_leaves_a_saddle_alone_but_no_slope() -> None:
    at = np.array([(0.25, 1.0), (0.75, 1.0)])
    assert settled(Box((0, 0), (1, 2)), None, at).tolist() == at.tolist()
    beside = settled(Box((0, 0), (1, 2)), None, at + np.array([(0, 1e-3), (0, -1e-3)]))
    assert rates(Box((0, 0), (1, 2)), None, beside).kind == "minimum"


def test_polishing_follows_a_curved_valley(thirty: np.ndarray, heptagon: np.ndarray) -> None:
    """The paper's wide hill: the whole group turns around it at almost no cost."""
    found = rates_near(Polygon(heptagon), Gaussian((7.5, 4.5), rate=0.03), thirty)
    assert found.error < 1e-9
    assert 0.0 < found.gap < 5e-3


# Refusals.


def test_a_run_on_a_grid_has_no_rates() -> None:
    grid = simulate(ROOM, HILL, START, Lloyd(dt=0.5), until=1.0, spacing=0.1)
    with pytest.raises(DensityError, match="grid of points"):
        rates_of(grid)


# What the spectrum predicts of each law.


def test_lloyd_is_as_slow_as_its_softest_mode() -> None:
    assert predict(minimum(), Lloyd(k2=2.0, mode="ode")).rate == 2.0 * minimum().gap
    fine = predict(minimum(), Lloyd(k2=2.0, dt=1e-6))
    assert fine.rate == pytest.approx(2.0 * minimum().gap, rel=1e-5)
    coarse = predict(minimum(), Lloyd(k2=2.0, dt=1.5))  # beyond its limit
    assert coarse.rate < 0.0
    assert coarse.limit == pytest.approx(1.0 / (1.0 - minimum().lambda_min))


def test_discrete_lloyd_and_its_best_relaxation() -> None:
    gaps = minimum().gaps
    plain = predict(minimum(), DiscreteLloyd(step=0.5))
    assert plain.rate == pytest.approx(-math.log(1.0 - gaps[0]) / 0.5)
    assert plain.best == pytest.approx(2.0 / (gaps[0] + gaps[-1]))
    parts = np.linspace(1.0, 1.99, 400)
    found = [predict(minimum(), DiscreteLloyd(relaxation=float(a))).rate or 0.0 for a in parts]
    assert parts[int(np.argmax(found))] == pytest.approx(plain.best, abs=5e-3)
    slowest = predict(minimum(), DiscreteLloyd(relaxation=1.99))
    assert slowest.mode == 9  # the stiffest mode swings to and fro


def test_timers_that_run_together() -> None:
    gain, gaps = 1.0, minimum().gaps
    law = {"k1": 0.5, "nu": 0.5, "epsilon": 1e-12}
    for timer in (
        Timer(t1=0.1, t2=0.3, reset="periodic", **law),
        Timer(t1=0.1, t2=0.3, reset="latest", **law),
        Timer(t1=0.3, t2=0.4, reset="earliest", **law),
        Timer(t1=0.3, t2=0.3, **law),
        Timer(t1=0.3, t2=0.4, reset="dropout", loss=0.0, **law),
        Timer(t1=0.1, t2=0.4, reset="sequence", intervals=(0.3,), **law),
    ):
        found = predict(minimum(), timer)
        assert found.says.startswith("exact")
        assert found.rate == pytest.approx(-math.log(1.0 - 0.3 * gain * gaps[0]) / 0.3)
        assert found.limit == pytest.approx(2.0 / gaps[-1])
    turns = predict(minimum(), Timer(t1=0.1, t2=0.4, reset="sequence", intervals=(0.2, 0.4), **law))
    both = math.log(1.0 - 0.2 * gaps[0]) + math.log(1.0 - 0.4 * gaps[0])
    assert turns.rate == pytest.approx(-both / 0.6)


def test_timers_that_run_apart_are_averaged() -> None:
    law = {"k1": 0.5, "nu": 0.5, "epsilon": 1e-12}
    for options in (
        {},
        {"reset": "periodic", "period": (0.2, 0.2, 0.2, 0.2, 0.3)},
        {"reset": "latest", "initial_timer": (0.3, 0.2, 0.3, 0.3, 0.3)},
        {"reset": "dropout", "loss": 0.5},
        {"reset": "sequence", "intervals": ((0.1, 0.3),) * 4 + ((0.3, 0.1),)},
    ):
        found = predict(minimum(), Timer(t1=0.1, t2=0.3, **options, **law))
        assert found.says.startswith("first order")
        assert found.rate == pytest.approx(minimum().gap, rel=0.05)
        assert (found.rate or 0.0) > minimum().gap  # old news makes agents bolder
    short = predict(minimum(), Timer(t1=1e-7, t2=2e-7, **law))
    assert short.rate == pytest.approx(minimum().gap, rel=1e-6)
    assert "stability is not assured" in predict(minimum(), Timer(t1=0.5, t2=1.5, **law)).says


def test_a_saddle_is_left_at_the_rate_of_its_steepest_direction() -> None:
    found = predict(rectangle(2.0), Lloyd(mode="ode"))
    assert found.rate == pytest.approx(-5.0 / 3.0)
    assert found.time_constant is None
    assert predict(rectangle(2.0), Lloyd()).limit is None
    assert predict(rectangle(1.0), Lloyd(mode="ode")).time_constant == pytest.approx(3.0)


def test_laws_without_a_rate_say_why() -> None:
    for law in (SelfTriggeredCentroid(), EventTriggered(), object()):
        found = predict(minimum(), law)
        assert found.rate is None
        assert len(found.says) > 20
    assert "lost or late" in predict(minimum(), Lloyd(), Network(loss=0.1)).says


# Foretold against observed: the two have nothing in common but the kernels.


LAWS = {
    "ode": (Lloyd(mode="ode", tolerance=1e-11), 1e-3),
    "sampled": (Lloyd(dt=0.05), 1e-3),
    "sampled, coarse": (Lloyd(dt=1.5), 1e-3),
    "discrete": (DiscreteLloyd(step=0.5), 1e-3),
    "over-relaxed": (DiscreteLloyd(step=0.5, relaxation=1.6), 1e-3),
    "round-robin": (DiscreteLloyd(step=0.2, schedule="round-robin"), 5e-3),
    "timer": (Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.3), 5e-3),
    "timer, long waits": (Timer(k1=0.5, nu=0.5, t1=0.3, t2=0.9), 1e-2),
    "timer, together": (Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.3, reset="periodic"), 1e-3),
    "timer, dropout": (Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.9, reset="dropout", loss=0.4), 1e-2),
    "timer, dropout cut short": (
        Timer(k1=0.5, nu=0.5, t1=0.4, t2=0.5, reset="dropout", loss=0.6),
        1e-2,
    ),
    "timer, adaptive": (
        Timer(k1=0.5, nu=0.5, t1=0.05, t2=0.9, reset="adaptive", eta_max=0.2),
        1e-2,
    ),
    "self-triggered": (SelfTriggered(v=0.05), 2e-2),
}


WORLDS = {
    **{name: (ROOM, HILL, START, *row) for name, row in LAWS.items()},
    "line": (Interval(0, 5), Gaussian((2,), rate=0.3), [[0.4], [1.1], [2.9]], Lloyd(dt=0.05), 0.02),
    "space": (
        Box((0, 0, 0), (2, 1, 1)), None, [(0.4, 0.5, 0.5), (1.2, 0.4, 0.6)], Lloyd(dt=0.05), 0.02
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_runs_decay_as_predicted(name: str) -> None:
    site, weight, start, law, tolerance = WORLDS[name]
    until = 80.0 if name == "self-triggered" else 60.0 if name in LAWS else 40.0
    run = simulate(site, weight, start, law, until=until, seed=3, sample_every="off")
    seen = observe(run, rates_of(run))
    assert seen.as_json() is not None, seen.says
    assert seen.rate == pytest.approx(seen.predicted, rel=tolerance)
    assert seen.goodness > 0.9999


def test_one_agent_that_moves_at_random_halves_its_error_at_every_move() -> None:
    found = rates(SQUARE, None, [(0.5, 0.5)])
    turns = predict(found, DiscreteLloyd(step=0.5, relaxation=0.5, schedule="random"))
    assert turns.rate == pytest.approx(math.log(2.0) / 0.5, rel=1e-12, abs=0.0)
    clocks = DiscreteLloyd(step=1e-6, relaxation=0.5, schedule="poisson", rate=2.0)
    assert predict(found, clocks).rate == pytest.approx(2.0 * math.log(2.0), rel=0.01)
    assert predict(found, DiscreteLloyd(schedule="random")).rate == math.inf


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("schedule", "part", "until"), [("random", 1.0, 200.0), ("poisson", 1.5, 60.0)]
)
def test_single_runs_scatter_about_what_is_predicted(
    schedule: str, part: float, until: float
) -> None:
    found = minimum()
    law = DiscreteLloyd(schedule=schedule, relaxation=part)
    predicted = predict(found, law)
    assert "typical of single runs" in predicted.says
    begin = found.positions + 1e-3 * np.random.default_rng(1).standard_normal((5, 2))
    seen = []
    for seed in range(16):
        run = simulate(ROOM, HILL, begin, law, until=until, seed=seed, sample_every="off")
        seen.append(observe(run, found, predicted).rate or math.nan)
    error = float(np.std(seen)) / math.sqrt(len(seen)) / predicted.rate
    assert error < 0.03
    assert float(np.mean(seen)) == pytest.approx(predicted.rate, rel=0.04)


@pytest.mark.parametrize(("share", "sign"), [(0.99, 1.0), (1.01, -1.0)])
def test_the_limit_of_timers_that_run_together_is_sharp(share: float, sign: float) -> None:
    """Below it the stiffest mode swings to and fro and shrinks, above it grows."""
    limit = predict(minimum(), Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.3)).limit
    wait = share * limit
    law = Timer(k1=0.5, nu=0.5, t1=wait, t2=wait)
    start = minimum().positions + 1e-5 * minimum().modes[-1]
    run = simulate(ROOM, HILL, start, law, until=200 * wait, sample_every="off")
    assert run.errors(run.horizon).max() < 0.01 * law.reach  # never saturated
    seen = observe(run, minimum())
    assert seen.mode == 9
    assert seen.rate == pytest.approx(predict(minimum(), law).rate, rel=1e-5)
    assert math.copysign(1.0, seen.rate or 0.0) == sign
    ends = run.errors(np.array([0.0, run.horizon])).max(axis=1)
    assert (ends[1] < 0.1 * ends[0]) if sign > 0 else (ends[1] > 10 * ends[0])


def test_a_mode_that_symmetry_forbids_is_passed_over() -> None:
    """Two agents side by side never turn: only the second mode is in the run."""
    run = simulate(SQUARE, None, [(0.3, 0.5), (0.7, 0.5)], Lloyd(dt=0.1), until=40.0)
    found = rates_of(run)
    seen = observe(run, found)
    assert seen.mode != 0
    assert seen.rate == pytest.approx(seen.predicted, rel=1e-3)
    assert (seen.predicted or 0.0) > 1.5 * (predict(found, Lloyd(dt=0.1)).rate or 0.0)


def test_a_run_that_is_too_short_says_so() -> None:
    run = simulate(ROOM, HILL, START, Lloyd(), until=1.0)
    seen = observe(run, rates_of(run))
    assert seen.rate is None
    assert seen.as_json() is None
    assert "radii of a cell away from its limit" in seen.says
    at_rest = simulate(ROOM, HILL, minimum().positions, Lloyd(dt=0.1), until=2.0)
    assert "few samples" in observe(at_rest, minimum()).says
    brief = simulate(ROOM, HILL, minimum().positions + 1e-4, Lloyd(dt=0.1), until=2.0)
    assert "too short" in observe(brief, minimum()).says
    assert "no limit" in observe(brief, rates(ROOM, HILL, START)).says


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_papers_twelve_agents_turn_slowly() -> None:
    """Errors of 1e-13 at t = 150 are out of reach: the slowest mode takes 600 units of time."""
    mapping = apply_overrides(text_to_mapping(template_text("paper-12")), ["run.horizon=3000"])
    run = run_scenario(parse_scenario(mapping))
    seen = observe(run, rates_of(run))
    assert seen.deviation == pytest.approx(0.0, abs=2e-3)
    assert 1.0 / (seen.rate or 1.0) > 500.0


def test_rates_know_what_they_belong_to() -> None:
    found = minimum()
    plain = found.as_json()
    assert plain["kind"] == "minimum"
    assert len(plain["spectrum"]) == 10
    assert plain["moved"] > 0.1
    assert rates(ROOM, Uniform(), START).density == Uniform()
