"""Journals of several machines merged: damage, clocks that are not connected, forged ages."""

import numpy as np
import pytest

import dwell
from dwell.errors import StoreError
from dwell.fleet.journal import JournalWriter, read_fleet_journal
from dwell.fleet.run import merge_journals
from dwell.fleet.virtual import VirtualFleet
from dwell.live.faults import Faults
from dwell.live.settings import LiveSettings, live_law
from dwell.scenario.build import build
from tests.cli.shell import dwell as command
from tests.fleet.fleets import START, copied, recorded, scenario
from tests.fleet.messages import plan_in

SETTINGS = LiveSettings(margin=0.05, silence=5.0)
TIMES = ("time", "due", "next_at", "measured", "sent_at")


def case_of(agents):
    return scenario(agents={"start": START[:agents]})


def on_own_clocks(seed, agents=6):
    """A record of agents whose clocks differ by seconds; some messages are slow."""
    case, made = case_of(agents), []
    system, start, _ = build(case)
    faults = Faults(delay=(0.001, 0.2), tail=0.7, seed=seed)
    fleet = VirtualFleet(live_law(system, SETTINGS), start, faults, made.append)
    for beliefs in fleet.beliefs:
        beliefs.shared = False
    fleet.run(0.9 * case.run.horizon)
    live = recorded(made, SETTINGS)
    for name in TIMES:
        live.samples[name] += 10.0 * live.samples["agent"]
    return live


@pytest.fixture(scope="module")
def apart():
    return on_own_clocks(2)


def written(folder, live, boots=1, tables=None, measured=()):
    """Journals of a record, each agent on a machine of its own; repeated by later boots.

    tables : other scenarios than the usual one, by agent.
    measured : agents whose positions are measured.
    """
    folder.mkdir(exist_ok=True)
    ends = np.cumsum(live.counts)
    agents = int(live.samples["agent"].max()) + 1
    for p in range(agents):
        for boot in range(boots):
            header = {
                "run": "r", "host": f"agent-{p:04d}", "agents": [p], "boot": boot, "dimension": 2,
                "scenario": (tables or {}).get(p, case_of(agents)).model_dump(mode="json"),
                "settings": live.settings,
                "exact": p not in measured, "shared_clock": False, "machine": f"{p}.{boot}",
            }  # fmt: skip
            journal = JournalWriter(folder / f"agent-{p:04d}-{boot:04d}.journal", header)
            journal.note(started=5.0, pid=1)
            for k in np.flatnonzero(live.samples["agent"] == p):
                row = live.samples[k].copy()
                held = live.beliefs[ends[k] - live.counts[k] : ends[k]].copy()
                row["boot"] = held["boot"] = boot
                journal.sample(row, held)
            journal.note(end=4.0)
            journal.close()


def accused(live, folder):
    """Which findings about messages are violated once the clocks have been compared."""
    written(folder, live)
    report = dwell.check(merge_journals(folder), progress=False)
    found = {f.name: f.status for f in report.findings}
    return {name for name in ("heard", "belief") if found[name] == "violated"}


@pytest.mark.parametrize("seed", range(6))
def test_no_honest_message_is_accused_however_slow_the_first_ones_are(seed, tmp_path):
    assert accused(on_own_clocks(seed), tmp_path) == set()


@pytest.mark.parametrize("agents", [2, 6])
def test_a_forged_age_is_found_on_separate_clocks(agents, tmp_path):
    apart = on_own_clocks(2, agents)
    moving = np.flatnonzero((apart.beliefs["k"] > 1) & (apart.beliefs["age"] < 0.2))
    old = np.flatnonzero((apart.beliefs["k"] > 1) & (apart.beliefs["age"] > 0.3))
    for one, by in ((moving[0], 0.3), (moving[-1], 0.3), (old[len(old) // 2], -0.3)):
        forged = copied(apart)
        belief = forged.beliefs[one]
        belief["age"] += by
        belief["position"] += by * belief["velocity"]  # as if it were so old
        assert accused(forged, tmp_path / str(one)), (one, by)


def test_a_damaged_journal_is_named_and_merged_with_partial_alone(apart, tmp_path):
    written(tmp_path, apart)
    assert len(merge_journals(tmp_path).details.live.samples) == len(apart.samples)
    path = tmp_path / "agent-0001-0000.journal"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    lost = read_fleet_journal(path).lost
    assert 0 < len(data) // 2 - (len(data) - lost) < 2000
    with pytest.raises(StoreError, match=rf"last {lost} bytes of agent-0001-0000.*--partial"):
        merge_journals(tmp_path)
    assert len(merge_journals(tmp_path, partial=True).details.live.samples) < len(apart.samples)


def test_clocks_that_are_not_connected_are_merged_with_partial_alone(apart, tmp_path):
    """As after a power cut of all machines: each clock begins at 0 again."""
    written(tmp_path / "log", apart, boots=2)
    words = ["merge", tmp_path / "log", "--out", tmp_path / "live.nc"]
    refused = command(*words)
    assert refused.code != 0
    assert "clocks cannot be compared" in refused.err
    assert "--partial" in refused.err
    assert command(*words, "--partial").code == 0
    assert np.isinf(dwell.load_run(tmp_path / "live.nc").details.live.uncertainty)


OTHERS = {
    "workspace.vertices": {"workspace": {"kind": "polygon", "vertices": [[0, 0], [8, 0], [8, 6]]}},
    "density.rate": {"density": {"kind": "gaussian", "center": [2.5, 2.0], "rate": 0.5}},
    "agents.start": {"agents": {"start": [*START[1:], [3.0, 0.3]]}},
    "controller.k1": {"controller": {"kind": "timer", "k1": 0.5, "nu": 0.3, "t1": 0.2, "t2": 0.6}},
    "run.horizon": {"horizon": 5.0},
    "fleet": {"fleet": {"clearance": 0.1}},
}


@pytest.mark.parametrize("key", OTHERS)
@pytest.mark.parametrize("agent", [0, 4])
def test_journals_of_another_scenario_are_named_and_left_out(apart, tmp_path, key, agent):
    written(tmp_path, apart, tables={agent: scenario(**OTHERS[key])})
    name = f"agent-{agent:04d}-0000.journal"
    with pytest.raises(StoreError, match="ran another scenario than the rest") as refused:
        merge_journals(tmp_path)
    for part in (f"agents {agent} ", key, name, "--partial"):
        assert part in str(refused.value)
    with pytest.warns(dwell.errors.DwellWarning, match=f"left out: agents {agent} .*{name}"):
        run = merge_journals(tmp_path, partial=True)
    assert set(run.details.live.samples["agent"]) == set(range(6)) - {agent}
    assert run.scenario.model_dump(exclude={"fleet"}) == case_of(6).model_dump(exclude={"fleet"})


def test_names_files_and_addresses_may_differ(apart, tmp_path):
    case = case_of(6)
    other = case.model_copy(update={"name": "the same", "modules": "/somewhere"})
    written(tmp_path, apart, tables={2: other})
    assert len(merge_journals(tmp_path).details.live.samples) == len(apart.samples)


def test_the_clocks_of_a_merge_are_known_by_agent(apart, tmp_path):
    written(tmp_path, apart)
    live = merge_journals(tmp_path).details.live
    assert sorted(live.clocks) == list(range(6))
    assert max(live.clocks.values()) <= live.uncertainty


def test_the_agent_with_a_clock_that_jumps_is_named(apart, tmp_path):
    """Its stamps are wrong by 0, 0.15 and 0.3 s in turn, so that others date it wrongly."""
    liar, forged = 3, copied(apart)
    by = {int(s["k"]): 0.15 * (int(s["k"]) % 3) for s in forged.samples if s["agent"] == liar}
    of = forged.samples["agent"] == liar
    for name in ("time", "measured", "next_at", "due"):
        forged.samples[name][of] += [by[int(k)] for k in forged.samples["k"][of]]
    written(tmp_path, forged)
    report = dwell.check(merge_journals(tmp_path), progress=False)
    found = next(f for f in report.findings if f.name == "clocks")
    assert not report.ok
    assert found.status == "uncertain"
    assert f"agent {liar}" in found.where
    assert not any(f"agent {p}" in found.where for p in range(6) if p != liar)


@pytest.mark.parametrize("measured", [(), (0,), (3,), (5,), tuple(range(6))])
def test_positions_are_exact_where_those_of_all_agents_are(apart, tmp_path, measured):
    written(tmp_path, apart, measured=measured)
    assert merge_journals(tmp_path).details.live.exact is not bool(measured)


@pytest.mark.parametrize("boots", [1, 2, 3, 11])
def test_a_process_goes_on_where_the_last_one_before_it_ended(apart, tmp_path, boots):
    plan = plan_in(tmp_path)
    written(plan.folder, apart, boots=boots)
    for p in (0, 3):
        last = plan._last(f"agent-{p:04d}", p, 0.0)
        own = apart.samples[apart.samples["agent"] == p]
        assert (last.boot, last.k) == (boots - 1, own["k"][-1])
    assert plan.next_boot("agent-0003") == boots
