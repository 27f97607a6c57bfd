"""Records the runs that are shipped with the page.

    python page/recordings.py

writes page/public/recorded/*.bin, which the build of the page copies.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dwell.exports.recording import recording_of
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario, template_text, text_to_mapping

FOLDER = Path(__file__).parent / "public" / "recorded"
SHORT = {"horizon": 60.0, "record": {"kind": "events", "sample_every": 0.25}}
# By name: a template, keys of its run and of its law, or another law.
RUNS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "two-hills": ("two-hills", {}, {}),
    "story-timer": ("paper-12", SHORT, {}),
    "story-long": ("paper-12", SHORT, {"t1": 4.0, "t2": 12.0}),
    "story-lloyd": ("paper-12", SHORT, {"kind": "lloyd", "k2": 1.0, "dt": 0.05, "speed": 0.5}),
}


def recorded(name: str) -> bytes:
    """A run that is shipped with the page."""
    template, run, law = RUNS[name]
    data = text_to_mapping(template_text(template))
    data["run"] |= run
    if "kind" in law:
        data["controller"] = law
        data.pop("certificate", None)
    else:
        data["controller"] |= law
    return recording_of(run_scenario(parse_scenario(data), progress=False))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in RUNS:
        (FOLDER / f"{name}.bin").write_bytes(recorded(name))
        print(FOLDER / f"{name}.bin")
