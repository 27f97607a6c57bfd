"""Limits on a velocity after the law has chosen it and before the robot executes it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dwell._types import Points, dots, lengths
from dwell.agents.interfaces import decay_rate_of
from dwell.geometry import Workspace
from dwell.live.record import FENCE, NEAR, POSE, SPEED, STAND, STOP
from dwell.live.settings import LiveLaw

HALVINGS = 40  # of the interval in which a segment meets the geofence


class Circumstances(NamedTuple):
    """What an agent knows besides the command of its law."""

    known: int  # agents, the own one included
    present: int  # agents that the scenario has at this time
    pose_age: float  # of the own position
    stopped: bool  # by the emergency stop
    near: np.ndarray  # of belief_type: its neighbours, and silent agents


def limited(
    law: LiveLaw, agent: int, place: Points, velocity: Points, hold: float, now: Circumstances
) -> tuple[Points, int]:
    """The velocity that the robot may hold for `hold` seconds, and what was limited."""
    flags = 0
    if now.stopped:
        flags |= STOP
    if now.pose_age > law.oldest_pose[agent]:
        flags |= POSE
    if now.known < law.quorum(now.present):
        flags |= STAND
    if flags:
        return np.zeros_like(velocity), flags
    speed = float(lengths(velocity))
    if speed > law.settings.top_speed:
        velocity, flags = velocity * (law.settings.top_speed / speed), flags | SPEED
    if law.settings.clearance > 0.0:  # in virtual time a hold has no limit of its own
        hold = min(hold, float(law.longest[agent]))
    if not math.isfinite(hold) or speed == 0.0:
        return velocity, flags
    step = hold + 1.0 / decay_rate_of(law.system.controller)  # a velocity may decay after its hold
    share = within(law.system.workspace, place, velocity * step)
    if share < 1.0:
        velocity, flags = share * velocity, flags | FENCE
    if law.settings.clearance > 0.0 and len(now.near):
        share = apart(law, place, velocity * step, now.near)
        if share < 1.0:
            velocity, flags = share * velocity, flags | NEAR
    return velocity, flags


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


def apart(law: LiveLaw, place: Points, step: Points, near: np.ndarray) -> float:
    """The largest share of a step that uses half the distance to others, less the clearance.

    This holds for the distance to each other agent, and for that to the segment that it still
    holds: whichever agent decides next, paths stay apart by twice the clearance. The distance is
    smaller by how far an agent may be from its believed position. An agent that is silent for
    longer than `silence` is taken to stand where its last segment ended, as a dead one does.
    """
    agents, begin = near["agent"], near["position"]
    longest = np.minimum(law.longest[agents], law.silence)
    left = np.maximum(longest - near["age"], 0.0) + 1.0 / decay_rate_of(law.system.controller)
    path = near["velocity"] * left[:, None]
    along = dots(place - begin, path) / np.maximum(dots(path, path), np.finfo(float).tiny)
    nearest = begin + path * np.clip(along, 0.0, 1.0)[:, None]
    late = np.maximum(near["age"] - law.shortest[agents], 0.0)
    late[near["age"] > law.silence] = 0.0
    unsure = 2.0 * law.speed * late if math.isfinite(law.speed) else np.where(late > 0, np.inf, 0.0)
    share = 1.0
    for points in (begin, nearest):
        away = points - place
        distance = lengths(away)
        free = np.maximum(0.5 * distance - law.settings.clearance - unsure, 0.0)
        towards = dots(away / np.maximum(distance, np.finfo(float).tiny)[:, None], step)
        shares = free[towards > 0.0] / towards[towards > 0.0]
        share = min(share, float(shares.min(initial=1.0)))
    return share
