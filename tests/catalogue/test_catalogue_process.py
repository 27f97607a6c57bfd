"""P30: signals and closed pipes."""

from __future__ import annotations

import os
import select
import signal
import subprocess

import pytest

import dwell
from tests.catalogue.kit import Bench, case
from tests.cli.shell import command, on_a_terminal, rest_of, spawn
from tests.cli.shell import dwell as here
from tests.workers.watch import LONG

ENDLESS = ["run.horizon=1e8", "run.record.sample_every='off'", "run.max_jumps=10000000"]


def started(bench: Bench, *overrides: str) -> tuple[subprocess.Popen[str], int]:
    """A long run in a process of its own, in the middle of its work, and its terminal.

    Its error stream is a terminal, on which the progress bar tells when the engine is at work.
    """
    sets = [word for override in overrides for word in ("--set", override)]
    out = bench.folder / "run.nc"
    process, terminal = on_a_terminal(command("run", bench.file, "--json", "--out", out, *sets))
    shown = ""
    while "simulating" not in shown:
        ready, _, _ = select.select([terminal], [], [], LONG)
        assert ready, f"no sign of work: {shown!r}"
        shown += os.read(terminal, 4096).decode(errors="replace")
    return process, terminal


@pytest.mark.exhaustive
@case("P30-interrupt", "P30-terminate")
def test_what_was_done_is_kept(bench: Bench, case: str) -> None:
    number, code = (signal.SIGINT, 130) if case == "P30-interrupt" else (signal.SIGTERM, 143)
    process, terminal = started(bench, *ENDLESS)
    process.send_signal(number)
    out, _ = process.communicate(timeout=LONG)
    assert process.returncode == code
    assert "Traceback" not in rest_of(terminal)
    assert '"reason": "interrupted"' in out
    run = dwell.load_run(bench.folder / "run.nc")
    assert run.stop.reason.value == "interrupted"
    assert len(run.events) > 0
    assert run.horizon == run.events.time[-1]
    assert bench.left() == {"scenario.json", "run.nc"}
    further = here("run", "--resume", bench.folder / "run.nc", "--horizon", run.horizon + 1.0)
    assert (further.code, further.err) == (0, "")


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", ["table", "bad"])
@case("P30-pipe")
def test_a_reader_that_has_gone(bench: Bench, case: str, how: str) -> None:
    words = ["run", bench.file, *(["--json"] if how != "table" else [])]
    words += ["--set", "run.max_jumps=2"] if how == "bad" else []
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        done = spawn(*words, stdout=gone)
    assert done.err == ""
    assert done.code in (0, 1)


@case("P30-in-process")
def test_an_interrupt_before_the_run(bench: Bench, case: str, monkeypatch) -> None:
    def interrupt(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dwell.runner.build", interrupt)
    outcome = here("run", bench.file, "--json", "--out", bench.folder / "run.nc")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "dwell: interrupted\n")
    assert bench.left() == {"scenario.json"}
