"""`dwell agent` and `dwell stop`: agents that are started one by one, and find each other."""

import json
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from copy import copy

import numpy as np
import pytest

from dwell.errors import InputError, StoreError
from dwell.fleet.certificates import make_authority, make_certificates
from dwell.fleet.clock import NAP, Clock
from dwell.fleet.configuration import fleet_plan
from dwell.fleet.host import RETRY
from dwell.fleet.journal import JournalWriter, read_fleet_journal
from dwell.fleet.plan import rehearse
from dwell.fleet.run import merge_journals
from dwell.fleet.single import AgentLinks, missing, run_agent, stop_agents
from dwell.fleet.transport.memory import MemoryTransport
from dwell.fleet.wire import STOP as STOP_ALL
from dwell.fleet.wire import Control
from dwell.live.agent import LiveAgent
from dwell.live.record import STOP
from dwell.scenario import load_scenario
from tests.fleet.messages import announced, host_of, plan_in, until
from tests.fleet.test_processes import held
from tests.workers.watch import LONG

SCENARIO = """
[workspace]
kind = "box"
lower = [0.0, 0.0]
upper = [4.0, 4.0]
[agents]
start = [[1.0, 1.0], [2.0, 1.5]]
[controller]
kind = "timer"
k1 = 0.5
nu = 0.5
t1 = 0.1
t2 = 0.4
[run]
horizon = 2.0
seed = 5
[fleet]
patience = 600.0
"""


def free_ports(count):
    """Ports of loopback at which nobody listens."""
    opened = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in opened:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in opened]
    for one in opened:
        one.close()
    return ports


@pytest.fixture
def site(tmp_path):
    """The file of two agents with addresses."""
    peers = [f"127.0.0.1:{port}" for port in free_ports(2)]
    path = tmp_path / "site.toml"
    path.write_text(f"{SCENARIO}peers = {peers}\n")
    return path


def started(site, number, *more):
    words = ["agent", str(site), "--id", str(number), "--journals", str(site.parent / "log")]
    return subprocess.Popen(
        [sys.executable, "-m", "dwell", *words, *more], stderr=subprocess.PIPE, text=True
    )


def printed(process, words):
    """What a process prints on its error stream until some words appear."""
    text = ""
    while words not in text:
        ready, _, _ = select.select([process.stderr], [], [], LONG)
        line = process.stderr.readline() if ready else ""
        assert line, f"{words!r} was not printed: {text!r}"
        text += line
    return text


def has_header(path):
    """Whether a journal can be read."""
    try:
        read_fleet_journal(path)
    except StoreError:
        return False
    return True


@contextmanager
def agents_of(site, *more):
    """Both agents, once they have sampled; they are ended as by Ctrl-C."""
    with ExitStack() as stack:
        both = [stack.enter_context(started(site, p, *more)) for p in range(2)]
        for one in both:
            stack.callback(one.send_signal, signal.SIGINT)
        log = site.parent / "log"
        assert until(lambda: sum(one.stat().st_size > 5000 for one in log.glob("*")) == 2)
        yield both


def stopped(site, *words):
    """What `dwell stop` returns and prints."""
    made = subprocess.run(
        [sys.executable, "-m", "dwell", "stop", site, "--json", *words],
        capture_output=True, text=True, timeout=LONG,
    )  # fmt: skip
    return made.returncode, json.loads(made.stdout), made.stderr


def test_two_agents_meet_and_their_journals_are_one_run(site):
    both = [started(site, p) for p in range(2)]
    said = [one.communicate(timeout=LONG)[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    run = merge_journals(site.parent / "log")
    live = run.details.live
    assert set(live.samples["agent"]) == {0, 1}
    assert {2} <= set(live.samples["known"])
    assert live.uncertainty < 1.0
    held(run)
    # The folder is that of a run that is over: another start is refused, not silently nothing.
    again = started(site, 0)
    _, says = again.communicate(timeout=LONG)
    assert again.returncode != 0
    assert "a run that is over" in says
    other = started(site, 0, "--run", "tuesday")
    _, says = other.communicate(timeout=LONG)
    assert other.returncode != 0
    assert "journals of the run 'fleet'" in says
    (site.parent / "log" / "agent-0001-0000.journal").unlink()
    with pytest.raises(StoreError, match="lacks any journal of agent 1;"):
        merge_journals(site.parent / "log")
    assert set(merge_journals(site.parent / "log", partial=True).events.agent) == {0}


def test_a_missing_journal_of_an_earlier_start_is_named(site, tmp_path):
    header = {
        "run": "r", "host": "agent-0000", "agents": [0, 1], "boot": 2, "dimension": 2,
        "scenario": load_scenario(site).model_dump(mode="json"), "settings": {}, "exact": True,
        "shared_clock": False,
    }  # fmt: skip
    for boot in (0, 2):
        JournalWriter(tmp_path / f"agent-0000-{boot:04d}.journal", header | {"boot": boot}).close()
    with pytest.raises(StoreError, match=r"lacks agent-0000-0001\.journal; .*--partial"):
        merge_journals(tmp_path)


@pytest.mark.parametrize("transport", ["udp", "zenoh"])
def test_the_emergency_stop_reaches_all_agents_and_they_say_so(site, tmp_path, transport):
    pytest.importorskip("zenoh")
    links, wrong = ["--transport", transport], []
    if transport == "udp":
        for name in ("secret", "wrong"):
            (tmp_path / name).touch(0o600)
            (tmp_path / name).write_text(name * 16)
        links, wrong = (
            [*links, "--key", str(tmp_path / "secret")],
            ["--key", str(tmp_path / "wrong")],
        )
    else:
        make_authority(tmp_path / "tls")
        make_certificates(tmp_path / "tls", ["agent_0", "agent_1", "observer"])
        links += ["--tls", str(tmp_path / "tls")]
    with agents_of(site, "--horizon", "600", *links) as both:
        if wrong:
            code, says, _ = stopped(site, *wrong, "--patience", "0.3")
            assert (code, says["stopped"], says["silent"]) == (1, [], [0, 1])
        assert stopped(site, *links, "--patience", "20") == (
            0, {"schema": 1, "stopped": [0, 1], "silent": []}, "",
        )  # fmt: skip
        both[1].kill()
        both[1].wait()
        code, says, message = stopped(site, *links, "--patience", "2")
        assert (code, says["stopped"], says["silent"]) == (1, [0], [1])
        assert "no answer in 2 s, and perhaps still moving: agent 1" in message
    run = merge_journals(site.parent / "log")
    rows = run.details.live.samples
    last = [rows[rows["agent"] == p][-1] for p in range(2)]
    assert all(row["flags"] & STOP and not row["hold"].any() for row in last)
    held(run)


def test_an_agent_that_is_restarted_after_the_emergency_stop_stands(site):
    with agents_of(site, "--horizon", "600") as both:
        assert stopped(site, "--patience", "20")[0] == 0
        both[1].kill()
        both[1].wait()
        path = site.parent / "log" / "agent-0001-0001.journal"
        with started(site, 1, "--horizon", "600") as again:
            assert until(lambda: path.exists() and path.stat().st_size > 5000)
            again.send_signal(signal.SIGINT)
    rows = read_fleet_journal(path).samples
    assert len(rows) > 0
    assert (rows["flags"] & STOP).all()
    assert not rows["hold"].any()


def test_agents_with_different_laws_do_not_run_together(site, monkeypatch):
    monkeypatch.delenv("DWELL_PROGRESS", raising=False)
    both = [started(site, p, "--set", f"controller.k1=0.{3 + p}") for p in range(2)]
    for one in both:
        text = printed(one, "dropped (run or scenario)")
        assert "1 of 2 agents known" in text
    for one in both:
        one.send_signal(signal.SIGINT)
    for one in both:
        assert "ends, and has not begun" in one.communicate(timeout=LONG)[1]


def test_an_agent_shows_its_state_and_where_its_journal_is(site, monkeypatch):
    monkeypatch.delenv("DWELL_PROGRESS", raising=False)
    agents = [started(site, p, "--horizon", "600") for p in range(2)]
    for one in agents:
        printed(one, "2 of 2 agents known")
    for p, one in enumerate(agents):
        one.send_signal(signal.SIGINT)
        text = one.communicate(timeout=LONG)[1]
        assert f"agent {p} ends at t = " in text
        assert f"agent-{p:04d}-0000.journal has " in text


def test_a_newcomer_takes_the_time_of_agents_that_have_begun(tmp_path):
    host = host_of(plan_in(tmp_path), 0, MemoryTransport.network(1)[0], shared=False)
    here = host.clock.now()
    assert host.clock.at(int(host.origin() * 1e9)) == pytest.approx(here, abs=0.1)
    host.beliefs.receive(announced(1, 0, stamp=900.0), here)  # it has not begun
    assert host.clock.at(int(host.origin() * 1e9)) == pytest.approx(here, abs=0.1)
    host.beliefs.receive(announced(2, 7, stamp=12.5), here)
    host.begin(host.origin())
    assert host.clock.now() == pytest.approx(12.5, abs=0.1)
    host.close()


def test_an_agent_that_seems_to_be_where_another_one_is_stands_and_goes_on(tmp_path, capfd):
    host = host_of(plan_in(tmp_path), 0, MemoryTransport.network(1)[0])
    place, now = host.plants[0].pose(0.0).position, host.clock.now()
    host.beliefs.receive(announced(1, 1, stamp=now, position=place, velocity=(0, 0)), now)
    host.beliefs.receive(announced(2, 1, stamp=now), now)
    for _ in range(2):
        assert host.sample(0, now) == now + RETRY
    assert capfd.readouterr().err.count("agent 0 tries again in 0.1 s: ") == 1
    away = announced(1, 2, stamp=now, position=place + 0.5, velocity=(0, 0))
    host.beliefs.receive(away, now)
    host.sample(0, now)
    host.close()
    found = read_fleet_journal(host.journal.path)
    assert (len(found.samples), found.notes[-1]["unrecorded"]) == (1, 2)


@pytest.mark.parametrize("failing", [1, 2, 4])
def test_a_sample_that_could_not_be_written_is_made_again(tmp_path, monkeypatch, failing):
    """At the first write, at the second, or later: numbers have no gap, and nothing is lost."""
    host = host_of(plan_in(tmp_path), 0, MemoryTransport.network(1)[0])
    now, write, calls = host.clock.now(), host.journal.sample, []
    for p in (1, 2):
        host.beliefs.receive(announced(p, 1, stamp=now), now)

    def full(*rows):
        calls.append(rows)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")
        write(*rows)

    monkeypatch.setattr(host.journal, "sample", full)
    agent = host.agents[0]
    for k in range(1, 6):
        before = agent.due, agent.k, copy(agent.decisions.own)
        due = host.sample(0, now)
        if k == failing:
            assert due == now + RETRY
            after = agent.due, agent.k, agent.decisions.own
            assert before[:2] == after[:2]
            assert before[2].count == after[2].count
            assert np.array_equal(before[2].hold, after[2].hold)
        now = due
    host.close()
    found = read_fleet_journal(host.journal.path)
    assert found.samples["k"].tolist() == [1, 2, 3, 4]
    assert found.notes[-1]["unrecorded"] == 1


def test_an_agent_that_is_interrupted_while_it_waits_has_not_started(site):
    alone = started(site, 0)
    assert until(lambda: any(has_header(one) for one in (site.parent / "log").glob("*.journal")))
    alone.send_signal(signal.SIGINT)
    alone.communicate(timeout=LONG)
    (path,) = (site.parent / "log").glob("*.journal")
    assert read_fleet_journal(path).started is None


def test_a_long_wait_does_not_end_a_run(tmp_path):
    plan = plan_in(tmp_path)
    host = host_of(plan, 0, MemoryTransport.network(1)[0])
    host.clock.origin -= 2.0 * plan.until
    host.close()
    assert read_fleet_journal(host.journal.path).ended > plan.until
    assert plan.origin("host-0") is None


def test_after_a_reboot_a_simulated_robot_stands_where_its_last_segment_ended(
    tmp_path, monkeypatch
):
    plan = plan_in(tmp_path)
    host = host_of(plan, 0, MemoryTransport.network(1)[0], shared=False)
    row, beliefs = host.agents[0].sample(2.0, np.array([1.0, 1.0]), 2.0, host.beliefs)[:2]
    row["hold"], row["cruise"] = (0.5, 0.25), 0.4
    host.journal.sample(row, beliefs)
    host.close()
    for machine, expected in (("this", [1.05, 1.025]), ("after a reboot", [1.2, 1.1])):
        header = read_fleet_journal(host.journal.path).header["machine"]
        monkeypatch.setattr(
            "dwell.fleet.plan.machine",
            lambda own=header, name=machine: own if name == "this" else name,
        )
        np.testing.assert_allclose(plan._last("host-0", 0, 2.1)[0], expected, atol=1e-15)


def test_files_that_cannot_be_read_or_made_are_named(site, tmp_path):
    case = load_scenario(site)
    with pytest.raises(InputError, match="no-key cannot be read"):
        run_agent(case, 0, tmp_path / "log", "r", AgentLinks(key=tmp_path / "no-key"), print)
    with pytest.raises(InputError, match="site"):
        run_agent(case, 0, site / "log", "r", AgentLinks(), print)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o660, 0o666, 0o777])
def test_keys_that_others_can_read_are_refused(site, tmp_path, mode):
    key, case = tmp_path / "secret", load_scenario(site)
    key.write_text("s" * 32)
    key.chmod(mode)
    for use in (
        lambda: run_agent(case, 0, tmp_path / "log", "r", AgentLinks(key=key), print),
        lambda: stop_agents(case, "r", AgentLinks(key=key), 0.0, print),
    ):
        with pytest.raises(InputError, match=f"chmod 600 {key}"):
            use()
    tls = tmp_path / "tls"
    tls.mkdir()
    for name in ("agent_0.key", "observer.key"):
        (tls / name).write_text("k")
        (tls / name).chmod(mode)
    with pytest.raises(InputError, match=f"chmod 600 {tls / 'observer.key'}"):
        stop_agents(case, "r", AgentLinks("zenoh", tls=tls), 0.0, print)
    key.chmod(0o600)
    assert stop_agents(case, "r", AgentLinks(key=key), 0.0, print) == ([], [0, 1])


def slow(monkeypatch, took):
    """Decisions that take so much processor time."""
    monkeypatch.setattr("dwell.fleet.single.rehearse", lambda plan, number: took)
    monkeypatch.setattr("dwell.fleet.single.serve", lambda plan, host, **how: host.close())


def test_an_agent_says_that_its_decisions_are_slow_or_does_not_start(site, monkeypatch):
    case, said = load_scenario(site), []
    margin, longest = 0.02, 0.4
    slow(monkeypatch, 0.5 * margin)
    run_agent(case, 0, site.parent / "quick", "r", AgentLinks(), said.append)
    assert not any("decision" in line for line in said)
    slow(monkeypatch, 2.0 * margin)
    run_agent(case, 0, site.parent / "slow", "r", AgentLinks(), said.append)
    (word,) = [line for line in said if "decision" in line]
    assert "takes 0.04 s" in word
    assert "fleet.margin = 0.02" in word
    slow(monkeypatch, 1.1 * longest)
    with pytest.raises(InputError, match="longer than the longest interval"):
        run_agent(case, 0, site.parent / "none", "r", AgentLinks(), said.append)
    assert not list((site.parent / "none").iterdir())


def test_a_rehearsal_measures_processor_time(tmp_path, monkeypatch):
    plan, times = plan_in(tmp_path), iter([0.0, 5.0, 5.0, 9.0, 9.0, 9.3, 9.3, 9.5, 9.5, 9.6])
    monkeypatch.setattr("dwell.fleet.plan.time.process_time", lambda: next(times))
    assert rehearse(plan) == pytest.approx(0.2)


def test_the_progress_names_who_is_missing_and_why(site):
    case = load_scenario(site)
    plan = fleet_plan(case, site.parent, "r")
    addresses = case.fleet.peers
    network = MemoryTransport.network(2)
    other = fleet_plan(case, site.parent, "another").codec()
    host = plan.host(
        "agent-0000", [0], network[0], Stepped(0.0), boot=0, shared_clock=False,
        sources={1: (1,)},
    )  # fmt: skip
    assert missing(host, addresses) == [f"agent 1 at {addresses[1]}: never heard"]
    own = LiveAgent(plan.law, 1, 0, plan.positions[1]).standing(0.0)
    network[1].send(other.pack(own), 0.0)
    host.hear(0.1)
    (word,) = missing(host, addresses)
    assert word.startswith(f"agent 1 at {addresses[1]}: its messages are dropped (")
    network[1].send(plan.codec().pack(own), 0.2)
    host.hear(0.3)
    assert missing(host, addresses) == []
    host.clock.time = 30.0
    assert missing(host, addresses) == [f"agent 1 at {addresses[1]}: silent for 30 s"]
    host.close()


class Stepped:
    """A clock that goes on by sleep alone."""

    def __init__(self, origin):
        self.origin, self.time = origin, 0.0

    def now(self):
        return self.time

    def sleep(self, until):
        self.time = max(self.time, min(until, self.time + NAP))
        return self.time


def nobody_knows(site, peer):
    """The site with a name that nobody knows as the address of one agent."""
    case = load_scenario(site)
    peers = [*case.fleet.peers]
    peers[peer] = "no.invalid:7400"
    return case.model_copy(update={"fleet": case.fleet.model_copy(update={"peers": tuple(peers)})})


def test_the_emergency_stop_is_sent_at_once_and_to_all_whose_name_is_known(site):
    case, said = nobody_knows(site, 1), []
    host, _, port = case.fleet.peers[0].partition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind((host, int(port)))
        one.settimeout(LONG)
        assert stop_agents(case, "r", AgentLinks(), 0.0, said.append) == ([], [0, 1])
        message = fleet_plan(case, site.parent, "r").codec().unpack(one.recv(2048))
    assert isinstance(message, Control)
    assert message.kind == STOP_ALL
    assert [line.partition(";")[0] for line in said] == [
        "agent 1 is left out: no.invalid is not known"
    ]


def test_the_patience_of_a_stop_begins_when_its_transport_is_open(site, monkeypatch):
    class Counted:
        """A transport that is opened in ten seconds, and counts what is sent."""

        sent = 0

        def __init__(self, own, peers, clock, key):
            clock.time += 10.0

        def send(self, datagram, now):
            Counted.sent += 1

        def receive(self, now):
            return []

        def close(self):
            pass

    monkeypatch.setattr("dwell.fleet.single.Clock", Stepped)
    monkeypatch.setattr("dwell.fleet.single.udp_transport", Counted)
    stop_agents(load_scenario(site), "r", AgentLinks(), 1.0, print)
    assert Counted.sent > 10


def test_an_agent_starts_although_the_name_of_another_one_is_not_known(site, monkeypatch):
    said = []
    monkeypatch.setattr("dwell.fleet.single.serve", lambda plan, host, **how: host.close())
    run_agent(nobody_knows(site, 1), 0, site.parent / "log", "r", AgentLinks(), said.append)
    assert "agent 1 is left out: no.invalid is not known" in said[0]
    with pytest.raises(InputError, match=r"no\.invalid is not known"):
        run_agent(nobody_knows(site, 0), 0, site.parent / "new", "r", AgentLinks(), said.append)


def test_a_stop_that_could_not_be_recorded_is_tried_again_at_once(tmp_path, monkeypatch):
    host = host_of(plan_in(tmp_path), 0, MemoryTransport.network(1)[0])
    host.clock, host.stopped, host.agents[0].due = Stepped(0.0), True, 5.0
    record, failures = host.journal.sample, [OSError(28, "no space left")]

    def full(row, beliefs):
        if failures:
            raise failures.pop()
        record(row, beliefs)

    monkeypatch.setattr(host.journal, "sample", full)
    host.run(1.0)
    host.close()
    rows = read_fleet_journal(host.journal.path).samples
    assert rows[0]["time"] == pytest.approx(NAP + RETRY)
    assert rows[0]["flags"] & STOP


def test_a_host_that_was_stopped_in_this_run_starts_stopped(tmp_path):
    plan = plan_in(tmp_path)
    for boot, stop in enumerate((False, True, False, False)):
        host = plan.host(
            "h", [0, 1], MemoryTransport.network(1)[0], Clock(time.monotonic()), boot=boot,
            shared_clock=False,
        )  # fmt: skip
        assert host.stopped == (boot > 1)
        if boot < 3:  # the last one ends before it has sampled
            host.stopped = host.stopped or stop
            host.run(host.clock.now())
            for p in host.agents:
                host.sample(p)
        host.close()
    other = host_of(plan, 2, MemoryTransport.network(1)[0])
    assert not other.stopped
    other.close()


def test_the_next_boot_follows_the_last_one_although_journals_are_missing(tmp_path):
    plan = plan_in(tmp_path)
    assert plan.next_boot("agent-0001") == 0
    for name in ("agent-0001-0000", "agent-0001-0004", "agent-0001-copy", "agent-0002-0007"):
        (tmp_path / f"{name}.journal").touch()
    assert plan.next_boot("agent-0001") == 5
