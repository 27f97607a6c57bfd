"""Commands that need no simulation start without what a simulation needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import REPOSITORY, dwell, environment

LOADED = """
import sys
sys.argv = ["dwell", *sys.argv[1:]]
from dwell.cli import main
try:
    main()
finally:
    print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""
HEAVY = {"numba", "scipy", "xarray", "pandas", "matplotlib", "fastapi", "pyarrow"}


@pytest.mark.parametrize("command", ["validate", "show"])
def test_validate_and_show_import_no_compiler(scenario: Path, kept: Path, command: str) -> None:
    file = scenario if command == "validate" else kept
    done = subprocess.run(
        [sys.executable, "-c", LOADED, command, str(file), "--json"], capture_output=True,
        text=True, cwd=REPOSITORY, env=environment(), check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "numpy" in done.stderr.split()
    assert not HEAVY & set(done.stderr.split())
    assert done.stdout == dwell(command, file, "--json").out
