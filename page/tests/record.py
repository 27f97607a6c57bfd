"""Records small runs of every kind of motion for the tests of the page.

    python page/tests/record.py

writes page/tests/recorded/*.json: what a browser would be sent, and where everybody is at some
hybrid times as the Python side knows it; cells, and the numbers of the design panel.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import dwell
from dwell.agents import EventTable
from dwell.exports.messages import begin_message, sample_columns
from dwell.exports.recording import recording_of
from dwell.exports.world_json import world_json
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from dwell.theory.design import Setting
from dwell.web.wire_format import pack
from dwell.web.work.scenario_tasks import as_json

HERE = Path(__file__).parent / "recorded"
SITE = [[-8.0, 0.0], [-3.0, -9.0], [10.0, -11.0], [22.0, -5.0], [24.0, 8.0], [12.0, 18.0]]
HILL = {"kind": "gaussian", "center": [7.5, 4.5], "rate": 0.03}
START = [[-3.27, -4.44], [-2.34, -6.95], [0.37, -0.27], [0.84, -2.7], [10.0, 3.0]]
TIMER = {"kind": "timer", "k1": 0.5, "nu": 0.5, "t1": 0.2, "t2": 0.65}
RUNS: dict[str, dict[str, Any]] = {
    "timer": {"controller": TIMER},
    "triggered": {"controller": {"kind": "self-triggered", "v": 0.5}, "run": {"horizon": 3.0}},
    "steps": {"controller": {"kind": "discrete-lloyd", "step": 0.7, "speed": 0.5}},
    "curve": {"controller": {"kind": "lloyd", "mode": "ode", "tolerance": 1e-6}},
    "line": {
        "workspace": {"kind": "interval", "bounds": [0.0, 10.0]},
        "density": {"kind": "gaussian", "center": [6.0], "rate": 0.15},
        "agents": {"start": [0.3, 1.6, 2.8]},
        "controller": TIMER,
    },
    "lives": {
        "controller": TIMER,
        "world": [
            {"from": 3.0, "leave": [1]},
            {"from": 6.0, "leave": [0], "arrive": [[8.0, 8.0], [15.0, 0.0]]},
        ],
    },
}
# Laws side by side, each with another kind of motion or another way to obtain positions.
LAWS: dict[str, dict[str, Any]] = {
    "timer": {**TIMER, "k1": 2.5, "nu": 2.0},
    "lloyd": {"kind": "lloyd", "dt": 0.1},
    "self-triggered": {"kind": "self-triggered"},
    "event-triggered": {"kind": "event-triggered", "dt": 0.2},
    "curve": {"kind": "lloyd", "mode": "ode", "tolerance": 1e-4},
}
FIGURES = ("settled_at", "cost", "looks", "cells", "received", "sent", "top_speed", "distance")
TRACKS = (
    {"times": [0.0, 3.0, 7.5], "values": [[1.0, 1.0], [3.0, 2.0], [-1.0, 0.1]]},
    {"times": [0.0, 3.0, 7.5], "values": [0.4, 0.7, 0.2], "after": "hold"},
    {"times": [0.5, 2.0, 6.0], "values": [[1.0], [2.0], [4.0]], "between": "step"},
    {"times": [0.0, 9.0], "values": [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.2], [0.2, 2.0]]]},
    {"center": [2.0, 2.0], "radius": 1.3, "period": 6.0, "phase": 0.1},
    {"center": [-1.0, 0.5], "radius": 0.7, "period": -2.5},
)
# Agents, seed, shift, and the least and the largest radius: discs apart, discs that overlap, empty
# cells and agents outside their own, one radius for all, cells far from the origin.
RANGES = (
    (1, 0, 0.0, 4.0, 4.0),
    (7, 1, 0.0, 0.5, 6.0),
    (300, 2, 0.0, 0.2, 3.0),
    (300, 2, 0.0, 0.6, 0.6),
    (40, 4, 0.0, 30.0, 40.0),
    (40, 3, 5e6, 1.0, 2.0),
)
WORLDS: tuple[dict[str, Any], ...] = (
    {
        "density": {
            "kind": "mixture",
            "parts": [
                {"kind": "uniform", "level": 0.2},
                {"kind": "gaussian", "center": TRACKS[4], "rate": TRACKS[1]},
            ],
        },
        "world": [
            {"from": 2.0, "workspace": {"kind": "box", "lower": [-8, -9], "upper": [24, 18]}},
            {"from": 5.0, "density": {"kind": "gaussian", "center": [7, 4], "rate": 0.03}},
        ],
    },
    {
        "workspace": {
            "kind": "polygon",
            "vertices": {
                "times": [0.0, 4.0, 12.0],
                "values": [SITE, [[x + 1.0, 1.1 * y] for x, y in SITE], SITE],
            },
        },
        "density": None,
        "sensor": [
            {"name": "smoke", "density": HILL},
            {"name": "heat", "density": {**HILL, "center": {**TRACKS[0], "after": "hold"}}},
        ],
        "agents": {
            "start": START,
            "sensors": [["smoke"], ["smoke", "heat"], ["heat"], ["heat"], ["smoke"], ["heat"]],
        },
        "world": [{"from": 6.0, "leave": [0], "arrive": [[8.0, 8.0]]}],
    },
)


def scenario_of(changes: dict[str, Any]) -> dict[str, Any]:
    """A scenario with some tables changed."""
    usual = {
        "workspace": {"kind": "polygon", "vertices": SITE},
        "density": HILL,
        "agents": {"start": START},
        "run": {"horizon": 12.0},
    }
    found = {name: value for name, value in {**usual, **changes}.items() if value is not None}
    found["run"] = {"seed": 3, "record": {"kind": "events", "sample_every": 1.0}, **found["run"]}
    return found


def recorded(changes: dict[str, Any]) -> dict[str, Any]:
    """The messages of a run, and its states."""
    run = run_scenario(parse_scenario(scenario_of(changes)))
    return {
        "begin": _begin(run),
        "recording": base64.b64encode(recording_of(run)).decode(),
        "messages": [base64.b64encode(_message(run.events, lo)).decode() for lo in (0, 20)],
        "states": _states(run),
        "looks": int(run.events.count("looked").sum()),
        "received": int(run.events.count("received").sum()),
    }


def _begin(run: dwell.Run) -> dict[str, Any]:
    first = run.start.segments
    return {
        "start": {
            "time": 0.0,
            "positions": first.place.tolist(),
            "holds": first.hold.tolist(),
            "next_at": first.next_at.tolist(),
            "cruise": [_finite(c) for c in first.cruise.tolist()] if first.cruises else None,
            "bend": None if first.bend is None else first.bend.tolist(),
            "errors": np.zeros(first.place.shape).tolist(),
        },
        "fade": _finite(first.fade),
    }


def _message(table: EventTable, lo: int) -> bytes:
    """Rows up to 20, or from 20 on."""
    rows = slice(0, 20) if lo == 0 else slice(20, None)
    return pack("events", lo, {name: values[rows] for name, values in table.columns().items()})


def _states(run: dwell.Run) -> list[dict[str, Any]]:
    times = [0.0, *np.linspace(0.05, run.horizon * 0.999, 9).tolist()]
    times += run.events.time[[3, len(run.events) // 2]].tolist()
    return [
        {
            "t": t,
            "jump": int(np.searchsorted(run.events.time, t, side="right")),
            "positions": run.positions(t).tolist(),
            "velocities": run.holds(t).tolist(),
        }
        for t in times
    ]


def cells() -> dict[str, Any]:
    """Areas of cells, far from the origin too."""
    found = []
    for count, seed, shift in ((1, 0, 0.0), (7, 1, 0.0), (300, 2, 0.0), (40, 3, 5e6)):
        box = np.random.default_rng(seed)
        site = dwell.Polygon((np.array(SITE) + shift).tolist())
        places = box.uniform((-3.0, -5.0), (15.0, 4.0), (count, 2)) + shift
        masses = dwell.tessellate(site, places, dwell.Uniform()).masses
        found.append(
            {
                "ring": (np.array(SITE) + shift).tolist(),
                "positions": places.tolist(),
                "areas": masses.tolist(),
            }
        )
    return {"cases": found, "ranges": [ranges(*case) for case in RANGES], "line": line_ranges()}


def ranges(count: int, seed: int, shift: float, least: float, most: float) -> dict[str, Any]:
    """Areas of cells of agents with sensing radii between two numbers."""
    chance = np.random.default_rng(seed)
    ring = (np.array(SITE) + shift).tolist()
    places = chance.uniform((-3.0, -5.0), (15.0, 4.0), (count, 2)) + shift
    radii = chance.uniform(least, most, count)
    found = dwell.tessellate(dwell.Polygon(ring), places, dwell.Uniform(), radius=radii)
    areas = found.masses.tolist()
    return {
        "ring": ring, "positions": places.tolist(), "radii": radii.tolist(), "areas": areas
    }  # fmt: skip


def line_ranges() -> dict[str, Any]:
    """Lengths of cells on a line, one of them empty."""
    places, radii = [4.0, 1.0, 7.0, 7.2], [1.0, 2.5, 2.0, 0.3]
    found = dwell.tessellate(dwell.Interval(0.0, 10.0), places, dwell.Uniform(), radius=radii)
    lengths = found.masses.tolist()
    return {"bounds": [0.0, 10.0], "positions": places, "radii": radii, "lengths": lengths}


def spaces() -> dict[str, Any]:
    """Volumes and vertices of cells in space; one agent, few, many, and far from the origin."""
    chance = np.random.default_rng(5)
    peaks = chance.normal(size=(14, 3)).round(3).tolist()
    tables: list[dict[str, Any]] = [
        {"kind": "box", "lower": [0.0, 0.0, 0.0], "upper": [4.0, 3.0, 2.0]},
        {"kind": "polytope", "vertices": peaks},
        {"kind": "polytope", "halfspaces": [*(-np.eye(3, 4)).tolist(), [1, 1, 1, 3]]},
        {"kind": "box", "lower": [5e3, 5e3, 0.0], "upper": [5e3 + 1, 5e3 + 1, 1.0]},
    ]  # fmt: skip
    found = []
    for table, count in zip(tables, (12, 8, 1, 30), strict=True):
        site = _solid(table)
        low, high = site.vertices.min(axis=0), site.vertices.max(axis=0)
        tries = chance.uniform(low, high, (40 * count, 3))
        places = np.array([z for z in tries if site.contains(z)])[:count]
        cells = dwell.tessellate(site, places, dwell.Uniform()).cells
        found.append(
            {
                "workspace": table,
                "positions": places.tolist(),
                "volumes": [cell.volume for cell in cells],
                "vertices": [cell.vertices.tolist() for cell in cells],
            }
        )
    return {"cases": found}


def _solid(table: dict[str, Any]) -> Any:
    if table["kind"] == "box":
        return dwell.Box(table["lower"], table["upper"])
    if rows := table.get("halfspaces"):
        return dwell.Polytope(halfspaces=([row[:-1] for row in rows], [row[-1] for row in rows]))
    return dwell.Polytope(table["vertices"])


def designs() -> dict[str, Any]:
    """Limits of some settings."""
    found = []
    for k1, nu, t2, eta, lip, agents, tied in (
        (0.5, 0.5, 0.65, 0.3, 5.0, 12, False),
        (0.525, 0.7, 0.03, 0.4, 5.0, 30, False),
        (0.2, 0.3, 2.0, 0.25, 1.0, 4, False),
        (0.2, 0.3, 0.02, 0.25, 1.0, 4, False),  # only eta_max is wrong
        (0.4, 0.4, 0.3, 0.99 * 0.4, 2.5, 8, True),
    ):
        s = Setting(
            k1=k1, nu=nu, epsilon=1e-8, t1=np.full(agents, t2 / 2), t2=np.full(agents, t2),
            eta_max=eta, lipschitz=np.full(agents, lip), tied=tied,
        )  # fmt: skip
        sync, local = s.sharper
        found.append(
            {
                "setting": {
                    "k1": k1, "nu": nu, "epsilon": 1e-8, "t1": t2 / 2, "t2": t2, "etaMax": eta,
                    "lipschitz": lip, "agents": agents, **({"tied": True} if tied else {}),
                },
                "maxDwellTime": float(s.max_dwell_times[0]),
                "maxGain": float(s.max_gains[0]),
                "syncGlobal": sync.limit,
                "asyncLocal": local.limit,
                "feasible": s.feasible,
                "met": [
                    eta < k1, bool((s.t2 <= s.max_dwell_times).all()), local.fulfilled,
                    sync.fulfilled,
                ],
            }
        )  # fmt: skip
    return {"cases": found}


def tracks() -> dict[str, Any]:
    """Values of tracks at some times."""
    times = [0.0, 0.3, 1.0, 2.0, 2.9999, 3.0, 5.1, 6.0, 7.5, 8.0, 11.7, 123.456]
    made = [
        dwell.Circle(**one) if "radius" in one else dwell.Keyframes(**one) for one in TRACKS
    ]  # fmt: skip
    found = [[track.at(t) for t in times] for track in made]
    return {
        "times": times,
        "cases": [
            {"track": track, "values": values} for track, values in zip(TRACKS, found, strict=True)
        ],
    }


def worlds() -> dict[str, Any]:
    """Scenarios as the server understands them, what it sends of them, and how they are."""
    found, points = [], [[7.0, 4.0], [2.0, 2.5], [10.0, -3.0]]
    for changes in WORLDS:
        scenario = parse_scenario(scenario_of({"controller": TIMER, **changes}))
        timeline = build(scenario)[0].timeline
        assert timeline is not None
        states = []
        for t in (0.0, 1.7, 2.0, 4.9, 5.0, 6.0, 9.0):
            world, present = timeline.world_at(t), timeline.present_at(t)
            states.append(
                {
                    "t": t,
                    "vertices": np.array(world.ground.at(t).workspace.vertices).tolist(),
                    "density": [
                        one.ground.at(t).density.at(np.array(points)).tolist()
                        for one in world.diagrams
                    ],
                    "members": [
                        None if one.members is None else one.members.tolist()
                        for one in world.diagrams
                    ],
                    "present": None if present is None else present.tolist(),
                }
            )
        about = {"scenario": as_json(scenario), "world": world_json(scenario, timeline)}
        found.append({**about, "states": states})
    return {"points": points, "cases": found}


def comparison() -> dict[str, Any]:
    """Laws side by side as `dwell compare` has them: their tables, their runs, their figures."""
    table = scenario_of({"controller": LAWS["timer"], "run": {"horizon": 9.0}})
    table["run"]["record"]["sample_every"] = 0.25
    found = dwell.compare(table, LAWS, workers=1)
    laws = found.as_json()["laws"]
    return {
        "notes": found.notes,
        "runs": {
            name: {
                "controller": run.scenario.controller.model_dump(exclude_none=True),
                "nu": run.system.nu,
                "horizon": run.horizon,
                "begin": begin_message(run.system, run.start, run.scenario),
                "messages": [base64.b64encode(one).decode() for one in _rows(run)],
                "figures": {key: value for key, value in laws[name].items() if key in FIGURES},
            }
            for name, run in found.runs.items()
            if run.scenario is not None
        },
    }


def _rows(run: dwell.Run) -> tuple[bytes, bytes]:
    """All events and all metric samples."""
    columns = {**run.events.columns(), "received": run.events.count("received")}
    return pack("events", 0, columns), pack("samples", 0, sample_columns(run.metrics))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def everything() -> dict[str, dict[str, Any]]:
    """All files by name."""
    runs = {name: recorded(changes) for name, changes in RUNS.items()}
    others = {"cells": cells(), "design": designs(), "tracks": tracks(), "worlds": worlds()}
    others["comparison"] = comparison()
    others["spaces"] = spaces()
    return {**runs, **others}


def main() -> None:
    """Write the files."""
    HERE.mkdir(exist_ok=True)
    for name, content in everything().items():
        (HERE / f"{name}.json").write_text(json.dumps(content) + "\n")
        print(HERE / f"{name}.json", file=sys.stderr)


if __name__ == "__main__":
    main()
