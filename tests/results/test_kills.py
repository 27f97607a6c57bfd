"""Runs killed at random moments. `python -m bench.kills --kills 500` does it for longer."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.shell import REPOSITORY, environment
from tests.workers.watch import LONG

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

KILLS = int(os.environ.get("DWELL_KILLS", "24"))


def test_killed_over_and_over() -> None:
    """Always readable, never gone back, and in the end the same bits as if never killed."""
    words = ["-W", "ignore", "-m", "bench.kills", "--kills", str(KILLS), "--every", "0.12"]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, cwd=REPOSITORY,
        env=environment(), check=False, timeout=LONG + 10 * KILLS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == KILLS
    assert found["runs_ended_with_the_same_bits"] > 0
    assert found["before_the_first_checkpoint"] < KILLS
