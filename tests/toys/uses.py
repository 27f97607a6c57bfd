"""``python -m tests.toys.uses SCENARIO AXIS``: a scenario run, stored, checked, swept and drawn.

Prints what the commands print as one JSON object, with what a stored run has when it is loaded.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet

import dwell
from tests.cli.shell import dwell as command

SWEEP = """
scenario = "{scenario}"
repeats = 2
seed = 3

[grid]
{axis}
"""


def uses(scenario: Path, axis: str) -> dict[str, Any]:
    """What the commands print, and what they leave."""
    run = command("run", scenario, "--out", "toy.nc", "--json").json
    stored = dwell.load_run("toy.nc")
    assert stored.scenario == dwell.load_scenario(scenario)
    shown = command("run", scenario)
    checked = command("check", "toy.nc", "--json").json
    Path("sweep.toml").write_text(SWEEP.format(scenario=scenario, axis=axis))
    swept = command("sweep", "sweep.toml", "--out", "swept", "--workers", 1, "--json").json
    table = parquet.read_table("swept/runs.parquet")
    for name in ("toy.nc", "swept"):
        drawn = command("plot", name, "--out", f"{name}-plots", "--format", "svg")
        assert drawn.code == 0, drawn.err
    plots = {
        name: "\n".join(one.read_text() for one in sorted(Path(f"{name}-plots").glob("*.svg")))
        for name in ("toy.nc", "swept")
    }
    return {
        "run": run,
        "shown": shown.out,
        "stored": stored.summary(),
        "repr": repr(stored.system.controller),
        "check": checked,
        "sweep": swept,
        "columns": table.column_names,
        "rows": table.num_rows,
        "plots": plots,
    }


if __name__ == "__main__":
    print(json.dumps(uses(Path(sys.argv[1]), sys.argv[2]), allow_nan=False))
