"""The theorem held against runs: every finding can hold, and can be violated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dwell
from dwell.controllers import Timer
from dwell.theory.run_certificate import certify
from tests.controllers.worlds import BOX, HILL, START

LAW = Timer(k1=0.5, nu=0.4, t1=0.02, t2=0.05)
LOOSE = {"eta_max": 0.3, "lipschitz": 5.0}


def certificate(law=LAW, assumed=None, until=4.0, start=START, density=HILL):
    run = dwell.simulate(BOX, density, start, law, until=until, seed=2, sample_every=0.02)
    found = certify(run.system, run.start, run.events, run.horizon, run.metrics, assumed or LOOSE)
    return {finding.name: finding for finding in found}


def test_every_property_is_reported():
    names = list(certificate())
    assert names == [
        "phi-1", "phi-2", "phi-3", "eta-below-k1", "dwell-time", "lipschitz", "hold-limit",
        "stays-in-u", "cost-after-u", "attractor", "cost-rate", "cost-in-u",
    ]  # fmt: skip


def test_what_holds_in_a_good_run():
    found = certificate(until=40.0)
    for name in ("phi-1", "phi-2", "phi-3", "eta-below-k1", "hold-limit", "attractor", "cost-rate"):
        assert found[name].status == "holds", found[name]
    assert found["stays-in-u"].status == "violated"  # errors cannot all stay large
    assert "agent" in found["stays-in-u"].where


def test_the_attractor_is_reached_when_the_run_says():
    run = dwell.simulate(BOX, HILL, START, LAW, until=40.0, seed=2, sample_every=0.02)
    found = certificate(until=40.0)["attractor"]
    assert found.status == "holds"
    when = float(found.where.split("= ")[1].split()[0])
    assert when == pytest.approx(run.reached_at, abs=0.1)
    assert certificate(until=0.5)["attractor"].status == "violated"


def test_dwell_time_is_that_of_the_lemma():
    found = certificate(assumed={"eta_max": 0.3, "lipschitz": 5.0})["dwell-time"]
    limit = 0.3 * LAW.reach / (0.25 * (5.0 * np.sqrt(6) + 1.0))
    assert found.worst == pytest.approx(0.05 / limit)
    assert found.status == "violated"
    assert certificate(assumed={"eta_max": 0.3, "lipschitz": 0.1})["dwell-time"].status == "holds"


def test_the_measured_constant_is_held_against_the_assumed_one():
    small = certificate(assumed={"eta_max": 0.3, "lipschitz": 0.01})["lipschitz"]
    large = certificate(assumed={"eta_max": 0.3, "lipschitz": 1e4})["lipschitz"]
    assert (small.status, large.status) == ("violated", "holds")
    assert small.worst == pytest.approx(1e6 * large.worst)
    from dwell.theory.derivatives import derivatives

    at_start = derivatives(BOX, START, HILL).lipschitz().max()
    assert 1e4 * large.worst >= at_start * (1.0 - 1e-12)


def test_an_inadmissible_beginning_is_found():
    hold = tuple((0.3, -0.4) for _ in START)
    found = certificate(replace(LAW, initial_hold=hold), {"eta_max": 0.05, "lipschitz": 1.0})
    assert found["phi-3"].status == "violated"
    assert found["phi-2"].status == "holds"
    assert found["hold-limit"].status == "violated"
    assert found["cost-rate"].status == "not applicable"


def test_eta_max_must_be_below_k1():
    assert certificate(assumed={"eta_max": 0.5, "lipschitz": 1.0})["eta-below-k1"].status == (
        "violated"
    )


def test_long_holds_make_the_cost_rise():
    late = Timer(k1=0.5, nu=0.1, t1=1.5, t2=1.6)
    found = certificate(late, {"eta_max": 0.45, "lipschitz": 1.0}, until=40.0)
    assert found["cost-after-u"].status == "violated"
    assert found["cost-after-u"].where.startswith("t = ")


def test_the_rate_of_the_cost_is_its_derivative():
    run = dwell.simulate(BOX, HILL, START, LAW, until=1.0, seed=2)
    from dwell.theory.run_certificate import _follow

    course = _follow(run.system, run.start, run.events, 1.0)
    for k in (40, 400, 900):
        t, h = float(course.times[k]), 1e-7
        if np.abs(run.events.time - t).min() < 2 * h:
            t = t + 1e-5
        slope = (run.cost(t + h) - run.cost(t - h)) / (2 * h)
        assert slope == pytest.approx(np.interp(t, course.times, course.rates), rel=2e-2)


def test_it_is_part_of_the_check_and_does_not_spoil_it(tmp_path):
    scenario = dwell.load_scenario(_template(tmp_path), ["run.horizon=2"])
    report = dwell.check(dwell.run_scenario(scenario))
    assert report.ok
    found = {row["name"]: row["status"] for row in report.as_json()["certificate"]}
    assert found["dwell-time"] == "violated"
    assert found["hold-limit"] == "holds"


def _template(folder):
    from dwell.scenario import template_text

    path = folder / "paper-12.toml"
    path.write_text(template_text("paper-12"), encoding="utf-8")
    return path


def test_other_laws_have_no_certificate():
    assert certificate(dwell.Lloyd(dt=0.1)) == {}
