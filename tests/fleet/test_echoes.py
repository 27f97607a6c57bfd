"""What agents state to have received: compared with the records of both, liars are named."""

import os
import signal
from functools import cache, partial

import h5py
import numpy as np
import pytest

import dwell
from dwell._netcdf import digest_of, read_netcdf
from dwell.errors import StoreError
from dwell.fleet.journal import JournalWriter, read_fleet_journal
from dwell.fleet.virtual import VirtualFleet
from dwell.live.echoes import TICK, no_echoes
from dwell.live.faults import Faults, Partition
from dwell.live.record import DOUBLE, belief_type, sample_type
from dwell.live.settings import LiveSettings, live_law
from dwell.results.live_record import ECHOES
from dwell.scenario.build import build
from tests.fleet.fleets import copied, recorded, run_from, scenario
from tests.fleet.test_clearance import RUNS, calm, run_of

LIAR = 2
STORM = Faults(loss=0.4, delay=(0.0, 0.2), repeat=0.2, partitions=(Partition(1.0, 2.5, (0, 1)),))
SETTINGS = LiveSettings(margin=0.0, silence=3.0, clearance=0.1)


def fleet_run(lie=None, faults=None, horizon=6.0):
    """A fleet in virtual time in which agent 2 sends what `lie` makes of its echoes.

    `lie` changes the echoes of its k-th message in place; the journal of agent 2 is honest.
    """
    case = scenario(horizon=horizon)
    system, start, _ = build(case)
    made = []
    fleet = VirtualFleet(live_law(system, SETTINGS), start, faults, made.append)
    honest = fleet.codecs[LIAR].pack

    def pack(message):
        if lie is not None and message.echoes is not None:
            changed = message.echoes.copy()
            lie(changed, message.k)
            message = message._replace(echoes=changed)
        return honest(message)

    fleet.codecs[LIAR].pack = pack
    fleet.run(horizon)
    return run_from(case, recorded(made, SETTINGS))


@cache
def honest_run():
    return fleet_run()


def echoes_in(run):
    report = dwell.check(run, progress=False)
    return report, next(f for f in report.findings if f.name == "echoes")


@pytest.mark.parametrize("faults", [None, STORM], ids=["perfect", "storm"])
def test_honest_agents_are_not_accused(faults):
    run = fleet_run(faults=faults)
    report, found = echoes_in(run)
    assert (found.status, report.ok) == ("holds", True)
    live = run.details.live
    assert np.count_nonzero(live.beliefs["echo_serial"]) > 100
    assert (np.diff(live.samples["serial"][live.samples["agent"] == 0].astype(int)) == 1).all()


@pytest.mark.parametrize("name", RUNS)
def test_nor_where_radios_fail_and_agents_leave_or_arrive(name):
    assert echoes_in(run_of(*RUNS[name]))[1].status == "holds"


def test_nor_by_an_agent_that_returns_and_cannot_say_yet_how_long_messages_take():
    """Its doubts may be infinite at first, where each process has its own clock."""
    table = {"clearance": 0.08, "silence": 3.0, "faults": {"clock_offset": 0.2}}
    killed = []

    def watch(status, processes):
        if status.time > 0.7 and not killed:
            killed.append(processes.pids[1])
            os.kill(killed[0], signal.SIGKILL)

    run = dwell.run_fleet(scenario(horizon=2.5, fleet=table), watch=watch, progress=False)
    assert (run.details.live.samples["boot"] == 1).any()
    report, found = echoes_in(run)
    assert found.status == "holds"
    assert {f.name for f in report.findings if f.status == "violated"} == set()


@pytest.mark.parametrize(("doubt", "status"), [(np.inf, "holds"), (np.nan, "violated")])
def test_doubts_may_be_infinite(doubt, status):
    live = copied(honest_run().details.live)
    live.beliefs["doubt"][5] = doubt
    report = dwell.check(run_from(honest_run().scenario, live), progress=False)
    assert next(f.status for f in report.findings if f.name == "finite") == status


def nothing(echoes, k):
    echoes[:] = no_echoes(len(echoes))


def older(echoes, k):
    echoes["serial"] -= np.minimum(echoes["serial"], 2)


def newer(echoes, k, by):
    echoes["serial"] += by


def restarted(echoes, k):
    echoes["tag"] += 1


def held(echoes, k):
    echoes["hold"] = np.minimum(echoes["hold"] + round(0.8 / TICK), 60_000)


LIES = {
    "nothing received": (nothing, "no message of agent"),
    "older messages": (older, "which its own record contradicts"),
    "messages never sent": (partial(newer, by=1000), "which had not been sent by"),
    "the next messages": (partial(newer, by=1), "which"),
    "another start": (restarted, "which had not been sent by"),
}


def late_liar(lie):
    return lambda echoes, k: lie(echoes, k) if k > 4 else None


@pytest.mark.parametrize("faults", [None, STORM], ids=["perfect", "storm"])
@pytest.mark.parametrize("lie", LIES)
def test_an_agent_that_states_what_is_not_true_is_named(lie, faults):
    change, says = LIES[lie]
    report, found = echoes_in(fleet_run(late_liar(change), faults))
    assert (found.status, report.ok) == ("violated", False)
    assert found.where.startswith(f"agent {LIAR}, boot 0, sample ")
    assert says in found.where
    others = {f.name for f in report.findings if f.status == "violated"}
    assert others == {"echoes"}  # nothing else tells


def test_a_message_that_was_held_longer_than_it_was_known_is_a_lie():
    """Messages seem to take no time then; `sent_at` says when the statement was made."""
    case, liars = honest_run().scenario, fleet_run(late_liar(held))
    assert echoes_in(run_from(case, sent_at_once(honest_run())))[1].status == "holds"
    found = echoes_in(run_from(case, sent_at_once(liars)))[1]
    assert found.status == "violated"
    assert found.where.startswith(f"agent {LIAR}, ")
    assert "longer ago than it believed that to be sent" in found.where


def sent_at_once(run):
    """The record, in which each message is sent when its sample is taken."""
    live = copied(run.details.live)
    later = live.previous >= 0
    live.samples["sent_at"][later] = live.samples["time"][live.previous[later]]
    return live


@pytest.mark.parametrize("column", ["echo_serial", "echo_tag", "serial", "tag"])
def test_records_of_statements_that_were_changed_are_noticed(column):
    live = copied(honest_run().details.live)
    rows = live.beliefs if column.startswith("echo") else live.samples
    own = np.flatnonzero((rows["agent"] == 1) & (rows["k"] > 5))
    rows[column][own[len(own) // 2]] += 5
    assert echoes_in(run_from(honest_run().scenario, live))[1].status == "violated"


def test_statements_about_an_agent_that_runs_twice_are_not_judged():
    """Others may have heard either process; `heard` says whose segment they believed."""
    live = copied(honest_run().details.live)
    of_1 = live.samples["agent"][live.owner] == 1
    live.beliefs["echo_tag"][of_1] += 7
    assert echoes_in(run_from(honest_run().scenario, live))[1].status == "violated"
    live.samples["flags"][np.flatnonzero(live.samples["agent"] == 1)[-1]] |= DOUBLE
    assert echoes_in(run_from(honest_run().scenario, live))[1].status == "holds"


def test_statements_are_stored(tmp_path):
    run = honest_run()
    run.save(tmp_path / "run.nc")
    again = dwell.load_run(tmp_path / "run.nc").details.live
    assert again.beliefs.tobytes() == run.details.live.beliefs.tobytes()
    assert (again.samples["serial"] == run.details.live.samples["serial"]).all()
    assert echoes_in(tmp_path / "run.nc")[1].status == "holds"


def test_where_none_are_recorded_nothing_is_said():
    case = calm()[0]
    plain = case.model_copy(update={"fleet": case.fleet.model_copy(update={"clearance": 0.0})})
    report, found = echoes_in(dwell.run_fleet(plain, transport="memory", progress=False))
    assert (found.status, report.ok) == ("not applicable", True)
    assert "fleet.clearance is 0" in found.where


@pytest.mark.parametrize("some", [slice(None), slice(7, 8)], ids=["all", "one"])
def test_statements_that_were_taken_out_are_noticed(some):
    """With a clearance every message has a tag, so 0 is no reason to judge nothing."""
    live = copied(fleet_run(late_liar(nothing)).details.live)
    live.samples["tag"][some] = 0
    found = echoes_in(run_from(honest_run().scenario, live))[1]
    assert found.status == "violated"
    assert "the number of its start is missing" in found.where


def test_files_of_earlier_versions_have_none(tmp_path):
    honest_run().save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc", "r+") as file:
        for name in ECHOES:
            del file[name]
    digest = digest_of(*read_netcdf(tmp_path / "run.nc"))
    with h5py.File(tmp_path / "run.nc", "r+") as file:
        file.attrs["digest"] = digest
    report, found = echoes_in(tmp_path / "run.nc")
    assert found.status == "not applicable"
    assert "an earlier version, whose files hold no statements" in found.where
    assert {f.name for f in report.findings if f.status == "violated"} == set()


def test_journals_of_earlier_versions_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "agent-0000-0000.journal"
    monkeypatch.setattr("dwell.fleet.journal.FORMAT", 3)
    journal = JournalWriter(path, {"run": "r", "dimension": 2})
    journal.sample(np.zeros((), sample_type(2)), np.zeros(1, belief_type(2)))
    journal.close()
    monkeypatch.undo()
    with pytest.raises(StoreError, match="has format 3; 4 is needed"):
        read_fleet_journal(path)
