"""RmwZenohPlant: a ROS 2 robot that uses rmw_zenoh, without ROS on the agent's side.

Keys, liveliness tokens and attachments are those of rmw_zenoh since version 0.2.4, by its design
document. This has not been tried against `rmw_zenoh_cpp` itself.
"""

from __future__ import annotations

import json
import math
import struct
import time
import uuid
from collections.abc import Callable
from typing import Any, final

from dwell._need import need
from dwell._types import Points
from dwell.errors import InputError
from dwell.fleet.plant.remote import MISSING
from dwell.fleet.plant.ros_topics import RosPlant, RosTopics

WHAT, PACKAGES = "a robot on rmw_zenoh needs", "eclipse-zenoh rosbags"
QOS = "::,10:,:,:,,"  # reliable, volatile, the last 10 messages; the rest as usual
NO_HASH = "TypeHashNotSupported"  # in ROS 2 Humble
DISTRIBUTIONS = ("humble", "iron", "jazzy", "kilted")


@final
class RosTypes:
    """The messages of a distribution of ROS 2 as bytes, and the names of their types."""

    def __init__(self, distribution: str = "jazzy") -> None:
        if distribution not in DISTRIBUTIONS:
            says = f"the distribution is {distribution!r}; {', '.join(DISTRIBUTIONS)} are possible"
            raise InputError(says, code="plant.ros")
        types = need("rosbags.typesys", WHAT, PACKAGES, code=MISSING)
        self.store = types.get_typestore(types.Stores(f"ros2_{distribution}"))
        self.fault = need("rosbags.serde", WHAT, PACKAGES, code=MISSING).SerdeError
        self._hashed = distribution != "humble"

    def pack(self, message: Any, kind: str) -> bytes:
        """A message as CDR."""
        return bytes(self.store.serialize_cdr(message, kind))

    def unpack(self, data: bytes, kind: str) -> Any:
        """The message in CDR."""
        return self.store.deserialize_cdr(data, kind)

    def described(self, kind: str) -> str:
        """The name of a type in DDS, and its hash, as keys contain them."""
        package, space, name = kind.split("/")
        hashed = self.store.hash_rihs01(kind) if self._hashed else NO_HASH
        return f"{package}::{space}::dds_::{name}_/{hashed}"

    def velocity(self, kind: str, frame: str, command: tuple[float, float, float]) -> Any:
        """A velocity as a message, stamped if its type is."""
        made, zero = self.store.types, 0.0
        vector = made["geometry_msgs/msg/Vector3"]
        twist = made["geometry_msgs/msg/Twist"](
            linear=vector(x=command[0], y=command[1], z=zero),
            angular=vector(x=zero, y=zero, z=command[2]),
        )
        if kind.endswith("/Twist"):
            return twist
        seconds, rest = divmod(time.time_ns(), 10**9)
        stamp = made["builtin_interfaces/msg/Time"](sec=seconds, nanosec=rest)
        header = made["std_msgs/msg/Header"](stamp=stamp, frame_id=frame)
        return made[kind](header=header, twist=twist)


@final
class RmwNode:
    """A node of ROS 2 in the graph of rmw_zenoh.

    Parameters
    ----------
    name : of the node.
    domain : the ROS domain.
    router : the address of the zenoh router, as `ros2 run rmw_zenoh_cpp rmw_zenohd` starts it.
    settings : of the zenoh session, as values of its configuration by their paths.
    """

    def __init__(
        self,
        name: str,
        types: RosTypes,
        *,
        domain: int = 0,
        router: str = "tcp/127.0.0.1:7447",
        settings: dict[str, Any] | None = None,
    ) -> None:
        zenoh = need("zenoh", WHAT, PACKAGES, code=MISSING)
        self.types, self.name, self.domain = types, name, domain
        config = zenoh.Config()
        usual = {
            "scouting/multicast/enabled": False,
            "listen/endpoints": ["tcp/127.0.0.1:0"],
            "connect/endpoints": [router],
        }
        try:
            for path, value in {**usual, **(settings or {})}.items():
                config.insert_json5(path, json.dumps(value))
            self._session = zenoh.open(config)
        except zenoh.ZError:
            says = f"zenoh opens no session with the router {router!r}"
            raise InputError(f"{says}; use an address such as tcp/192.168.1.2:7447",
                             code="plant.zenoh") from None  # fmt: skip
        self.refused = 0  # messages that are none of their type
        self._kept: list[Any] = []
        self._declare("0/0/NN/%/%/" + name)

    def _declare(self, rest: str) -> None:
        path = f"@ros2_lv/{self.domain}/{self._session.info.zid()}/{rest}"
        self._kept.append(self._session.liveliness().declare_token(path))

    def _endpoint(self, entity: str, topic: str, kind: str) -> str:
        """Announce a publisher (MP) or a subscription (MS); returns the key of its messages."""
        described = self.types.described(kind)
        at = f"0/{len(self._kept)}/{entity}/%/%/{self.name}/{topic.replace('/', '%')}"
        self._declare(f"{at}/{described}/{QOS}")
        return f"{self.domain}/{topic.strip('/')}/{described}"

    def publisher(self, topic: str, kind: str) -> Callable[[Any], None]:
        """A function that publishes messages."""
        out = self._session.declare_publisher(self._endpoint("MP", topic, kind))
        source, count = uuid.uuid4().bytes, 0

        def publish(message: Any) -> None:
            nonlocal count
            count += 1
            note = struct.pack("<qqB", count, time.time_ns(), len(source)) + source
            out.put(self.types.pack(message, kind), attachment=note)

        return publish

    def subscribe(self, topic: str, kind: str, receive: Callable[[Any], None]) -> None:
        """Call a function, in a thread of zenoh, with each message that arrives."""

        def arrived(sample: Any) -> None:
            try:
                message = self.types.unpack(sample.payload.to_bytes(), kind)
            except (self.types.fault, ValueError):
                self.refused += 1
            else:
                receive(message)

        key = self._endpoint("MS", topic, kind)
        self._kept.append(self._session.declare_subscriber(key, arrived))

    def close(self) -> None:
        """Leave the graph."""
        self._session.close()


@final
class RmwZenohPlant(RosPlant):
    """One robot; parameters are those of `Ros2Plant` and `RmwNode`."""

    def __init__(
        self,
        agent: int,
        clock: Callable[[], float],
        topics: RosTopics | None = None,
        *,
        fade: float = math.inf,
        distribution: str = "jazzy",
        domain: int = 0,
        router: str = "tcp/127.0.0.1:7447",
        settings: dict[str, Any] | None = None,
        patience: float = 10.0,
    ) -> None:
        super().__init__(agent, clock, topics, fade)
        types, (position, self._kind) = RosTypes(distribution), self._types
        self._node = RmwNode(self._name, types, domain=domain, router=router, settings=settings)
        self._publish = self._node.publisher(self._out, self._kind)
        self._node.subscribe(self._source, position, self._receive)
        self._begin(patience, self._source)

    def _send(self, velocity: Points) -> None:
        command = self._command(velocity)
        self._publish(self._node.types.velocity(self._kind, self._frame, command))

    def _release(self) -> None:
        self._node.close()
