"""CoverageControl's step: goals of all robots on a map of pixels, and how long they take.

    python -m bench.peers.coverage_control POINTS.npy PIXELS SIGMA REPEATS

A process of its own, because it wants machine learning that is not needed here and some of its
settings end the process. Prints one JSON object on the last line.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

from bench.timing import once

NOT_NEEDED = ("torch", "torch.nn", "torchvision", "torch_geometric", "torch_geometric.data")
CHILD_SECONDS = 900.0


def core() -> tuple[Any, Any]:
    """The package and its compiled part, with stand-ins for what it imports and does not need."""
    for name in NOT_NEEDED:
        sys.modules.setdefault(name, MagicMock(name=name))
    import coverage_control
    from coverage_control import _core

    return coverage_control, _core


def in_child(points: np.ndarray, pixels: int, sigma: float, repeats: int) -> dict[str, Any]:
    """Goals and seconds, found by a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        np.save(file, points)
        command = [sys.executable, "-m", "bench.peers.coverage_control", str(file)]
        done = subprocess.run(
            [*command, str(pixels), str(sigma), str(repeats)],
            capture_output=True, text=True, check=True, timeout=CHILD_SECONDS,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def goals(points: np.ndarray, pixels: int, sigma: float, repeats: int) -> dict[str, Any]:
    """Centroids of the robots' cells in the square of `pixels`, and seconds of ComputeActions."""
    package, compiled = core()
    robots, hills = package.PointVector(), package.BNDVector()
    for x, y in points:
        robots.append(package.Point2(x, y))
    middle = package.Point2(0.5 * pixels, 0.5 * pixels)
    hills.append(package.BivariateNormalDistribution(middle, sigma, 1.0))
    asked = _parameters(package, len(points), pixels)
    world = package.CoverageSystem(asked, hills, robots)
    controller = compiled.ClairvoyantCVT(asked, len(points), world)
    controller.ComputeActions()
    spent = [once(controller.ComputeActions) for _ in range(repeats)]
    found = [np.asarray(goal, dtype=float).ravel().tolist() for goal in controller.GetGoals()]
    return {"goals": found, "walls": [w for w, _ in spent], "cpus": [c for _, c in spent]}


def _parameters(package: Any, robots: int, pixels: int) -> Any:
    asked = package.Parameters()
    asked.pNumRobots, asked.pNumGaussianFeatures = robots, 1
    asked.pWorldMapSize = asked.pRobotMapSize = pixels  # the second smaller: it crashes
    asked.pTimeStep, asked.pMaxRobotSpeed, asked.pTruncationBND = 0.2, 50.0, 10.0
    asked.pUpdateRobotMap = asked.pUpdateSensorView = asked.pCheckOscillations = False
    asked.pLocalMapSize, asked.pSensorSize = 64, 32
    return asked


if __name__ == "__main__":
    found = goals(np.load(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
    print(json.dumps(found))
