"""What a fresh process costs: starting up, compiling, memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.table import Row, under
from bench.timing import Timing, timed

DWELL = str(Path(sys.executable).parent / "dwell")

MEMORY_PROBE = """
import json, resource, sys, tempfile
from dataclasses import fields
from pathlib import Path
import dwell

def peak():  # not ru_maxrss, which a child takes over from the process that started it
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

def now():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

def run(horizon):
    scenario = dwell.load_scenario(sys.argv[1], [f"run.horizon={horizon}"])
    return dwell.run_scenario(scenario)

run(0.5)
before = now()
kept = run(float(sys.argv[2]))
after = peak()
table = sum(column.nbytes for column in kept.events.columns().values())
with tempfile.TemporaryDirectory() as folder:
    kept.save(Path(folder) / "run.nc")
    disk = (Path(folder) / "run.nc").stat().st_size
print(json.dumps({"before": before, "after": after, "table": table, "disk": disk,
                  "events": len(kept.events), "samples": len(kept.metrics.times)}))
"""


def rows(quick: bool) -> Iterator[Row]:
    """Start-up, then memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from starting(folder, quick)
        yield from memory(folder, 3.0 if quick else 150.0)


def starting(folder: Path, quick: bool) -> Iterator[Row]:
    """Wall time of fresh processes."""
    repeats = 1 if quick else 7
    bare = _process([sys.executable, "-c", "pass"], repeats)
    yield Row("start-up", "python -c pass", "fresh process", bare.in_seconds(), bare.best)
    asked = (
        ("dwell --help", [DWELL, "--help"], 0.3),
        ('python -c "import dwell"', [sys.executable, "-c", "import dwell"], 0.5),
    )
    for name, command, limit in asked:
        found = _process(command, repeats)
        figure = f"{found.in_seconds()}, {found.best / bare.best:.1f} × python -c pass"
        yield under("start-up", name, "fresh process", found.best, limit, figure)
    file = _template(folder, "paper-12")
    command = [DWELL, "run", str(file)]
    found = _process(command, repeats, warm=True)
    what = "fresh process, kernels on disk"
    yield Row("start-up", "dwell run paper-12.toml", what, found.in_seconds(), found.best)
    if not quick:
        yield _cold(command, found)


def _cold(command: list[str], warm: Timing) -> Row:
    def run_with_empty_cache() -> None:
        with tempfile.TemporaryDirectory() as cache:
            _call(command, {"DWELL_CACHE_DIR": cache})

    found = timed(run_with_empty_cache, repeats=2, warm=False)
    figure = f"{found.in_seconds()}, {found.cpu / warm.cpu:.0f} × the warm one"
    name, what = "dwell run, cold cache", "the same with an empty DWELL_CACHE_DIR"
    return under("start-up", name, what, found.best, 15.0, figure)


def memory(folder: Path, horizon: float) -> Iterator[Row]:
    """Peak memory and bytes per event of the 30-agent run."""
    file = _template(folder, "paper-30")
    probe = [sys.executable, "-c", MEMORY_PROBE, str(file)]
    _call([*probe, "0.5"])  # so that the next process loads kernels and compiles none
    seen = json.loads(_call([*probe, str(horizon)]))
    mib = 2**20
    figure = f"{seen['after'] / mib:.0f} MiB, of which {seen['before'] / mib:.0f} before the run"
    what = f"{seen['events']} events, {seen['samples']} samples, fresh process"
    yield Row("memory", "peak of the 30-agent run", what, figure, seen["after"])
    each, kept = seen["table"] / seen["events"], seen["disk"] / seen["events"]
    what = "event table, 13 columns"
    yield Row("memory", "per event, in memory", what, f"{each:.0f} bytes", each)
    what = "stored run, metrics and scenario included"
    yield Row("memory", "per event, on disk", what, f"{kept:.0f} bytes", kept)


def _template(folder: Path, name: str) -> Path:
    from dwell.scenario import template_text

    file = folder / f"{name}.toml"
    file.write_text(template_text(name), encoding="utf-8")
    return file


def _process(command: list[str], repeats: int, warm: bool = True) -> Timing:
    return timed(lambda: _call(command), repeats=repeats, warm=warm)


def _call(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, env=os.environ | (environment or {}), capture_output=True, text=True, check=True
    )
    return done.stdout
