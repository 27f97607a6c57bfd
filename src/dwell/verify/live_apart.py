"""Whether the robots of a live run kept apart, and whether its clocks are good enough to tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dwell._types import lengths
from dwell.live.record import LiveRecord
from dwell.measure.closest_approach import Approach, closest_approach
from dwell.verify.finding import (
    DEGRADED,
    HOLDS,
    UNCERTAIN,
    Finding,
    not_applicable,
    violated,
)
from dwell.verify.live_case import LiveCheck

ROUNDING = 1e-9  # of two clearances
CLOCK_SHARE = 0.25  # of T1: how uncertain a clock may be
FIRST = ("clearance", "workspace", "clocks", "late", "interval")  # what is read first


def clearance(check: LiveCheck) -> Finding:
    """The least distance of any two robots, those included that have left or are yet to arrive.

    It is exact along the recorded segments. What it leaves open is said: the clocks of two agents,
    and how far a robot may have moved since its position was measured.
    """
    name, radius = "clearance", check.law.settings.clearance
    found = closest_approach(check.run)
    if check.run.system.agents < 2:
        return not_applicable(name, "two robots never come too close", "there is one robot")
    says = f"the least distance of two robots is {found.distance:.4g}"
    where = found.says
    if radius == 0.0:
        why = f"{where}; fleet.clearance is 0, so that none was asked for"
        return not_applicable(name, says, why)
    error = _known_to(check, found)
    wanted, short = 2.0 * radius, 2.0 * radius - found.distance
    says = f"{says}, of two clearances {wanted:.4g}, known to {error:.2g}"
    limit = error + ROUNDING * wanted
    if not found.thorough:
        says = f"{says}; not all pairs were followed all along"
    if short > limit:
        return violated(name, says, short, limit, where)
    if short > ROUNDING * wanted:
        says = f"{says}, so that it may have been enough"
        return Finding(name, says, DEGRADED, short, limit, where)
    return Finding(name, f"{says} ({where})", HOLDS, 0.0, limit)


def _known_to(check: LiveCheck, found: Approach) -> float:
    """How far the distance of two robots may be from the recorded one."""
    live = check.live
    two = np.isin(live.samples["agent"], found.agents)
    rows = live.samples[two]
    speeds = np.zeros(2)
    for k, agent in enumerate(found.agents):
        speeds[k] = lengths(rows["hold"][rows["agent"] == agent]).max(initial=0.0)
    age = 0.0 if live.exact else float((rows["time"] - rows["measured"]).max(initial=0.0))
    time = live.uncertainty + max(age, 0.0)
    return float(speeds.sum() * time) if speeds.any() else 0.0


def clocks(check: LiveCheck) -> Finding:
    """How uncertain the clocks are, and whose is."""
    name, live = "clocks", check.live
    if not live.shifts.any() and live.uncertainty == 0.0:
        return Finding(name, "all agents have one clock", HOLDS, 0.0, 0.0)
    shortest = float(np.min(check.law.shortest))
    limit = CLOCK_SHARE * (shortest if shortest > 0.0 else check.law.silence)
    of = "a quarter of T1" if shortest > 0.0 else "a quarter of fleet.silence"
    says = f"clocks are known to {live.uncertainty:.2g} s; {of} is needed"
    if live.uncertainty <= limit:
        return Finding(name, says, HOLDS, live.uncertainty, limit)
    says = f"{says}: places of two robots cannot be compared"
    return Finding(name, says, UNCERTAIN, live.uncertainty, limit, whose(live.clocks))


def whose(clocks: Mapping[int, float]) -> str:
    """The agents whose clocks are the most uncertain, in words."""
    if not clocks:
        return ""
    most = max(clocks.values())
    who = [p for p, unsure in clocks.items() if unsure >= 0.5 * most]
    far = "not at all" if np.isinf(most) else f"to {most:.2g} s at best"
    if len(who) == len(clocks):
        return f"those of all agents, {far}"
    names = ", ".join(f"agent {p}" for p in who[:5]) + (", ..." if len(who) > 5 else "")
    return f"that of {names}, {far}"


def aged(found: Finding, live: LiveRecord, speed: float | None) -> Finding:
    """A finding about measured positions, which says how old these were at the samples."""
    age = float((live.samples["time"] - live.samples["measured"]).max(initial=0.0))
    if age <= 0.0:
        return found
    says = f"{found.says}; positions were up to {age:.2g} s old"
    return replace(found, says=says if speed is None else f"{says}, and off by {age * speed:.2g}")


def ordered(findings: list[Finding]) -> list[Finding]:
    """What a reader of the check of a live run needs first, and then the rest."""
    rank = {name: k for k, name in enumerate(FIRST)}
    return sorted(findings, key=lambda one: rank.get(one.name, len(rank)))
