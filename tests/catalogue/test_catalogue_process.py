"""P30: signals and closed pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import dwell
from tests.catalogue.kit import Bench, case
from tests.cli.shell import REPOSITORY, command, environment
from tests.cli.shell import dwell as here

LONG = ["run.horizon=1e8", "run.record.sample_every='off'", "run.max_jumps=1000000000"]


def started(bench: Bench, *overrides: str) -> subprocess.Popen[str]:
    """A long run in a process of its own, in the middle of its work."""
    bench.run("run.horizon=0.2", keep=False)  # so that the kernels are compiled
    sets = [word for override in overrides for word in ("--set", override)]
    process = subprocess.Popen(
        command("run", bench.file, "--json", "--out", bench.folder / "run.nc", *sets),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=REPOSITORY, env=environment(PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    # Its memory tells that the compiled engine is at work: tables grow by many megabytes.
    for _ in range(1500):
        if _megabytes(process.pid) > 220:
            break
        time.sleep(0.02)
    assert process.poll() is None
    return process


def _megabytes(pid: int) -> float:
    """Memory in use."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@case("P30-interrupt", "P30-terminate")
def test_what_was_done_is_kept(bench: Bench, case: str) -> None:
    number, code = (signal.SIGINT, 130) if case == "P30-interrupt" else (signal.SIGTERM, 143)
    process = started(bench, *LONG)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert '"reason": "interrupted"' in out
    run = dwell.load_run(bench.folder / "run.nc")
    assert run.stop.reason.value == "interrupted"
    assert len(run.events) > 0
    assert run.horizon == run.events.time[-1]
    assert bench.left() == {"scenario.json", "run.nc"}


@pytest.mark.parametrize("how", ["json", "table", "bad"])
@case("P30-pipe")
def test_a_reader_that_has_gone(bench: Bench, case: str, how: str) -> None:
    words = ["run", bench.file, *(["--json"] if how != "table" else [])]
    words += ["--set", "run.max_jumps=2"] if how == "bad" else []
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        done = subprocess.run(
            command(*words), stdout=gone, stderr=subprocess.PIPE, text=True,
            cwd=REPOSITORY, env=environment(), check=False, timeout=120,
        )  # fmt: skip
    assert done.stderr == ""
    assert done.returncode in (0, 1)


@case("P30-in-process")
def test_an_interrupt_before_the_run(bench: Bench, case: str, monkeypatch) -> None:
    def interrupt(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dwell.runner.build", interrupt)
    outcome = here("run", bench.file, "--json", "--out", bench.folder / "run.nc")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "dwell: interrupted\n")
    assert bench.left() == {"scenario.json"}
