"""Limits on a velocity after the law has chosen it and before the robot executes it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.agents.interfaces import decay_rate_of
from dwell.geometry import Workspace
from dwell.live.record import FENCE, HIDDEN, NEAR, POSE, SPEED, STAND, STOP, UNHEARD
from dwell.live.settings import LiveLaw

TRANSIT = 0.05  # seconds by which an age may be too small where clocks differ
HALVINGS = 40  # of the interval in which a segment meets the geofence


class Circumstances(NamedTuple):
    """What an agent knows besides the command of its law."""

    known: int  # agents, the own one included
    present: int  # agents that the scenario has at this time
    pose_age: float  # of the own position
    stopped: bool  # by the emergency stop
    time: float
    near: np.ndarray  # of belief_type: its neighbours, and for the keep-away all within reach
    hidden: bool = False  # others know other agents
    unheard: bool = False  # no message of some agent has ever come


def limited(
    law: LiveLaw, agent: int, place: Points, velocity: Points, hold: float, now: Circumstances
) -> tuple[Points, int]:
    """The velocity that the robot may hold for `hold` seconds, and what was limited."""
    flags = (HIDDEN if now.hidden else 0) | (UNHEARD if now.unheard else 0)
    if now.stopped:
        flags |= STOP
    if now.pose_age > law.oldest_pose[agent]:
        flags |= POSE
    if now.known < law.quorum(now.present):
        flags |= STAND
    if now.unheard:
        flags |= NEAR
    if flags & (STOP | POSE | STAND | NEAR):
        return np.zeros_like(velocity), flags
    speed = float(lengths(velocity))
    if speed > law.settings.top_speed:
        velocity, flags = velocity * (law.settings.top_speed / speed), flags | SPEED
    if law.settings.clearance > 0.0:  # in virtual time a hold has no limit of its own
        hold = min(hold, float(law.longest[agent]))
    if not math.isfinite(hold) or speed == 0.0:
        return velocity, flags
    step = hold + 1.0 / decay_rate_of(law.system.controller)  # a velocity may decay after its hold
    share = within(law.system.ground_at(now.time).workspace, place, velocity * step)
    if share < 1.0:
        velocity, flags = share * velocity, flags | FENCE
    if law.settings.clearance > 0.0 and len(now.near):
        astray = law.speed * now.pose_age if now.pose_age > 0.0 else 0.0
        share = apart(law, place, velocity * step, now.near, astray, hidden=now.hidden)
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


def apart(
    law: LiveLaw,
    place: Points,
    step: Points,
    near: np.ndarray,
    astray: float = 0.0,
    *,
    hidden: bool = False,
) -> float:
    """The largest share of a step that stays two clearances away from the paths of others.

    Where another agent cannot have sampled since its message, its path is the rest of its segment.
    Otherwise it is somewhere about its believed position, and the step also stays away from
    wherever its present segment may lead. One that is silent for longer than `silence` is taken to
    stand, as a dead one does, unless others know other agents. A robot that is closer already may
    only move away, and only from a path that is certain; standing is free, as no other robot may
    plan to come here.

    astray : how far the robot may be from `place`.
    hidden : others know other agents.
    """
    held, unsure = _paths(law, near, hidden)
    path = near["velocity"] * held[:, None]
    radius = 2.0 * law.settings.clearance + astray + unsure
    to_begin = place - near["position"]
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


def _paths(law: LiveLaw, near: np.ndarray, hidden: bool) -> tuple[Floats, Floats]:
    """For how long each agent certainly holds its velocity, and how far off it may lead otherwise.

    An agent may have sampled since its shortest interval, or at any time before its second sample,
    and then holds another velocity for its longest interval.
    """
    agents, age = near["agent"], near["age"]
    shortest = np.where(near["k"] <= 1, 0.0, law.shortest[agents])
    longest = np.minimum(law.longest[agents], law.silence)
    longest += 1.0 / decay_rate_of(law.system.controller)
    certain = (age + TRANSIT < shortest) | ((age > law.silence) & (not hidden))
    held = np.where(certain, np.maximum(longest - age, 0.0), 0.0)
    time = np.where(certain, 1.0, 2.0 * (age + TRANSIT - shortest) + longest)
    return held, np.where(certain, 0.0, law.speed * time)
