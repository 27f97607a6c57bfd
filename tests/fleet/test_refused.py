"""Scenarios that cannot run as a fleet, each with what came, what is needed and what to do."""

import pytest

import dwell
from dwell.errors import InputError
from tests.fleet.fleets import scenario

TIMER = {"kind": "timer", "k1": 0.4, "nu": 0.3, "t1": 0.2, "t2": 0.6}
CASES = [
    ({"controller": {"kind": "lloyd", "mode": "ode"}}, "needs more than samples of neighbours"),
    ({"network": {"loss": 0.5}}, "the network of a fleet is real; leave it out"),
    ({"fleet": {"margin": 0.5}}, "leaves no interval between T1 and T2; use less"),
    ({"fleet": {"silence": 0.2}}, "send every 0.1 s; use at least 0.3"),
    ({"fleet": {"silence": 0.5}}, "use more than the longest interval"),
    ({"fleet": {"quorum": 7}}, "more than the 6 agents of the scenario; use less"),
    ({"fleet": {"faults": {"clock_offset": 5.0}}}, "must be less than run.horizon; agents end"),
    ({"fleet": {"clearance": 0.4}},
     "agents 0 and 1 start 0.762 apart, but fleet.clearance = 0.4 is the radius of a robot; "
     "use less than 0.381, or other starts"),
]  # fmt: skip


@pytest.mark.parametrize(("tables", "says"), CASES, ids=[says for _, says in CASES])
def test_a_scenario_that_cannot_run_live(tables, says):
    with pytest.raises(InputError) as refused:
        dwell.run_fleet(scenario(**tables), transport="udp")
    assert says in str(refused.value)


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
