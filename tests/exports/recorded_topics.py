"""MCAP files read back by the library `mcap`, which shares no code with the writer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory


class Message(NamedTuple):
    """One message with its time of the run."""

    time: float
    schema: str
    content: Any


class Json:
    """Decodes JSON."""

    def decoder_for(self, encoding: str, schema: Any) -> Any:
        return json.loads if encoding == "json" else None


def topics_of(path: Path) -> dict[str, list[Message]]:
    """All messages of a file by topic, in order of time."""
    found: dict[str, list[Message]] = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory(), Json()])
        for schema, channel, message, content in reader.iter_decoded_messages():
            one = Message(message.log_time / 1e9, schema.name, content)
            found.setdefault(channel.topic, []).append(one)
    return found


def entities(scene: Any) -> dict[str, Any]:
    """The entities of a scene by id."""
    return {entity.id: entity for entity in scene.entities}


def places(messages: Any) -> np.ndarray:
    """Points, or the positions of spheres and arrows, (k, 3)."""
    points = [(getattr(one, "pose", None) and one.pose.position) or one for one in messages]
    return np.array([(p.x, p.y, p.z) for p in points]).reshape(-1, 3)


def rings(entity: Any) -> list[np.ndarray]:
    """The closed lines of an entity."""
    assert all(line.type == line.LINE_LOOP for line in entity.lines)
    return [places(line.points) for line in entity.lines]


def area(ring: np.ndarray) -> float:
    """The area of a planar ring, positive if it is counter-clockwise."""
    x, y = ring[:, 0], ring[:, 1]
    return float(0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum())


def direction(arrow: Any) -> np.ndarray:
    """Where an arrow points: the first axis, turned by its quaternion, times its length."""
    q = arrow.pose.orientation
    axis = [1 - 2 * (q.y**2 + q.z**2), 2 * (q.x * q.y + q.z * q.w), 2 * (q.x * q.z - q.y * q.w)]
    return (arrow.shaft_length + arrow.head_length) * np.array(axis)
