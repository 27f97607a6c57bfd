"""The theorem held against runs: every finding can hold, and can be violated."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dwell
from dwell.agents import Trajectory
from dwell.agents.network import Network
from dwell.controllers import Timer
from dwell.theory.design import setting_of
from dwell.verify.finding import Finding
from dwell.verify.phases import worst_of_phases
from dwell.verify.recorded import QUICK, THOROUGH, Recorded, follow
from dwell.verify.run_certificate import NAMES, _cost_rate, held_against
from tests.controllers.worlds import BOX, HILL, START

LAW = Timer(k1=0.5, nu=0.4, t1=0.02, t2=0.05)
LOOSE = {"eta_max": 0.3, "lipschitz": 5.0}


@cache
def simulated(law, until):
    return dwell.simulate(BOX, HILL, START, law, until=until, seed=2, sample_every=0.02)


def certified(run, assumed=LOOSE, **options):
    return {f.name: f for f in held_against(run.details.recorded, assumed, **options)}


SETTING = setting_of(simulated(LAW, 0.06).system, 0.3, 5.0)


def certificate(law=LAW, assumed=LOOSE, until=4.0):
    return certified(simulated(law, until), assumed)


AWAY = replace(LAW, initial_hold=tuple((0.3, -0.4) for _ in START))
GOOD = ("phi-1", "phi-2", "phi-3", "eta-below-k1", "hold-limit", "attractor", "cost-rate")
H, V, N, Y = "holds", "violated", "not applicable", "not yet"
CASES = {  # law, what differs from the loose assumptions, horizon, statuses
    # Errors cannot all stay large.
    "good": (LAW, {}, 40.0, dict.fromkeys(GOOD, H) | {"stays-in-u": V}),
    "short": (LAW, {}, 0.5, {"attractor": Y}),
    "small-constant": (LAW, {"lipschitz": 0.1}, 4.0, {"dwell-time": H}),
    "inadmissible": (
        AWAY, {"eta_max": 0.05, "lipschitz": 1.0}, 4.0,
        {"phi-3": V, "phi-1": H, "phi-2": H, "hold-limit": V, "hold-inside": V},
    ),
    "eta-is-k1": (LAW, {"eta_max": 0.5}, 4.0, {"eta-below-k1": V}),
    "tiny-eta": (LAW, {"eta_max": 1e-320}, 4.0, {"dwell-time": V, "hold-limit": V}),
    "huge-eta": (LAW, {"eta_max": 1e308}, 4.0, {"eta-below-k1": V, "cost-rate": N}),
    "tiny-constant": (LAW, {"lipschitz": 1e-320}, 4.0, {"lipschitz": V}),
    "huge-constant": (LAW, {"lipschitz": 1e308}, 4.0, {"dwell-time": V}),
    # Long holds make the cost rise.
    "late": (
        Timer(k1=0.5, nu=0.1, t1=1.5, t2=1.6), {"eta_max": 0.45, "lipschitz": 1.0}, 40.0,
        {"cost-after-u": V},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("error")
def test_properties_hold_or_are_violated_without_a_word_about_overflow(case):
    law, assumed, until, statuses = CASES[case]
    found = certificate(law, LOOSE | assumed, until)
    assert {name: found[name].status for name in statuses} == statuses
    assert not any(np.isnan(finding.worst) for finding in found.values() if finding.worst)
    for name, place in (("stays-in-u", "agent "), ("cost-after-u", "t = ")):
        if statuses.get(name) == V:
            assert found[name].where.startswith(place)


def test_every_property_is_reported():
    names = list(certificate())
    assert names == [
        "phi-1", "phi-2", "phi-3", "eta-below-k1", "dwell-time", "lipschitz", "hold-limit",
        "adaptive-limit", "hold-inside", "stays-in-u", "cost-after-u", "attractor", "cost-rate",
        "cost-in-u",
    ]  # fmt: skip
    assert names == list(NAMES)


def test_the_attractor_is_reached_when_the_run_says():
    run = simulated(LAW, 40.0)
    found = certificate(until=40.0)["attractor"]
    assert found.status == "holds"
    when = float(found.where.split("= ")[1].split()[0])
    assert when == pytest.approx(run.reached_at, rel=1e-8)


def test_a_run_that_ends_early_has_not_reached_the_attractor_yet():
    """No violation: a longer run may, and its line says until when this one was followed."""
    short, long = certificate(until=0.5)["attractor"], certificate(until=40.0)["attractor"]
    assert (short.status, short.where) == (Y, "not yet at t = 0.5, the end of what was followed")
    assert long.where.endswith(" to t = 40, the end of what was followed")
    assert "for good" not in long.says


@pytest.mark.parametrize("every", [0.02, 0.7, "off"])
def test_the_largest_hold_error_does_not_depend_on_samples(every):
    """One number for the summary, the flag and the certificate."""
    law = Timer(k1=0.5, nu=0.1, t1=1.0, t2=1.6)
    run = dwell.simulate(BOX, HILL, START, law, until=20.0, seed=2, sample_every=every)
    held = run.summary()["hold_error"]["max"]
    for limit, status in ((held, H), (np.nextafter(held, 0.0), V)):
        found = certified(run, {"eta_max": limit, "lipschitz": 5.0})["hold-limit"]
        assert (found.status, found.worst) == (status, held)
    inside = certified(run, {"eta_max": held, "lipschitz": 5.0})["hold-inside"]
    assert inside.status == (H if inside.worst <= held else V)


def test_the_attractor_is_that_of_the_laws_nu():
    """The error that counts as covered may be another."""
    looser = dwell.simulate(
        BOX, HILL, START, LAW, until=40.0, seed=2, sample_every=0.02, nu=3 * LAW.nu
    )
    found = certified(looser)["attractor"]
    assert found.where == certificate(until=40.0)["attractor"].where
    assert looser.reached_at < float(found.where.split("= ")[1].split()[0])


def test_dwell_time_is_that_of_the_lemma():
    found = certificate()["dwell-time"]
    limit = 0.3 * LAW.reach / (0.25 * (5.0 * np.sqrt(6) + 1.0))
    assert found.worst == pytest.approx(0.05 / limit)
    assert found.status == "violated"


def test_the_measured_constant_is_held_against_the_assumed_one():
    small = certificate(assumed={"eta_max": 0.3, "lipschitz": 0.01})["lipschitz"]
    large = certificate(assumed={"eta_max": 0.3, "lipschitz": 1e4})["lipschitz"]
    assert (small.status, large.status) == ("violated", "holds")
    assert small.worst == pytest.approx(1e6 * large.worst)
    from dwell.theory.derivatives import derivatives

    at_start = derivatives(BOX, START, HILL).lipschitz().max()
    assert 1e4 * large.worst >= at_start * (1.0 - 1e-12)


def test_the_rate_of_the_cost_is_its_derivative():
    run = dwell.simulate(BOX, HILL, START, LAW, until=1.0, seed=2)
    course = follow(run.details.trajectory, THOROUGH.times)
    for k in (40, 400, 900):
        t, h = float(course.times[k]), 1e-7
        if np.abs(run.events.time - t).min() < 2 * h:
            t = t + 1e-5
        slope = (run.cost(t + h) - run.cost(t - h)) / (2 * h)
        assert slope == pytest.approx(np.interp(t, course.times, course.rates), rel=2e-2)
    assert (course.doubts < 1e-12 * np.abs(course.rates).max()).all()


def hand_made(*, start=START, hold=None, next_at=None, until=0.02, assumed=LOOSE):
    """What is found of a beginning that no law would make, and no jumps after it."""
    run, n = simulated(LAW, 0.06), len(START)
    segments = replace(
        run.start.segments,
        place=np.array(start, dtype=float),
        hold=np.zeros((n, 2)) if hold is None else np.array(hold, dtype=float),
        next_at=np.full(n, 0.03) if next_at is None else np.array(next_at, dtype=float),
    )
    begin = replace(run.start, segments=segments)
    none = run.events.take(np.arange(0))
    found = held_against(Recorded(Trajectory(run.system, begin, none, until)), assumed, QUICK)
    return {finding.name: finding for finding in found}


def test_phi_1_wants_the_workspace_and_phi_2_different_places():
    """As the paper numbers them."""
    assert (hand_made()["phi-1"].status, hand_made()["phi-2"].status) == ("holds", "holds")
    outside = START.copy()
    outside[3] = (-0.5, 1.0)
    found = hand_made(start=outside)["phi-1"]
    assert (found.status, found.where) == ("violated", "agent 3")
    assert found.worst == pytest.approx(0.5 / BOX.diameter)
    twins = START.copy()
    twins[4] = twins[1]
    found = hand_made(start=twins)
    assert (found["phi-1"].status, found["phi-2"].status) == ("holds", "violated")
    assert found["phi-2"].where == "agents 1 and 4 at one place"
    assert list(found) == list(NAMES)


def test_phi_1_wants_velocities_and_timers_in_range():
    hold = np.zeros((len(START), 2))
    hold[2] = (0.0, 0.6)
    found = hand_made(hold=hold)["phi-1"]
    assert (found.status, found.where) == ("violated", "agent 2")
    assert found.worst == pytest.approx(0.2)
    late = np.full(len(START), 0.03)
    late[1] = 0.06
    assert hand_made(hold=hold)["phi-2"].status == "holds"
    found = hand_made(next_at=late)["phi-1"]
    assert (found.status, found.where) == ("violated", "agent 1")


def test_a_cost_that_rises_too_fast_is_found():
    """Everybody runs away from its centroid, and the table hides the hold errors."""
    errors = dwell.tessellate(BOX, START, HILL).errors
    away = -50.0 * errors / np.hypot(*errors.T)[:, None]
    found = hand_made(hold=away, until=0.002)
    assert (found["cost-rate"].status, found["cost-in-u"].status) == (N, N)
    run = simulated(LAW, 0.06).details.trajectory
    course = replace(follow(run, 50), hold_errors=np.zeros((1, 6)))
    bound = 0.25 * course.masses * 0.3**2 * LAW.reach
    for rates, status in ((0.9 * bound / 0.25, H), (1.1 * bound / 0.25, V)):
        rate, _ = _cost_rate(replace(course, rates=rates), SETTING)
        assert rate.status == status
    large = np.full_like(course.errors, 1.0)
    for size, status in ((-1.0, H), (1.0, V)):
        rising = replace(course, errors=large, rates=np.full_like(course.rates, size))
        _, inside = _cost_rate(rising, SETTING)
        assert inside.status == status
        if status == V:
            assert (inside.worst, inside.where[:4]) == (pytest.approx(1.0), "t = ")


def test_the_rate_of_the_cost_is_bounded_only_where_the_hold_error_is():
    """At each time for itself, and nowhere for an eta_max above k1."""
    course = follow(simulated(LAW, 0.06).details.trajectory, 50)
    wild = np.zeros_like(course.errors)
    wild[3, 1] = 0.31
    rates = np.full_like(course.rates, -1.0)
    rates[3] = 1e9
    for k, status in ((3, H), (4, V)):
        moved = np.roll(rates, k - 3)
        rate, _ = _cost_rate(replace(course, hold_errors=wild, rates=moved), SETTING)
        assert rate.status == status
    for found in _cost_rate(course, replace(SETTING, eta_max=0.51)):
        assert (found.status, found.where) == (N, "eta_max is above k1")


def test_the_largest_hold_error_and_constant_are_placed():
    found = certificate(assumed={"eta_max": 1e-4, "lipschitz": 0.01}, until=2.0)
    run = simulated(LAW, 2.0)
    worst = found["hold-limit"].worst
    agent, about = placed(found["hold-limit"].where)  # nine digits of the time
    known = np.concatenate([[0.0], run.events.time, [run.horizon]])
    time = float(known[np.argmin(np.abs(known - about))])
    assert time == pytest.approx(about, rel=1e-8)
    at_events = (run.events.agent == agent) & (run.events.time == time)
    seen = [run.hold_errors(time)[agent], *run.events.hold_error[at_events]]
    assert max(seen) == pytest.approx(worst, rel=1e-12, abs=0.0)
    agent, time = placed(found["lipschitz"].where)
    there = dwell.theory.derivatives.derivatives(BOX, run.positions(time), HILL).lipschitz()
    assert there[agent] / 0.01 == pytest.approx(found["lipschitz"].worst, rel=1e-6, abs=0.0)
    assert found["lipschitz"].per_agent[agent] == pytest.approx(there[agent], rel=1e-6, abs=0.0)


def placed(where):
    agent, time = where.removeprefix("agent ").split(", t = ")
    return int(agent), float(time)


def test_when_each_agent_leaves_u():
    """To the digits of a bisection, whatever the horizon and the samples."""
    radius = 0.3 * LAW.reach / LAW.k1
    runs = {}
    for until, every in ((12.0, 0.02), (200.0, 20.0)):
        run = dwell.simulate(BOX, HILL, START, LAW, until=until, seed=2, sample_every=every)
        for effort in (QUICK, THOROUGH):
            every = certified(run, effort=effort)
            when = every["attractor"].where.split("= ")[1].split()[0]
            assert float(when) == pytest.approx(run.reached_at, rel=1e-8)
            found = every["stays-in-u"]
            runs[until, effort.times] = np.array(found.per_agent, dtype=float)
            assert found.as_json()["per_agent"] == list(found.per_agent)
    one = runs[12.0, THOROUGH.times]
    for other in runs.values():
        assert other == pytest.approx(one, abs=1e-7)
    for p, t in enumerate(one):
        if t > 0.0:
            assert run.errors(t + 1e-6)[p] < radius <= run.errors(t - 1e-6)[p] + 1e-9


def test_those_who_never_leave_u_have_no_time():
    hold = certificate(assumed={"eta_max": 0.49, "lipschitz": 1.0}, until=0.01)["stays-in-u"]
    assert len(hold.per_agent) == len(START)
    tiny = certificate(assumed={"eta_max": 1e-9, "lipschitz": 1.0}, until=0.01)["stays-in-u"]
    assert tiny.status == "holds"
    assert tiny.per_agent == (None,) * len(START)


def test_a_rising_cost_is_found_at_any_horizon():
    """One agent overshoots between thinned times; its own looks tell."""
    late = Timer(k1=0.5, nu=0.1, t1=0.5, t2=0.6)
    rng = np.random.default_rng(0)
    start = np.column_stack([rng.uniform(0.2, 3.8, 12), rng.uniform(0.2, 2.8, 12)])
    site = dwell.Box((0, 0), (4, 3))
    statuses = set()
    for until in (20.0, 600.0):
        run = dwell.simulate(site, None, start, late, until=until, seed=2, sample_every=until / 10)
        found = certified(run, {"eta_max": 0.45, "lipschitz": 5.0})["cost-after-u"]
        statuses.add(found.status)
        t = float(found.where.removeprefix("t = "))
        assert run.cost(t + 1e-7) > run.cost(t - 1e-7)
    assert statuses == {"violated"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"assumed": None}, "the scenario has no [certificate]"),
        ({"spacing": 0.1}, "on a grid of points"),
        ({"network": Network(loss=0.3)}, "lost or late"),
    ],
)
def test_where_the_theorem_is_silent_every_name_says_why(change, words):
    options = {"assumed": LOOSE, **change}
    assumed = options.pop("assumed")
    run = dwell.simulate(BOX, HILL, START, LAW, until=0.5, seed=2, **options)
    found = certified(run, assumed)
    assert list(found) == list(NAMES)
    assert all(finding.status == "not applicable" for finding in found.values())
    assert all(words in finding.where for finding in found.values())


def test_a_density_in_python_has_a_certificate():
    density = dwell.density.as_density(lambda z: 1.0 + z[..., 0])
    run = dwell.simulate(BOX, density, START, LAW, until=0.3, seed=2, sample_every=0.1)
    found = certified(run, effort=QUICK)
    assert list(found) == list(NAMES)
    assert found["lipschitz"].status == "holds"


def test_it_is_in_the_summary_of_a_run_and_does_not_spoil_its_check(tmp_path):
    path = tmp_path / "paper-12.toml"
    path.write_text(dwell.scenario.template_text("paper-12"), encoding="utf-8")
    run = dwell.run_scenario(dwell.load_scenario(path, ["run.horizon=2"]))
    report = dwell.check(run)
    assert report.ok
    found = {row["name"]: row["status"] for row in report.as_json()["certificate"]}
    assert (found["dwell-time"], found["hold-limit"]) == ("violated", "holds")
    found = run.summary()["certificate"]
    assert {"dwell-time", "lipschitz"} <= set(found["violated"])
    assert [row["name"] for row in found["findings"]] == list(NAMES)
    assert found["assumed_lipschitz"] == 5.0
    assert found["measured_lipschitz"]["value"] > 5.0
    (flag,) = [flag for flag in run.flags if flag.code == "certificate-void"]
    assert "The Lipschitz constant of agent" in flag.says
    bare = dwell.simulate(BOX, HILL, START, LAW, until=0.5, seed=2).summary()
    assert bare["certificate"] is None


def test_agents_that_pass_through_each_other_are_found():
    site, start = dwell.Box((0, 0), (1, 1)), [(0.25, 0.5), (0.75, 0.5)]
    law = Timer(k1=0.5, nu=0.5, t1=0.5, t2=1.0, initial_hold=((0.5, 0), (-0.5, 0)))
    run = dwell.simulate(site, None, start, law, until=2.0, seed=1, sample_every=0.3)
    assert run.metrics.separations.min() > 0.05
    figures = run.summary()
    # Seen is what the start, the events and the end show, which is nothing of it.
    near = {"min": 0.0, "time": pytest.approx(0.5), "agents": [0, 1], "seen": 0.5}
    assert figures["separation"] == near
    assert "near-coincident" in {flag["code"] for flag in figures["flags"]}
    found = certified(run)["lipschitz"]
    assert found.status == "violated"
    assert found.as_json()["worst"] is None
    assert placed(found.where)[1] == pytest.approx(0.5)


def test_other_laws_have_no_certificate():
    assert certificate(dwell.Lloyd(dt=0.1)) == {}


def test_of_several_phases_the_worst_is_shown():
    """Violated before not yet before holds before not applicable; then by how far; then first."""

    def finding(status, worst, limit=1.0, where=""):
        return Finding("phi", "says", status, worst, limit, where)

    for findings, worst in (
        ([(H, 0.2), (V, 1.1), (H, 0.9)], 1),
        ([(V, 1.1), (V, 1.5), (V, 1.2)], 1),
        ([(H, 0.2), (H, 0.9), (H, 0.5)], 1),
        ([(N, 0.0), (H, 0.1), (N, 9.0)], 1),
        ([(H, 0.99), (Y, 0.1), (N, 5.0)], 1),
        ([(Y, 7.0), (V, 1.1), (H, 0.0)], 1),
        ([(V, 2.0), (H, 0.0), (Y, 9.0)], 0),
        ([(H, 0.5), (H, 0.5), (H, 0.5)], 0),
        ([(H, 0.5), (H, 0.4), (H, 0.7)], 2),
    ):
        phases = [(2.0 * k, [finding(*one)]) for k, one in enumerate(findings)]
        (shown,) = worst_of_phases(phases)
        assert (shown.status, shown.worst) == findings[worst]
        assert f"from t = {2 * worst:g} on" in shown.where
    (far,) = worst_of_phases(
        [(0.0, [finding(V, 3.0, 2.5)]), (1.0, [finding(V, 2.0, 1.0, "t = 4")])]
    )
    assert far.worst == 2.0  # beyond its limit by more
    assert far.where.startswith("t = 4, in the world from t = 1 on")
