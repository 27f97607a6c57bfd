"""How far laws lag behind a world that moves: closed cases, for any waits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.agents import CoverageSystem, EventTable, table_of
from dwell.agents.network import PERFECT, Network
from dwell.agents.world import Timeline, World
from dwell.controllers import TVD, Lloyd, MinimumEnergy, Timer
from dwell.density.moving import Moving, density_at
from dwell.geometry.moving import MovingPolygon
from dwell.hybrid import simulate
from dwell.motion import Circle, Keyframes
from dwell.theory.derivatives import derivatives

EPSILON = 1e-8
LINE = dwell.Interval(-60.0, 60.0)
WIDE = dwell.Box((-15.0, -10.0), (35.0, 10.0))
NEAR = dwell.Box((-7.0, -7.0), (7.0, 7.0))
V = 0.1


def timer(k1: float, reach: float, t1: float, t2: float, **options: object) -> Timer:
    """A timer law whose saturation radius is `reach`, to rounding."""
    nu = reach / (1.0 - EPSILON)
    return Timer(k1=k1, nu=nu, t1=t1, t2=t2, epsilon=EPSILON, **options)


def hill(dimension: int, until: float, speed: float = V, rate: float = 0.5) -> Moving:
    """A Gaussian that moves along the first axis."""
    rest = (0.0,) * (dimension - 1)
    path = Keyframes((0.0, until), ((-5.0, *rest), (-5.0 + speed * until, *rest)))
    return Moving(dwell.Gaussian, center=path, rate=rate)


def system_of(site, density, law, agents, network=PERFECT, seed=1) -> CoverageSystem:
    phase = World(0.0, site, density, network)
    now = phase.ground.at(0.0)
    own = {"seed": seed, "changes": Timeline((phase,)), "network": network}
    return CoverageSystem(now.workspace, now.density, law, agents, **own)


def followed(site, density, law, start, until, **options) -> EventTable:
    """The events of a run in the readable loop."""
    places = np.array(start, dtype=float).reshape(len(start), -1)
    system = system_of(site, density, law, len(places), **options)
    return table_of(simulate(system, system.start(places), until=until))


def last_errors(table: EventTable, agents: int) -> np.ndarray:
    """The error of each agent at its last sample."""
    return np.array([table.errors[table.of_agent(p)[-1]] for p in range(agents)])


RANDOM = {"t1": 0.2, "t2": 0.65}
PAIR = [-5.7, -4.2]

TILTED = Moving(
    dwell.Polynomial,
    coefficients=Keyframes((0.0, 6.6), ([(0, 1.0), (1, -1.0)], [(0, 1.0), (1, 0.98)])),
)


@pytest.mark.parametrize("waits", [(0.25, 0.25), (0.05, 0.6)])
@pytest.mark.parametrize(("feedforward", "wanted"), [("none", 0.05), ("own", 0.0), ("ahead", 0.0)])
def test_one_agent_under_a_linear_density(feedforward, wanted, waits):
    law = timer(0.5, 0.25, *waits, feedforward=feedforward)
    table = followed(dwell.Interval(-1, 1), TILTED, law, [-1 / 3], 6.6)
    found = table.errors[:, 0]
    assert found[-1] == pytest.approx(wanted, abs=1e-3 if waits[0] < 0.1 else 1e-9)
    if feedforward != "none":
        assert np.abs(found).max() < 1e-15
    elif waits[0] == 0.25:
        k = 1 + np.arange(len(found))
        np.testing.assert_allclose(found, 0.05 * (1.0 - 0.5**k), rtol=0.0, atol=1e-14)


LAGS = {
    "none": (0.1, 0.1),
    "own": (0.06729047125884338, 0.05968543783816667),
    "neighbours": (0.0, 0.0),
}


@pytest.mark.parametrize("law", ["timer", "lloyd"])
@pytest.mark.parametrize("feedforward", LAGS)
def test_two_agents_on_a_line(feedforward, law):
    trust = {"trust": 1.0} if feedforward == "neighbours" else {}
    if law == "timer":
        one = timer(1.0, 1.0, **RANDOM, feedforward=feedforward, **trust)
    else:
        one = Lloyd(k2=1.0, dt=0.3, feedforward=feedforward, **trust)
    found = last_errors(followed(LINE, hill(1, 400.0), one, PAIR, 200.0), 2)[:, 0]
    np.testing.assert_allclose(found, LAGS[feedforward], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("wait", [0.2, 0.65])
@pytest.mark.parametrize("feedforward", ["none", "own", "ahead"])
def test_one_agent_behind_a_circle(feedforward, wait):
    omega = 0.5
    density = Moving(dwell.Gaussian, center=Circle((0, 0), 1.0, 2 * math.pi / omega), rate=1.0)
    law = timer(1.0, 1.0, wait, wait, feedforward=feedforward)
    table = followed(NEAR, density, law, [(1.0, 0.0)], 40.0)
    size = np.hypot(*table.errors[-1])
    z = np.exp(1j * omega * wait) - 1.0
    left = {"none": z, "own": z - 1j * omega * wait, "ahead": 0.0}[feedforward]
    assert size == pytest.approx(abs(left / (z + wait)), abs=1e-12)
    if feedforward == "none":
        assert size == pytest.approx({0.2: 0.456277, 0.65: 0.477524}[wait], abs=5e-7)


FIVE = np.array([(-5.6, 0.3), (-4.5, 0.8), (-4.4, -0.6), (-5.5, -0.7), (-5.0, 0.05)])


@pytest.mark.parametrize(("k1", "reach"), [(1.0, 1.0), (0.4, 0.25)])
def test_the_lag_of_a_group_is_the_speed_over_the_gain_for_any_waits(k1, reach):
    law = timer(k1, reach, 0.1, 0.6)
    found = last_errors(followed(WIDE, hill(2, 200.0), law, FIVE, 150.0), 5)
    np.testing.assert_allclose(np.hypot(*found.T), V * reach / k1, rtol=0.0, atol=1e-6)


def test_neighbours_leave_what_they_are_not_trusted_with():
    law = timer(1.0, 1.0, **RANDOM, feedforward="neighbours")
    density, site = hill(2, 100.0), dwell.Box((-12.0, -7.0), (12.0, 7.0))
    system = system_of(site, density, law, 5)
    arc = simulate(system, system.start(FIVE), until=100.0)
    found = last_errors(table_of(arc), 5)
    now = arc.states[-1].at(100.0).positions
    jacobian = derivatives(site, now, density_at(density, 100.0)).jacobian.toarray()
    wanted = 0.05 * (jacobian @ np.tile([V, 0.0], 5)).reshape(5, 2)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-6 * np.abs(wanted).max())
    assert 0.003 < np.hypot(*found.T).max() < 0.005


def box(width: float, height: float = 1.0, x: float = 0.0) -> list[tuple[float, float]]:
    return [(x, 0.0), (x + width, 0.0), (x + width, height), (x, height)]


@pytest.mark.parametrize(
    ("feedforward", "wanted"), [("none", V), ("own", 0.0), ("ahead", 0.0), ("neighbours", 0.0)]
)
def test_one_agent_in_a_box_that_moves(feedforward, wanted):
    site = MovingPolygon(Keyframes((0.0, 100.0), (box(2.0), box(2.0, x=10.0))))
    law = timer(1.0, 1.0, **RANDOM, feedforward=feedforward)
    found = last_errors(followed(site, dwell.Uniform(), law, [(0.7, 0.4)], 60.0), 1)
    np.testing.assert_allclose(found, [(wanted, 0.0)], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("law", "wanted"),
    [
        (timer(1.0, 1.0, **RANDOM), (0.025, 0.075)),
        (timer(1.0, 1.0, **RANDOM, feedforward="neighbours", trust=1.0), (0.0, 0.0)),
        (TVD(kappa=1.0, dt=0.2), (0.0, 0.0)),
    ],
    ids=["none", "neighbours", "tvd"],
)
def test_two_agents_in_a_box_that_widens(law, wanted):
    site = MovingPolygon(Keyframes((0.0, 100.0), (box(1.0), box(11.0))))
    start = [(0.3, 0.5), (0.8, 0.5)]
    found = last_errors(followed(site, dwell.Uniform(), law, start, 80.0), 2)
    np.testing.assert_allclose(found[:, 0], wanted, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(found[:, 1], 0.0, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("order", "share"), [(0, 0.636620), (1, 0.247635), (2, 0.126359), ("C", 0)]
)
def test_synchronous_references(order, share):
    small = 1e-4
    law = TVD(kappa=1.0, order=order, dt=0.25)
    found = last_errors(followed(LINE, hill(1, 400.0, small), law, PAIR, 150.0), 2)[:, 0]
    np.testing.assert_allclose(found / small, share, rtol=0.0, atol=1e-4)
    assert found.mean() / small == pytest.approx(share, abs=1e-6)


def test_the_equation_of_a_round_hill_is_ill_conditioned():
    density = hill(2, 100.0)
    law = TVD(kappa=1.0, dt=0.2)
    system = system_of(WIDE, density, law, 5)
    near = followed(WIDE, density, law, FIVE, 30.0)
    assert (near.column("mark")[-5:] == 1).all()
    assert np.abs(last_errors(near, 5)).max() < 1e-3
    assert system.compiles is False


def test_minimum_energy_lags_by_the_cost_of_slack():
    law = MinimumEnergy(alpha=2.0, rho=100.0, dt=0.1)
    found = last_errors(followed(LINE, hill(1, 400.0), law, [-5.0], 200.0), 1)
    assert found[0, 0] == pytest.approx(0.1, abs=1e-12)


@pytest.mark.parametrize(
    "law", [timer(0.12, 0.1, **RANDOM, feedforward="own"), TVD(speed=0.12, dt=0.1)]
)
def test_velocities_are_cut_to_the_largest_speed(law):
    table = followed(LINE, hill(1, 400.0), law, [-9.0, -8.0], 30.0)
    speed = np.abs(table.holds[:, 0])
    assert speed.max() == pytest.approx(0.12, abs=1e-15)
    assert (speed <= 0.12 * (1.0 + 1e-15)).all()


def test_without_feedforward_the_law_is_the_same():
    plain, named = timer(1.0, 1.0, **RANDOM), timer(1.0, 1.0, **RANDOM, feedforward="none")
    assert plain == named
    assert plain.program(3) is not None
    assert timer(1.0, 1.0, **RANDOM, feedforward="own").program(3) is None
    assert Lloyd(feedforward="own").program(3) is None


def test_others_are_seen_late_and_the_world_is_not():
    """One agent has no others, so that a delay changes nothing; two agents lag more."""
    late = Network(delay=0.1)
    law = timer(1.0, 1.0, **RANDOM, feedforward="neighbours", trust=1.0)
    alone = followed(LINE, hill(1, 400.0), law, [-5.5], 40.0, network=late)
    assert abs(alone.errors[-1, 0]) < 1e-12
    pair = followed(LINE, hill(1, 400.0), law, PAIR, 200.0, network=late)
    found = last_errors(pair, 2)[:, 0]
    assert 1e-4 < np.abs(found).max() < 0.03


@pytest.mark.parametrize("trust", [0.95, 1.0])
def test_velocities_converge_however_many_agents_sample_together(trust: float) -> None:
    """The iteration of `neighbours` at a minimum of the cost, for any agents at a time."""
    site, rng = dwell.Box((0.0, 0.0), (6.0, 0.6)), np.random.default_rng(3)
    agents = 16
    places = rng.uniform((0.0, 0.0), (6.0, 0.6), (agents, 2))
    settled = dwell.simulate(
        site, None, places, Lloyd(k2=1.0, dt=1.0), until=400.0, record="summary"
    ).positions(400.0)
    matrix = derivatives(site, settled, dwell.Uniform()).jacobian.toarray()
    blocks = np.kron(np.eye(agents), np.ones((2, 2)))
    half = 0.5 * trust * matrix * blocks
    step = np.linalg.solve(np.eye(2 * agents) - half, trust * matrix - half)
    jacobi = np.linalg.solve(
        np.eye(2 * agents) - trust * matrix * blocks, trust * matrix * (1.0 - blocks)
    )
    assert np.abs(np.linalg.eigvals(jacobi)).max() > 1.0
    assert np.abs(np.linalg.eigvals(step)).max() < 1.0
    errors = np.ones(2 * agents)
    for _ in range(4000):
        together = np.repeat(rng.random(agents) < rng.random(), 2)
        errors[together] = (step @ errors)[together]
    assert np.abs(errors).max() < 1e-3


def test_agents_that_sample_together_come_to_rest() -> None:
    places = np.random.default_rng(2).uniform((0.0, 0.0), (4.0, 3.0), (20, 2))
    law = Lloyd(dt=0.1, feedforward="neighbours", speed=1.0)
    run = dwell.simulate(
        dwell.Box((0, 0), (4, 3)), None, places, law, until=6.0, sample_every="off"
    )
    last = run.events.take(run.events.time > 5.95).holds
    assert np.hypot(*last.T).max() < 0.05
    assert run.counters.energy.sum() < 5.0
