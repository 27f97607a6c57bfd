"""MavlinkPlant: a vehicle with an autopilot that speaks MAVLink.

Positions are `LOCAL_POSITION_NED`, velocities `SET_POSITION_TARGET_LOCAL_NED`. A person arms the
vehicle and selects the mode in which it obeys: OFFBOARD (PX4) or GUIDED (ArduPilot).
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np

from dwell._need import need
from dwell._types import Points
from dwell.errors import InputError
from dwell.fleet.plant.remote import MISSING, RemotePlant

PACKAGES = "pymavlink pyserial"
CODE = "plant.mavlink"
RETRY = 0.5  # seconds until a link that has failed is opened again
VELOCITY_ALONE = 0b1101_1100_0111  # ignore position, acceleration, yaw and yaw rate
# Rows: axes of the workspace; columns: north, east, down.
AXES = {
    "enu": np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]),
    "ned": np.eye(3),
}


@final
class MavlinkPlant(RemotePlant):
    """One vehicle, in the plane at a constant altitude, or in space.

    Parameters
    ----------
    address : as pymavlink writes it, such as "udpin:127.0.0.1:14540" or "/dev/ttyACM0".
    clock : the time of the law, in seconds.
    axes : "enu" for a workspace whose first axis points east, the second north, the third up;
        "ned" for north, east, down.
    origin : the position, in the workspace, of the origin of the vehicle's local frame.
    system : number of the vehicle; messages of others are ignored.
    baud : the rate of a serial line.
    source : number of the system and of the component that sends; an onboard computer otherwise.
    patience : seconds to wait for the first position.
    """

    def __init__(
        self,
        address: str,
        clock: Callable[[], float],
        *,
        dimension: int = 2,
        axes: str = "enu",
        origin: tuple[float, ...] | None = None,
        system: int = 1,
        baud: int = 115200,
        source: tuple[int, int] | None = None,
        fade: float = math.inf,
        patience: float = 10.0,
    ) -> None:
        if axes not in AXES:
            raise InputError(f"axes are {axes!r}; enu and ned are possible", code=CODE)
        if dimension not in (2, 3):
            says = f"the workspace has {dimension} dimensions; a vehicle needs 2 or 3"
            raise InputError(says, code=CODE)
        self._axes = AXES[axes][:dimension]
        self._origin = np.zeros(dimension) if origin is None else np.array(origin, dtype=float)
        if self._origin.shape != (dimension,):
            says = f"origin is {origin}; {dimension} coordinates are needed"
            raise InputError(says, code=CODE)
        mavutil = need("pymavlink.mavutil", "a vehicle on MAVLink needs", PACKAGES, code=MISSING)
        own = source or (system, mavutil.mavlink.MAV_COMP_ID_ONBOARD_COMPUTER)
        if not address.startswith(("udp", "tcp")):
            need("serial", "a vehicle on a serial line needs", PACKAGES, code=MISSING)
        self._connect = partial(
            mavutil.mavlink_connection, address, baud=baud, source_system=own[0],
            source_component=own[1], dialect="common",
        )  # fmt: skip
        try:
            self._link = self._open()
        except (OSError, ValueError) as fault:
            says = f"{address} cannot be opened ({fault}); check the address"
            raise InputError(says, code=CODE) from None
        self._system, self._frame = system, mavutil.mavlink.MAV_FRAME_LOCAL_NED
        self._over = threading.Event()
        super().__init__(clock, dimension, fade)
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()
        self._begin(patience, address)

    def _open(self, **settings: Any) -> Any:
        link = self._connect(**settings)
        link.handle_eof = _ended  # of TCP: an end is otherwise no error
        return link

    def _read(self) -> None:
        while not self._over.is_set():
            try:
                message = self._link.recv_match(
                    type="LOCAL_POSITION_NED", blocking=True, timeout=0.2
                )
            except OSError:  # of TCP or a serial line; pymavlink itself would block the agent
                self._over.wait(RETRY)
                self._link.close()
                with contextlib.suppress(OSError):
                    self._link = self._open(retries=1)
                continue
            if message is not None and message.get_srcSystem() == self._system:
                ned = np.array([message.x, message.y, message.z])
                self._arrived(self._origin + self._axes @ ned)

    def _send(self, velocity: Points) -> None:
        north, east, down = (self._axes.T @ velocity).tolist()
        boot = int(time.monotonic() * 1e3) & 0xFFFFFFFF
        still = (0.0,) * 3
        self._link.mav.set_position_target_local_ned_send(
            boot, self._system, 1, self._frame, VELOCITY_ALONE, *still, north, east, down, *still,
            0.0, 0.0,
        )  # fmt: skip

    def _release(self) -> None:
        self._over.set()
        self._reading.join(2.0)  # it may be connecting
        self._link.close()


def _ended() -> None:
    raise ConnectionResetError("the vehicle has ended the connection")
