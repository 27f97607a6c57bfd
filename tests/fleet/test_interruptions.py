"""Live fleets that end before their time, and agents that are started wrongly."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from dwell.errors import Aborted, InputError
from dwell.fleet.journal import JournalWriter
from dwell.fleet.merge import read_journals
from dwell.fleet.run import merge_journals, run_fleet
from dwell.fleet.single import AgentLinks, run_agent
from tests.fleet.fleets import scenario
from tests.workers.watch import LONG


def test_a_stop_while_agents_start_leaves_nothing(tmp_path):
    def watch(status, fleet):
        if status.time < 0.0:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_fleet(scenario(), out=tmp_path / "live.nc", progress=False, watch=watch)
    assert list(tmp_path.iterdir()) == []


def test_a_second_signal_says_where_the_journals_are(tmp_path):
    def watch(status, fleet):
        if status.time > 0.5:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Aborted) as stop:
        run_fleet(scenario(), out=tmp_path / "live.nc", progress=False, watch=watch)
    folder = tmp_path / "live.nc.journals"
    assert f"dwell merge {folder} --partial --out {tmp_path / 'live.nc'}" in str(stop.value)
    assert len(merge_journals(folder).details.live.samples) > 0


def test_a_killed_launcher_leaves_no_agents_and_whole_journals(tmp_path):
    """Standard error closes when the last process has ended."""
    path, folder = tmp_path / "two-hills.toml", tmp_path / "live.nc.journals"
    dwell = [sys.executable, "-m", "dwell"]
    subprocess.run([*dwell, "init", "two-hills", "--out", path], check=True, capture_output=True)
    command = [*dwell, "fleet", path, "--out", tmp_path / "live.nc"]
    quiet = {**os.environ, "DWELL_PROGRESS": "0"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=quiet) as launcher:
        limit = time.monotonic() + LONG
        while time.monotonic() < limit and (
            not folder.is_dir() or sum(one.stat().st_size for one in folder.iterdir()) < 60_000
        ):
            time.sleep(0.05)
        launcher.kill()
        _, says = launcher.communicate(timeout=LONG)
    assert says == b""
    run = merge_journals(folder)
    assert run.stop.reason.value == "interrupted"
    assert 0.0 < run.horizon < 30.0
    assert len(run.details.live.samples) > 0


def test_a_journal_whose_header_was_cut_off_holds_nothing(tmp_path):
    for name in ("agent-0000-0000", "agent-0001-0000"):
        JournalWriter(tmp_path / f"{name}.journal", {"run": "a", "dimension": 2}).close()
    path = tmp_path / "agent-0001-0000.journal"
    for size in (20, 5, 0):
        os.truncate(path, size)
        assert [one.path.name for one in read_journals(tmp_path)[0]] == ["agent-0000-0000.journal"]


def started(
    tmp_path, peers=tuple(f"127.0.0.1:{7400 + p}" for p in range(6)), key=None, journals="log"
):
    made = scenario(fleet={"peers": list(peers)})
    run_agent(made, 0, tmp_path / journals, "a", AgentLinks(key=key), lambda text: None)


def test_a_key_that_cannot_be_read_is_named(tmp_path):
    for key in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match=f"{key} cannot be read"):
            started(tmp_path, key=key)


def test_a_folder_of_journals_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "log").write_text("x")
    with pytest.raises(InputError, match="log is no folder"):
        started(tmp_path)


def test_two_agents_with_one_address_are_refused(tmp_path):
    peers = [f"127.0.0.1:{7400 + p // 2}" for p in range(6)]
    with pytest.raises(InputError, match=r"127\.0\.0\.1:7400 .* agents 0 and 1"):
        started(tmp_path, peers)


def test_a_host_that_is_unknown_and_a_port_that_does_not_exist_are_named(tmp_path):
    rest = [f"127.0.0.1:{7400 + p}" for p in range(5)]
    with pytest.raises(InputError, match=r"99999.*1 to 65535"):
        started(tmp_path, ["127.0.0.1:99999", *rest])
    with pytest.raises(InputError, match=r"no\.invalid is not known"):
        started(tmp_path, ["no.invalid:7400", *rest])


def test_an_address_in_use_is_named(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        peers = [f"127.0.0.1:{port}", *(f"127.0.0.2:{7400 + p}" for p in range(5))]
        with pytest.raises(InputError, match=r"in use.*end the process"):
            started(tmp_path, peers)
