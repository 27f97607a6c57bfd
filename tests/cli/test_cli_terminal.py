"""Terminals and crashes: progress bars, and files that are whole whatever happens."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dwell as package
from tests.cli.shell import REPOSITORY, environment, on_a_terminal, rest_of
from tests.workers.watch import LONG


def seen_on_a_terminal(words: list[str]) -> tuple[int, str, str]:
    """Exit code, output, and what the terminal saw."""
    process, terminal = on_a_terminal(words)
    seen = rest_of(terminal)
    out, _ = process.communicate(timeout=LONG)
    return process.returncode, out, seen


IMPATIENT = "import dwell.progress as p; p.PATIENCE = 0.0; from dwell.cli import main; main()"


def test_a_bar_on_a_terminal_and_lines_elsewhere(scenario: Path) -> None:
    words = [sys.executable, "-c", IMPATIENT, "run", str(scenario), "--json"]
    code, out, seen = seen_on_a_terminal([*words, "--set", "run.horizon=60000"])
    assert code == 0
    assert "simulating" in seen or "measuring" in seen
    assert "%" in seen
    assert out.startswith('{"schema"')
    assert "\x1b" not in out
    plain = subprocess.run(
        words, capture_output=True, text=True, cwd=REPOSITORY,
        env=environment(DWELL_PROGRESS="1"), check=True,
    )  # fmt: skip
    assert plain.stdout.startswith('{"schema"')
    assert plain.stderr.startswith("dwell: ")
    assert "\x1b" not in plain.stderr


def test_no_bar_for_a_short_run(scenario: Path) -> None:
    patient = IMPATIENT.replace("0.0", "1e6")
    code, _, seen = seen_on_a_terminal(
        [sys.executable, "-c", patient, "run", str(scenario), "--json"]
    )
    assert (code, seen) == (0, "")


SAVED = """
import os, signal, sys, time
import dwell
law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
start = [(0.2, 0.2), (0.7, 0.6), (0.4, 0.9)]
site = dwell.Box((0, 0), (1, 1))
run = dwell.simulate(site, None, start, law, until=20.0, sample_every=0.01, threads=1)
run.save(sys.argv[1], force=True)
"""
SAVER = (
    SAVED
    + """
print("ready", flush=True)
while True:
    run.save(sys.argv[1], force=True)
"""
)
# A process of its own starts slowly, so one parent forks a saver for each kill.
KILLER = (
    SAVED
    + """
for wait in map(float, sys.argv[2:]):
    child = os.fork()
    if child == 0:
        while True:
            run.save(sys.argv[1], force=True)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    again = dwell.load_run(sys.argv[1])
    assert again.provenance["intact"] == "true"
    assert len(again.events) == len(run.events)
    print("whole", flush=True)
"""
)


@pytest.mark.exhaustive
def test_killed_while_saving(tmp_path: Path) -> None:
    """Sixty kills at random moments: the file can always be read, and is always whole."""
    (tmp_path / "runs").mkdir()
    path = tmp_path / "runs" / "run.nc"
    random = np.random.default_rng(3)
    waits = [f"{wait:.4f}" for wait in random.uniform(0.0, 0.08, 60)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLER, str(path), *waits],
        capture_output=True, text=True, cwd=REPOSITORY, env=environment(), check=False,
        timeout=LONG,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["whole"] * 60
    assert package.load_run(path).agents == 3


def test_terminated_while_saving_leaves_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    process = subprocess.Popen(
        [sys.executable, "-c", SAVER, str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        cwd=REPOSITORY, env=environment(),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    for _ in range(100):  # a library may swallow one, if it comes while an object is torn down
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        if process.poll() is not None:
            break
    process.wait(timeout=LONG)
    process.stdout.close()
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]
    assert package.load_run(path).provenance["intact"] == "true"


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (OSError(22, "Invalid argument"), "the system refused a request (Invalid argument)"),
        (FileNotFoundError(2, "No such file", "a.nc"), "a request (No such file: a.nc)"),
        (OSError(28, "No space left on device"), "the output could not be written (No space"),
    ],
)
def test_a_fault_of_the_system_is_not_always_one_of_the_output(fault, says, monkeypatch, capsys):
    front = importlib.import_module("dwell.cli.main")

    def failing(words):
        raise fault

    monkeypatch.setattr(front, "run_command", failing)
    monkeypatch.setattr(front, "_unwritten", _said)
    monkeypatch.setattr(sys, "argv", ["dwell"])
    code, _ = front._run()
    assert code == 1
    assert says in capsys.readouterr().err


def _said(fault, code):
    """What is said of output, without closing that of the tests."""
    from dwell.cli.output import complain

    complain(f"the output could not be written ({fault.strerror or fault})")
    return code or 1
