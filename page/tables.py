"""Writes the tables of laws that the page shares with `dwell compare` and `dwell design`.

    python page/tables.py

writes page/src/state/tables.json; a test compares it with what is written here.
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

FILE = Path(__file__).parent / "src" / "state" / "tables.json"


def tables() -> dict[str, Any]:
    """The tables, as JSON values."""
    return {
        "pace": {kind: list(keys) for kind, keys in PACE.items() if kind != PYTHON},
        "units": {law: {k: list(v) for k, v in keys.items()} for law, keys in UNITS.items()},
        "perAgent": list(PER_AGENT),
        "guaranteed": list(GUARANTEED_KINDS),
        "periodic": list(PERIODIC),
        "dt": DT,
        "theta": THETA,
        "unlike": UNLIKE,
        "small": SMALL,
    }


def written() -> str:
    """The file's text."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in tables().items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written())
    print(FILE)
