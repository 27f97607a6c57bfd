"""Conditions on T2 and k1: the paper's numbers, advice that works, and what runs say to them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dwell
from dwell.agents import CoverageSystem
from dwell.errors import InputError
from dwell.scenario import Scenario, parse_scenario, template_text, text_to_mapping
from dwell.scenario.build import build
from dwell.studies import constants
from dwell.studies.design import SILENT, THETA, VALID, VOID, Design, voronoi_graphs
from dwell.theory import max_dwell_time, max_gain
from dwell.theory.advice import advise, advise_for, advise_proved
from dwell.theory.certificate import max_lipschitz
from dwell.theory.clocks import common_waits, shares_clock
from dwell.theory.design import Setting, setting_of, void_reasons
from dwell.theory.lipschitz import lipschitz_along
from dwell.theory.scope import LOCAL, SYNC, UNRELIABLE, UNSHARED


def setting(
    eta_max: float, k1: float, nu: float, lipschitz: Any, t1: Any, t2: Any, agents: int, **more: Any
) -> Setting:
    def rows(value: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(value, dtype=float), (agents,))

    return Setting(k1, nu, 1e-8, rows(t1), rows(t2), eta_max, rows(lipschitz), **more)


THIRTY = setting(0.4, 0.525, 0.7, 5.0, 0.01, 0.03, 30)
TWELVE = setting(0.3, 0.5, 0.5, 5.0, 0.2, 0.65, 12)


def changed_scenario(data: dict[str, Any], tables: dict[str, Any]) -> Scenario:
    """The scenario of `data`; `tables` change or (None) drop tables."""
    for table, changes in tables.items():
        if changes is None:
            data.pop(table, None)
        else:
            data[table] = {**data.get(table, {}), **changes}
    return parse_scenario(data)


def template(name: str, **tables: Any) -> Scenario:
    return changed_scenario(text_to_mapping(template_text(name)), tables)


def small(**tables: Any) -> Scenario:
    """Five agents in a square, with a certificate."""
    data: dict[str, Any] = {
        "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 4]},
        "agents": {"start": [[1, 1], [3, 1], [2, 2], [1, 3], [3, 3.2]]},
        "controller": {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.01, "t2": 0.02},
        "certificate": {"eta_max": 0.9, "lipschitz": 5.0},
        "run": {"horizon": 1.0, "seed": 1},
    }
    return changed_scenario(data, tables)


def unrun(scenario: Scenario, **options: Any) -> Design:
    """The design without samples and without a run."""
    return dwell.design(scenario, samples=0, run=False, **options)


# The paper's numbers.


def test_the_papers_numbers() -> None:
    for s, dwell_time, gain, lipschitz, limits in (
        (THIRTY, 0.0357877, 0.573410, 5.99983, (2.66667, 1.33333)),
        (TWELVE, 0.0327502, 0.112233, -0.02221, (2.0, 1.0)),
    ):
        assert np.round(s.max_dwell_times, 7).tolist() == [dwell_time] * s.agents
        assert np.round(s.max_gains, 6).tolist() == [gain] * s.agents
        assert np.round(s.max_lipschitz, 5).tolist() == [lipschitz] * s.agents
        sync, local = s.sharper
        assert (sync.limit, local.limit) == pytest.approx(limits, abs=1e-5)
        assert sync.without_overshoot == local.limit
        assert (sync.fulfilled, sync.applies, local.applies) == (True, False, None)


@pytest.mark.parametrize("needy", [0, 2, 4])
def test_a_law_is_admissible_if_it_is_so_for_the_agent_that_needs_most(needy: int) -> None:
    t2, lipschitz = [0.02, 0.021, 0.022, 0.023, 0.024], [5.0, 4.0, 5.0, 4.0, 5.0]
    t2[needy] = 0.04
    certificate = {"eta_max": 0.3, "lipschitz": lipschitz}
    law = {"kind": "timer", "k1": 0.9, "nu": 0.5, "t1": 0.01, "t2": t2}
    found = unrun(small(controller=law, certificate=certificate))
    s = found.setting
    assert int(s.max_gains.argmin()) == needy == s.tightest
    assert s.admissible_k1 == (0.3, min(s.max_gains))
    for k1 in (0.999 * min(s.max_gains), 1.001 * min(s.max_gains), max(s.max_gains)):
        changed = unrun(small(controller={**law, "k1": float(k1)}, certificate=certificate))
        assert changed.setting.feasible is bool(k1 < min(s.max_gains))


@pytest.mark.parametrize("epsilon", [1e-8, 0.05, 0.5, 0.9])
def test_the_nu_that_is_advised_will_do_and_hardly_less(epsilon: float) -> None:
    for s in (replace(TWELVE, epsilon=epsilon), replace(THIRTY, epsilon=epsilon, nu=0.1)):
        (advice,) = [one for one in advise(s) if one.key == "nu"]
        assert isinstance(advice.value, float), advice.says
        assert replace(s, nu=advice.value).feasible
        assert not replace(s, nu=0.9 * advice.value).feasible


def test_what_the_papers_numbers_admit() -> None:
    assert THIRTY.feasible
    assert THIRTY.admissible_k1 == (0.4, THIRTY.max_gains[0])
    assert advise(THIRTY) == ()
    assert not TWELVE.feasible
    assert TWELVE.admissible_k1 is None
    assert TWELVE.sharper[1].margin == pytest.approx(1.0 / 0.65, rel=1e-7)


def test_the_three_forms_are_one_condition() -> None:
    for s in (THIRTY, TWELVE):
        known = (s.eta_max, s.reach, s.k1)
        assert s.max_dwell_times[0] == max_dwell_time(*known, 5.0, s.agents)
        assert s.max_gains[0] == max_gain(s.eta_max, s.reach, s.t2[0], 5.0, s.agents)
        assert s.max_lipschitz[0] == max_lipschitz(*known, s.t2[0], s.agents)
        in_theta = s.k1 * s.t2 <= s.theta * s.reach / s.spreads
        assert (in_theta == (s.t2 <= s.max_dwell_times)).all()
        most = float(s.max_gains_in_theta[0])
        scaled = replace(s, k1=most, eta_max=s.theta * most)
        assert scaled.max_dwell_times == pytest.approx(s.t2, rel=1e-12, abs=0.0)


# Advice.

numbers = st.floats(0.02, 5.0)


def one_or_four(low: float, high: float) -> st.SearchStrategy[Any]:
    values = st.floats(low, high)
    return st.one_of(values, st.lists(values, min_size=4, max_size=4))


settings_ = st.builds(
    setting,
    eta_max=numbers,
    k1=numbers,
    nu=numbers,
    lipschitz=one_or_four(0.0, 20.0),
    t1=st.just(1e-9),
    t2=one_or_four(1e-4, 3.0),
    agents=st.just(4),
    tied=st.booleans(),
)


def changed(s: Setting, key: str, value: Any) -> Setting:
    if key == "k1":
        return s.with_gain(value)
    if key == "t2":
        return replace(s, t2=np.broadcast_to(value, (s.agents,)))
    return replace(s, **{key: value})


@given(settings_)
def test_each_piece_of_advice_alone_makes_the_condition_hold(s: Setting) -> None:
    given_ = advise(s)
    assert bool(given_) == (not s.feasible)
    assert [advice.key for advice in given_] in ([], ["k1", "t2", "nu", "eta_max"])
    for advice in given_:
        if advice.value is None:
            tries = np.geomspace(1e-7, 1e7, 400)
            assert not any(changed(s, advice.key, v).feasible for v in tries.tolist())
            assert "no value will do" in advice.says
            continue
        assert changed(s, advice.key, advice.value).feasible
        beyond = 1.0 + 1e-4 if advice.key in ("k1", "t2") else 1.0 - 1e-4
        assert not changed(s, advice.key, np.asarray(advice.value) * beyond).feasible
        assert f"{float(np.min(advice.value)):.12g}" in advice.says


def test_the_words_of_advice() -> None:
    k1, t2, nu, eta = advise(TWELVE)
    assert k1.says == (
        "k1: no value will do; it would have to be at most 0.112233 and above eta_max = 0.3"
    )
    assert t2.says == "T2 at most 0.0327501; t1 must come down with it (it is 0.2)"
    assert nu.says == "nu at least 9.92361"
    assert eta.says == (
        "eta_max: no value will do; it would have to be at least 5.95417 and below k1 = 0.5"
    )
    assert [advice.as_json()["possible"] for advice in (k1, t2, nu, eta)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_eta_max_above_k1_is_named_and_can_be_cured_by_either() -> None:
    s = setting(0.6, 0.5, 0.5, 0.1, 0.01, 0.02, 12)
    assert not s.feasible
    k1, t2, nu, eta = advise(s)
    assert k1.says.startswith("k1 above eta_max = 0.6 (and at most ")
    assert eta.says.startswith("eta_max below k1 = 0.5 (and at least ")
    for advice in (t2, nu):
        assert "the theorem needs eta_max < k1, and they are 0.6 and 0.5" in advice.says


def test_no_gain_is_admissible_in_theta_where_eta_max_is_not_below_k1() -> None:
    """In theta = eta_max / k1 every k1 violates the theorem as this one does."""
    for eta in (0.5, 0.6):
        s = setting(eta, 0.5, 0.5, 0.1, 0.01, 0.02, 12)
        assert s.max_gains_in_theta is None
        tied = replace(s, tied=True)
        assert tied.admissible_k1 is None
        assert "is never below it" in advise(tied)[0].says
    assert setting(0.4999, 0.5, 0.5, 0.1, 0.01, 0.02, 12).max_gains_in_theta is not None


def test_advice_stays_within_what_the_law_accepts() -> None:
    k1, _, nu, _ = advise(setting(0.3, 0.5, 0.5, 1e300, 0.1, 0.2, 4))
    assert (k1.value, nu.value) == (None, None)
    assert "at most 1e+70 is accepted" in nu.says
    tied = advise(setting(0.3, 0.5, 0.5, 1e250, 0.1, 0.2, 4, tied=True))[0]
    assert tied.value is None
    assert "at least 1e-70 is accepted" in tied.says


def test_advice_for_measured_constants() -> None:
    s = setting(0.3, 0.5, 0.5, 1.0, 0.01, 0.05, 3)
    assert s.feasible
    assert advise_for(s, np.array([0.2, 1.0, 0.3])) == ()
    only = advise_for(s, np.array([0.2, 2.0, 0.3]))
    assert [advice.key for advice in only] == ["lipschitz"]
    assert only[0].says == "L at least 2 for agent 1, from 1 on for others, as measured on the way"
    more = advise_for(s, np.full(3, 50.123456789))
    assert [advice.key for advice in more] == ["lipschitz", "k1", "t2", "nu", "eta_max"]
    raised = replace(s, lipschitz=np.full(3, more[0].value))
    assert (raised.lipschitz >= 50.123456789).all()
    assert not raised.feasible
    assert changed(raised, "t2", more[2].value).feasible
    (none,) = advise_for(s, np.array([0.2, math.inf, 0.3]))
    assert none.value is None
    assert "agent 1 is infinite" in none.says


def test_the_tightest_agent_is_not_the_one_with_the_longest_wait() -> None:
    """Its own constant counts, too: in the words, in the advice and in the limits."""
    s = setting(0.3, 0.5, 0.5, [1.0, 9.0, 2.0], 0.01, [0.05, 0.04, 0.03], 3)
    assert s.tightest == 1 == int(np.argmin(s.max_dwell_times / s.t2))
    (says,) = void_reasons(s)
    assert says.startswith("T2 = 0.04 of agent 1 exceeds")


def test_advice_about_what_is_proved_holds_when_followed() -> None:
    """T2 just below each limit, with timers that are shared where that is asked for."""
    for s in (THIRTY, TWELVE, replace(TWELVE, t2=np.full(12, 1.5)), replace(TWELVE, scope={})):
        keys = [advice.says.split("for ")[-1] for advice in advise_proved(s)]
        wanted = [c for c in s.sharper if not c.holds]
        assert keys == [f"{c.name} ({c.status})" for c in wanted]
        for advice, condition in zip(advise_proved(s), wanted, strict=True):
            shared = "share" in advice.says
            assert shared == (condition.reasons == (UNSHARED,))
            followed = replace(s, t2=np.full(s.agents, advice.value), scope={})
            assert all(c.holds for c in followed.sharper if c.name == condition.name)
    lossy = replace(TWELVE, scope={SYNC: (UNRELIABLE, UNSHARED), LOCAL: (UNRELIABLE,)})
    assert advise_proved(lossy) == ()


def test_agents_that_differ_are_told_apart() -> None:
    s = setting(0.3, 0.5, 0.5, [1.0, 2.0, 4.0], 0.01, [0.01, 0.3, 0.04], 3)
    assert s.tightest == 1
    t2 = advise(s)[1]
    assert isinstance(t2.value, np.ndarray)
    assert (t2.value <= s.max_dwell_times).all()
    assert "for agent 2, up to" in t2.says
    assert isinstance(t2.as_json()["value"], list)
    endless = setting(0.3, 0.5, 0.5, [1.0, math.inf], 0.1, 0.2, 2)
    assert endless.max_dwell_times[1] == 0.0
    assert all(advice.value is None for advice in advise(endless))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k1": 0.0}, "k1 is 0.0; a positive number"),
        ({"eta_max": -1.0}, "eta_max is -1.0; a positive number"),
        ({"nu": math.inf}, "nu is inf"),
        ({"epsilon": 1.0}, "epsilon is 1.0"),
        ({"t2": np.zeros(12)}, "one number above 0 per agent"),
        ({"lipschitz": np.full(12, np.nan)}, "one number from 0 on per agent"),
        ({"lipschitz": np.ones(3)}, "per agent"),
    ],
)
def test_refused_settings(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(TWELVE, **change)


# Timers.


@pytest.mark.parametrize(
    ("options", "shared"),
    [
        ({}, False),
        ({"t1": 0.2}, True),
        ({"reset": "latest"}, True),
        ({"reset": "latest", "t2": (0.2, 0.3)}, False),
        ({"reset": "earliest"}, True),
        ({"reset": "earliest", "t2": (0.2, 0.3)}, False),
        ({"reset": "earliest", "t2": (0.2, 0.3), "initial_timer": 0.15}, True),
        ({"reset": "earliest", "initial_timer": (0.15, 0.2)}, False),
        ({"reset": "periodic", "period": 0.15}, True),
        ({"reset": "periodic", "period": (0.15, 0.2)}, False),
        ({"reset": "sequence", "intervals": (0.1, 0.2)}, True),
        ({"reset": "sequence", "intervals": ((0.1, 0.2), (0.2, 0.1))}, False),
        ({"reset": "dropout", "loss": 0.5}, False),
        ({"reset": "dropout", "loss": 0.0}, True),
        ({"t1": 0.2, "reset": "adaptive", "eta_max": 0.3}, True),
        ({"t1": 0.2, "reset": "dropout", "loss": 0.5}, True),
    ],
)
def test_whether_agents_share_a_clock(options: dict[str, Any], shared: bool) -> None:
    law = dwell.Timer(**{"k1": 0.5, "nu": 0.2, "t1": 0.1, "t2": 0.2, **options})
    assert shares_clock(law, 2) is shared
    assert (common_waits(law, 2) is not None) is shared
    run = dwell.simulate(
        dwell.Box((0, 0), (4, 3)), None, [(1, 1), (2, 1)], law, until=5.0, seed=3,
        sample_every="off",
    )  # fmt: skip
    a, b = (run.events.time[run.events.agent == p].tolist() for p in (0, 1))
    assert (a == b) is shared


def test_velocities_that_are_given_obey_no_condition_until_the_first_look() -> None:
    """They may lead away from every centroid, and out of the workspace."""
    site, start = dwell.Box((0, 0), (1, 1)), [(0.25, 0.5), (0.75, 0.5)]
    law = dwell.Timer(k1=0.5, nu=0.5, t1=0.9, t2=0.9, initial_hold=((-0.5, 0), (0.5, 0)))
    sync, local = setting_of(CoverageSystem(site, dwell.Uniform(), law, 2), 0.3, 1.0).sharper
    assert sync.fulfilled
    assert sync.applies
    assert (sync.since, local.since) == ("first look", "first look")
    assert sync.as_json()["met_without_overshoot"] is None
    own = setting_of(
        CoverageSystem(site, dwell.Uniform(), replace(law, initial_hold=None), 2), 0.3, 1.0
    ).sharper[0]
    assert own.since == "start"
    assert own.as_json()["met_without_overshoot"] is True
    run = dwell.simulate(site, None, start, law, until=3.6)
    assert run.cost(0.9) > run.cost(0.0)
    assert run.positions(0.9)[0, 0] < 0.0
    assert (np.diff(np.asarray(run.cost(np.array([0.9, 1.8, 2.7, 3.6])))) <= 0.0).all()
    assert dwell.check(run).ok  # no law guarantees that such agents stay inside


def test_only_the_timer_law_has_a_setting() -> None:
    system = CoverageSystem(dwell.Box((0, 0), (1, 1)), dwell.Uniform(), dwell.Lloyd(), 2)
    with pytest.raises(InputError, match="about the timer law, not Lloyd"):
        setting_of(system, 0.1, 1.0)
    system = replace(system, controller=dwell.Timer(k1=1.0, nu=0.1, t1=0.1, t2=0.2))
    with pytest.raises(InputError, match="one number from 0 on, or 2 of them"):
        setting_of(system, 0.1, [1.0, 2.0, 3.0])


# What runs say.


@pytest.mark.parametrize("share", [0.5, 0.95, 1.9])
def test_with_a_shared_clock_the_cost_never_rises(share: float) -> None:
    site = dwell.Box((0, 0), (4, 3))
    law = dwell.Timer(k1=0.5, nu=0.3, t1=share * 0.6 - 1e-9, t2=share * 0.6 - 1e-9, reset="latest")
    s = setting_of(CoverageSystem(site, dwell.Uniform(), law, 6), 0.2, 1.0)
    sync = s.sharper[0]
    assert sync.fulfilled
    assert sync.applies
    assert sync.as_json()["met_without_overshoot"] is (share < 1.0)
    start = [(0.5, 0.5), (0.7, 0.6), (1.0, 0.4), (0.6, 1.1), (2.9, 2.8), (1.2, 1.0)]
    run = dwell.simulate(site, None, start, law, until=120 * share, seed=1, sample_every="off")
    costs = np.asarray(run.cost(np.unique(run.events.time)))
    assert (np.diff(costs) <= 1e-12 * costs[:-1]).all()
    assert costs[-1] < 0.5 * costs[0]


def test_hold_errors_obey_the_lemma_with_the_measured_constants() -> None:
    scenario = template("paper-12", run={"horizon": 20.0})
    run = dwell.run_scenario(scenario)
    seen = lipschitz_along(run.system, run.start, run.events, run.metrics, run.horizon)
    law = run.system.controller
    spreads = seen.values * math.sqrt(12) + 1.0
    limits = np.minimum(2.0 * law.k1, 0.65 * law.k1**2 * spreads / law.reach)
    held = run.metrics.hold_errors.max(axis=0)
    assert (held <= limits).all()
    by_rates = 0.65 * law.k1**2 * seen.rates / law.reach
    assert (held <= by_rates).all()


# From a scenario.


def test_the_paper_designs() -> None:
    thirty = unrun(template("paper-30"))
    assert thirty.feasible
    assert thirty.advice == ()
    assert thirty.verdict == VOID  # at the crowded start constants are larger than assumed
    assert "agent 12 is 57.0391 at the start, above the assumed 5" in thirty.reasons[0]
    assert thirty.advice_measured[0].key == "lipschitz"
    assert thirty.as_json()["advice_measured"][2]["key"] == "t2"
    margins = thirty.as_json()["margins"]["measured_lipschitz"]
    assert margins[12] == pytest.approx(5.0 / 57.0391, rel=1e-5)
    easy = unrun(template("paper-30"), lipschitz=[58.0] * 30)
    assert not easy.feasible
    assert easy.advice_measured == ()
    twelve = dwell.design(template("paper-12"), samples=3)
    assert not twelve.feasible
    first, second, third = twelve.reasons
    assert "exceeds the maximum dwell time 0.0327502, 19.8-fold" in first
    assert "No k1 is admissible" in second
    assert "above the assumed 5" in third
    assert twelve.lipschitz.end.value == pytest.approx(0.689, abs=1e-3)


def test_a_sound_design() -> None:
    found = dwell.design(small(), samples=5, separation=1.0)
    assert found.verdict == VALID
    assert found.reasons == ()
    assert found.feasible
    assert found.rate_limits is not None
    assert (found.neighbor_limits >= found.setting.max_dwell_times).all()
    value = json.loads(json.dumps(found.as_json(), allow_nan=False))
    promised = {
        "max_dwell_time", "max_gain", "sync_global", "async_local", "feasible", "margins",
        "assumed_lipschitz", "measured_lipschitz", "advice",
    }  # fmt: skip
    assert promised <= set(value)
    assert isinstance(value["max_dwell_time"], float)
    assert value["measured_lipschitz"]["sampled"]["configurations"] == 5
    assert value["measured_lipschitz"]["bound"]["separation"] == 1.0
    assert value["margins"]["dwell_time"] == value["max_dwell_time"] / 0.02


def test_agents_that_differ_get_lists() -> None:
    t2 = [0.02, 0.03, 0.02, 0.02, 0.02]
    value = unrun(small(controller={"t2": t2})).as_json()
    assert isinstance(value["max_dwell_time"], float)
    assert value["t2"] == t2
    assert len(value["max_gain"]) == len(value["margins"]["gain"]) == 5
    constants_ = [5.0, 6.0, 5.0, 5.0, 5.0]
    value = unrun(small(), lipschitz=constants_).as_json()
    assert value["assumed_lipschitz"] == constants_
    assert len(value["max_dwell_time"]) == 5


def test_without_a_certificate_constants_are_measured() -> None:
    found = dwell.design(small(certificate=None), samples=0)
    assert found.setting.tied
    assert found.setting.theta == pytest.approx(THETA)
    assert (found.setting.lipschitz == found.lipschitz.values).all()
    text = " ".join(found.notes)
    assert "has no certificate" in text
    assert "--set certificate.eta_max=" in text
    assert "No eta_max is given" in text
    half = dwell.design(small(certificate=None), samples=0, eta_max=0.5, lipschitz=2.0)
    assert (half.setting.eta_max, half.setting.tied) == (0.5, False)
    assert not any("certificate" in note for note in half.notes)
    assert unrun(small(), eta_max=0.2).setting.eta_max == 0.2


def test_eta_max_of_adaptive_timers_and_above_k1() -> None:
    law = {"reset": "adaptive", "eta_max": 0.3}
    found = unrun(small(certificate=None, controller=law))
    assert (found.setting.eta_max, found.setting.tied) == (0.3, False)
    high = unrun(small(certificate={"eta_max": 1.5}))
    assert not high.feasible
    assert "needs eta_max < k1, but eta_max = 1.5 and k1 = 1" in high.reasons[0]
    assert high.as_json()["theta"]["max_gain"] is None
    with pytest.raises(InputError, match="no k1 to agree on") as no:
        unrun(small(certificate={"eta_max": 1.5}), agree="flooding")
    assert no.value.key == "certificate.eta_max"


def weightless(points: np.ndarray) -> np.ndarray:
    """Nothing in the right half."""
    return np.maximum(2.0 - points[:, 0], 0.0) ** 4


def test_weightless_cells_are_named() -> None:
    density = {"kind": "callable", "function": f"{__name__}:weightless"}
    start = {"start": [[0.5, 1], [0.7, 3], [3.9, 2], [3.0, 2], [1.5, 2]]}
    found = unrun(small(density=density, agents=start))
    assert found.lipschitz.start is None
    assert any("cell of agent 2 weighs nothing" in note for note in found.notes)
    assert found.lipschitz.bound.value is None
    with pytest.raises(InputError, match="no Lipschitz constant could be measured") as caught:
        unrun(small(density=density, agents=start, certificate=None))
    assert caught.value.key == "certificate"


def test_nearly_coincident_agents_are_named() -> None:
    start = {"start": [[1, 1], [3, 1], [2, 2], [2, 2.0 + 1e-13], [3, 3.2]]}
    found = unrun(small(agents=start))
    assert "agents 2 and 3 are only" in found.lipschitz.start.says
    assert found.verdict == VOID
    twins = {"start": [[1, 1], [3, 1], [2, 2], [2, 2], [3, 3.2]]}
    with pytest.raises(InputError, match="agents 2, 3 at"):
        dwell.design(small(agents=twins))


def test_without_a_separation_nothing_is_sampled() -> None:
    found = dwell.design(small(), separation=0.0, run=False)
    assert found.lipschitz.sampled is None
    assert found.lipschitz.bound.value == math.inf
    assert any("without a separation" in note for note in found.notes)


def test_what_the_conditions_do_not_cover_is_noted() -> None:
    hold = {"initial_hold": [[0.0, 0.0]] * 5}
    grid = {"integration": {"kind": "grid", "spacing": 0.1}}
    found = unrun(small(network={"loss": 0.1}, controller=hold, run=grid))
    assert any("lost or late" in reason for reason in found.reasons)
    text = " ".join(found.notes)
    for words in ("initial_hold", "on a grid of points", "was not run"):
        assert words in text
    assert found.lipschitz.start is not None
    alone = dwell.design(small(agents={"start": [[1, 1]]}), samples=0)
    assert alone.reasons == ("The theorem assumes at least two agents.",)
    assert alone.verdict == SILENT
    assert alone.lipschitz.values.tolist() == [0.0]


def test_slow_scenarios_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    place = small(run={"horizon": 1e6, "record": {"sample_every": 1.0}})
    found = dwell.design(place, samples=0)
    assert found.lipschitz.run is None
    assert any("may take" in note for note in found.notes)
    with pytest.raises(InputError, match="the scenario was not run"):
        dwell.design(place, samples=0, agree="gossip", graph="run")
    monkeypatch.setattr(constants, "PATIENCE", 0.0)
    assert dwell.design(small(), samples=0).lipschitz.run is None
    assert dwell.design(small(), samples=0, run=True).lipschitz.run is not None


@pytest.mark.parametrize(("wait", "start", "meet"), [(2.0, (1.01, 3.02), 1.005), (1.0, (1, 3), 1)])
def test_agents_that_meet_between_samples_or_at_one_have_no_constant(wait, start, meet) -> None:
    hold = {"t1": wait, "t2": wait, "initial_hold": [[1, 0], [-1, 0]]}
    places = {"start": [[x, 2] for x in start]}
    meeting = small(agents=places, controller=hold, run={"horizon": 3.0})
    found = dwell.design(meeting, samples=5, agree="flooding", graph="run")
    assert (found.lipschitz.run.value, found.lipschitz.bound.value) == (math.inf, math.inf)
    assert found.lipschitz.run.time == pytest.approx(meet)
    assert found.as_json()["measured_lipschitz"]["run"]["value"] is None
    assert found.lipschitz.sampled is None
    assert any(f"infinite at t = {meet}, above" in reason for reason in found.reasons)
    early = any("ended early" in note and "coincident" in note for note in found.notes)
    assert early == (meet == 1)


# Agreement in a design.


@pytest.mark.parametrize("graph", ["start", "run"])
@pytest.mark.parametrize("method", ["flooding", "gossip", "equalizing"])
def test_agents_agree_on_a_gain_that_all_may_use(method: str, graph: str) -> None:
    place = template("two-hills", run={"horizon": 5.0})
    found = dwell.design(place, samples=0, agree=method, graph=graph)
    assert len(set(found.caps.tolist())) > 1
    k1 = found.agreement.value
    assert k1 <= found.caps.min()
    assert found.setting.with_gain(k1 * (1.0 - 1e-12)).feasible
    value = found.as_json()["agreement"]
    assert value["k1"] == k1
    assert value["eta_max"] == pytest.approx(THETA * k1)
    assert (value["messages_on_change"] is not None) is (method == "flooding")


def test_agents_agree_on_a_gain_that_fits_the_verdict() -> None:
    """Where measured constants exceed the assumed ones, they agree by the measured ones."""
    tight = small(certificate={"lipschitz": 0.05})
    found = unrun(tight, agree="flooding")
    assert found.verdict == VOID
    assert "above the assumed" in found.reasons[-1]
    assert any("measured on the way" in note for note in found.notes)
    k1 = found.agreement.value
    held = replace(found.setting.with_gain(k1), lipschitz=found.lipschitz.values)
    theta = found.setting.theta
    assert replace(held, eta_max=theta * k1 * (1 + 1e-12)).feasible
    loose = unrun(small(certificate={"lipschitz": 50.0}), agree="flooding")
    assert not any("agreed on" in note for note in loose.notes)


def test_graphs_along_a_run_are_those_of_its_configurations() -> None:
    place = template("two-hills", run={"horizon": 5.0})
    system, start, _ = build(place)
    run = dwell.run_scenario(place)
    graphs = voronoi_graphs(system, start, run)
    assert len(graphs) == 50
    assert graphs[0] == voronoi_graphs(system, start, None)[0]
    assert graphs[-1] == dwell.tessellate(system.workspace, run.positions(5.0)).neighbors
