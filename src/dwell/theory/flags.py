"""What a careful reader should know about a run before believing it: named, with a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._kernels.marks import FLOOR
from dwell._types import Points
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.controllers import SelfTriggered
from dwell.density import tessellate
from dwell.theory.certificate import max_dwell_time, max_gain
from dwell.theory.metrics import Metrics, snapshots, timer_program

if TYPE_CHECKING:
    from dwell.hybrid import HybridArc

NEAR = 2.0**-40  # of the workspace's diameter
QUADRATURE = 1e-10  # relative error of a mass worth telling


@final
@dataclass(frozen=True, slots=True)
class Flag:
    """Something that does not stop a run but limits what it proves."""

    code: str
    says: str


def flags_of(
    arc: HybridArc[AgentsState],
    table: EventTable,
    metrics: Metrics,
    assumed: Mapping[str, Any] | None,
) -> list[Flag]:
    """All flags of a run; `assumed` holds eta_max and lipschitz where they were given."""
    system = arc.system
    assert isinstance(system, CoverageSystem)
    return [
        *_about_agents(arc, system, table, metrics),
        *_about_law(arc.states[0], system, table),
        *_about_quadrature(arc, system, table),
        *_about_timers(system),
        *_about_certificate(system, assumed),
        *_about_hold_error(table, metrics, assumed),
    ]


def _about_agents(
    arc: HybridArc[AgentsState], system: CoverageSystem, table: EventTable, metrics: Metrics
) -> Iterator[Flag]:
    diameter = system.workspace.diameter
    if system.agents == 1:
        yield Flag("single-agent", "The theorem assumes at least two agents.")
    closest = min(metrics.separations.min(initial=np.inf), table.nearest.min(initial=np.inf))
    if closest < NEAR * diameter:
        yield Flag("near-coincident", f"Two agents came within {closest:.3g} of each other.")
    empty = int(table.empty.sum())
    if empty:
        says = f"At {empty} looks the cell weighed nothing; the agent was led to the workspace."
        yield Flag("empty-cells", says)
    places = np.vstack([table.positions, _final_places(arc, table)])
    beyond = float(system.workspace.outside_by(places).max())
    if beyond > 1e-12 * diameter:
        yield Flag("outside", f"An agent was up to {beyond:.3g} outside the workspace.")


def _about_law(start: AgentsState, system: CoverageSystem, table: EventTable) -> Iterator[Flag]:
    """Where a law could not do what it wants, or nobody proved that it can."""
    if not system.network.perfect:
        says = "Looks and messages were lost or late, so the law's guarantees do not apply."
        yield Flag("unreliable-network", says)
    if isinstance(system.controller, SelfTriggered):
        floors = int((start.marks == FLOOR).sum() + (table.count("mark") == FLOOR).sum())
        if floors:
            yield Flag(
                "floor-hits",
                f"{floors} intervals are longer than the trigger allows, as none may be shorter "
                f"than tau_min = {system.controller.tau_min:g}: its guarantees do not hold on "
                "them.",
            )


def _final_places(arc: HybridArc[AgentsState], table: EventTable) -> Points:
    """Where everybody is at the end, from the table: states need not be put together for that."""
    places: Points = snapshots(arc.states[0], table, np.array([arc.until])).positions[0]
    return places


def _about_quadrature(
    arc: HybridArc[AgentsState], system: CoverageSystem, table: EventTable
) -> Iterator[Flag]:
    """How well a density that is only a function could be integrated, at the end of the run."""
    if system.terms is not None:
        return
    cells = tessellate(system.workspace, _final_places(arc, table), system.density)
    worst = float(cells.mass_errors.max())
    if worst > QUADRATURE:
        says = f"The density is not smooth: masses are only known to {worst:.2g} of themselves."
        yield Flag("quadrature", says)


def _about_timers(system: CoverageSystem) -> Iterator[Flag]:
    program = timer_program(system)
    if program is None:
        return
    longest = float(program.t2.max())
    if program.k1 * longest > program.reach:
        yield Flag(
            "overshoot",
            f"k1 T2 = {program.k1 * longest:.4g} exceeds (1 - epsilon) nu = {program.reach:.4g}: "
            "agents may run past their centroids and leave the workspace.",
        )


def _about_certificate(system: CoverageSystem, assumed: Mapping[str, Any] | None) -> Iterator[Flag]:
    program, n = timer_program(system), system.agents
    if assumed is None or program is None:
        return
    eta = float(assumed["eta_max"])
    lipschitz = np.broadcast_to(np.asarray(assumed["lipschitz"], dtype=float), (n,))
    if eta >= program.k1:
        yield Flag(
            "certificate-void",
            f"The theorem needs eta_max < k1, but eta_max = {eta:g} and k1 = {program.k1:g}.",
        )
    limits = [max_dwell_time(eta, program.reach, program.k1, float(v), n) for v in lipschitz]
    short = [p for p in range(n) if program.t2[p] > limits[p]]
    if short:
        p = short[0]
        gain = max_gain(eta, program.reach, float(program.t2[p]), float(lipschitz[p]), n)
        yield Flag(
            "certificate-void",
            f"T2 = {program.t2[p]:g} of agent {p} exceeds the maximum dwell time {limits[p]:.6g}; "
            f"keep T2 at most {limits[p]:.6g}{_or_gain(gain, eta)}.",
        )


def _or_gain(gain: float, eta: float) -> str:
    """The other way out, where there is one: the theorem also needs eta_max < k1."""
    if gain > eta:
        return f", or k1 at most {gain:.6g}"
    return f" (no k1 will do: it would have to be at most {gain:.6g}, below eta_max = {eta:g})"


def _about_hold_error(
    table: EventTable, metrics: Metrics, assumed: Mapping[str, Any] | None
) -> Iterator[Flag]:
    if assumed is None:
        return
    seen = max(table.hold_error.max(initial=0.0), metrics.hold_errors.max(initial=0.0))
    if seen > float(assumed["eta_max"]):
        yield Flag(
            "hold-error-exceeded",
            f"The hold error reached {seen:.4g}, above eta_max = {float(assumed['eta_max']):g}.",
        )
