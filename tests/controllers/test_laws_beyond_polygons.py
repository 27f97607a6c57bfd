"""The laws with guaranteed cells on the line, in space, and in curved workspaces."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell import simulate
from dwell._kernels.common.status import IN_TIME
from dwell._types import lengths
from dwell.cells.weighted_region import weighted_region
from dwell.controllers import EventTriggered, SelfTriggered, SelfTriggeredCentroid
from dwell.controllers.centroid_bounds import centroid_ball
from dwell.density import Function, Gaussian, Uniform
from dwell.geometry import Ball, Box, Ellipsoid, Interval, Polygon, is_flat
from dwell.verify.finding import VIOLATED
from dwell.verify.guarantees import promises
from dwell.verify.reference_trigger import reference_trigger, wider

pytestmark = pytest.mark.slow

SITES = {
    "line": Interval(0, 1),
    "cube": Box((0, 0, 0), (1, 1, 1)),
    "disc": Ball((0, 0), 1),
    "ellipse": Ellipsoid((0, 0), (1.3, 0.8)),
    "ball": Ball((0, 0, 0), 1),
    "ellipsoid": Ellipsoid((0, 0, 0), (1.2, 0.9, 1.0)),
}
FLAT = {
    "self": SelfTriggered(v=0.35, delta=0.3, tau_max=0.75),
    "centroid": SelfTriggeredCentroid(v_max=0.3, dt=0.05, epsilon=0.02),
    "events": EventTriggered(s_max=0.3, d_start=0.02, d_stop=0.01),
}
CURVED = {
    "self": SelfTriggered(v=0.35, delta=0.3, tau_max=0.75, scan=0.05),
    "centroid": SelfTriggeredCentroid(v_max=0.5, dt=0.1, epsilon=0.05),
    "events": EventTriggered(s_max=0.5, dt=0.1, d_start=0.04, d_stop=0.02),
}
BELIEFS = ["centroid", "events"]  # laws that compute a ball around the centroid


def law_of(name, site):
    return (FLAT if is_flat(SITES[site]) else CURVED)[name]


def start(site, agents, seed=1):
    """Agents in a part of the workspace."""
    drawn = np.random.default_rng(seed).random((agents, SITES[site].dimension))
    return 0.1 + 0.5 * drawn if is_flat(SITES[site]) else 0.8 * (drawn - 0.4)


def run_of(law, site, until, density=None, agents=5):
    law = law_of(law, site) if isinstance(law, str) else law
    return simulate(SITES[site], density or Uniform(), start(site, agents), law, until=until)


def errors_at(run, t):
    """Centroid minus position of all agents, from their cells alone."""
    return run.system.measurements(run.positions(t)).error


COVERAGE = {  # horizon for each law, largest error then, whether the run is checked
    "line": ((20.0, 20.0, 20.0), 0.06, True),
    "cube": ((8.0, 8.0, 32.0), 0.06, False),
    "disc": ((8.0, 8.0, 8.0), 0.1, False),
    "ellipse": ((8.0, 8.0, 8.0), 0.1, True),
    "ball": ((1.0, 3.0, 3.0), 0.35, True),
}


@pytest.mark.parametrize("law", FLAT)
@pytest.mark.parametrize("site", COVERAGE)
def test_every_agent_comes_to_its_centroid(law, site):
    horizons, near, checked = COVERAGE[site]
    run = run_of(law, site, horizons[list(FLAT).index(law)], agents=3 if site == "ball" else 5)
    before, after = lengths(errors_at(run, 0.0)), lengths(errors_at(run, run.horizon))
    assert before.max() > 0.08
    assert after.max() < near
    assert run.cost(run.horizon) < 0.8 * run.cost(0.0)
    assert (run.workspace.outside_by(run.positions(run.horizon)) == 0.0).all()
    if checked:
        report = dwell.check(run)
        assert report.ok
        assert ("trigger" in {found.name for found in report.findings}) == (law == "self")


def test_self_triggered_on_a_line_finds_the_quantizer():
    """Uniform on [0, 1]: (2 k + 1) / 2 N."""
    law = SelfTriggered(v=0.35, delta=0.3, tau_max=0.75, kappa=2.0)
    run = simulate(SITES["line"], Uniform(), start("line", 4), law, until=40.0)
    places = np.sort(run.positions(40.0).ravel())
    assert places == pytest.approx([0.125, 0.375, 0.625, 0.875], abs=2e-3)


@pytest.mark.parametrize("site", ["line", "cube", "disc"])
def test_a_function_gives_the_ball_of_its_exact_twin(site):
    n = SITES[site].dimension
    hill = Gaussian(center=(0.6,) * n if is_flat(SITES[site]) else (0.2, 0.1), rate=2.0)
    here, others = start(site, 1)[0], start(site, 3, seed=2)
    radii = 0.2 * lengths(others - here)
    known, blind = (
        centroid_ball(weighted_region(SITES[site], density), tuple(here), others, radii, "diameter")
        for density in (hill, Function(hill.at))
    )
    assert blind.middle == pytest.approx(known.middle, abs=1e-8)
    assert blind.radius == pytest.approx(known.radius, abs=1e-7)
    assert blind.radius >= known.radius - 2e-8  # which has a stated error of its own in the cube


# What agents believe is true, by code that knows all positions.

UNTIL = {"line": 3.0, "cube": 1.5, "disc": 3.0, "ellipse": 3.0, "ball": 0.8}


@pytest.mark.parametrize("site", UNTIL)
@pytest.mark.parametrize("law", BELIEFS)
def test_the_true_centroid_is_in_the_ball(law, site, monkeypatch):
    believed = []
    kind = type(law_of(law, site))
    real = kind._ball

    def noted(self, view, *rest):
        ball = real(self, view, *rest)
        time, place = view.time, tuple(view.position)
        if len(rest) == 3:  # of a step to come, planned ahead: (step, sample, place)
            time, place = rest[0] * self.dt, rest[2]
        believed.append((view.agent, time, np.array(place), ball))
        return ball

    monkeypatch.setattr(kind, "_ball", noted)
    run = run_of(law, site, UNTIL[site])
    wide = 0
    for agent, time, place, ball in believed:
        if ball is None or time > run.horizon:
            continue
        assert run.positions(time)[agent] == pytest.approx(place, abs=1e-12)
        off = lengths(errors_at(run, time)[agent] - np.array(ball.middle))
        assert off <= ball.radius + 1e-9
        wide += ball.radius > 1e-3
    assert wide >= 10


@pytest.mark.parametrize("site", ["line", "cube", "disc"])
@pytest.mark.parametrize("law", BELIEFS)
def test_the_cost_never_rises(law, site):
    run = run_of(law, site, 2.0 if site == "cube" else 4.0)
    costs = np.array([run.cost(t) for t in np.linspace(0.0, run.horizon, 60)])
    assert (np.diff(costs) <= 1e-9 * costs[:-1]).all()


@pytest.mark.parametrize(
    ("site", "rate", "until"),
    [("line", 0.0, 3.0), ("line", 2.0, 3.0), ("cube", 0.0, 1.0), ("cube", 2.0, 0.3)],
)
def test_a_centroid_drifts_by_delta_at_most(site, rate, until):
    """G1 and G2 at times between samples, by cells and distances alone."""
    law = SelfTriggered(v=0.35, delta=0.05, tau_max=0.75)
    hill = Gaussian((0.6,) * SITES[site].dimension, rate=rate) if rate else None
    run = run_of(law, site, until, hill, agents=6 if site == "line" else 5)
    table, checked = run.events, 0
    for k in np.flatnonzero(table.count("mark") == IN_TIME):
        agent, t = int(table.agent[k]), float(table.time[k])
        target = table.positions[k] + table.errors[k]
        for part in (0.3, 0.7, 0.999):
            when = t + part * (float(table.next_at[k]) - t)
            if when > run.horizon:
                continue
            places = run.positions(when)
            centroid = places[agent] + errors_at(run, when)[agent]
            assert lengths(centroid - target) <= law.delta + 1e-9
            others = lengths(np.delete(places, agent, axis=0) - target)
            assert lengths(places[agent] - target) <= others.min() + 1e-9
            checked += 1
    assert checked > 20
    found = list(promises(run.details.trajectory))
    assert {"drift", "target", "trigger"} <= {finding.name for finding in found}
    assert [finding for finding in found if finding.status == VIOLATED] == []


@pytest.mark.parametrize(("delta", "v"), [(3.0, 0.35), (3.0, 1.0), (0.1, 0.35), (0.05, 1.0)])
def test_two_agents_at_rest_on_a_line(delta, v):
    """The drift is r and the depth (1 - r) / 4, so the event is at min(delta, 1 / 5) / v."""
    law = SelfTriggered(v=v, delta=delta, tau_min=1e-4, tau_max=0.75, scan=1e-4)
    run = simulate(SITES["line"], Uniform(), np.array([[0.25], [0.75]]), law, until=1e-3)
    expected = min(delta, 0.2) / v
    assert expected - 1.01e-4 <= float(run.start.segments.next_at[0]) <= expected + 1e-9


LIMITS = {
    "line": 1e-12,
    "cube": 2e-3,
    "disc": 3e-4,
    "ellipse": 3e-4,
    "ball": 3e-3,
    "ellipsoid": 3e-3,
}
OPTIONS = [{}, {"second": "sampled"}, {"bound": "circumradius"}, {"own": "ball", "factor": 2}]


@pytest.mark.parametrize("site", LIMITS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_trigger_by_other_code(site, options):
    """Never below what other code finds, and above it by what sizes may be too large."""
    workspace, limit = SITES[site], LIMITS[site]
    n = workspace.dimension
    law, rng, seen = SelfTriggered(**options), np.random.default_rng(3), 0
    for density in (Uniform(), Gaussian(center=(0.2,) * n, rate=2.0)):
        ground = weighted_region(workspace, density)
        for _ in range({1: 8, 2: 2, 3: 1}[n]):
            here, *others = start(site, 6, int(rng.integers(99)))
            others = np.array(others)
            left, s = 0.05 * rng.normal(size=n), 0.02 + 0.05 * rng.random()
            ours = law._trigger_value(here, left, s, 0.0, others, ground)
            known = (law, workspace, density, here, here + left, others, s)
            least, most = (reference_trigger(*known, more) for more in (0.0, wider(workspace)))
            if math.isinf(ours):
                assert math.isinf(least)
            elif ours == 0.0 and "second" in options:  # outside: how far does not matter
                assert least >= -limit
            else:
                assert least - limit <= ours <= most + limit
                seen += 1
    assert seen > 0


# Limits: a slab is nearly a plane, a strip nearly a line, a polygon of many sides nearly a disc.

WIDTH = 1e-4
SAMPLED = SelfTriggered(v=0.35, delta=0.3, tau_max=0.75, second="sampled")
ANGLES = np.arange(120) * (2.0 * math.pi / 120)
THIN = {  # a workspace and one that it nearly is, with the horizon and a tolerance
    "strip": (SITES["line"], Box((0, 0), (1, WIDTH)), 4.0, 2, 2e-3),
    "slab": (Box((0, 0), (1, 1)), Box((0, 0, 0), (1, 1, WIDTH)), 2.0, 2, 2e-3),
    "many sides": (
        SITES["disc"], Polygon(np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])), 2.0, 4, 5e-3
    ),
}  # fmt: skip


@pytest.mark.parametrize("law", FLAT)
@pytest.mark.parametrize("limit", THIN)
def test_nearly_the_same_workspace_gives_nearly_the_same_run(limit, law):
    """The depth of the guaranteed cell's own centroid is not that of a line: sampled ones."""
    site, other, until, more, near = THIN[limit]
    n = site.dimension
    used = CURVED[law] if limit == "many sides" else SAMPLED if law == "self" else FLAT[law]
    drawn = np.random.default_rng(5).random((4, n))
    places = 0.8 * (drawn - 0.4) if limit == "many sides" else 0.1 + 0.5 * drawn
    thick = places
    if other.dimension > n:
        thick = np.column_stack([places, np.full(len(places), WIDTH / 2)])
    one = simulate(site, Uniform(), places, used, until=until)
    two = simulate(other, Uniform(), thick, used, until=until)
    assert abs(len(two.events) - len(one.events)) <= more
    for t in (0.25 * until, 0.5 * until, until):
        assert two.positions(t)[:, :n] == pytest.approx(one.positions(t), abs=near)


@pytest.mark.parametrize(("site", "until"), [("line", 0.6), ("cube", 0.3), ("ellipse", 1.0)])
@pytest.mark.parametrize("law", FLAT)
def test_numbering_does_not_matter(law, site, until):
    places = start(site, 5)
    order = np.random.default_rng(0).permutation(5)
    one, other = (
        simulate(SITES[site], Uniform(), some, law_of(law, site), until=until).positions(until)
        for some in (places, places[order])
    )
    assert other == pytest.approx(one[order], abs=1e-12)
