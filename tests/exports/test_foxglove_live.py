"""A live view in Foxglove, as a client on a websocket sees it."""

from __future__ import annotations

import base64
import json
import socket
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from websockets.sync.client import ClientConnection, connect

import dwell
from dwell.errors import InputError
from dwell.exports import foxglove_live
from dwell.exports.foxglove_live import FoxgloveView
from dwell.live.beliefs import Announcement
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from dwell.scenario.build import build
from tests.exports.recorded_topics import entities, places
from tests.workers.watch import LONG

PROTOCOL: Any = "foxglove.sdk.v1"
TOPICS = {"/tf", "/scene", "/cost", "/errors"}
PLACES = np.array([[1.0, 1.0], [3.0, 1.5], [2.0, 4.0], [7.0, 5.0]])


def announced(agent: int, stamp: float, velocity: tuple[float, float]) -> Announcement:
    return Announcement(agent, 0, 1, stamp, 0.5, PLACES[agent], np.array(velocity))


class Client:
    """Subscribes to all topics that a server advertises."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._channels = socket, dict[int, Any]()
        self.stamps: dict[str, list[int]] = {}
        self.messages: dict[str, list[Any]] = {topic: [] for topic in TOPICS}
        while not {one["topic"] for one in self._channels.values()} >= TOPICS:
            self.read()
        assert socket.ping().wait(20.0)  # what was sent before was read

    def read(self) -> None:
        """Read one message; subscribe to what it advertises."""
        received = self._socket.recv(timeout=LONG)
        if isinstance(received, str):
            fresh = {one["id"]: one for one in json.loads(received).get("channels", [])}
            self._channels |= fresh
            wanted = [{"id": number, "channelId": number} for number in fresh]
            self._socket.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))
            return
        kind, channel, stamp = struct.unpack_from("<BIQ", received)
        if kind == 1:
            about = self._channels[channel]
            self.stamps.setdefault(about["topic"], []).append(stamp)
            self.messages.setdefault(about["topic"], []).append(decoded(about, received[13:]))


def decoded(channel: dict[str, Any], data: bytes) -> Any:
    if channel["encoding"] == "json":
        return json.loads(data)
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(channel["schema"] + "=="))
    for one in files.file:
        pool.Add(one)
    named = pool.FindMessageTypeByName(channel["schemaName"])
    return message_factory.GetMessageClass(named).FromString(data)


@pytest.fixture
def view(two_hills: dwell.Run) -> Iterator[FoxgloveView]:
    found = FoxgloveView(small(two_hills).system, PLACES, silence=1.0, port=0)
    yield found
    found.close()


def small(run: dwell.Run) -> dwell.Run:
    """Four agents in the workspace of a run."""
    law = run.system.controller
    return dwell.simulate(run.workspace, run.world(0.0).density, PLACES, law, until=0.1)


def test_a_client_sees_the_agents_that_are_known(two_hills: dwell.Run, view: FoxgloveView) -> None:
    world, moved = two_hills.world(0.0), PLACES.copy()
    moved[:3, 0] += 0.5 * 0.5  # the velocity is held for half a second
    with connect(view.address, subprotocols=[PROTOCOL]) as socket:
        client = Client(socket)
        view.update(0.04, [announced(p, 0.0, (0.5, 0.0)) for p in range(3)])  # too soon to draw
        view.update(0.7, [announced(3, 0.7, (0.0, 0.0))])
        view.update(1.2, [])  # three agents have been silent for more than a second
        while len(client.messages["/errors"]) < 2:
            client.read()
    expected = [moved, moved[3:]]
    assert [one["time"] for one in client.messages["/cost"]] == [0.7, 1.2]
    for k, where in enumerate(expected):
        cells = dwell.tessellate(world.workspace, where, world.density)
        assert client.messages["/cost"][k]["cost"] == pytest.approx(cells.cost, rel=1e-12)
        parts = entities(client.messages["/scene"][k])
        assert np.allclose(places(parts["agents"].spheres)[:, :2], where)
        assert len(parts["cells"].lines) == len(where)
        frames = client.messages["/tf"][k].transforms
        assert np.allclose(places(frame.translation for frame in frames)[:, :2], where)
    last = client.messages["/errors"][1]
    assert last["errors"][:3] == [None] * 3
    assert last["largest"] == last["errors"][3]


def test_stamps_count_from_the_beginning_of_the_run(
    view: FoxgloveView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view is made before the fleet, whose start takes seconds."""
    with connect(view.address, subprotocols=[PROTOCOL]) as socket:
        client = Client(socket)
        for now, date in ((0.25, 2_000_000_000.0), (1.25, 2_000_000_007.0)):
            monkeypatch.setattr(foxglove_live.time, "time_ns", lambda date=date: round(date * 1e9))
            view.update(now, [])
        while len(client.stamps.get("/tf", [])) < 2:
            client.read()
    assert client.stamps["/tf"] == [2_000_000_000_000_000_000, 2_000_000_001_000_000_000]


def test_agents_that_are_absent_have_no_frame_and_a_sensor_that_is_silent_no_cost() -> None:
    for template, silent in (("switching-site", []), ("two-sensors", [0, 1, 2, 3])):
        system, positions, _ = build(parse_scenario(text_to_mapping(template_text(template))))
        found = FoxgloveView(system, positions, silence=1.0, port=0)
        with connect(found.address, subprotocols=[PROTOCOL]) as socket:
            client = Client(socket)
            heard = [p for p in range(system.agents) if p not in silent]
            still = [Announcement(p, 0, 1, 2.0, 0.5, positions[p], np.zeros(2)) for p in heard]
            found.update(2.0, still)
            while "/density" not in client.messages:  # the last of an update
                client.read()
        found.close()
        names = {one.child_frame_id for one in client.messages["/tf"][0].transforms}
        present = system.world_at(2.0).agents_among(positions)
        assert names == {f"agent_{p}" for p in heard if p in present}
        assert len(client.messages["/cost"]) == (0 if silent else 1)


def test_errors_of_agents_with_several_sensors_are_those_of_the_run() -> None:
    table = text_to_mapping(template_text("two-sensors"))
    table["agents"]["sensors"][2:4] = [["heat", "smoke"], ["smoke", "heat"]]
    table["run"]["horizon"] = 0.2
    run = dwell.run_scenario(parse_scenario(table), progress=False)
    found = FoxgloveView(run.system, run.positions(0.0), port=0)
    with connect(found.address, subprotocols=[PROTOCOL]) as socket:
        client = Client(socket)
        found.update(0.1, [])
        while not (client.messages["/cost"] and client.messages["/errors"]):
            client.read()
    found.close()
    assert client.messages["/cost"][0]["cost"] == pytest.approx(run.cost(0.0), rel=1e-9)
    assert client.messages["/errors"][0]["errors"] == pytest.approx(run.errors(0.0), rel=1e-9)


def test_a_port_that_is_taken(two_hills: dwell.Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="choose another --port"):
            FoxgloveView(two_hills.system, two_hills.positions(0.0), port=taken.getsockname()[1])
