"""`dwell agent`: agents that are started one by one, and find each other by UDP."""

import socket
import subprocess
import sys

import pytest

from dwell.errors import InputError
from dwell.fleet.run import merge_journals
from dwell.fleet.single import AgentLinks, run_agent
from dwell.scenario import load_scenario
from tests.fleet.test_processes import held

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
patience = 60.0
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


def started(site, number):
    words = ["agent", str(site), "--id", str(number), "--journals", str(site.parent / "log")]
    return subprocess.Popen(
        [sys.executable, "-m", "dwell", *words], stderr=subprocess.PIPE, text=True
    )


def test_two_agents_meet_and_their_journals_are_one_run(site):
    both = [started(site, p) for p in range(2)]
    said = [one.communicate(timeout=120)[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    run = merge_journals(site.parent / "log")
    live = run.details.live
    assert set(live.samples["agent"]) == {0, 1}
    assert {2} <= set(live.samples["known"])
    assert live.uncertainty < 1.0
    held(run)
    # The folder is that of a run that is over: another start is refused, not silently nothing.
    again = started(site, 0)
    _, says = again.communicate(timeout=120)
    assert again.returncode != 0
    assert "a run that is over" in says


def test_files_that_cannot_be_read_or_made_are_named(site, tmp_path):
    case = load_scenario(site)
    with pytest.raises(InputError, match="no-key cannot be read"):
        run_agent(case, 0, tmp_path / "log", "r", AgentLinks(key=tmp_path / "no-key"), print)
    with pytest.raises(InputError, match="site"):
        run_agent(case, 0, site / "log", "r", AgentLinks(), print)
