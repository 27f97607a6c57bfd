"""The record of a live run in the file of the run, and its numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from dwell._netcdf import json_table
from dwell.agents import CoverageSystem, EventTable
from dwell.live.echoes import ECHO
from dwell.live.record import INTERVENTIONS, STALE, LiveRecord, belief_type, sample_type
from dwell.live.table import OWN, SHARED, samples_of
from dwell.verify.live import beyond_interval

LIVE = "live"  # the attribute, and the beginning of the names of variables
ROWS = ("live_sample", "live_begin", "belief")  # their dimensions
SHIFT, COUNT = "live_shift", "belief_count"
BELIEF = belief_type(1).names or ()
# Absent in files of earlier versions.
ECHOES = ("live_tag", "live_serial", *(f"belief_echo_{name}" for name in ECHO.names or ()))
ADDED = ("live_begin_voronoi", *ECHOES)
_ABOUT = {
    "boot": "how often the agent had been started before",
    "k": "number of the sample since then, from 1 on",
    "flags": "why the sample was special, and what limited the velocity; a sum of powers of 2",
    "known": "number of agents known, the own one included",
    "due": "when the sample was due, by the agent's clock",
    "time": "when it was taken, by the agent's clock",
    "sent_at": "when the message of the sample before had been sent; nan if there was none",
    "measured": "when the own position was measured",
    "before": "velocity before the sample",
    "commanded": "velocity that the law chose",
    "next_at": "when the next sample is due, by the agent's clock",
    "age": "age of the message that the belief comes from",
    "position": "position",
    "velocity": "velocity",
    "agent": "number of the agent",
    "tag": "the start of the agent, as in echoes; 0: messages hold none",
    "serial": "number of the message that announces the sample, as in echoes",
    "echo_tag": "the start of the believing agent that the message had received of last; 0: none",
    "echo_hold": "how long before, in 0.1 ms",
    "echo_serial": "and the number of the message that it had received",
}


def live_variables(live: LiveRecord) -> dict[str, Any]:
    """What the file of a live run has beside that of a simulated one."""
    begun, rows = live.samples[live.times <= 0.0], (ROWS[0],)
    found = {f"{LIVE}_{name}": _variable(ROWS[0], name, live.samples) for name in OWN}
    found |= {f"{LIVE}_begin_{name}": _variable(ROWS[1], name, begun) for name in SHARED}
    found |= {f"belief_{name}": _variable(ROWS[2], name, live.beliefs) for name in BELIEF}
    found[SHIFT] = (rows, live.shifts, {"long_name": "time of the run minus that of the clock"})
    found[COUNT] = (rows, live.counts, {"long_name": "number of beliefs behind the sample"})
    return found


def _variable(dimension: str, name: str, records: np.ndarray) -> Any:
    column = np.ascontiguousarray(records[name])
    dims = (dimension, *("axis",) * (column.ndim - 1))
    return dims, column, {"long_name": _ABOUT.get(name, name.replace("_", " "))}


def live_attribute(live: LiveRecord) -> str:
    """What is one value for the whole run, as JSON."""
    return json.dumps(
        {
            "settings": live.settings, "dropped": live.dropped,
            "uncertainty": known_or_none(live.uncertainty),
            "exact": live.exact, "cut": live.cut,
            "clocks": {str(p): known_or_none(unsure) for p, unsure in live.clocks.items()},
        }
    )  # fmt: skip


def known_or_none(uncertainty: float) -> float | None:
    """An uncertainty for JSON, which has no infinity; None if clocks could not be compared."""
    return uncertainty if np.isfinite(uncertainty) else None


def live_from(variables: Mapping[str, Any], attribute: str, table: EventTable) -> LiveRecord:
    """The record of a live run, as it was stored; its samples share columns with `table`."""
    about, n = json_table(attribute, LIVE), table.dimension
    begun = _records(variables, f"{LIVE}_begin_", SHARED, sample_type(n))
    own = {name: _column(variables, f"{LIVE}_", name, len(begun) + len(table)) for name in OWN}
    beliefs = _records(variables, "belief_", BELIEF, belief_type(n))
    counts, shifts = (np.array(variables[name][1]) for name in (COUNT, SHIFT))
    if int(counts.sum()) != len(beliefs) or len(counts) != len(begun) + len(table):
        raise ValueError("beliefs of another number of samples")
    if not all(isinstance(about.get(name, {}), dict) for name in ("settings", "dropped", "clocks")):
        raise ValueError("a live run whose settings are no table")
    if any(len(one) != 2 for one in about["cut"]):
        raise ValueError("a cut-off journal that is not an agent and a boot")
    unsure = np.inf if about["uncertainty"] is None else about["uncertainty"]
    return LiveRecord(
        about["settings"], samples_of(table, begun, own), beliefs, counts, shifts, unsure,
        about["exact"], about["dropped"], tuple(map(tuple, about["cut"])),
        {int(p): np.inf if one is None else one for p, one in about.get("clocks", {}).items()},
        has_echoes=any(name in variables for name in ECHOES),
    )  # fmt: skip


def _records(
    variables: Mapping[str, Any], prefix: str, names: tuple[str, ...], kind: np.dtype[Any]
) -> np.ndarray:
    records = np.zeros(len(variables[f"{prefix}agent"][1]), dtype=kind)
    for name in names:
        records[name] = _column(variables, prefix, name, len(records))
    return records


def _column(variables: Mapping[str, Any], prefix: str, name: str, count: int) -> Any:
    """A column of records; zeros where an earlier version did not record it."""
    if prefix + name in ADDED and prefix + name not in variables:
        return np.zeros(count, dtype=np.int64)
    return variables[prefix + name][1]


def live_numbers(system: CoverageSystem, live: LiveRecord) -> dict[str, Any]:
    """The numbers of a live run that a simulated one does not have."""
    rows = live.samples
    agents, boots = np.unique(rows["agent"]), np.unique(rows[["agent", "boot"]])
    counts = {
        name: int(np.count_nonzero(rows["flags"] & flag)) for flag, name in INTERVENTIONS.items()
    }
    return {
        "agents": len(agents),
        "boots": len(boots),
        "samples": len(rows),
        "gaps_over_t2": int(np.count_nonzero(beyond_interval(system, live)[0] > 1.0)),
        "stale": int(np.count_nonzero(rows["flags"] & STALE)),
        "interventions": {name: count for name, count in counts.items() if count},
        "dropped": dict(live.dropped),
        "clock_uncertainty": known_or_none(live.uncertainty),
        "exact": live.exact,
    }
