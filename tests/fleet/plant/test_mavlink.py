"""A vehicle on MAVLink: a stand-in for an autopilot, over UDP on this machine."""

from __future__ import annotations

import math
import os
import pty
import socket
import struct
import termios
import threading
import time
import tty
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import dwell
from dwell.agents import CoverageSystem
from dwell.cells import tessellate
from dwell.fleet.clock import Clock
from dwell.fleet.plan import FleetPlan
from dwell.fleet.plant import mavlink
from dwell.fleet.plant.mavlink import MavlinkPlant
from dwell.fleet.transport.memory import MemoryTransport
from dwell.live.settings import LiveSettings, live_law

mavutil = pytest.importorskip("pymavlink.mavutil")
VELOCITY_ALONE = 3527  # as PX4's and ArduPilot's manuals give it, with yaw and yaw rate ignored


class Autopilot:
    """A vehicle that moves as the last set-point says, and reports its position 50 times a second.

    It obeys velocities in the local frame that are addressed to it, and nothing else. It stops
    half a second after the last of them.
    """

    def __init__(self, port: int, ned: tuple[float, float, float], system: int = 1) -> None:
        self.link = mavutil.mavlink_connection(
            f"udpout:127.0.0.1:{port}", source_system=system, source_component=1, dialect="common"
        )
        self.system, self.ned, self.velocity = system, np.array(ned), np.zeros(3)
        self.got: list[tuple[float, float, float]] = []
        self.masks: set[int] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        then = last = time.monotonic()
        while not self._over.wait(0.02):
            now = time.monotonic()
            if now - last > 0.5:
                self.velocity = np.zeros(3)
            self.ned, then = self.ned + self.velocity * (now - then), now
            self.link.mav.local_position_ned_send(
                int(now * 1e3) & 0xFFFFFFFF, *self.ned.tolist(), *self.velocity.tolist()
            )
            while (message := self._next()) is not None:
                self.masks.add(message.type_mask)
                self.velocity, last = np.array([message.vx, message.vy, message.vz]), now
                self.got.append((message.vx, message.vy, message.vz))

    def _next(self):
        try:
            message = self.link.recv_match(type="SET_POSITION_TARGET_LOCAL_NED")
        except ConnectionRefusedError:  # nobody listens yet
            return None
        if message is None or message.target_system != self.system:
            return None
        assert message.coordinate_frame == mavutil.mavlink.MAV_FRAME_LOCAL_NED
        return message

    def wait_for(self, *velocity: float) -> None:
        """Wait for a velocity; what came before it is forgotten."""
        while True:
            while self.got:
                if self.got.pop(0) == pytest.approx(velocity):
                    return
            time.sleep(0.005)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self.link.close()


@pytest.fixture
def port() -> int:
    """A free port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def vehicle(port: int) -> Iterator[Autopilot]:
    """A vehicle 3 m north, 2 m east, at an altitude of 10 m."""
    made = Autopilot(port, (3.0, 2.0, -10.0))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("axes", "dimension", "position", "velocity", "ned"),
    [
        ("enu", 2, [2.0, 3.0], [0.25, 0.5], (0.5, 0.25, 0.0)),
        ("ned", 2, [3.0, 2.0], [0.25, 0.5], (0.25, 0.5, 0.0)),
        ("enu", 3, [2.0, 3.0, 10.0], [0.25, 0.5, 1.0], (0.5, 0.25, -1.0)),
        ("ned", 3, [3.0, 2.0, -10.0], [0.25, 0.5, 1.0], (0.25, 0.5, 1.0)),
    ],
)
def test_positions_and_velocities_are_in_the_axes_of_the_workspace(
    vehicle, port, axes, dimension, position, velocity, ned
):
    clock = Clock(time.monotonic())
    plant = MavlinkPlant(f"udpin:127.0.0.1:{port}", clock.now, dimension=dimension, axes=axes)
    assert plant.pose(0.0).position.tolist() == position
    now = clock.now()
    assert 0.0 <= plant.pose(now).time <= now
    plant.hold(np.array(velocity), clock.now(), math.inf)
    vehicle.wait_for(*ned)
    plant.close()
    vehicle.wait_for(0.0, 0.0, 0.0)
    assert vehicle.masks == {VELOCITY_ALONE}


def test_the_vehicle_stands_until_its_agent_decides_and_after_the_hold(vehicle, port):
    clock = Clock(time.monotonic())
    plant = MavlinkPlant(f"udpin:127.0.0.1:{port}", clock.now, origin=(10.0, 20.0))
    vehicle.wait_for(0.0, 0.0, 0.0)
    assert plant.pose(0.0).position.tolist() == [12.0, 23.0]
    plant.hold(np.array([0.0, 0.5]), clock.now(), 0.2)
    vehicle.wait_for(0.5, 0.0, 0.0)
    vehicle.wait_for(0.0, 0.0, 0.0)
    while plant.pose(0.0).position[1] < 23.0 + 0.5 * 0.2 * 0.5:
        time.sleep(0.01)  # it has moved north, and says so
    assert plant.pose(0.0).position[0] == 12.0
    plant.close()


def test_the_vehicle_stops_when_the_thread_of_its_agent_has_ended(vehicle, port):
    clock = Clock(time.monotonic())
    plant = MavlinkPlant(f"udpin:127.0.0.1:{port}", clock.now)
    velocity = np.array([0.0, 0.5])
    agent = threading.Thread(target=lambda: plant.hold(velocity, clock.now(), math.inf))
    agent.start()
    vehicle.wait_for(0.5, 0.0, 0.0)
    agent.join()
    vehicle.wait_for(0.0, 0.0, 0.0)
    plant.close()


class TcpVehicle:
    """A vehicle behind a TCP server, of which each connection says another position."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp:127.0.0.1:{self.server.getsockname()[1]}"
        self._mav = mavutil.mavlink.MAVLink(None, srcSystem=1, srcComponent=1)

    def accept(self, north: float) -> socket.socket:
        """The next connection, after its first position."""
        own, _ = self.server.accept()
        said = self._mav.local_position_ned_encode(0, north, 0.0, 0.0, 0.0, 0.0, 0.0)
        own.sendall(said.pack(self._mav))
        return own

    def wait_for(self, own: socket.socket, *velocity: float) -> None:
        parser = mavutil.mavlink.MAVLink(None)
        while True:
            for message in parser.parse_buffer(own.recv(4096)) or ():
                if (message.vx, message.vy, message.vz) == velocity:
                    return


@pytest.mark.parametrize("reset", [True, False])
def test_a_connection_that_ends_is_made_again(monkeypatch, reset):
    monkeypatch.setattr(mavlink, "RETRY", 0.01)
    vehicle = TcpVehicle()
    with ThreadPoolExecutor() as pool:
        first = pool.submit(vehicle.accept, 1.0)
        plant = MavlinkPlant(vehicle.address, lambda: 0.0)
        if reset:
            first.result().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        first.result().close()
        own = vehicle.accept(2.0)
        while plant.pose(0.0).position[1] != 2.0:
            time.sleep(0.005)
        plant.hold(np.array([0.25, 0.5]), 0.0, math.inf)
        vehicle.wait_for(own, 0.5, 0.25, 0.0)
        plant.close()
        vehicle.wait_for(own, 0.0, 0.0, 0.0)
    own.close()
    vehicle.server.close()


def test_a_vehicle_that_does_not_come_back_ends_neither_its_thread_nor_its_agent(monkeypatch):
    monkeypatch.setattr(mavlink, "RETRY", 0.01)
    vehicle, opened = TcpVehicle(), []
    with ThreadPoolExecutor() as pool:
        first = pool.submit(vehicle.accept, 1.0)
        plant = MavlinkPlant(vehicle.address, lambda: 0.0)
        vehicle.server.close()
        connect = plant._connect
        plant._connect = lambda **settings: opened.append(0) or connect(**settings)
        first.result().close()
        while len(opened) < 3:
            plant.hold(np.array([0.25, 0.5]), 0.0, math.inf)
            time.sleep(0.005)
    plant.close()
    assert not plant._reading.is_alive()


def test_a_serial_line_has_its_rate_and_may_be_pulled_out(monkeypatch):
    monkeypatch.setattr(mavlink, "RETRY", 0.01)
    ours, theirs = pty.openpty()
    mav = mavutil.mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    tty.setraw(theirs)
    said = mav.local_position_ned_encode(0, 3.0, 2.0, 0.0, 0.0, 0.0, 0.0).pack(mav)
    with ThreadPoolExecutor() as pool:
        making = pool.submit(MavlinkPlant, os.ttyname(theirs), lambda: 0.0, baud=57600)
        while not making.done():
            os.write(ours, said)  # what came before the line was opened is lost
            time.sleep(0.02)
        plant = making.result()
    assert plant.pose(0.0).position.tolist() == [2.0, 3.0]
    assert termios.tcgetattr(theirs)[4:6] == [termios.B57600] * 2
    os.close(theirs)
    os.close(ours)
    while plant._link.port.is_open:
        time.sleep(0.005)
    assert plant._reading.is_alive()
    plant.close()


def test_other_vehicles_on_the_link_are_ignored(vehicle, port):
    other = Autopilot(port, (7.0, 7.0, 0.0), system=2)
    plant = MavlinkPlant(f"udpin:127.0.0.1:{port}", time.monotonic, system=2)
    seen = set()
    for _ in range(50):
        seen.add(tuple(plant.pose(0.0).position))
        time.sleep(0.005)
    assert seen == {(7.0, 7.0)}
    plant.close()
    other.close()


def test_three_vehicles_cover_a_field(tmp_path: Path):
    field, density = dwell.Box((0.0, 0.0), (4.0, 3.0)), dwell.Gaussian(center=(2.5, 2.0), rate=0.5)
    law = dwell.Timer(k1=1.0, nu=1.0, t1=0.2, t2=0.65)
    start = np.array([[0.3, 0.3], [0.8, 0.3], [0.3, 0.8]])
    live = live_law(CoverageSystem(field, density, law, 3, seed=1), LiveSettings())
    clock = Clock(time.monotonic())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        first = free.getsockname()[1]
    vehicles = [Autopilot(first + p, (y, x, -5.0), p + 1) for p, (x, y) in enumerate(start)]
    plants = [
        MavlinkPlant(f"udpin:127.0.0.1:{first + p}", clock.now, system=p + 1) for p in range(3)
    ]
    plan = FleetPlan(live, start, 6.0, tmp_path, "mavlink")
    host = plan.host(
        "all", range(3), MemoryTransport.network(1)[0], clock, boot=0, shared_clock=True,
        plants=dict(enumerate(plants)),
    )  # fmt: skip
    clock.origin = time.monotonic()
    host.muster(lambda: True, 1.0, 6.0)
    host.run(6.0)
    end = np.array([plant.pose(0.0).position for plant in plants])
    host.close()
    for vehicle in vehicles:
        vehicle.wait_for(0.0, 0.0, 0.0)
        vehicle.close()
        assert vehicle.ned[2] == -5.0
    before, after = (tessellate(field, x, density).cost for x in (start, end))
    assert after < 0.2 * before


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"axes": "xyz"}, "enu and ned are possible"),
        ({"dimension": 1}, "2 or 3"),
        ({"origin": (1.0, 2.0, 3.0)}, "2 coordinates are needed"),
        ({"patience": 0.1}, "no position of the robot came on udpin"),
    ],
)
def test_what_cannot_work_is_refused_in_one_sentence(port, wrong, says):
    with pytest.raises(dwell.InputError, match=says) as refusal:
        MavlinkPlant(f"udpin:127.0.0.1:{port}", time.monotonic, **wrong)
    assert refusal.value.code != "plant.library"  # nothing is missing


def test_an_address_that_cannot_be_opened_is_refused():
    says = r"/dev/nowhere cannot be opened .* check the addr"
    with pytest.raises(dwell.InputError, match=says) as refusal:
        MavlinkPlant("/dev/nowhere", time.monotonic)
    assert refusal.value.code == "plant.mavlink"
