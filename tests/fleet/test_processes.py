"""Live fleets of real processes on loopback: deaths, hangs, stops and full disks.

Nothing here depends on how punctual this machine is: the findings `late` and `interval` are not
asserted.
"""

import json
import os
import resource
import signal
import subprocess

import numpy as np
import pytest

import dwell
from dwell.cli.running import identified
from dwell.cli.show import show_summary
from dwell.errors import FleetError, Interrupted, StoreError
from dwell.fleet.run import merge_journals, run_fleet
from dwell.fleet.supervisor import Supervisor
from dwell.live.record import BEGIN, STAND, STOP
from dwell.scenario import parse_scenario
from tests.fleet.messages import plan_in
from tests.workers.watch import LONG

EXACT = ("jump", "heard", "reset", "flow", "complete", "safety")


TIMER = {"kind": "timer", "k1": 0.5, "nu": 0.5, "t1": 0.1, "t2": 0.4}


def scenario(horizon=3.0, agents=4, controller=TIMER, **fleet):
    return parse_scenario(
        {
            "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [4.0, 4.0]},
            "agents": {"start": {"count": agents, "region": "workspace", "seed": 3}},
            "controller": controller,
            "run": {"horizon": horizon, "seed": 5},
            "fleet": {"patience": LONG, **fleet},
        }
    )


def held(run):
    """The findings that hold whatever the machine does."""
    findings = {f.name: f for f in dwell.check(run, progress=False).findings}
    assert {name: findings[name].status for name in EXACT} == dict.fromkeys(EXACT, "holds")
    return findings


def test_a_fleet_is_verified_and_read_back(tmp_path):
    path = tmp_path / "live.nc"
    run = run_fleet(scenario(), out=path, progress=False)
    assert run.stop.reason.value == "horizon"
    assert run.details.live.exact
    assert not run.details.live.dropped
    assert set(run.details.live.samples["agent"]) == set(range(4))
    assert run.cost(3.0) < run.cost(0.0)
    held(run)
    assert not (tmp_path / "live.nc.journals").exists()
    held(dwell.load_run(path))


def test_a_killed_agent_returns_to_where_it_stood(tmp_path):
    killed = []

    def watch(status, fleet):
        if status.time > 0.8 and not killed and 1 in fleet.pids:
            killed.append(status.time)
            os.kill(fleet.pids[1], signal.SIGKILL)

    run = run_fleet(scenario(4.0), progress=False, watch=watch)
    rows = run.details.live.samples
    own = rows[rows["agent"] == 1]
    assert set(own["boot"]) == {0, 1}
    first = own[own["boot"] == 1][0]
    assert first["flags"] & BEGIN
    assert first["time"] > killed[0]
    others = rows[rows["agent"] != 1]
    between = (others["time"] > killed[0]) & (others["time"] < first["time"])
    assert between.any()  # nobody waited
    held(run)


def test_hosts_end_with_their_supervisor(tmp_path):
    hosts = []

    def watch(status, fleet):
        if status.time > 0.5 and not hosts:
            hosts.extend(fleet.pids.values())
            os.kill(fleet.pid, signal.SIGKILL)

    with pytest.raises(FleetError, match=r"supervisor .* ended by signal 9; the run up to") as stop:
        run_fleet(scenario(60.0), progress=False, watch=watch)
    assert len(hosts) == 4
    assert stop.value.run.horizon < 30.0
    held(stop.value.run)


PRINTING = """
from dataclasses import dataclass

from dwell.agents import Command


@dataclass(frozen=True)
class Printing:
    k: float = 0.3

    def begin(self, view):
        return self.decide(view)

    def decide(self, view):
        print("printed", view.time)
        return Command(self.k * view.measurement.error, view.time + 0.2)
"""


def test_what_a_law_prints_is_no_event(tmp_path, capfd):
    (tmp_path / "printing_law.py").write_text(PRINTING)
    tables = scenario(4.0, silence=1.0).model_dump(mode="json", exclude_none=True)
    tables["controller"] = {"kind": "python", "class": "printing_law:Printing"}
    path = tmp_path / "site.json"
    path.write_text(json.dumps(tables))
    killed = []

    def watch(status, fleet):
        if status.time > 0.8 and not killed and 1 in fleet.pids:
            killed.append(status.time)
            os.kill(fleet.pids[1], signal.SIGKILL)

    run = run_fleet(path, progress=False, watch=watch)
    rows = run.details.live.samples
    assert set(rows["boot"][rows["agent"] == 1]) == {0, 1}
    said = capfd.readouterr()
    assert "printed" in said.err
    assert "printed" not in said.out


def test_hosts_that_wait_to_be_started_again_are_not_once_the_fleet_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(Supervisor, "start", lambda boss, number: pytest.fail("it was started"))
    boss = Supervisor(plan_in(tmp_path), [[0], [1], [2]], "udp", 0, 0.0)
    boss.events = os.open(os.devnull, os.O_WRONLY)
    boss.waiting = {0: 0.0}
    with subprocess.Popen(["sleep", "60"]) as process:
        boss.running = {process.pid: 1}
        boss.end()
    os.close(boss.events)
    for one in boss.endpoints:
        one.close()
    assert boss.running == boss.waiting == {}


def test_all_agents_begin_whatever_is_lost(tmp_path):
    run = run_fleet(scenario(2.0, agents=6, faults={"loss": 0.5, "seed": 2}), progress=False)
    rows = run.details.live.samples
    assert set(rows["agent"]) == set(range(6))
    assert set(rows["known"][rows["k"] == 1]) == {6}  # none begins before all know each other
    held(run)


def test_copies_of_messages_arrive_where_others_are_lost(tmp_path):
    faults = {"loss": 0.5, "seed": 2}
    once, often = (
        run_fleet(scenario(3.0, agents=6, copies=copies, faults=faults), progress=False)
        for copies in (1, 6)
    )
    assert not often.details.live.dropped  # a copy is no old message
    ages = [float(np.mean(run.details.live.beliefs["age"])) for run in (once, often)]
    assert ages[1] < 0.8 * ages[0]
    held(often)


def test_a_hung_process_stalls_nobody(tmp_path):
    done = []

    def watch(status, fleet):
        if status.time > 0.8 and not done:
            done.append(fleet.pids[2])
            os.kill(fleet.pids[2], signal.SIGSTOP)
        elif status.time > 2.2 and len(done) == 1:
            done.append(0)
            os.kill(done[0], signal.SIGCONT)

    run = run_fleet(scenario(4.0), progress=False, watch=watch)
    rows = run.details.live.samples
    assert set(rows[rows["agent"] == 2]["boot"]) == {0}
    assert (rows["time"][rows["agent"] == 2] > 2.2).any()
    during = rows[(rows["time"] > 1.3) & (rows["time"] < 2.1)]
    assert set(during["agent"]) == {0, 1, 3}
    findings = held(run)
    assert findings["interval"].status != "holds"


def test_agents_that_have_not_begun_are_named(tmp_path):
    hung = []

    def watch(status, fleet):
        if status.known == 4 and not hung:
            hung.append(fleet.pids[2])
            os.kill(fleet.pids[2], signal.SIGSTOP)

    with pytest.raises(FleetError, match=r"agents 2 have not begun; .*dwell merge"):
        run_fleet(scenario(patience=0.5), out=tmp_path / "live.nc", progress=False, watch=watch)
    run = merge_journals(tmp_path / "live.nc.journals")
    assert set(run.details.live.samples["agent"]) == {0, 1, 3}


def test_a_law_with_many_samples_a_second():
    run = run_fleet(scenario(2.0, controller={"kind": "lloyd", "dt": 0.02}), progress=False)
    assert set(run.details.live.samples["agent"]) == set(range(4))
    held(run)


def test_a_signal_stops_all_agents_and_keeps_what_they_did(tmp_path, capsys):
    path = tmp_path / "live.nc"

    def watch(status, fleet):
        if status.time > 1.0:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted) as stop:
        run_fleet(scenario(60.0), out=path, progress=False, watch=watch)
    assert "resume" not in str(stop.value)  # only the fleet itself could continue
    run = dwell.load_run(path)
    show_summary(identified(run, path), path)
    assert "resume" not in f"{stop.value} {capsys.readouterr().out}"  # nothing continues a fleet
    assert run.horizon == stop.value.run.horizon < 30.0
    rows = run.details.live.samples
    last = [rows[rows["agent"] == p][-1] for p in range(4)]
    assert all(row["flags"] & STOP and not row["hold"].any() for row in last)
    held(run)


def test_agents_that_are_cut_off_stand(tmp_path):
    cut = {"partitions": [{"from": 1.0, "until": 60.0, "group": [0]}]}
    run = run_fleet(scenario(4.0, silence=0.8, faults=cut), progress=False)
    rows = run.details.live.samples
    alone = rows[(rows["agent"] == 0) & (rows["time"] > 2.5)]
    assert len(alone)
    assert (alone["flags"] & STAND).all()
    assert not alone["hold"].any()
    rest = rows[(rows["agent"] != 0) & (rows["time"] > 2.5)]
    assert not (rest["flags"] & STAND).any()
    assert set(rest["known"]) == {3}
    held(run)


def test_several_agents_share_a_process(tmp_path):
    run = run_fleet(scenario(3.0, agents=7), progress=False, hosts=2)
    assert set(run.details.live.samples["agent"]) == set(range(7))
    held(run)


def test_clocks_that_differ_by_more_than_the_time_to_the_start(tmp_path):
    run = run_fleet(scenario(3.0, faults={"clock_offset": 0.5, "seed": 1}), progress=False)
    assert run.details.live.uncertainty < 0.1
    assert held(run)["belief"].status == "holds"


def test_wrong_clocks_are_found_out(tmp_path):
    wrong = {"clock_offset": 0.4, "clock_rate": 1e-4, "seed": 1}
    run = run_fleet(scenario(3.0, faults=wrong), progress=False)
    live = run.details.live
    shifts = dict(zip(live.samples["agent"].tolist(), live.shifts, strict=True))
    assert np.ptp(list(shifts.values())) > 0.1
    assert 0.0 < run.details.live.uncertainty < 0.5
    held(run)


def test_journals_of_a_run_that_was_not_written_are_not_lost(tmp_path):
    path = tmp_path / "live.nc"
    folder = tmp_path / "live.nc.journals"
    folder.mkdir()
    with pytest.raises(StoreError, match="dwell merge"):
        run_fleet(scenario(), out=path, progress=False)
    with pytest.raises(StoreError, match="no journals"):
        merge_journals(folder)


def test_what_a_fleet_with_a_failed_process_did_can_be_merged(tmp_path):
    folder = tmp_path / "live.nc.journals"
    done = []

    def watch(status, fleet):
        if status.time > 0.5 and not done:
            done.append(status.time)
            (folder / "host-0001-0001.journal").touch()  # the next boot cannot write its own
            os.kill(fleet.pids[1], signal.SIGKILL)

    with pytest.raises(FleetError, match=r"hosts 1 failed.*dwell merge"):
        run_fleet(scenario(4.0), out=tmp_path / "live.nc", progress=False, watch=watch)
    run = merge_journals(folder)
    rows = run.details.live.samples
    assert set(rows[rows["agent"] == 1]["boot"]) == {0, 2}
    held(run)


def test_memory_is_the_simulation():
    made = scenario(5.0)
    run, simulated = run_fleet(made, transport="memory"), dwell.run_scenario(made)
    for name, column in simulated.events.columns().items():
        assert np.array_equal(column, getattr(run.events, name)), name
    held(run)


def test_an_agent_with_a_full_disk_stands_and_goes_on_when_there_is_space(tmp_path):
    limits = []

    def watch(status, fleet):
        file = tmp_path / "live.nc.journals" / "host-0001-0000.journal"
        if status.time > 0.8 and not limits:
            limits.append(file.stat().st_size + 100)
            resource.prlimit(fleet.pids[1], resource.RLIMIT_FSIZE, (limits[0], -1))
        elif status.time > 2.5 and len(limits) == 1:
            limits.append(file.stat().st_size)
            resource.prlimit(fleet.pids[1], resource.RLIMIT_FSIZE, (-1, -1))

    run = run_fleet(scenario(4.5), out=tmp_path / "live.nc", progress=False, watch=watch)
    assert limits[1] < limits[0]  # nothing of a record that did not fit is left
    own = run.details.live.samples[run.details.live.samples["agent"] == 1]
    assert set(own["boot"]) == {0}
    assert np.diff(own["time"]).max() > 1.0
    assert own["time"][-1] > 2.5
    held(run)
