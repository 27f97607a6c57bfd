"""The Robotarium's simulator: the point ahead of the axle moves as its agent decides."""

import math
from pathlib import Path

import numpy as np
import pytest

import dwell
from dwell.agents import CoverageSystem
from dwell.cells import tessellate
from dwell.fleet.plan import FleetPlan
from dwell.fleet.plant import Integrator
from dwell.fleet.plant.robotarium import RobotariumTable
from dwell.live.settings import LiveSettings, live_law
from tests.fleet.plant.virtual import residuals, samples_of

TABLE = dwell.Box((-1.6, -1.0), (1.6, 1.0))
DENSITY = dwell.Gaussian(center=(0.6, 0.2), rate=1.0)
LAW = dwell.Timer(k1=0.12, nu=0.12, t1=0.2, t2=0.65)
START = np.array([[-1.2, -0.6], [-0.8, -0.6], [-1.2, -0.2], [-0.8, -0.2], [-1.2, 0.2], [-0.8, 0.2]])
STEP = 0.033


def test_the_agent_is_the_point_ahead_of_the_axle():
    table = RobotariumTable(np.array([[0.0, 0.0]]), [math.pi / 2])
    pose = table.plants[0].pose(0.0)
    assert pose.position == pytest.approx([0.0, 0.0])
    assert table.poses[:, 0] == pytest.approx([0.0, -0.05, math.pi / 2])


def test_time_passes_in_steps_and_a_velocity_ends():
    table = RobotariumTable(np.array([[0.0, 0.0]]))
    robot = table.plants[0]
    assert robot.pose(1.9 * STEP).time == STEP
    robot.hold(np.array([0.1, 0.0]), 2.0 * STEP, 10.0 * STEP - 1e-9)
    pose = robot.pose(50.5 * STEP)
    assert pose.time == pytest.approx(50.0 * STEP)
    assert pose.position == pytest.approx([10.0 * STEP * 0.1, 0.0])


@pytest.mark.parametrize("heading", [0.5, 2.0, -3.0])
def test_the_point_moves_straight_in_every_direction(heading):
    table = RobotariumTable(np.array([[0.2, 0.1]]), [heading])
    robot = table.plants[0]
    robot.hold(np.array([0.0, 0.1]), 0.0, math.inf)
    moved = robot.pose(90.5 * STEP).position - [0.2, 0.1]
    assert moved == pytest.approx([0.0, 9.0 * STEP], abs=0.012)


def test_a_fleet_covers_and_its_flow_residual_is_small(tmp_path: Path):
    live = live_law(CoverageSystem(TABLE, DENSITY, LAW, 6, seed=2), LiveSettings(clearance=0.11))
    plan = FleetPlan(live, START, 60.0, tmp_path, "robotarium")
    table = RobotariumTable(START, np.linspace(0.0, 5.0, 6))
    rows = samples_of(plan, table.plants)
    end = np.array([robot.pose(60.0).position for robot in table.plants])
    costs = [tessellate(TABLE, x, DENSITY).cost for x in (START, end)]
    (tmp_path / "exact").mkdir()
    exact = FleetPlan(live, START, 60.0, tmp_path / "exact", "integrators")
    ideal = [Integrator(place, math.inf) for place in START]
    samples_of(exact, ideal)
    best = tessellate(TABLE, np.array([one.pose(60.0).position for one in ideal]), DENSITY).cost
    assert best <= costs[1] * (1 + 1e-3) < 1.01 * best < 0.5 * costs[0]
    flow = residuals(rows, LAW.k1, "measured")
    assert np.median(flow) < 1e-4
    assert flow.max() < 0.05


def test_integrators_have_no_residual(tmp_path: Path):
    live = live_law(CoverageSystem(TABLE, DENSITY, LAW, 6, seed=2), LiveSettings())
    rows = samples_of(
        FleetPlan(live, START, 20.0, tmp_path, "integrators"),
        [Integrator(place, math.inf) for place in START],
    )
    assert residuals(rows, LAW.k1).max() < 1e-12
