"""Fleets in virtual time, and their records."""

from dataclasses import replace

import numpy as np

from dwell.fleet.virtual import VirtualFleet
from dwell.hybrid import Stop, StopReason
from dwell.live.record import LiveRecord
from dwell.live.settings import LiveSettings, live_law
from dwell.results.live_run import live_run
from dwell.runner import made_with
from dwell.scenario import load_scenario, parse_scenario
from dwell.scenario.build import build
from dwell.scenario.fleet import FleetSpec

START = [[0.5, 0.4], [1.2, 0.7], [0.6, 1.4], [1.5, 1.6], [2.2, 0.5], [0.7, 2.3]]
EXACT = LiveSettings(margin=0.0, silence=1e9)


def scenario(seed=1, horizon=4.0, **tables):
    """Six agents in a box, with timers from 0.2 to 0.6."""
    law = {"kind": "timer", "k1": 0.4, "nu": 0.3, "t1": 0.2, "t2": 0.6}
    return parse_scenario(
        {
            "workspace": {"kind": "polygon", "vertices": [[0, 0], [4, 0], [4, 3], [0, 3]]},
            "density": {"kind": "gaussian", "center": [2.5, 2.0], "rate": 0.4},
            "agents": {"start": START},
            "controller": law,
            "run": {"horizon": horizon, "seed": seed},
            **tables,
        }
    )


def template(name, *changes):
    """A scenario that comes with the package."""
    return load_scenario(f"src/dwell/scenario/templates/{name}.toml", changes)


def recorded(made, settings):
    """The record of what a fleet in virtual time decided."""
    rows = np.array([one.sample for one in made])
    return LiveRecord(
        settings.table(), rows, np.concatenate([one.beliefs for one in made]),
        np.array([len(one.beliefs) for one in made]), np.zeros(len(rows)), 0.0, True, {},
    )  # fmt: skip


def record_of(case, settings=EXACT, **more):
    """The record of a scenario as a fleet in virtual time."""
    system, start, _ = build(case)
    made = []
    fleet = VirtualFleet(live_law(system, settings), start, watch=made.append, **more)
    fleet.run(case.run.horizon)
    return recorded(made, settings)


def run_from(case, live):
    """The run of a record; its scenario has the settings of the record."""
    said = FleetSpec(**{name: v for name, v in live.settings.items() if (name, v) != ("margin", 0)})
    case = case.model_copy(update={"fleet": said})
    stop = Stop(StopReason.HORIZON, case.run.horizon)
    return live_run(case, live, build(case)[1], stop, made_with(case))


def copied(live, **changes):
    """A record that can be changed without changing `live`."""
    own = {"samples": live.samples.copy(), "beliefs": live.beliefs.copy()}
    return replace(live, **own, **changes)
