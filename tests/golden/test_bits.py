"""Event tables that stay the same to the last bit: every law, on the line, in the plane, in space.

`python -m tests.golden.test_bits` writes the digests anew; a changed one needs a recorded reason.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.scenario import parse_scenario

KEPT = Path(__file__).with_name("bits.json")
SITES: dict[int, Any] = {
    1: {"kind": "interval", "bounds": [-1.0, 9.0]},
    2: {"kind": "polygon", "vertices": [[0, 0], [7, -1], [10, 3], [6, 7], [-1, 5]]},
    3: {"kind": "box", "lower": [0, 0, 0], "upper": [4, 3, 2]},
}
LAWS: dict[str, dict[str, Any]] = {
    "timer": {"kind": "timer", "k1": 0.5, "nu": 0.3, "t1": 0.2, "t2": 0.5},
    "lloyd": {"kind": "lloyd", "k2": 1.0, "dt": 0.2},
    "discrete-lloyd": {"kind": "discrete-lloyd", "step": 0.3, "relaxation": 1.2, "speed": 0.9},
    "self-triggered": {"kind": "self-triggered", "v": 0.4, "delta": 0.5},
    "self-triggered-centroid": {"kind": "self-triggered-centroid", "v_max": 0.4, "dt": 0.1},
    "event-triggered": {"kind": "event-triggered", "s_max": 0.4, "dt": 0.2},
}


def density(n: int, kind: str) -> dict[str, Any]:
    hill = {"kind": "gaussian", "center": [2.0] * n, "rate": 0.4}
    steep = {"kind": "polynomial", "terms": [[2, *[0] * (n - 1), 0.3], [0] * n + [1.0]]}
    mixture = {"kind": "mixture", "parts": [{"kind": "uniform"}, hill, steep]}
    return {"uniform": {"kind": "uniform"}, "gaussian": hill, "mixture": mixture}[kind]


KINDS = ((1, "mixture"), (2, "gaussian"), (3, "uniform"))
CASES = {f"{law} {n} {kind}": (law, n, kind, 7) for law in LAWS for n, kind in KINDS}
CASES |= {
    "timer 2 mixture": ("timer", 2, "mixture", 7),
    "timer 3 gaussian": ("timer", 3, "gaussian", 7),
    "timer 2 of 300": ("timer", 2, "gaussian", 300),
    "timer 3 of 300": ("timer", 3, "uniform", 300),
}


def digest(name: str) -> dict[str, Any]:
    """The number of jumps of a case, and a digest of what each jump is."""
    law, n, kind, count = CASES[name]
    scenario = parse_scenario({
        "schema_version": 1, "name": name, "workspace": SITES[n], "density": density(n, kind),
        "agents": {"start": {"count": count, "seed": 5}},
        "controller": LAWS[law], "run": {"horizon": 3.0, "seed": 11},
    })  # fmt: skip
    events = dwell.run_scenario(scenario).events
    total = hashlib.sha256()
    for column in (events.time, events.agent, events.positions, events.holds, events.next_at,
                   events.errors, events.neighbors, events.nearest):  # fmt: skip
        whole = column.dtype.kind in "iu"
        total.update(np.ascontiguousarray(column, dtype="<i8" if whole else "<f8").tobytes())
    return {"jumps": len(events), "sha256": total.hexdigest()}


@pytest.mark.parametrize("name", CASES)
def test_the_bits_of_a_run_are_kept(name: str) -> None:
    assert digest(name) == json.loads(KEPT.read_text())[name]


if __name__ == "__main__":
    KEPT.write_text(json.dumps({name: digest(name) for name in CASES}, indent=1) + "\n")
