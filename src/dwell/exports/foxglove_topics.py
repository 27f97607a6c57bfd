"""Topics of a run for Foxglove: frames of agents, a scene, density, numbers, samples, a log."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._need import need
from dwell._types import Floats, Points, lengths
from dwell.agents import CoverageSystem
from dwell.errors import InputError
from dwell.exports.drawn_tables import PIXELS
from dwell.exports.scene_shapes import (
    BAND,
    SensorCells,
    cells_at,
    rings_of_cells,
    rings_of_workspace,
)
from dwell.plotting.style import PLAIN

MOST = 3  # dimensions that a scene shows
ROOT = "map"  # the frame of the workspace
SECOND = 1_000_000_000  # nanoseconds
LARGEST, SMALLEST = 0.02, 0.004  # of the diameter of the workspace: size of an agent
ARROW = 0.1  # of that diameter: the arrow of the largest speed
BELOW = 1e-3  # of that diameter: how far the density lies below the plane of the agents
INK, GREY, TARGET = (0.1, 0.1, 0.1), (0.45, 0.45, 0.45), (0.85, 0.33, 0.1)

# Numbers can be null, but Foxglove Studio and Lichtblick refuse ["number", "null"] in a schema.
NUMBER, WHOLE = {"type": "number", "description": "null: infinite or unknown"}, {"type": "integer"}
VECTOR: dict[str, Any] = {"type": "array", "items": NUMBER}
COST = {"time": NUMBER, "cost": NUMBER}
ERRORS = {"time": NUMBER, "largest": NUMBER, "errors": VECTOR}
BELIEF = {
    "agent": WHOLE, "boot": WHOLE, "k": WHOLE, "age": NUMBER, "position": VECTOR,
    "velocity": VECTOR,
}  # fmt: skip
SAMPLE = {
    "time": NUMBER, "agent": WHOLE, "position": VECTOR, "hold": VECTOR, "error": VECTOR,
    "next_at": NUMBER, "cruise": NUMBER, "jump": WHOLE, "boot": WHOLE, "k": WHOLE,
    "flags": WHOLE, "due": NUMBER, "commanded": VECTOR,
    "beliefs": {"type": "array", "items": {"type": "object", "properties": BELIEF}},
}  # fmt: skip


def foxglove_sdk() -> Any:
    """The Foxglove SDK, imported when it is first used: it is an extra."""
    what = "MCAP files and live views in Foxglove need"
    for part in ("foxglove.channels", "foxglove.messages", "foxglove"):
        sdk = need(part, what, "foxglove-sdk", code="mcap.missing")
    return sdk


def check_dimension(system: CoverageSystem) -> None:
    """Refuse runs that no scene can show."""
    if system.dimension > MOST:
        raise InputError(
            f"a scene shows positions of 1, 2 or 3 coordinates, and these have {system.dimension}; "
            "leave the scene out, and draw the run with dwell plot",
            code="mcap.dimension",
            key="workspace",
        )


@final
class FoxgloveTopics:
    """The topics of one run, in a context of the Foxglove SDK.

    Times are seconds of the run; `zero` is that of time 0, in nanoseconds since 1970.
    """

    def __init__(
        self, system: CoverageSystem, context: Any, *, zero: int = 0, fastest: float = 0.0
    ) -> None:
        sdk = foxglove_sdk()
        self.system, self._context, self.zero = system, context, zero
        self._fastest = fastest  # speed of the longest arrow
        self._channels, self._m = sdk.channels, sdk.messages
        self._sdk = sdk
        self._tf = self._channels.FrameTransformsChannel("/tf", context=context)
        self._scene = self._channels.SceneUpdateChannel("/scene", context=context)
        self._json = {
            topic: self._json_channel(topic, name, fields)
            for topic, name, fields in (
                ("/cost", "dwell.Cost", COST), ("/errors", "dwell.Errors", ERRORS)
            )
        }  # fmt: skip

    def _json_channel(self, topic: str, name: str, fields: dict[str, Any]) -> Any:
        data = json.dumps({"title": name, "type": "object", "properties": fields}).encode()
        schema = self._sdk.Schema(name=name, encoding="jsonschema", data=data)
        return self._sdk.Channel(
            topic, schema=schema, message_encoding="json", context=self._context
        )

    @cached_property
    def _samples(self) -> Any:
        return self._json_channel("/agents/sample", "dwell.Sample", SAMPLE)

    @cached_property
    def _log(self) -> Any:
        return self._channels.LogChannel("/log", context=self._context)

    @cached_property
    def _grid(self) -> Any:
        return self._channels.GridChannel("/density", context=self._context)

    # Times and places.

    def _at(self, t: float) -> int:
        return self.zero + round(t * SECOND)

    def _stamp(self, t: float) -> Any:
        return self._m.Timestamp(*divmod(self._at(t), SECOND))

    def _points(self, places: Points) -> list[Any]:
        point, missing = self._m.Point3, [0.0] * (MOST - places.shape[1])
        return [
            point(x=x, y=y, z=z) for x, y, z in ([*place, *missing] for place in places.tolist())
        ]

    def _pose(self, place: Points, along: Points | None = None) -> Any:
        """The pose at a place, with the first axis along a vector."""
        x, y, z = _in_space(place)
        a, b, c, d = (0.0, 0.0, 0.0, 1.0) if along is None else _turned(_in_space(along))
        m = self._m
        return m.Pose(
            position=m.Vector3(x=x, y=y, z=z), orientation=m.Quaternion(x=a, y=b, z=c, w=d)
        )

    def _colour(self, rgb: Sequence[float], alpha: float = 1.0) -> Any:
        return self._m.Color(r=rgb[0], g=rgb[1], b=rgb[2], a=alpha)

    # Messages.

    def frames(self, t: float, agents: Iterable[int], positions: Points) -> None:
        """Write the frames of some agents, whose positions are the rows."""
        m, stamp = self._m, self._stamp(t)
        straight = m.Quaternion(x=0.0, y=0.0, z=0.0, w=1.0)
        found = []
        for agent, place in zip(agents, positions, strict=True):
            x, y, z = _in_space(place)
            found.append(
                m.FrameTransform(
                    timestamp=stamp, parent_frame_id=ROOT, child_frame_id=f"agent_{agent}",
                    translation=m.Vector3(x=x, y=y, z=z), rotation=straight,
                )
            )  # fmt: skip
        self._tf.log(m.FrameTransforms(transforms=found), log_time=self._at(t))

    def scene(
        self, t: float, positions: Points, velocities: Points, known: np.ndarray | None = None
    ) -> list[SensorCells]:
        """Write workspace, cells, agents, velocities and centroids; gives the cells.

        `known` says of each agent whether it is drawn; by default all are that are present.
        """
        agents = self.system.world_at(t).agents_among(positions)
        agents = agents if known is None else agents[known[agents]]
        divided = list(cells_at(self.system, t, positions, known, quick=True))
        workspace = self.system.ground_at(t).workspace
        size = workspace.diameter * float(
            np.clip(0.1 / math.sqrt(len(agents) or 1), SMALLEST, LARGEST)
        )
        rings = [ring for one in divided for ring in rings_of_cells(one.cells)]
        centroids = [c for one in divided if one.weighed for c in one.cells.centroids]
        parts = {
            "workspace": {"lines": self._loops(rings_of_workspace(workspace), 2.0, INK)},
            "cells": {"lines": self._loops(rings, 1.0, GREY)},
            "agents": {
                "spheres": [self._ball(positions[p], size, _rgb(PLAIN.colour(p))) for p in agents]
            },
            "velocities": {"arrows": self._arrows(positions[agents], velocities[agents], size)},
            "centroids": {"spheres": [self._ball(c, 0.5 * size, TARGET) for c in centroids]},
        }
        stamp = self._stamp(t)
        entities = [
            self._m.SceneEntity(timestamp=stamp, frame_id=ROOT, id=name, **shapes)
            for name, shapes in parts.items()
        ]
        self._scene.log(self._m.SceneUpdate(entities=entities), log_time=self._at(t))
        return divided

    def _loops(self, rings: Sequence[Points], thickness: float, rgb: Sequence[float]) -> list[Any]:
        m, colour = self._m, self._colour(rgb)
        return [
            m.LinePrimitive(
                type=m.LinePrimitiveLineType.LineLoop, thickness=thickness, scale_invariant=True,
                points=self._points(ring), color=colour,
            )
            for ring in rings
        ]  # fmt: skip

    def _ball(self, place: Points, size: float, rgb: Sequence[float]) -> Any:
        cube = self._m.Vector3(x=size, y=size, z=size)
        return self._m.SpherePrimitive(pose=self._pose(place), size=cube, color=self._colour(rgb))

    def _arrows(self, places: Points, velocities: Points, size: float) -> list[Any]:
        """One arrow for each agent that moves; the longest is that of the largest speed so far."""
        speeds = lengths(velocities)
        self._fastest = max(self._fastest, float(speeds.max(initial=0.0)))
        longest = ARROW * self.system.workspace.diameter
        found = []
        for place, velocity, speed in zip(places, velocities, speeds.tolist(), strict=True):
            if speed > 0.0:
                length = longest * speed / self._fastest
                head = min(size, 0.5 * length)
                found.append(
                    self._m.ArrowPrimitive(
                        pose=self._pose(place, velocity), shaft_length=length - head,
                        shaft_diameter=0.2 * size, head_length=head, head_diameter=0.5 * size,
                        color=self._colour(INK),
                    )
                )  # fmt: skip
        return found

    def density(self, t: float) -> None:
        """Write the density in float32 on a grid over the bounding box; none in space."""
        if self.system.dimension >= MOST:
            return
        ground, m = self.system.ground_at(t), self._m
        lower, upper = (np.array(end) for end in ground.workspace.bounds)
        low, wide, depth = lower, upper - lower, BELOW * ground.workspace.diameter
        if len(low) == 1:
            band = BAND * ground.workspace.diameter
            low, wide = np.append(low, -band), np.append(wide, 2.0 * band)
        counts = np.maximum(np.ceil(PIXELS * wide / wide.max()), 1).astype(int)
        pixel = wide / counts
        axes = [low[k] + (np.arange(counts[k]) + 0.5) * pixel[k] for k in (0, 1)]
        places = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)[:, : len(lower)]
        values = np.where(ground.workspace.covers(places), ground.density.at(places), 0.0)
        field = m.PackedElementField(
            name="density", offset=0, type=m.PackedElementFieldNumericType.Float32
        )
        with np.errstate(over="ignore"):
            data = values.astype("<f4").tobytes()
        grid = m.Grid(
            timestamp=self._stamp(t), frame_id=ROOT, pose=self._pose(np.append(low, -depth)),
            column_count=int(counts[0]), cell_size=m.Vector2(x=float(pixel[0]), y=float(pixel[1])),
            row_stride=4 * int(counts[0]), cell_stride=4, fields=[field], data=data,
        )  # fmt: skip
        self._grid.log(grid, log_time=self._at(t))

    def numbers(self, t: float, cost: float, errors: Floats) -> None:
        """Write the cost and the errors of all agents."""
        self._write("/cost", t, {"time": t, "cost": cost})
        largest = float(np.nanmax(errors, initial=0.0))
        self._write("/errors", t, {"time": t, "largest": largest, "errors": errors.tolist()})

    def _write(self, topic: str, t: float, found: dict[str, Any]) -> None:
        self._json[topic].log(as_json(found), log_time=self._at(t))

    def sample(self, t: float, found: dict[str, Any]) -> None:
        """Write the record of one sample."""
        self._samples.log(as_json(found), log_time=self._at(t))

    def log(self, t: float, says: str, *, level: str = "Info", name: str = "dwell") -> None:
        """Write one line of the log."""
        line = self._m.Log(
            timestamp=self._stamp(t),
            level=getattr(self._m.LogLevel, level),
            message=says,
            name=name,
        )
        self._log.log(line, log_time=self._at(t))


def as_json(value: dict[str, Any]) -> bytes:
    """JSON whose doubles read back equal; null stands for infinity and for no number."""
    return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rgb(colour: str) -> list[float]:
    """Red, green and blue of a colour such as #0072B2."""
    return [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]


def _in_space(place: Points) -> list[float]:
    return [*place.tolist(), 0.0, 0.0][:MOST]


def _turned(along: Sequence[float]) -> tuple[float, float, float, float]:
    """The quaternion that turns the first axis to a vector, by the shortest way."""
    x, y, z = (v / math.hypot(*along) for v in along)
    if x <= -1.0:
        return 0.0, 0.0, 1.0, 0.0
    w = math.sqrt(0.5 * (1.0 + x))
    return 0.0, -z / (2.0 * w), y / (2.0 * w), w
