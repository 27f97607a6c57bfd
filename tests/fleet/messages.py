"""Announcements, and hosts that hear them, for tests of transports."""

import time

import numpy as np

from dwell.fleet.clock import Clock
from dwell.fleet.configuration import fleet_plan
from dwell.live.beliefs import Announcement
from dwell.scenario import parse_scenario
from tests.workers.watch import LONG

RUN, AGENTS = "of tests/1", 3  # zenoh allows no slash in a part of a key


def announced(
    agent, k, boot=0, stamp=0.0, position=(1.0, 2.0), velocity=(0.5, 0.0), cruise=0.5, **more
):
    at, velocity = np.array(position, float), np.array(velocity, float)
    return Announcement(agent, boot, k, stamp, cruise, at, velocity, **more)


def plan_in(folder, key=None, run=RUN):
    """The plan of three agents in a square."""
    made = parse_scenario(
        {
            "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [4.0, 4.0]},
            "agents": {"start": {"count": AGENTS, "region": "workspace", "seed": 3}},
            "controller": {"kind": "timer", "k1": 0.5, "nu": 0.5, "t1": 0.1, "t2": 0.4},
            "run": {"horizon": 3.0, "seed": 5},
        }
    )
    return fleet_plan(made, folder, run, key)


def host_of(plan, agent, transport, sources=None, shared=True):
    """A host with one agent."""
    return plan.host(
        f"host-{agent}", [agent], transport, Clock(time.monotonic()), boot=0, shared_clock=shared,
        sources=sources,
    )  # fmt: skip


def state(beliefs):
    """Everything that a host believes, to compare."""
    return [np.copy(v) for v in vars(beliefs).values() if isinstance(v, np.ndarray)]


def unchanged(before, beliefs):
    return all(np.array_equal(a, b) for a, b in zip(before, state(beliefs), strict=True))


def until(condition, seconds=LONG):
    """Wait for something that will happen; whether it did."""
    limit = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < limit:
        time.sleep(0.01)
    return met
