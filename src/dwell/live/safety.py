"""Limits on a velocity after the law has chosen it and before the robot executes it."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.geometry import Workspace, is_flat
from dwell.live.record import DOUBLE, FENCE, MUTE, NEAR, POSE, SPEED, STAND, STOP, UNHEARD
from dwell.live.settings import LiveLaw

STANDS = STOP | POSE | STAND | UNHEARD | MUTE | DOUBLE  # of these each alone makes a robot stand
AROUND = 16  # points of a circle around a robot
HALVINGS = 40  # of the interval in which a segment meets the geofence


class Circumstances(NamedTuple):
    """What an agent knows besides the command of its law."""

    known: int  # agents, the own one included
    present: int  # agents that the scenario has at this time
    pose_age: float  # of the own position
    stopped: bool  # by the emergency stop
    time: float
    near: np.ndarray  # of belief_type: its neighbours, and for the keep-away all within reach
    hearsay: int = 0  # flags that follow from messages


def limited(
    law: LiveLaw, agent: int, place: Points, velocity: Points, hold: float, now: Circumstances
) -> tuple[Points, int]:
    """The velocity that the robot may hold for `hold` seconds, and what was limited."""
    flags = now.hearsay
    if now.stopped:
        flags |= STOP
    if now.pose_age > law.oldest_pose[agent]:
        flags |= POSE
    if now.known < law.quorum(now.present):
        flags |= STAND
    if flags & STANDS:
        return np.zeros_like(velocity), flags
    speed = float(lengths(velocity))
    if speed > law.settings.speed_limit:
        velocity, flags = velocity * (law.settings.speed_limit / speed), flags | SPEED
    if not math.isfinite(hold) or speed == 0.0:
        return velocity, flags
    step = hold + 1.0 / law.system.traits.fade  # a velocity may decay after its hold
    astray = law.speed * now.pose_age if now.pose_age > 0.0 else 0.0
    share = inside(law.system.ground_at(now.time).workspace, place, velocity * step, astray)
    if share < 1.0:
        velocity, flags = share * velocity, flags | FENCE
    if law.settings.clearance > 0.0 and len(now.near):
        share = apart(law, place, velocity * step, now.near, astray)
        if share < 1.0:
            velocity, flags = share * velocity, flags | NEAR
    return velocity, flags


def inside(workspace: Workspace, place: Points, step: Points, astray: float = 0.0) -> float:
    """The largest share of a step that ends in the workspace, wherever it begins.

    Of a robot that is up to `astray` from `place`; what may be outside now goes no further out.
    Where the workspace has flat facets this is exact, else for points around the robot.
    """
    if astray == 0.0 or not math.isfinite(astray):  # a law may have no largest speed
        return within(workspace, place, step)
    hull = workspace.hull
    if is_flat(hull) and not workspace.stay:
        room = np.maximum(hull.offsets - hull.normals @ place - astray, 0.0)
        out = hull.normals @ step
        beyond = out > room
        return float((room[beyond] / out[beyond]).min(initial=1.0))
    if len(place) == 2:
        turns = 2.0 * math.pi * np.arange(AROUND) / AROUND
        around = np.stack([np.cos(turns), np.sin(turns)], axis=1) / math.cos(math.pi / AROUND)
    else:
        around = np.array(list(itertools.product((-1.0, 1.0), repeat=len(place))))
    return min(within(workspace, place + astray * one, step) for one in around)


def within(workspace: Workspace, place: Points, step: Points) -> float:
    """The largest share of a step that ends in the workspace, or no further outside than now."""

    def outside(share: float) -> float:
        return float(workspace.outside_by((place + share * step)[None])[0])

    slack, end = 1e-12 * workspace.diameter, outside(1.0)
    if end <= slack:
        return 1.0
    allowed = outside(0.0) + slack
    if end <= allowed:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        half = 0.5 * (low + high)
        low, high = (half, high) if outside(half) <= allowed else (low, half)
    return low


def apart(
    law: LiveLaw, place: Points, step: Points, near: np.ndarray, astray: float = 0.0
) -> float:
    """The largest share of a step that stays two clearances away from the paths of others.

    Where another agent cannot have sampled since its message, its path is its whole segment.
    Otherwise the step also stays away from wherever that agent may be until its present segment
    ends, as it may have moved otherwise than believed for some time. A robot that is closer already
    may only move away, and only from a path that is certain; standing is free, as
    no other robot may plan to come here.

    astray : how far the robot may be from `place`.
    """
    held, unsure = _paths(law, near)
    # A robot may have stopped since its segment began, as its agent ended or was stopped.
    since = np.where(near["doubt"] > 0.0, 0.0, np.maximum(near["age"], 0.0))
    begin = near["position"] - near["velocity"] * since[:, None]
    path = near["velocity"] * (held + since)[:, None]
    radius = 2.0 * law.settings.clearance + astray + unsure
    old = near["pose_age"] > 0.0
    radius[old] += law.speed * near["pose_age"][old]
    to_begin = place - begin
    share = _along(to_begin, path)
    gap = to_begin - path * np.clip(share, 0.0, 1.0)[:, None]
    close = lengths(gap) < radius
    if (close & ((unsure > 0.0) | (dots(gap, step) < 0.0))).any():
        return 0.0
    across = to_begin - path * share[:, None], step - path * _along(step, path)[:, None]
    beside = _meets(*across, radius)
    along = _along(to_begin + beside[:, None] * step, path)
    entries = (
        np.where((along >= 0.0) & (along <= 1.0), beside, 1.0),
        _meets(to_begin, step, radius), _meets(to_begin - path, step, radius),
    )  # fmt: skip
    return float(min(one[~close].min(initial=1.0) for one in entries))


def _along(vectors: Points, path: Points) -> Floats:
    """The coordinates of vectors along paths, in lengths of these; 0 for those without length."""
    found: Floats = dots(vectors, path) / np.maximum(dots(path, path), np.finfo(float).tiny)
    return found


def _meets(begin: Points, step: Points, radius: Floats) -> Floats:
    """The share of a step, at most 1, after which it first is within a radius of the origin."""
    square, half = dots(step, step), dots(begin, step)
    inside = half**2 - square * (dots(begin, begin) - radius**2)
    hits = (inside > 0.0) & (half < 0.0)
    entry = (-half - np.sqrt(np.where(hits, inside, 0.0))) / np.where(hits, square, 1.0)
    found: Floats = np.where(hits, np.clip(entry, 0.0, 1.0), 1.0)
    return found


def _paths(law: LiveLaw, near: np.ndarray) -> tuple[Floats, Floats]:
    """For how long each agent certainly holds its velocity, and how far off it may be otherwise."""
    doubt = near["doubt"]
    longest = law.longest[near["agent"]] + 1.0 / law.system.traits.fade
    held = np.where(doubt > 0.0, 0.0, np.maximum(longest - near["age"], 0.0))
    far: Floats = np.zeros(len(near))
    some = doubt > 0.0
    far[some] = law.speed * doubt[some]
    return held, far
