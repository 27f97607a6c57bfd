"""What a scenario says of a live fleet: safety margins, and faults that are injected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from dwell._parameters import parameters_of
from dwell.live.faults import Faults
from dwell.live.settings import LiveSettings

from .declared import DeclaredTable, table_of
from .problems import Problem
from .values import Text, doc, listed

if TYPE_CHECKING:
    FaultsSpec: TypeAlias = DeclaredTable
    FleetSpec: TypeAlias = DeclaredTable
else:
    FaultsSpec = table_of(Faults)
    PEERS = Annotated[tuple[Text, ...], listed('a list of "host:port"')]
    FleetSpec = table_of(
        LiveSettings,
        peers=(
            PEERS | None,
            doc("the UDP address of each agent, for agents on several machines", None),
        ),
        faults=(FaultsSpec | None, doc("faults that are injected; none if absent", None)),
    )


def fleet_problems(scenario: Any, agents: int) -> Iterator[Problem]:
    """Numbers of agents that the scenario does not have, and faults that cannot be."""
    fleet = scenario.fleet
    if fleet is None:
        return
    if fleet.quorum is not None and fleet.quorum > agents:
        says = f"= {fleet.quorum} is more than the {agents} agents of the scenario; use less"
        yield Problem(("fleet", "quorum"), "fleet.quorum", says)
    faults = fleet.faults or FaultsSpec()
    if faults.clock_offset >= scenario.run.horizon > 0.0:
        says = (
            f"= {faults.clock_offset:g} must be less than run.horizon, because each agent ends at "
            "the horizon by its own clock"
        )
        yield Problem(("fleet", "faults", "clock_offset"), "fleet.faults", says)
    if fleet.peers is not None and len(fleet.peers) != agents:
        says = f"has {len(fleet.peers)} addresses; one for each of {agents} agents is needed"
        yield Problem(("fleet", "peers"), "fleet.peers", says)
    for k, one in enumerate(faults.partitions):
        where = ("fleet", "faults", "partitions", k)
        if unknown := [p for p in one.group if p >= agents]:
            says = f"names agent {unknown[0]}; the {agents} agents are numbered from 0"
            yield Problem((*where, "group"), "fleet.faults", says)


def live_settings(scenario: Any) -> dict[str, Any]:
    """How the agents of a scenario run live, as a table: without addresses and faults."""
    fleet: Any = scenario.fleet or FleetSpec()
    table: dict[str, Any] = fleet.model_dump(
        exclude_none=True, include=set(parameters_of(LiveSettings))
    )
    return table
