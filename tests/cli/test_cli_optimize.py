"""`dwell optimize`: what it prints, writes, refuses and exits with."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import dwell as package
from dwell.studies.optimize import ON_A_GRID
from tests.cli.shell import REPOSITORY, command, dwell, environment
from tests.workers.watch import LONG

pytestmark = pytest.mark.slow

PROMISED = {
    "cost", "mass", "positions", "gradient_norm", "spectral_gap", "starts", "reference", "schema",
    "agents", "evaluations",
}  # fmt: skip


def test_for_people(scenario: Path) -> None:
    outcome = dwell("optimize", scenario, "--starts", 4)

    assert (outcome.code, outcome.err) == (0, "")
    for words in (
        "a strict local minimum", "gradient", "spectral gap", "led here", "in the median",
        "reference", "for many agents", "lower bound", "positions", "time taken",
    ):  # fmt: skip
        assert words in outcome.out


def test_for_programs(scenario: Path) -> None:
    outcome = dwell("optimize", scenario, "--starts", 5, "--json", "--workers", 1)

    assert (outcome.code, outcome.err) == (0, "")
    value = outcome.json
    assert set(value) >= PROMISED
    assert value["schema"] == 1
    assert value["scenario"] == "small"
    assert value["agents"] == 4
    assert value["stop"] == {"reason": "finished", "ok": True}
    assert value["gradient_norm"] <= 1e-12
    assert value["spectral_gap"] > 0
    assert value["kind"] == "minimum"
    assert value["starts"]["best"] <= value["starts"]["median"] <= value["starts"]["worst"]
    assert value["cost"] == pytest.approx(value["starts"]["best"], rel=1e-12, abs=0.0)
    assert value["starts"]["count"] == 5
    cells = package.tessellate(
        package.Box((0, 0), (4, 4)), value["positions"], package.Gaussian((3, 1), 0.1)
    )
    assert cells.cost == pytest.approx(value["cost"], rel=1e-13, abs=0.0)
    assert np.abs(cells.errors).max() < 1e-11


def test_on_a_grid_it_says_so(scenario: Path) -> None:
    on_a_grid = ("--set", 'run.integration={kind="grid", spacing=0.25}')
    value = dwell("optimize", scenario, "--starts", 1, "--json", *on_a_grid).json
    assert value["notes"] == [ON_A_GRID]
    assert value["integration"] == "exact"
    shown = dwell("optimize", scenario, "--starts", 1, *on_a_grid)
    assert "exact integrals" in shown.out


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_an_interrupt_gives_the_best_so_far(scenario: Path, number: int, code: int) -> None:
    dwell("optimize", scenario, "--starts", 1)  # so that the kernels are compiled
    many = ("--starts", 5000, "--set", "agents.start={count=20, seed=2}", "--json")
    for wait in (2.0, 4.0, 8.0, 16.0, 32.0):  # longer, if there was nothing to show yet
        out = stopped(command("optimize", scenario, *many), number, code, wait)
        if out:
            break
    value = json.loads(out)
    assert value["stop"] == {"reason": "interrupted", "ok": False}
    assert len(value["positions"]) == 20
    assert 1 <= value["starts"]["count"] < 5000


def stopped(words: list[str], number: int, code: int, wait: float) -> str:
    """What a command prints that is sent a signal after a while."""
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY,
        env=environment(),
    ) as process:  # fmt: skip
        time.sleep(wait)
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=LONG)
        finally:
            process.kill()
    if process.returncode == -number:  # still importing: Python's own answer to a signal
        return ""
    assert process.returncode == code, err
    assert err == "dwell: interrupted\n"
    return out
