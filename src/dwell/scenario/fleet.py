"""What a scenario says of a live fleet: safety margins, and faults that are injected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from .problems import Problem
from .values import (
    Bounds,
    Chance,
    Counted,
    NotNegative,
    Positive,
    Share,
    Table,
    Text,
    Whole,
    as_whole,
    doc,
    listed,
)

MOST_COPIES = 20


class PartitionSpec(Table):
    """Some agents are cut off from all others for some time, in one direction or in both."""

    model_config = ConfigDict(serialize_by_alias=True)

    begin: NotNegative = doc("when it begins", alias="from")
    until: Positive = doc("when it is over")
    group: Annotated[tuple[Whole, ...], listed("a list of agents' numbers")] = doc(
        "numbers of the agents that are cut off together"
    )
    direction: Literal["both", "out", "in"] = doc(
        'which messages are lost: "both" ways, only what the group sends ("out"), or only what is '
        'sent to it ("in")',
        "both",
    )


class FaultsSpec(Table):
    """Faults of the network and of the clocks, injected by seed."""

    loss: Chance = doc("the chance that a message is lost on its way to one receiver", 0.0)
    delay: Bounds = doc("shortest and longest delay of a message", (0.0, 0.0))
    tail: NotNegative = doc(
        "index of a Pareto distribution of delays that begins at the shortest; 0 for uniform ones",
        0.0,
    )
    repeat: Share = doc("the chance that a message arrives twice", 0.0)
    partitions: Annotated[tuple[PartitionSpec, ...], listed("a list of tables")] = doc(
        "groups of agents that are cut off for some time", ()
    )
    clock_offset: NotNegative = doc("largest offset of a clock", 0.0)
    clock_rate: Share = doc("largest relative error of the rate of a clock", 0.0)
    seed: Whole = doc("seed of the faults alone", 0)


def fleet_problems(scenario: Any, agents: int) -> Iterator[Problem]:
    """Numbers of agents that the scenario does not have, and faults that cannot be."""
    fleet = scenario.fleet
    if fleet is None:
        return
    if fleet.quorum is not None and fleet.quorum > agents:
        says = f"= {fleet.quorum} is more than the {agents} agents of the scenario; use less"
        yield Problem(("fleet", "quorum"), "fleet.quorum", says)
    faults = fleet.faults or FaultsSpec()
    if faults.tail > 0.0 and faults.delay[0] == 0.0:
        says = "needs a shortest delay above 0, at which the distribution begins"
        yield Problem(("fleet", "faults", "delay"), "fleet.faults", says)
    if faults.delay[0] > faults.delay[1] and faults.tail == 0.0:
        says = f"= {list(faults.delay)} ends before it begins; the shortest delay comes first"
        yield Problem(("fleet", "faults", "delay"), "fleet.faults", says)
    if faults.clock_offset >= scenario.run.horizon > 0.0:
        says = f"= {faults.clock_offset:g} must be less than run.horizon; agents end by own clocks"
        yield Problem(("fleet", "faults", "clock_offset"), "fleet.faults", says)
    if fleet.peers is not None and len(fleet.peers) != agents:
        says = f"has {len(fleet.peers)} addresses; one for each of {agents} agents is needed"
        yield Problem(("fleet", "peers"), "fleet.peers", says)
    for k, one in enumerate(faults.partitions):
        where = ("fleet", "faults", "partitions", k)
        if one.begin >= one.until:
            says = f"= {one.until:g} must be later than from = {one.begin:g}"
            yield Problem((*where, "until"), "fleet.faults", says)
        if not one.group:
            says = "is empty; it lists the agents that are cut off together"
            yield Problem((*where, "group"), "fleet.faults", says)
        if unknown := [p for p in one.group if p >= agents]:
            says = f"names agent {unknown[0]}; the {agents} agents are numbered from 0"
            yield Problem((*where, "group"), "fleet.faults", says)


def live_settings(scenario: Any) -> dict[str, Any]:
    """How the agents of a scenario run live, as a table: without addresses and faults."""
    fleet: FleetSpec = scenario.fleet or FleetSpec()
    return fleet.model_dump(exclude_none=True, exclude={"peers", "faults"})


class FleetSpec(Table):
    """How a live fleet executes the law; a simulation does not use it."""

    margin: Positive = doc(
        "how much earlier than T2 the timer law samples at the latest, so that a late sample is "
        "still in time",
        0.02,
    )
    silence: Positive | None = doc(
        "how long an agent may be silent before it is taken to be gone; five times the longest "
        "interval of the law, and at least a second, if absent",
        None,
    )
    quorum: Counted | None = doc(
        "how many agents must be known, the own one included; more than half if absent", None
    )
    partition: Literal["stand", "go on"] = doc("what agents do with fewer than that", "stand")
    patience: NotNegative = doc("how long agents wait for all others before they begin", 10.0)
    copies: Annotated[int, Field(ge=1, le=MOST_COPIES), BeforeValidator(as_whole)] = doc(
        "how often each message is sent within T1, for networks that lose many", 1
    )
    clearance: NotNegative = doc("radius of a robot, for the keep-away; 0 for none", 0.0)
    top_speed: Positive | None = doc("largest speed of a robot; no limit if absent", None)
    peers: Annotated[tuple[Text, ...], listed('a list of "host:port"')] | None = doc(
        "the UDP address of each agent, for agents on several machines", None
    )
    faults: FaultsSpec | None = doc("faults that are injected; none if absent", None)
