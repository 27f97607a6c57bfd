"""What a robot has to install: an agent runs with NumPy and pydantic alone."""

import os
import subprocess
import sys

PROBE = """
import pathlib, sys, tomllib
for name in sys.argv[2:]:
    sys.modules[name] = None  # as if it were not installed
from dwell.fleet import host, journal, single
from dwell.fleet.configuration import fleet_plan
from dwell.fleet.plan import rehearse
from dwell.scenario import parse_scenario
from dwell.scenario.templates import template_text
scenario = parse_scenario(tomllib.loads(template_text("two-hills")))
rehearse(fleet_plan(scenario, pathlib.Path(sys.argv[1]), "run"))
"""
OTHERS = [
    "numba",
    "llvmlite",
    "scipy",
    "xarray",
    "h5netcdf",
    "h5py",
    "pandas",
    "matplotlib",
    "rich",
    "shapely",
    "zenoh",
    "rclpy",
    "pymavlink",
    "foxglove",
    "fastapi",
]


def test_an_agent_needs_neither_compiler_nor_files_of_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(tmp_path), *OTHERS],
        env={**os.environ, "DWELL_JIT": "0"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
