"""Flags: conditions that limit what a run means, each with a name and a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._kernels.common.status import FLOOR
from dwell._types import Points, apart, counted
from dwell.agents import AgentsState, CoverageSystem
from dwell.cells.backend import backend_for
from dwell.density.support import least_log_cost
from dwell.measure.closest_approach import NEAR, Approach
from dwell.measure.metrics import hold_program, log_cost_of, timer_program
from dwell.theory.advice import advise
from dwell.theory.design import setting_of, void_reasons
from dwell.theory.lipschitz import Attained
from dwell.theory.scope import ALONE, THEOREM, UNRELIABLE

QUADRATURE = 1e-10  # relative error of a mass beyond which there is a flag
LEAST_LOG = math.log(np.finfo(float).tiny)  # below it doubles lose digits, then are 0


@final
@dataclass(frozen=True, slots=True)
class Flag:
    """Something that does not stop a run but limits what it proves."""

    code: str
    says: str


ALTERED = Flag(
    "altered",
    "This file was changed after it was written: dwell check finds out whether its events still "
    "solve its scenario.",
)


@final
@dataclass(frozen=True, eq=False)
class RunFacts:
    """What was seen of a run, whether or not its events were kept."""

    start: AgentsState
    places: Points  # (N, n) at the end
    nearest: float  # the smallest distance of two agents, at the start, at events and at the end
    empty: int  # samples at which the cell had no mass
    outside: float  # the largest distance of a sampling agent from the workspace
    floors: int  # waits that the law would have wanted shorter
    hold_error: float  # the largest, at the start, at the ends of holds and at the end
    until: float = 0.0  # when the run ended


def flags_of(
    system: CoverageSystem,
    seen: RunFacts,
    assumed: Mapping[str, Any] | None,
    *,
    approach: Approach | None = None,
    measured: Attained | None = None,
) -> list[Flag]:
    """All flags of a run; `assumed` holds eta_max and lipschitz where they were given.

    `approach` is the closest that two agents came, `measured` are the Lipschitz constants along
    the run, where these are known.
    """
    return [
        *about_scale(system, seen.start.positions),
        *_about_number(system),
        *_about_agents(system, seen, approach),
        *_about_network(system),
        *_about_region(system),
        *_about_world(system),
        *_about_law(system, seen),
        *_about_quadrature(system, seen),
        *_about_timers(system),
        *_about_certificate(system, assumed, measured),
        *_about_hold_error(system, seen, assumed),
    ]


def flags_before(
    system: CoverageSystem, places: Points, assumed: Mapping[str, Any] | None
) -> list[Flag]:
    """The flags that a run from `places` will have, whatever happens in it."""
    return [
        *about_scale(system, places),
        *_about_number(system),
        *_about_network(system),
        *_about_region(system),
        *_about_world(system),
        *_about_timers(system),
        *_about_certificate(system, assumed, None),
    ]


def about_scale(system: CoverageSystem, places: Points) -> Iterator[Flag]:
    """Lengths or masses out of proportion, known before a run that starts at `places`."""
    diameter, nu = system.workspace.diameter, system.nu or 0.0
    if nu > diameter:
        says = f"nu = {nu:g} is {nu / diameter:.3g} times the workspace's diameter {diameter:.3g}"
        yield Flag("nu-beyond-workspace", f"{says}: are the units the same?")
    exact = system.spacing is None
    if system.radius is not None:  # what is out of range costs at least the squared radius
        return
    if exact and least_log_cost(system.density, system.workspace, system.agents) > LEAST_LOG:
        return
    log_cost = log_cost_of(system.measure_all(places))
    if log_cost is not None and log_cost < LEAST_LOG:
        says = f"The cost at the start is exp({log_cost:.6g}), below the smallest double"
        rest = "costs and masses may read 0; log_cost has their logarithm, and centroids are right"
        yield Flag("underflow", f"{says}: {rest}.")


def _about_number(system: CoverageSystem) -> Iterator[Flag]:
    if system.agents == 1:
        yield Flag("single-agent", f"{ALONE[0].upper()}{ALONE[1:]}.")


def _about_network(system: CoverageSystem) -> Iterator[Flag]:
    if not system.perfect:
        says = "Samples and messages may be lost or late, so the law's guarantees do not apply."
        yield Flag("unreliable-network", says)


def _about_region(system: CoverageSystem) -> Iterator[Flag]:
    regions = [one for world in system.timeline.worlds if (one := world.ground.mask) is not None]
    if not regions:
        return
    says = "Parts of cells outside the region weigh nothing, where the theorem assumes a density "
    says += "above 0"
    leave = "" if system.stays else "; agents may cross them, unless stay = true"
    yield Flag("region", f"{says}{leave}.")
    if system.stays:
        says = "Agents stay in the region and go around corners, so the cost may rise on the way"
        yield Flag("stay", f"{says}; errors are lengths of paths to the nearest points.")
    if system.stays and any(len(one.parts) > 1 for one in regions):
        yield Flag("parts", "No agent can leave its part of the region.")


def _about_world(system: CoverageSystem) -> Iterator[Flag]:
    moves = system.timeline.moves
    if not moves and len(system.timeline.worlds) == 1:
        return
    says = "The world switches, so what the law's paper proves holds between switches only"
    if moves:
        says = "The density or the workspace moves, so the cost may rise whatever the law does"
    yield Flag("changing-world", f"{says}.")


def _about_agents(
    system: CoverageSystem, seen: RunFacts, approach: Approach | None
) -> Iterator[Flag]:
    diameter = system.workspace.diameter
    closest, pair, when = seen.nearest, "Two agents", ""
    if approach is not None:
        closest = min(closest, approach.distance)
        pair, when = "Agents {} and {}".format(*approach.agents), f", at t = {approach.time:g}"
    if closest < NEAR * diameter:
        says = f"{pair} came within {closest:.3g} of each other{when}."
        yield Flag("near-coincident", says)
    if seen.empty:
        yield Flag(
            "empty-cells",
            f"At {counted(seen.empty, 'sample')} the cell weighed nothing; the agent did not move"
            + (", or moved into the workspace from outside." if system.radius is None else "."),
        )
    every = np.arange(system.agents)
    last = system.timeline.outside_by(seen.places, every, np.full(len(every), seen.until))
    beyond = max(seen.outside, float(last.max()))
    if beyond > 1e-12 * diameter:
        yield Flag("outside", f"An agent was up to {beyond:.3g} outside the workspace.")


def _about_law(system: CoverageSystem, seen: RunFacts) -> Iterator[Flag]:
    """Where a law could not apply its rule."""
    scans = system.traits.scans
    floors = int((seen.start.marks == FLOOR).sum()) + seen.floors
    if floors and scans is not None:
        yield Flag(
            "floor-hits",
            f"{counted(floors, 'interval')} longer than the trigger allows, as none may be "
            f"shorter than tau_min = {scans.tau_min:g}: its guarantees do not hold there.",
        )
    if floors and system.traits.solves:
        yield Flag(
            "ill-conditioned",
            f"At {counted(floors, 'sample')} the equation for the velocities was nearly singular: "
            "some of the feed-forward is missing there.",
        )


def _about_quadrature(system: CoverageSystem, run: RunFacts) -> Iterator[Flag]:
    """How well the cells could be weighed, at the start and at the end of the run."""
    if backend_for(system.ground_at(0.0)).exact:
        return
    ends = np.stack([run.start.positions, run.places])
    row, agent = np.divmod(np.arange(2 * system.agents), system.agents)
    doubt = system.measure(ends, row, agent, np.array([0.0, run.until])).doubt
    worst = 0.0 if doubt is None else float(doubt.max())
    if worst > QUADRATURE:
        share = f"to {worst:.2g} of themselves" if worst < 1.0 else "to no digit"
        yield Flag("quadrature", f"Masses of cells, and so centroids, are only known {share}.")


def _about_timers(system: CoverageSystem) -> Iterator[Flag]:
    program = timer_program(system)
    if program is None or system.stays:  # which stop at the ends of straight stretches
        return
    longest = float(program.t2.max())
    if hold_program(system) is None:
        says = "With feed-forward agents may run past their centroids and leave the workspace."
        yield Flag("overshoot", says)
    elif program.k1 * longest > program.reach:
        step, reach = apart(program.k1 * longest, program.reach)
        yield Flag(
            "overshoot",
            f"k1 T2 = {step} exceeds (1 - epsilon) nu = {reach}: "
            "agents may run past their centroids and leave the workspace.",
        )


def _about_certificate(
    system: CoverageSystem, assumed: Mapping[str, Any] | None, measured: Attained | None
) -> Iterator[Flag]:
    """Why the theorem does not apply to this run, and the remedy where one is known."""
    if assumed is None or system.traits.timer is None:
        return
    setting = setting_of(system, float(assumed["eta_max"]), assumed["lipschitz"])
    why_not = setting.why_not(THEOREM)
    flagged = {ALONE, UNRELIABLE}  # these have flags of their own
    if why_not:
        if not flagged.issuperset(why_not):
            says = " and ".join(why for why in why_not if why not in flagged)
            yield Flag("certificate-void", f"The theorem does not apply, because {says}.")
        return
    reasons = list(void_reasons(setting, measured))
    changes = [advice.says for advice in advise(setting) if advice.value is not None]
    if changes:
        reasons.append(f"The condition would hold with {'; or '.join(changes)}.")
    if reasons:
        yield Flag("certificate-void", " ".join(reasons))


def _about_hold_error(
    system: CoverageSystem, seen: RunFacts, assumed: Mapping[str, Any] | None
) -> Iterator[Flag]:
    limits = {} if assumed is None else {"eta_max": float(assumed["eta_max"])}
    own = own_limit(system)
    if own is not None:
        limits["the timers' own eta_max"] = own
        if seen.floors:
            yield Flag(
                "adaptive-floor",
                f"{counted(seen.floors, 'wait')} cut off at t1: the limit eta_max = {own:g} needs "
                "an earlier sample there, so it may be exceeded.",
            )
    for name, limit in limits.items():
        if seen.hold_error > limit:
            reached, most = apart(seen.hold_error, limit)
            says = f"The hold error reached {reached}, above {name} = {most}."
            yield Flag("hold-error-exceeded", says)


def own_limit(system: CoverageSystem) -> float | None:
    """The limit of the hold error that adaptive timers keep to; None for others."""
    timer = system.traits.timer
    return None if timer is None else timer.eta_max
