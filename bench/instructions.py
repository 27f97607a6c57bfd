"""Instructions per event, counted by callgrind: the same on a busy machine as on a quiet one.

    valgrind --tool=callgrind --instr-atstart=no ... python -m bench.instructions SIZES...

A process runs under valgrind and switches the counting on for a few events only. Two counts with
different numbers of events are subtracted, which leaves the events alone. Valgrind knows no
AVX-512, so kernels are compiled for a plainer processor: counts are not those of the machine's own
code, but compare from one version to the next.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.table import Row, absent

SIZES = (30, 1_000, 10_000, 100_000)
EVENTS = (200, 1_200)
PLAINER = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2,+lzcnt,+popcnt",
}
TOOLS = ("valgrind", "callgrind_control")
PATIENCE = 1_200.0  # seconds
NAME, WHAT = "instructions per event", "uniform, square, kernels for haswell, by callgrind"


def rows(quick: bool) -> Iterator[Row]:
    """One row for each number of agents; one that says why, where they cannot be counted."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        yield absent("growth", NAME, WHAT, f"{missing[0]} is not installed")
        return
    if quick:
        yield absent("growth", NAME, WHAT, "left out of quick runs: it takes a minute")
        return
    try:
        counts = counted(SIZES)
    except (subprocess.SubprocessError, OSError, ValueError) as fault:
        yield absent("growth", NAME, WHAT, f"valgrind: {type(fault).__name__}")
        return
    for agents, each in sorted(counts.items()):
        figure = f"{each:,.0f} ({each / counts[SIZES[0]]:.2f} × N = {SIZES[0]})"
        yield Row("growth", f"{NAME}, N = {agents}", WHAT, figure, each, series=NAME, size=agents)


def counted(sizes: tuple[int, ...]) -> dict[int, float]:
    """Instructions of one event for each number of agents."""
    named = [str(size) for size in sizes]
    plain = os.environ | PLAINER
    child = [sys.executable, "-m", "bench.instructions"]
    # Compiled and kept on disk first, which under valgrind would take many minutes.
    subprocess.run([*child, "warm"], env=plain, check=True, capture_output=True, timeout=PATIENCE)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        tool = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        command = [*tool, *child, *named]
        subprocess.run(command, env=plain, check=True, capture_output=True, timeout=PATIENCE)
        return per_event(Path(folder))


def per_event(folder: Path) -> dict[int, float]:
    """From the files that callgrind left."""
    totals: dict[tuple[int, int], int] = {}
    for file in folder.iterdir():
        text = file.read_text(encoding="utf-8", errors="replace")
        label = re.search(r"^desc: Trigger: .*N(\d+)-(\d+)", text, re.MULTILINE)
        total = re.search(r"^summary: (\d+)", text, re.MULTILINE)
        if label and total:
            totals[int(label[1]), int(label[2])] = int(total[1])
    few, many = EVENTS
    sizes = {agents for agents, _ in totals}
    found = {n: (totals[n, many] - totals[n, few]) / (many - few) for n in sizes}
    if not found:
        raise ValueError("callgrind left no counts")
    return found


def under_valgrind(sizes: list[int]) -> None:
    """Count a few events, then more, for each number of agents."""
    from bench.growth import go_on, under_way

    go_on(under_way(30, "uniform", 1), 10)  # everything is loaded
    for agents in sizes:
        engine = under_way(agents, "uniform", 1)
        for events in EVENTS:
            _control("-i", "on")
            go_on(engine, events)
            _control("-d", f"N{agents}-{events}")
            _control("-i", "off")


def _control(*words: str) -> None:
    command = ["callgrind_control", *words, str(os.getpid())]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["warm"]:
        from bench.growth import go_on, under_way

        go_on(under_way(30, "uniform", 1), 10)
        go_on(under_way(1_000, "uniform", 1), 10)
    else:
        under_valgrind([int(word) for word in sys.argv[1:]])
