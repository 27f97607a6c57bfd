"""Which statements about the timer law apply to a system, and why others do not.

What a statement needs is proved or argued in docs/theory.md. The conditions, the certificate of a
run and flags ask here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from dwell._compatibility import TABLE, Feature, Need, refusals
from dwell.agents import CoverageSystem
from dwell.agents.world import World
from dwell.density import Function, Gaussian, Mixture, Raster, Uniform
from dwell.density.support import is_zero_somewhere
from dwell.theory.clocks import shares_clock

THEOREM = "theorem"  # the paper's conditions, its lemma and its theorem
SYNC = "sync_global"  # the cost never rises from one common sample to the next
INSIDE = "no_overshoot"  # no agent passes the centroid that it sampled, so none leaves
LOCAL = "async_local"  # near a minimum displacements die out
STATEMENTS = (THEOREM, SYNC, INSIDE, LOCAL)

_NEEDS = {THEOREM: Need.THEOREM, SYNC: Need.SYNC, INSIDE: Need.INSIDE, LOCAL: Need.LOCAL}
# Clauses that other files compare with.
ALONE = TABLE[Need.THEOREM][Feature.ALONE,].says
UNRELIABLE = TABLE[Need.THEOREM][Feature.NETWORK,].says
CORNERS = TABLE[Need.THEOREM][Feature.STAY,].says
UNSHARED = TABLE[Need.SYNC][Feature.UNSHARED,].says
FIRST_HOLD = TABLE[Need.INSIDE][Feature.FIRST_HOLD,].says

Scope: TypeAlias = Mapping[str, tuple[str, ...]]


def scope_of(system: CoverageSystem) -> Scope:
    """Why each statement does not apply to a system, as clauses; none where it applies."""
    found = _features_of(system)
    return {statement: _clauses(system, need, found) for statement, need in _NEEDS.items()}


def _clauses(system: CoverageSystem, need: Need, found: frozenset[Feature]) -> tuple[str, ...]:
    clauses = [refusal.says.format(law=system.traits.name) for refusal in refusals(need, found)]
    return tuple(dict.fromkeys(clauses))


def _features_of(system: CoverageSystem) -> frozenset[Feature]:
    """The features of a system in any of its worlds; of a law of another kind, that alone."""
    timer = system.traits.timer
    if timer is None:
        return frozenset({Feature.NO_TIMER})
    found = set().union(*system.features)
    if Feature.REGION in found and Feature.STAY not in found:
        found.add(Feature.MASK)
    for world in system.timeline.worlds:
        found |= _of_density(world)
    if not shares_clock(timer, system.agents):
        found.add(Feature.UNSHARED)
    return frozenset(found)


def _of_density(world: World) -> set[Feature]:
    """Why the density of a world is not continuous and above 0 everywhere."""
    parts, found = _parts(world.density), set()
    if any(isinstance(part, Raster) and part.interpolation == "constant" for part in parts):
        found.add(Feature.PIXELS)
    positive = any(isinstance(part, Uniform | Gaussian) for part in parts)
    still = not world.ground.moves
    if still and not positive and is_zero_somewhere(world.density, world.ground.workspace):
        found.add(Feature.ZERO)
    return found


def assumed_of(system: CoverageSystem) -> str:
    """What the theorem needs of a density and cannot be evaluated; empty if nothing."""
    parts = [part for world in system.timeline.worlds for part in _parts(world.density)]
    if any(isinstance(part, Function) for part in parts):
        return "The theorem needs a continuous density above 0, which is assumed of a function."
    return ""


def _parts(density: object) -> tuple[object, ...]:
    """The terms of a sum of densities."""
    return density.parts if isinstance(density, Mixture) else (density,)
