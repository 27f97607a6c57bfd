"""Stand-ins for runs: only what claims and tables look at, with whatever values a test wants."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from dwell import Timer
from dwell.agents import EventTable
from dwell.agents.state import Spent
from dwell.agents.traits import traits_of
from dwell.measure import Metrics
from dwell.studies.paper.simulations import Pair, Simulations, TriggerFigures

THIRTY = Timer(k1=0.525, nu=0.7, t1=0.01, t2=0.03)
ASSUMED = {"eta_max": 0.4, "lipschitz": 5.0}


def events(intervals: list[float], horizon: float = 150.0, **counts: int) -> EventTable:
    """Every agent has an event at the end of each interval of its own, over and over."""
    times = [np.arange(1, int(horizon / wait + 1e-9) + 1) * wait for wait in intervals]
    agents = np.concatenate([np.full(len(t), p) for p, t in enumerate(times)])
    joined = np.concatenate(times)
    order = np.lexsort((agents, joined))
    table = EventTable.blank(len(order))
    for name in EventTable.__dataclass_fields__:
        column = getattr(table, name)
        if column is not None:
            column[:] = 0
    table.time[:], table.agent[:] = joined[order], agents[order]
    extra: dict[str, Any] = {k: np.full(len(order), v, dtype=np.int64) for k, v in counts.items()}
    columns = {name: getattr(table, name) for name in EventTable.__dataclass_fields__}
    return EventTable(**{**columns, **extra})


def run(**changes: Any) -> Any:
    """A run whose largest error falls to `floor` at time `rests`, and stays there."""
    values: dict[str, Any] = {
        "agents": 2, "horizon": 150.0, "intervals": [0.425, 0.425], "counts": {}, "cost": 201.0,
        "floor": 1e-14, "rests": 60.0, "reached_at": 50.0, "hold_error": 0.3, "law": THIRTY,
        "places": [(0.0, 0.0), (10.0, 0.0)], "contact": False, "first": Spent(),
        "trigger": TriggerFigures(2, 5, 400, 0.5, 0.1),
    }  # fmt: skip
    values.update(changes)
    v = SimpleNamespace(**values)
    times = np.arange(301) * 0.5
    errors = np.where(times[:, None] < v.rests, 1.0, v.floor) * np.ones(v.agents)
    metrics = Metrics(
        times, errors, np.full((301, v.agents), v.hold_error), np.full(301, v.cost), np.ones(301)
    )
    ends = [SimpleNamespace(costs=[v.cost], errors=errors[-1])] * (1 if v.contact else 2)
    return SimpleNamespace(
        agents=v.agents,
        horizon=v.horizon,
        events=events(v.intervals, v.horizon, **v.counts),
        metrics=metrics,
        start=SimpleNamespace(spent=(v.first,) * v.agents),
        system=SimpleNamespace(
            controller=v.law, traits=traits_of(v.law), spacing=0.4
        ),  # where it ends, it rests
        trigger=v.trigger,
        reached_at=v.reached_at,
        details=SimpleNamespace(assumed=ASSUMED, ends_in_contact=v.contact, ends=ends),
        workspace=SimpleNamespace(diameter=30.0),
        cost=lambda t: v.cost,
        errors=lambda t: errors[-1],
        positions=lambda t: np.array(v.places),
    )


def both(**changes: Any) -> Pair:
    """The same stand-in for exact integrals and for the grid."""
    return Pair(run(**changes), run(**changes))


# Self-triggered: an event every 0.75, each with 70 + 70 cells, is about 28,000 in all.
TRIGGER = {"guaranteed": 70, "dual_guaranteed": 70}

AS_THE_PAPER_SAYS: dict[str, dict[str, Any]] = {
    "n30": {"agents": 30, "intervals": [0.425] * 30, "floor": 1e-10},
    "lloyd": {"intervals": [0.01, 0.01], "floor": 1.23e-13},
    "self_triggered": {"intervals": [0.75, 0.75], "counts": TRIGGER, "rests": 112.0},
    "timer": {"places": [(0.0, 0.0), (10.0, 5.0)], "rests": 78.5},
    "other_preset": {"intervals": [0.75, 0.75], "counts": TRIGGER},
}


def paper(**changes: dict[str, Any]) -> Simulations:
    """Simulations in which every claim holds, changed as asked."""
    answer = {name: {**usual, **changes.get(name, {})} for name, usual in AS_THE_PAPER_SAYS.items()}
    return Simulations(**{name: both(**values) for name, values in answer.items()})
