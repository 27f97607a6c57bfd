"""Limits on a velocity after the law has chosen it and before the robot executes it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Points, lengths
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
    others: Points  # (K, n) believed positions of its neighbours
    ages: Floats  # (K,) of their announcements


def limited(
    law: LiveLaw, agent: int, place: Points, velocity: Points, hold: float, now: Circumstances
) -> tuple[Points, int]:
    """The velocity that the robot may hold for `hold` seconds, and what was limited."""
    flags = 0
    if now.stopped:
        flags |= STOP
    if now.pose_age > law.shortest[agent] > 0.0:
        flags |= POSE
    if now.known < law.quorum(now.present):
        flags |= STAND
    if flags:
        return np.zeros_like(velocity), flags
    speed = float(lengths(velocity))
    if speed > law.settings.top_speed:
        velocity, flags = velocity * (law.settings.top_speed / speed), flags | SPEED
    if not math.isfinite(hold) or speed == 0.0:
        return velocity, flags
    share = within(law.system.workspace, place, velocity * hold)
    if share < 1.0:
        velocity, flags = share * velocity, flags | FENCE
    if law.settings.clearance > 0.0 and len(now.others):
        share = apart(law, agent, place, velocity * hold, now)
        if share < 1.0:
            velocity, flags = share * velocity, flags | NEAR
    return velocity, flags


def within(workspace: Workspace, place: Points, step: Points) -> float:
    """The largest share of a step that ends in the workspace, or no further outside than now."""
    allowed = float(workspace.outside_by(place[None])[0])
    slack = 1e-12 * workspace.diameter

    def ends_inside(share: float) -> bool:
        return float(workspace.outside_by((place + share * step)[None])[0]) <= allowed + slack

    if ends_inside(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        half = 0.5 * (low + high)
        low, high = (half, high) if ends_inside(half) else (low, half)
    return low


def apart(law: LiveLaw, agent: int, place: Points, step: Points, now: Circumstances) -> float:
    """The largest share of a step that stays in the own cell, less the radius of two robots.

    The cell is also smaller by how far each other agent may be from its believed position.
    """
    away = now.others - place
    distance = lengths(away)
    late = np.maximum(now.ages - law.shortest[agent], 0.0)
    unsure = 2.0 * law.speed * late if math.isfinite(law.speed) else np.where(late > 0, np.inf, 0.0)
    free = 0.5 * distance - law.settings.clearance - unsure
    towards = (away / np.maximum(distance, np.finfo(float).tiny)[:, None]) @ step
    nearer = towards > 0.0
    shares = np.maximum(free[nearer], 0.0) / towards[nearer]
    return float(min(shares.min(initial=1.0), 1.0))
