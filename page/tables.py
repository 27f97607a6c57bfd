"""Writes the tables of laws that the page shares with `dwell compare` and `dwell design`.

    python page/tables.py

writes page/src/state/tables.json, and units.json beside it; a test compares them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dwell.controllers.lloyd import DT
from dwell.scenario.frozen import PER_AGENT
from dwell.scenario.laws import GUARANTEED_KINDS
from dwell.studies.compare import UNLIKE
from dwell.studies.design import THETA
from dwell.studies.laws import PACE, PERIODIC, PYTHON, UNITS
from dwell.studies.outcome import SMALL

FOLDER = Path(__file__).parent / "src" / "state"


def tables() -> dict[str, Any]:
    """The tables, as JSON values."""
    return {
        "pace": {kind: list(keys) for kind, keys in PACE.items() if kind != PYTHON},
        "perAgent": list(PER_AGENT),
        "guaranteed": list(GUARANTEED_KINDS),
        "periodic": list(PERIODIC),
        "dt": DT,
        "theta": THETA,
        "unlike": UNLIKE,
        "small": SMALL,
    }


def units() -> dict[str, Any]:
    """The units of the keys of laws, as JSON values."""
    return {law: {k: list(v) for k, v in keys.items()} for law, keys in UNITS.items()}


def written() -> dict[Path, str]:
    """The text of each file."""
    found = {}
    for name, table in (("tables", tables()), ("units", units())):
        lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table.items())
        found[FOLDER / f"{name}.json"] = "{\n" + ",\n".join(lines) + "\n}\n"
    return found


if __name__ == "__main__":
    for file, text in written().items():
        file.write_text(text)
        print(file)
