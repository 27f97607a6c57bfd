"""Scenarios that cannot run as a fleet, each with what came, what is needed and what to do."""

import json

import pytest

import dwell
from dwell.errors import InputError
from tests.cli.shell import dwell as shell
from tests.fleet.fleets import scenario

TIMER = {"kind": "timer", "k1": 0.4, "nu": 0.3, "t1": 0.2, "t2": 0.6}
CASES = [
    ({"controller": {"kind": "lloyd", "mode": "ode"}}, "needs more than samples of neighbours"),
    ({"network": {"loss": 0.5}}, "the network of a fleet is real; leave it out"),
    ({"fleet": {"margin": 0.5}}, "leaves no interval between T1 and T2; use less"),
    ({"fleet": {"silence": 0.2}}, "send every 0.1 s; use at least 0.3"),
    ({"fleet": {"silence": 0.5}}, "use more than the longest interval"),
    ({"fleet": {"quorum": 7}}, "more than the 6 agents of the scenario; use less"),
    ({"fleet": {"faults": {"clock_offset": 5.0}}}, "must be less than run.horizon, because"),
    ({"fleet": {"clearance": 0.4}},
     "agents 0 and 1 start 0.762 apart, but fleet.clearance = 0.4 is the radius of a robot; "
     "use less than 0.381, or other starts"),
]  # fmt: skip


@pytest.mark.parametrize(("tables", "says"), CASES, ids=[says for _, says in CASES])
def test_a_scenario_that_cannot_run_live(tables, says):
    with pytest.raises(InputError) as refused:
        dwell.run_fleet(scenario(**tables), transport="udp")
    assert says in str(refused.value)


COMMANDS = {
    "validate": (), "fleet": ("--transport", "memory"),
    "agent": ("--id", 0, "--run", "r", "--journals", "log"),
}  # fmt: skip
OWN = """
import dwell
class Law:
    traits = dwell.Traits(shortest_interval=0.5, longest_interval=0.5)
    def begin(self, observation): ...
    decide = begin
"""


@pytest.mark.parametrize("law", ["timer", "own"])
@pytest.mark.parametrize("command", COMMANDS)
def test_robots_that_overlap_at_the_start_are_refused(command, law, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables = scenario(fleet={"clearance": 0.4}).model_dump(mode="json", exclude_none=True)
    if law == "own":
        (tmp_path / "near.py").write_text(OWN)
        tables["controller"] = {"kind": "python", "class": "near:Law"}
        tables["fleet"] |= {"silence": 3.0, "top_speed": 0.4}
    (tmp_path / "case.json").write_text(json.dumps(tables))
    outcome = shell(command, "case.json", *COMMANDS[command])
    assert outcome.code == 2
    assert "agents 0 and 1 start 0.762 apart, but fleet.clearance = 0.4" in outcome.sentences[-1]
    assert not list(tmp_path.glob("log/*.journal"))


def test_a_transport_that_does_not_exist():
    with pytest.raises(InputError, match="one of memory, udp, zenoh is needed"):
        dwell.run_fleet(scenario(), transport="carrier pigeons")


def test_robots_that_arrive_later_may_do_so_where_others_began():
    later = [{"from": 0.4, "arrive": [[0.6, 0.4]]}]
    short = scenario(horizon=0.5, fleet={"clearance": 0.3}, world=later)
    assert dwell.run_fleet(short, transport="memory", progress=False).stop.reason.ok


def test_a_fleet_in_real_time_takes_time():
    with pytest.raises(InputError, match=r"run\.horizon is 0, but a live fleet takes time"):
        dwell.run_fleet(scenario(horizon=0.0))
