"""The check of live runs: honest records pass, and each forged one fails where it must."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import dwell
from dwell._types import lengths
from dwell.fleet.virtual import VirtualFleet
from dwell.hybrid import Stop, StopReason
from dwell.live.agent import LiveAgent
from dwell.live.faults import Faults, Partition
from dwell.live.record import FENCE, SPEED, STAND
from dwell.live.settings import LiveSettings, live_law
from dwell.live.table import segments_of
from dwell.results.live_run import live_run
from dwell.runner import made_with
from dwell.scenario.build import build
from dwell.scenario.fleet import live_settings
from dwell.verify.live_apart import _known_to
from tests.fleet.fleets import (
    EXACT,
    START,
    copied,
    record_of,
    recorded,
    run_from,
    scenario,
    template,
)

LIVE = {
    "jump", "heard", "reset", "interval", "late", "flow", "belief", "centroid-bound", "complete",
    "safety", "digest", "finite", "agents", "time-domain", "speed", "workspace", "samples",
}  # fmt: skip
SETTINGS = LiveSettings(margin=0.05, silence=5.0)
TIMER = {"kind": "timer", "k1": 0.4, "nu": 0.3, "t1": 0.2, "t2": 0.6}
STORM = Faults(
    loss=0.5, delay=(0.0, 0.2), repeat=0.2, seed=5, partitions=(Partition(1.0, 2.0, (0, 1)),)
)


@cache
def faulty():
    """A record over a network with all kinds of faults."""
    return record_of(scenario(), SETTINGS, faults=STORM)


@cache
def perfect():
    """A record with perfect delivery."""
    return record_of(scenario(), SETTINGS)


def report_of(live, case=None):
    return dwell.check(run_from(case or scenario(), live), progress=False)


def violated(live, case=None):
    return {f.name for f in report_of(live, case).findings if f.status == "violated"}


def finding(live, name, case=None):
    return next(f for f in report_of(live, case).findings if f.name == name)


# Honest records.


@pytest.mark.parametrize("delivered", [perfect, faulty])
def test_honest_records_pass(delivered, tmp_path):
    run = run_from(scenario(), delivered())
    run.save(tmp_path / "run.nc")
    report = dwell.check(tmp_path / "run.nc", progress=False)
    assert report.ok
    assert {f.name for f in report.findings} >= LIVE


def test_beliefs_younger_than_t1_are_exact_whatever_is_lost():
    live = faulty()
    says = finding(live, "belief").says
    young = np.count_nonzero((live.beliefs["age"] <= 0.2) & (live.beliefs["k"] > 0))
    assert 0 < young < len(live.beliefs)
    assert f"{young} of {young} younger than T1 are exact" in says


@pytest.mark.parametrize(
    "law",
    [
        {**TIMER, "reset": "dropout", "loss": 0.4},
        {**TIMER, "reset": "periodic"},
        {**TIMER, "reset": "adaptive", "eta_max": 0.2},
        {"kind": "lloyd", "dt": 0.2, "speed": 0.3},
        {"kind": "discrete-lloyd", "step": 0.2, "schedule": "poisson", "rate": 2.0},
    ],
)  # fmt: skip
def test_other_laws_pass(law):
    case = scenario(controller=law)
    assert violated(record_of(case, replace(EXACT, silence=9.0), faults=STORM), case) == set()


@pytest.mark.parametrize("stay", [False, True])
def test_a_region_that_is_not_convex_passes(stay):
    outer = [[0, 0], [4, 0], [4, 3], [2, 2.5], [0, 3]]
    case = scenario(workspace={"kind": "region", "parts": [{"outer": outer}], "stay": stay})
    live = record_of(case)
    assert violated(live, case) == set()
    assert finding(live, "centroid-bound", case).status == "not applicable"


def test_copies_keep_beliefs_fresh_where_messages_are_lost():
    lossy = Faults(loss=0.5, delay=(0.0, 0.2), repeat=0.2, seed=7)
    ages = []
    for copies in (1, 6):
        settings = replace(SETTINGS, copies=copies)
        live = record_of(scenario(), settings, faults=lossy)
        assert violated(live, scenario()) == set()
        ages.append(np.quantile(live.beliefs["age"], [0.5, 0.95]))
    assert (ages[1] < 0.7 * ages[0]).all()
    once, again = (record_of(scenario(), replace(EXACT, copies=k)) for k in (1, 6))
    assert once.samples.tobytes() == again.samples.tobytes()


def test_samples_that_are_late_are_within_t2_by_the_margin():
    draws = iter(np.random.default_rng(1).uniform(0.0, 0.05, 10_000))
    live = record_of(scenario(), SETTINGS, late=lambda: float(next(draws)))
    assert violated(live) == set()
    late = finding(live, "late")
    assert (late.status, 0.04 < late.worst <= 0.05) == ("holds", True)
    assert finding(live, "interval").status == "holds"


@pytest.mark.parametrize(
    "law",
    [
        {"kind": "lloyd", "dt": 0.05},
        {"kind": "discrete-lloyd", "step": 0.3},
        {"kind": "timer", "k1": 0.4, "nu": 0.3, "t1": 0.1, "t2": 0.3, "reset": "periodic"},
    ],
    ids=["lloyd", "discrete-lloyd", "periodic timer"],
)
def test_a_law_with_one_period_catches_up_after_a_pause_of_several(law):
    pauses = (1.0 if k % 20 == 13 else 0.0 for k in range(10**6))
    case = scenario(controller=law, horizon=8.0)
    live = record_of(case, replace(SETTINGS, silence=9.0), late=lambda: next(pauses))
    assert (live.samples["time"] - live.samples["due"]).max() == pytest.approx(1.0)
    assert violated(live, case) == set()
    own = live.samples[live.samples["agent"] == 0]
    behind = np.searchsorted(own["time"], own["time"] + 1.0) - np.arange(len(own))
    assert behind.max() >= 1.5 * np.median(behind)  # samples come faster until it has caught up


def test_samples_that_are_too_late_are_counted_and_void_the_theorem():
    case = scenario(certificate={"eta_max": 0.2, "lipschitz": 3.0})
    live = record_of(case, SETTINGS, late=lambda: 0.3)
    report = report_of(live, case)
    found = next(f for f in report.findings if f.name == "interval")
    count = int(np.count_nonzero(live.gaps > 0.6))
    assert count > 0
    assert found.status == "degraded"
    assert "degraded: late, interval" in report.says
    assert f"{count} of {len(live.samples)} are longer than T2" in found.says
    assert report.ok
    assert {f.status for f in report.certificate} == {"not applicable"}


def test_robots_of_silent_agents_are_kept_away_from():
    # Agent 5 begins at the peak of the density, and is never heard of again.
    case = scenario(horizon=30.0, agents={"start": [*START[:5], [2.5, 2.0]]})
    settings = replace(SETTINGS, silence=1.0, clearance=0.3, quorum=3)
    cut = Faults(partitions=(Partition(0.0, 1e9, (5,)),))

    def closest(live):
        others = live.samples[live.samples["agent"] < 5]
        return lengths(others["position"] - [2.5, 2.0]).min()

    live = record_of(case, settings, faults=cut)
    about = live.beliefs[live.beliefs["age"] > 1.0]
    assert 5 in about["agent"]
    assert violated(live, case) == set()
    free = record_of(case, replace(settings, clearance=0.0), faults=cut)
    touching = 0.6 * (1.0 - 1e-15)  # up to the rounding of positions, where a robot stops at 0.6
    assert closest(free) < touching <= closest(live)


def test_the_theorem_covers_perfect_delivery_alone():
    case = scenario(certificate={"eta_max": 0.2, "lipschitz": 3.0})
    statuses = [f.status for f in report_of(record_of(case), case).certificate]
    assert "holds" in statuses
    unsure = report_of(record_of(case, SETTINGS, faults=STORM), case).certificate
    assert {f.status for f in unsure} == {"not applicable"}
    assert "off the true ones" in unsure[0].where


@cache
def restarted():
    """A record in which an agent is started again in the middle."""
    system, start, _ = build(scenario())
    law, made = live_law(system, SETTINGS), []
    fleet = VirtualFleet(law, start, watch=made.append)
    fleet.run(2.0)
    place = fleet.beliefs[3].segments().take([3]).at(2.0)[0]
    fleet.agents[3] = LiveAgent(law, 3, 1, place)
    fleet.beliefs[3].put(fleet.agents[3].standing(2.0))
    fleet.run(4.0)
    return recorded(made, SETTINGS)


def test_agents_that_are_started_again_pass():
    live = restarted()
    assert set(live.samples["boot"][live.samples["agent"] == 3]) == {0, 1}
    assert violated(live) == set()
    assert run_from(scenario(), live).summary()["live"]["boots"] == 7


def test_a_returning_agent_stands_on_its_last_segment():
    live = copied(restarted())
    first = np.flatnonzero((live.samples["boot"] == 1) & (live.samples["k"] == 1))[0]
    live.samples["position"][first] += 1e-6
    assert "flow" in violated(live)


# Forged ones.


def ulp(values):
    return np.nextafter(values, np.inf)


def test_a_velocity_off_by_one_ulp():
    live = copied(perfect())
    row = live.samples[-1:]
    row["commanded"] = row["hold"] = ulp(row["commanded"])
    row["hold_error"] = lengths(row["before"] - row["hold"])
    assert violated(live) == {"jump"}


def moving(live):
    """A belief of an agent that has sampled and moves."""
    fast = lengths(live.beliefs["velocity"]) > 0.1
    return np.flatnonzero(fast & (live.beliefs["k"] > 1))[5]


def test_a_belief_that_was_never_announced():
    live = copied(faulty())
    live.beliefs["k"][moving(live)] += 1000
    assert violated(live) == {"heard"}


def test_a_belief_from_the_future():
    live = copied(faulty())
    live.beliefs["k"][moving(live)] += 5
    found = finding(live, "heard")
    assert (found.status, found.worst) == ("violated", np.inf)
    assert violated(live) == {"heard"}


def test_a_belief_of_another_boot():
    live = copied(faulty())
    live.beliefs["boot"][moving(live)] = 1
    assert violated(live) == {"heard"}


def without(live, dropped, **changes):
    """A record without some of its samples."""
    keep = ~dropped
    return replace(
        live, samples=live.samples[keep], counts=live.counts[keep], shifts=live.shifts[keep],
        beliefs=live.beliefs[keep[live.owner]], **changes,
    )  # fmt: skip


def test_a_killed_process_does_not_excuse_beliefs_long_after():
    live, agent = faulty(), 2
    own = (live.samples["agent"] == agent) & (live.samples["k"] > 3)
    assert "heard" in violated(without(live, own, cut=((agent, 0),)))


@pytest.mark.parametrize("lost", [0, 2])
def test_the_last_records_of_a_process_that_was_killed_may_be_missing(lost):
    live, agent = faulty(), 2
    heard = live.beliefs["k"][live.beliefs["agent"] == agent].max()
    cut = without(live, (live.samples["agent"] == agent) & (live.samples["k"] >= heard - lost))
    assert "heard" in violated(cut)
    cut = replace(cut, cut=((agent, 0),))
    assert violated(cut) <= {"complete"}
    assert "whose record was lost" in finding(cut, "heard").says


def test_the_age_of_a_message_whose_velocity_has_ended():
    """It changes no position, but decides whether the agent counts."""
    cut = Faults(partitions=(Partition(1.0, 4.0, (2,)),))
    live = copied(record_of(scenario(), SETTINGS, faults=cut))
    assert violated(live) == set()
    old = (live.beliefs["agent"] == 2) & (live.beliefs["age"] > 1.5)
    assert old.any()
    live.beliefs["age"][old] = 1.4
    assert violated(live) == {"heard"}


def test_more_agents_than_can_have_been_known():
    """They would hide that an agent had to stand for want of a quorum."""
    short = replace(SETTINGS, silence=1.0)
    system, start, _ = build(scenario())
    made = []
    fleet = VirtualFleet(live_law(system, short), start, watch=made.append)
    fleet.run(2.0)
    fleet._due[2] = np.inf  # it dies
    fleet.run(4.0)
    live = copied(recorded(made, short))
    assert violated(live) == set()
    assert live.samples["known"][-1] == 5
    for known in (6, 60_000):
        live.samples["known"][-1] = known
        assert violated(live) == {"safety"}


def test_settings_that_are_not_those_of_the_scenario():
    case = scenario(fleet={"margin": 0.05, "silence": 5.0, "clearance": 0.3, "quorum": 6})
    _, start, _ = build(case)
    stop = Stop(StopReason.HORIZON, case.run.horizon)
    run = live_run(case, perfect(), start, stop, made_with(case))
    report = dwell.check(run, progress=False)
    found = next(f for f in report.findings if f.name == "settings")
    assert (found.status, found.where) == ("violated", "clearance, quorum")
    assert not report.ok


def test_clocks_that_could_not_be_compared_make_beliefs_not_applicable():
    live = copied(faulty(), uncertainty=np.inf)
    assert finding(live, "belief").status == "not applicable"
    assert finding(live, "heard").status == "holds"


def test_an_age_off_by_a_microsecond():
    live = copied(faulty())
    live.beliefs["age"][moving(live)] += 1e-6
    assert violated(live) == {"heard"}


def test_a_belief_that_is_not_where_the_agent_was():
    live = copied(perfect())
    young = (live.beliefs["age"] < 0.05) & (live.beliefs["k"] > 0)
    k = np.flatnonzero(young & (lengths(live.beliefs["velocity"]) > 0.1))[3]
    one = live.beliefs[k : k + 1]
    rows = live.samples
    said = rows[(rows["agent"] == one["agent"]) & (rows["k"] == one["k"])]
    one["age"] += 0.1
    one["position"] = segments_of(said, np.inf).at(said["time"] + one["age"])
    found = violated(live)
    assert {"belief", "heard"} <= found


@pytest.mark.parametrize("k", [40, -1])
def test_a_next_sample_that_is_not_the_draw(k):
    live = copied(faulty())
    live.samples["next_at"][k] = ulp(live.samples["next_at"][k])
    assert violated(live) == {"reset"}


@pytest.mark.parametrize("column", ["time", "next_at"])
def test_an_event_table_with_other_times_than_its_samples(column):
    run = run_from(scenario(), faulty())
    getattr(run.events, column)[-1] += 1e-9
    found = dwell.check(run, progress=False)
    assert "reset" in {f.name for f in found.findings if f.status == "violated"}


def test_a_missing_sample():
    live = faulty()
    heard = set(zip(live.beliefs["agent"].tolist(), live.beliefs["k"].tolist(), strict=True))
    rows = zip(live.samples["agent"].tolist(), live.samples["k"].tolist(), strict=True)
    unheard = [k for k, row in enumerate(rows) if row not in heard and row[1] == 4]
    assert violated(without(live, np.arange(len(live.samples)) == unheard[0])) == {"complete"}


def test_a_moved_place():
    live = copied(perfect())
    live.samples["position"][-1] += 1e-12  # nobody heard of it
    found = violated(live)
    assert "flow" in found
    assert found <= {"flow", "jump", "centroid", "seen"}  # of which it is the input


@cache
def slowed():
    """A record of robots that are slower than the law."""
    return record_of(scenario(), replace(SETTINGS, top_speed=0.25), faults=STORM)


def test_an_intervention_that_is_not_flagged():
    live = copied(slowed())
    flagged = np.flatnonzero(live.samples["flags"] & SPEED)
    assert violated(live) == set()
    live.samples["flags"][flagged[3]] &= ~np.uint32(SPEED)
    assert violated(live) == {"safety"}


def test_an_intervention_that_was_none():
    live = copied(faulty())
    live.samples["flags"][20] |= STAND
    assert violated(live) == {"safety"}


def test_a_sample_before_it_is_due():
    live = copied(perfect())
    live.samples["time"][-1] -= 1e-6
    assert "late" in violated(live)


def test_a_neighbour_that_is_left_out():
    live = faulty()
    k = int(np.argmax(np.where(live.samples["k"] > 1, live.counts, 0)))
    first = int(live.counts[:k].sum())
    counts = live.counts.copy()
    counts[k] -= 1
    forged = replace(live, counts=counts, beliefs=np.delete(live.beliefs, first))
    assert {"jump", "centroid"} & violated(forged)


def test_an_agent_that_claims_to_know_others_and_takes_none_into_account():
    system, start, _ = build(scenario())
    made = []
    fleet = VirtualFleet(live_law(system, SETTINGS), start, watch=made.append)
    fleet.run(3.3)
    agent, beliefs, now = fleet.agents[5], fleet.beliefs[5], float(fleet.agents[5].due)
    beliefs.boot[:5] = -1
    place = beliefs.segments().take([5]).at(now)[0]
    made.append(agent.sample(now, place, now, beliefs))
    row = made[-1].sample
    row["known"], row["flags"], row["hold"] = 6, 0, row["commanded"]
    row["hold_error"] = lengths(row["before"] - row["hold"])
    made.sort(key=lambda one: float(one.sample["time"]))
    assert violated(recorded(made, SETTINGS)) == {"seen"}


@cache
def stopped(*, moves_on):
    """A record of agents that the emergency stop reaches one after another."""
    system, start, _ = build(scenario(horizon=2.0))
    made = []
    fleet = VirtualFleet(live_law(system, SETTINGS), start, watch=made.append)
    fleet.run(1.0)
    for p, agent in enumerate(fleet.agents):
        now, agent.stopped = 1.0 + 1e-3 * p, True
        place = fleet.beliefs[p].segments().take([p]).at(now)[0]
        fleet._record(p, agent.sample(now, place, now, fleet.beliefs[p]))
    fleet.agents[3].stopped = not moves_on
    fleet.run(2.0)
    return recorded(made, SETTINGS)


def test_the_emergency_stop_may_reach_agents_one_after_another():
    live = stopped(moves_on=False)
    later = live.samples[live.samples["time"] > 1.1]
    assert not later["hold"].any()
    assert violated(live, scenario(horizon=2.0)) == set()


def test_an_agent_that_moves_on_after_the_emergency_stop():
    live = stopped(moves_on=True)
    assert live.samples["hold"][(live.samples["agent"] == 3)][-1].any()
    assert violated(live, scenario(horizon=2.0)) == {"safety"}


def test_the_geofence_is_that_of_the_present_workspace():
    case = template(
        "switching-site", "run.horizon=34", "controller.t1=0.2", "controller.t2=0.4",
        "agents.start=[[4.5, 3.0], [1.2, 0.7], [0.6, 1.4], [1.5, 1.6], [2.2, 0.5], [0.7, 2.3]]",
    )  # fmt: skip
    live = record_of(case, LiveSettings())
    assert live.samples["position"][:, 0].max() > 5.05  # the first site ends at 5
    assert not (live.samples["flags"] & FENCE).any()
    assert violated(live, case) == set()


def test_how_wrong_samples_may_have_been_is_reported():
    one, other = (finding(live, "centroid-bound") for live in (perfect(), faulty()))
    assert "off by at most 0" in one.says
    assert other.worst > one.worst > 0.0


def test_beliefs_name_the_sender_first_and_say_where_its_record_begins():
    live = copied(perfect())
    own = np.flatnonzero(live.samples["agent"] == 2)
    rows = np.setdiff1d(np.arange(len(live.samples)), own[:4])  # as after a folder was lost
    ends = np.cumsum(live.counts)
    kept = np.concatenate([np.arange(ends[k] - live.counts[k], ends[k]) for k in rows])
    lost = replace(
        live, samples=live.samples[rows], counts=live.counts[rows], beliefs=live.beliefs[kept],
        shifts=live.shifts[rows],
    )  # fmt: skip
    found = finding(lost, "heard")
    assert found.status == "violated"
    assert found.where.startswith("agent 2, boot 0, sample ")
    assert ", as believed by agent " in found.where
    assert "agent 2 has no record before t = " in found.where
    assert "been replaced?" in found.where


@pytest.mark.parametrize("setting", ["clearance", "quorum", "silence", "top_speed"])
def test_each_setting_of_a_fleet_must_be_that_of_its_scenario(setting):
    """The scenario says nothing of it, or the fleet ran without it."""
    value = {"clearance": 0.01, "quorum": 4, "silence": 7.0, "top_speed": 9.0}[setting]
    plain, told = scenario(), scenario(fleet={setting: value})
    _, start, _ = build(plain)
    stop = Stop(StopReason.HORIZON, plain.run.horizon)
    live = perfect()
    settings = {**LiveSettings(**live_settings(plain)).table(), "margin": 0.0}
    for case, changes in ((plain, {}), (plain, {setting: value}), (told, {})):
        ran = copied(live, settings=settings | changes)
        run = live_run(case, ran, start, stop, made_with(case))
        found = {f.name: f for f in dwell.check(run, progress=False).findings}["settings"]
        right = case is plain and not changes
        assert found.status == ("holds" if right else "violated"), (found, changes)
        assert found.where == ("" if right else setting)


def test_the_first_sample_after_a_restart_follows_none():
    """Agent 1 begins anew with boot 1; the others go on."""
    live = copied(perfect())
    own = np.flatnonzero(live.samples["agent"] == 1)
    own = own[np.argsort(live.samples["k"][own])]
    later = own[len(own) // 2 :]
    live.samples["boot"][later] = 1
    live.samples["k"][later] = 1 + np.arange(len(later))
    assert live.previous[own[0]] == live.previous[later[0]] == -1
    assert live.previous[later[1:]].tolist() == later[:-1].tolist()
    assert np.isnan(live.gaps[later[0]])
    assert not live.skipped.any()


@pytest.mark.parametrize("pair", [(0, 1), (4, 2)])
def test_what_two_clocks_leave_open_counts_for_both_robots(pair):
    live = replace(copied(perfect()), uncertainty=0.1)
    check = SimpleNamespace(live=live)
    speeds = [lengths(live.samples["hold"][live.samples["agent"] == p]).max() for p in pair]
    assert min(speeds) > 0.0
    known = _known_to(check, SimpleNamespace(agents=pair))
    assert known == pytest.approx(0.1 * sum(speeds), rel=1e-12)
    live.samples["hold"][live.samples["agent"] == pair[0]] = 0.0
    known = _known_to(check, SimpleNamespace(agents=pair))
    assert known == pytest.approx(0.1 * speeds[1], rel=1e-12)
