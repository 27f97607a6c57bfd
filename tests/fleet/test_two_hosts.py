"""Agents in two network namespaces, as on two machines; the link between them fails for a while."""

import subprocess
import sys
import time
import uuid

import pytest

import dwell
from dwell.fleet.run import merge_journals
from dwell.live.record import STAND
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
    (tmp_path / "site.toml").write_text(SCENARIO)
    (tmp_path / "secret").touch(0o600)
    (tmp_path / "secret").write_text(uuid.uuid4().hex)
    agents = [
        subprocess.Popen(
            ["ip", "netns", "exec", names[p == 2], sys.executable, "-m", "dwell", "agent",
             "site.toml", "--id", str(p), "--journals", "log", "--key", "secret"],
            cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        )
        for p in range(3)
    ]  # fmt: skip
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


def sampled(folder, agents):
    """Wait until all agents have written samples."""
    limit = time.monotonic() + LONG
    while time.monotonic() < limit:
        sizes = [path.stat().st_size for path in (folder / "log").glob("*.journal")]
        if len(sizes) == agents and min(sizes) > 2500:
            return
        time.sleep(0.1)
    raise AssertionError("the agents did not begin")
