"""Four ROS 2 robots cover a floor of 4 m by 3 m, each with an agent of its own.

Run it with the Python of your ROS 2, with `dwell` on its path:

    python examples/ros2_fleet.py              # starts four simulated robots as well
    python examples/ros2_fleet.py --no-robots  # your robots publish /agent_0/odom ... themselves

Agents are threads that know each other by UDP datagrams on this machine. The last line is a report.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("DWELL_JIT", "0")  # agents need NumPy alone
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import numpy as np

from dwell.agents import CoverageSystem
from dwell.cells import tessellate
from dwell.controllers import Timer
from dwell.density import Gaussian
from dwell.fleet.clock import Clock
from dwell.fleet.journal import read_fleet_journal
from dwell.fleet.plan import FleetPlan
from dwell.fleet.plant.ros2 import Ros2Plant
from dwell.fleet.transport.udp import UdpTransport, udp_socket
from dwell.fleet.virtual import VirtualFleet
from dwell.geometry import Box
from dwell.live.settings import LiveSettings, live_law

FLOOR = Box((0.0, 0.0), (4.0, 3.0))
DENSITY = Gaussian(center=(2.5, 2.0), rate=0.5)
LAW = Timer(k1=0.5, nu=0.5, t1=0.2, t2=0.65)
START = np.array([[0.3, 0.3], [0.8, 0.3], [0.3, 0.8], [0.8, 0.8]])
LAG = 0.1  # seconds: time constant of the simulated drives
TIMEOUT = 0.5  # seconds without a command after which a drive stops, as those of ROS do
STEP = 0.02


def simulate_robots() -> None:
    """Four robots whose velocity follows the command with a lag; each publishes its odometry."""
    import rclpy
    from geometry_msgs.msg import TwistStamped
    from nav_msgs.msg import Odometry
    from rclpy.executors import ExternalShutdownException

    rclpy.init()
    node = rclpy.create_node("robots")
    place, velocity = START.copy(), np.zeros((4, 2))
    wanted, last = np.zeros((4, 2)), np.full(4, -math.inf)

    def command(robot: int, message: TwistStamped) -> None:
        wanted[robot] = message.twist.linear.x, message.twist.linear.y
        last[robot] = time.monotonic()

    out = []
    for p in range(4):
        node.create_subscription(
            TwistStamped, f"/agent_{p}/cmd_vel", lambda message, p=p: command(p, message), 1
        )
        out.append(node.create_publisher(Odometry, f"/agent_{p}/odom", 1))
    then = time.monotonic()

    def step() -> None:
        nonlocal then
        now = time.monotonic()
        dt, then = now - then, now
        wanted[now - last > TIMEOUT] = 0.0
        decay = math.exp(-dt / LAG)  # the exact solution: commands are constant meanwhile
        place[:] += wanted * dt + (velocity - wanted) * LAG * (1.0 - decay)
        velocity[:] = wanted + (velocity - wanted) * decay
        for p in range(4):
            message = Odometry()
            message.header.stamp = node.get_clock().now().to_msg()
            message.pose.pose.position.x, message.pose.pose.position.y = place[p].tolist()
            message.pose.pose.orientation.w = 1.0
            message.twist.twist.linear.x, message.twist.twist.linear.y = velocity[p].tolist()
            out[p].publish(message)

    node.create_timer(STEP, step)
    with contextlib.suppress(ExternalShutdownException):
        rclpy.spin(node)


def cover(plan: FleetPlan, clock: Clock, plants: list[Ros2Plant]) -> None:
    """Run four agents, each in a thread with a socket of its own, until the end of the plan."""
    sockets = [udp_socket(("127.0.0.1", 0)) for _ in plants]
    addresses = [one.getsockname() for one in sockets]
    hosts = []
    for p, plant in enumerate(plants):
        others = [address for address in addresses if address != addresses[p]]
        hosts.append(plan.host(
            f"agent-{p}", [p], UdpTransport(sockets[p], others, clock), clock,
            boot=0, shared_clock=True, plants={p: plant},
        ))  # fmt: skip

    def agent(p: int) -> None:
        try:
            hosts[p].muster(lambda: True, 10.0, plan.until)
            hosts[p].run(plan.until)
        finally:
            plants[p].stop(clock.now())
            hosts[p].journal.close()

    threads = [threading.Thread(target=agent, args=(p,)) for p in range(4)]
    for one in threads:
        one.start()
    try:
        for one in threads:
            one.join()
    finally:  # also after Ctrl-C: no agent is left when the robots are released
        for host in hosts:
            host.over = True
        for one in threads:
            one.join()
    for own in sockets:
        own.close()


def lose_agent(plant: Ros2Plant, clock: Clock) -> float:
    """Seconds between the end of an agent's thread and the stamp of the command that stops it."""
    import rclpy
    from geometry_msgs.msg import TwistStamped

    rclpy.init()
    observer, sent = rclpy.create_node("observer"), list[TwistStamped]()
    observer.create_subscription(TwistStamped, "/agent_0/cmd_vel", sent.append, 10)

    def wait_for(velocity: float) -> float:
        sent.clear()
        while not sent or sent[-1].twist.linear.x != velocity:
            rclpy.spin_once(observer)
        stamp = sent[-1].header.stamp
        return stamp.sec + 1e-9 * stamp.nanosec

    def agent() -> None:
        plant.hold(np.array([-0.125, 0.0]), clock.now(), math.inf)
        ended.append(time.time())

    wait_for(0.0)
    ended: list[float] = []
    thread = threading.Thread(target=agent)
    thread.start()
    thread.join()
    wait_for(-0.125)
    stopped = wait_for(0.0)
    rclpy.shutdown()
    return stopped - ended[0]


def residuals(folder: Path) -> np.ndarray:
    """How far each robot was from where its segment leads, per second of it, in units of k1."""
    found = []
    for path in sorted(folder.glob("*.journal")):
        rows = read_fleet_journal(path).samples
        moved, held = np.diff(rows["position"], axis=0), rows["hold"][:-1]
        seconds = np.diff(rows["time"])[:, None]
        found.append(np.linalg.norm(moved / seconds - held, axis=1) / LAW.k1)
    return np.concatenate(found)


def main(until: float, robots: bool) -> None:
    """Cover, lose an agent, report."""
    started = [sys.executable, __file__, "--simulate-robots"]
    simulated = subprocess.Popen(started) if robots else None
    plants: list[Ros2Plant] = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            law = live_law(CoverageSystem(FLOOR, DENSITY, LAW, 4, seed=1), LiveSettings())
            clock = Clock(time.monotonic())
            for p in range(4):
                plants.append(Ros2Plant(p, clock.now, patience=30.0))
            start = np.array([plant.pose(0.0).position for plant in plants])
            clock.origin = time.monotonic()
            plan = FleetPlan(law, start, until, Path(folder), "ros2")
            cover(plan, clock, plants)
            end = np.array([plant.pose(0.0).position for plant in plants])
            exact = VirtualFleet(law, start)
            exact.run(until)
            reached = np.array([one.segments().take([p]).at(until)[0]
                                for p, one in enumerate(exact.beliefs)])  # fmt: skip
            flow = residuals(Path(folder))
        report = {
            "samples": len(flow) + 4,
            "cost": [round(tessellate(FLOOR, x, DENSITY).cost, 4) for x in (start, end, reached)],
            "flow": {
                "median": round(float(np.median(flow)), 4),
                "max": round(float(flow.max()), 3),
            },
            "stopped_after": round(lose_agent(plants[0], clock), 4),
        }
        print(json.dumps(report))
    finally:
        for plant in plants:
            plant.close()
        if simulated is not None:
            simulated.terminate()
            simulated.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--until", type=float, default=15.0, help="seconds")
    parser.add_argument("--no-robots", action="store_true", help="robots are there already")
    parser.add_argument("--simulate-robots", action="store_true", help="be the robots")
    given = parser.parse_args()
    if given.simulate_robots:
        simulate_robots()
    else:
        main(given.until, not given.no_robots)
