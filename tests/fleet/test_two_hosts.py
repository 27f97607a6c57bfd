"""Agents in two network namespaces, as on two machines; the link between them fails for a while."""

import subprocess
import sys
import time
import uuid

import numpy as np
import pytest

import dwell
from dwell.fleet.run import merge_journals
from dwell.live.record import MUTE, STAND
from tests.workers.watch import LONG

SCENARIO = """
[workspace]
kind = "box"
lower = [0.0, 0.0]
upper = [4.0, 4.0]
[agents]
start = [[0.5, 0.5], [1.0, 0.6], [0.7, 1.1]]
[controller]
kind = "timer"
k1 = 0.5
nu = 0.5
t1 = 0.2
t2 = 0.8
[run]
horizon = 9.0
seed = 1
[fleet]
peers = ["10.93.0.1:7400", "10.93.0.1:7401", "10.93.0.2:7400"]
silence = 1.5
"""


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True)


@pytest.fixture
def hosts():
    """The names of two namespaces that are connected."""
    names = [f"dwell-{uuid.uuid4().hex[:6]}" for _ in range(2)]
    links = [f"dw{uuid.uuid4().hex[:6]}" for _ in range(2)]
    try:
        made = [ip("netns", "add", name).returncode for name in names]
    except FileNotFoundError:
        made = [1]
    if any(made):
        pytest.skip("network namespaces cannot be made here")
    ip("link", "add", links[0], "type", "veth", "peer", "name", links[1])
    for k, (name, link) in enumerate(zip(names, links, strict=True), 1):
        ip("link", "set", link, "netns", name)
        ip("-n", name, "addr", "add", f"10.93.0.{k}/24", "dev", link)
        ip("-n", name, "link", "set", link, "up")
        ip("-n", name, "link", "set", "lo", "up")
    yield names, links
    for name in names:
        ip("netns", "del", name)


def test_a_link_that_fails_and_returns(tmp_path, hosts):
    names, links = hosts
    agents = started(tmp_path, names, SCENARIO)
    try:
        sampled(tmp_path, 3)
        time.sleep(1.5)
        ip("-n", names[1], "link", "set", links[1], "down")
        time.sleep(3.5)
        ip("-n", names[1], "link", "set", links[1], "up")
        said = [one.communicate(timeout=LONG)[1] for one in agents]
    finally:
        for one in agents:
            one.kill()
    assert [one.returncode for one in agents] == [0, 0, 0], said
    run = merge_journals(tmp_path / "log")
    rows = run.details.live.samples
    stood = rows[(rows["flags"] & STAND) != 0]
    assert 2 in stood["agent"]
    assert (rows["known"][rows["agent"] != 2] == 2).any()  # the other two are a quorum
    assert rows[rows["agent"] == 2][-1]["known"] == 3
    report = {f.name: f.status for f in dwell.check(run, progress=False).findings}
    for name in ("jump", "heard", "reset", "flow", "belief", "complete", "safety"):
        assert report[name] == "holds", name


RADIUS = 0.2
# A narrow peak attracts all three.
CROWD = (
    SCENARIO.replace("[0.5, 0.5], [1.0, 0.6], [0.7, 1.1]", "[0.5, 2.0], [2.0, 3.5], [3.5, 2.0]")
    + f"clearance = {RADIUS}\n[density]\nkind = 'gaussian'\ncenter = [2.0, 2.0]\nrate = 3.0\n"
)


@pytest.mark.timeout(2.0 * LONG)
def test_a_robot_whose_transmitter_fails_stands_and_is_not_run_over(tmp_path, hosts):
    """Its machine has no way to the other one any more, which still sends to it."""
    names, _ = hosts
    agents = started(tmp_path, names, CROWD)
    try:
        sampled(tmp_path, 3)
        ip("-n", names[1], "route", "add", "blackhole", "10.93.0.1/32")
        said = [one.communicate(timeout=LONG)[1] for one in agents]
    finally:
        for one in agents:
            one.kill()
    assert [one.returncode for one in agents] == [0, 0, 0], said
    live = merge_journals(tmp_path / "log").details.live
    last = {p: live.samples[live.samples["agent"] == p][-1] for p in range(3)}
    assert last[2]["flags"] & MUTE
    assert last[2]["known"] == 3  # it hears the others
    assert last[0]["known"] == last[1]["known"] == 2
    paths = [path_of(live, p) for p in range(3)]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        gaps = np.linalg.norm(paths[a] - paths[b], axis=1)
        assert gaps.min() >= 2.0 * RADIUS - 0.5 * live.uncertainty


def path_of(live, agent):
    """The positions of an agent at times of the run that all agents share."""
    own = live.samples["agent"] == agent
    rows, times = live.samples[own], np.linspace(0.3, 8.5, 2000)
    held = np.maximum(np.searchsorted(live.times[own], times, side="right") - 1, 0)
    since = np.clip(times - live.times[own][held], 0.0, rows["cruise"][held])
    return rows["position"][held] + rows["hold"][held] * since[:, None]


def started(folder, names, scenario):
    """Agents 0 and 1 on one machine, agent 2 on another."""
    (folder / "site.toml").write_text(scenario)
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text(uuid.uuid4().hex)
    return [
        subprocess.Popen(
            ["ip", "netns", "exec", names[p == 2], sys.executable, "-m", "dwell", "agent",
             "site.toml", "--id", str(p), "--journals", "log", "--key", "secret"],
            cwd=folder, stderr=subprocess.PIPE, text=True,
        )
        for p in range(3)
    ]  # fmt: skip


def sampled(folder, agents):
    """Wait until all agents have written samples."""
    limit = time.monotonic() + LONG
    while time.monotonic() < limit:
        sizes = [path.stat().st_size for path in (folder / "log").glob("*.journal")]
        if len(sizes) == agents and min(sizes) > 2500:
            return
        time.sleep(0.1)
    raise AssertionError("the agents did not begin")
