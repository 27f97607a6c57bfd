"""Records the runs that are shipped with the page.

    python page/recordings.py

writes page/public/recorded/*.bin, which the build of the page copies.
"""

from __future__ import annotations

from pathlib import Path

from dwell.exports.recording import recording_of
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario, template_text, text_to_mapping

FOLDER = Path(__file__).parent / "public" / "recorded"
TEMPLATES = ("two-hills",)


def recorded(template: str) -> bytes:
    """The run of a template."""
    scenario = parse_scenario(text_to_mapping(template_text(template)))
    return recording_of(run_scenario(scenario, progress=False))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in TEMPLATES:
        (FOLDER / f"{name}.bin").write_bytes(recorded(name))
        print(FOLDER / f"{name}.bin")
