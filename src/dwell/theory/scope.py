"""Which statements about the timer law apply to a system, and why others do not.

What a statement needs is proved or argued in docs/theory.md. The conditions, the certificate of a
run and flags ask here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from dwell.agents import CoverageSystem
from dwell.agents.world import Phase
from dwell.controllers import Timer
from dwell.density import Function, Gaussian, Mixture, Raster, Uniform
from dwell.density.support import is_zero_somewhere
from dwell.geometry import Region
from dwell.theory.clocks import shares_clock

THEOREM = "theorem"  # the paper's conditions, its lemma and its theorem
SYNC = "sync_global"  # the cost never rises from one common sample to the next
INSIDE = "no_overshoot"  # no agent passes the centroid that it sampled, so none leaves
LOCAL = "async_local"  # near a minimum displacements die out
STATEMENTS = (THEOREM, SYNC, INSIDE, LOCAL)

UNSHARED = "the timers are not shared"
ALONE = "the theorem assumes at least two agents"
UNRELIABLE = "samples are lost or late"
CORNERS = "agents go around corners (stay = true)"
FIRST_HOLD = "the velocities that agents start with may lead out of the workspace"

Scope: TypeAlias = Mapping[str, tuple[str, ...]]


def scope_of(system: CoverageSystem) -> Scope:
    """Why each statement does not apply to a system, as clauses; none where it applies."""
    found: dict[str, list[str]] = {name: [] for name in STATEMENTS}
    for why, names in _obstacles(system):
        for name in names:
            found[name].append(why)
    return {name: tuple(clauses) for name, clauses in found.items()}


def _obstacles(system: CoverageSystem) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Clauses, each with the statements that it rules out."""
    law, timeline = system.controller, system.timeline
    if not isinstance(law, Timer):
        yield (
            f"the law is {type(law).__name__}, and the statements are about the timer law",
            (STATEMENTS),
        )
        return
    yield from _of_worlds(system)
    if not timeline.same_agents:
        yield "agents arrive or leave", (THEOREM, SYNC, LOCAL)
    if system.radius is not None or system.sensors:
        yield "agents have sensors or ranges of their own", (THEOREM,)
    if not system.perfect:
        yield UNRELIABLE, (THEOREM, SYNC, LOCAL)
    if law.feedforward != "none":
        yield "the law has feed-forward", STATEMENTS
    if law.initial_hold is not None:
        yield FIRST_HOLD, (INSIDE,)
    if system.agents == 1:
        yield ALONE, (THEOREM,)
    if not shares_clock(law, system.agents):
        yield UNSHARED, (SYNC,)


def _of_worlds(system: CoverageSystem) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What workspaces and densities rule out."""
    timeline = system.timeline
    if timeline.moves:
        yield "the density or the workspace moves", (THEOREM, SYNC, LOCAL)
    if timeline.region_changes:
        yield "the workspace changes", (INSIDE,)
    if any(phase.spacing is not None for phase in timeline.phases):
        yield "on a grid of points centroids are piecewise constant", (THEOREM, LOCAL)
    if system.stays:
        yield CORNERS, STATEMENTS
    elif any(isinstance(phase.workspace, Region) for phase in timeline.phases):
        yield "the workspace is a region that need not be convex", (THEOREM, INSIDE)
    for why in dict.fromkeys(why for phase in timeline.phases for why in _of_density(phase)):
        yield why, (THEOREM,)


def _of_density(phase: Phase) -> Iterator[str]:
    """Why the density of a phase is not continuous and above 0 everywhere."""
    parts = _parts(phase.density)
    if any(isinstance(part, Raster) and part.interpolation == "constant" for part in parts):
        yield "the density jumps between the pixels of a raster"
    positive = any(isinstance(part, Uniform | Gaussian) for part in parts)
    still = not phase.ground.moves
    if still and not positive and is_zero_somewhere(phase.density, phase.ground.workspace):
        yield "the density is 0 in places"


def assumed_of(system: CoverageSystem) -> str:
    """What the theorem needs of a density and cannot be evaluated; empty if nothing."""
    parts = [part for phase in system.timeline.phases for part in _parts(phase.density)]
    if any(isinstance(part, Function) for part in parts):
        return "The theorem needs a continuous density above 0, which is assumed of a function."
    return ""


def _parts(density: object) -> tuple[object, ...]:
    """The terms of a sum of densities."""
    return density.parts if isinstance(density, Mixture) else (density,)
