"""The examples of live fleets; the one with ROS 2 is in `plant`."""

import subprocess
import sys

from tests.workers.watch import LONG


def test_a_lossy_fleet(tmp_path):
    done = subprocess.run(
        [sys.executable, "examples/lossy_fleet.py", str(tmp_path / "live.nc")],
        capture_output=True, text=True, timeout=LONG,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "verified: True"
    assert "agent 2 was killed" in done.stdout
    assert (tmp_path / "live.nc").exists()
