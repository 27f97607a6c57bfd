"""What a scenario says of its agents: start and sensors, and how their world changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Tag

from dwell._parameters import LENGTH
from dwell._types import counted

from . import checks
from .laws import NetworkSpec
from .places import DensitySpec, ScatterBoxSpec, WorkspaceSpec, uniform
from .problems import Problem
from .values import (
    AgentCount,
    AgentId,
    PerAgent,
    Positive,
    StartPoints,
    Table,
    Text,
    Whole,
    doc,
    listed,
    points_or_table,
    word_or_table,
)


class ScatterSpec(Table):
    """A start drawn at random."""

    count: AgentCount = doc("how many agents, at least 1")
    region: Annotated[
        Annotated[Literal["workspace"], Tag("~word")] | Annotated[ScatterBoxSpec, Tag("~table")],
        word_or_table,
    ] = doc('where: "workspace", or a box {lower, upper}', "workspace")
    seed: Whole = doc("seed of the start alone; run.seed does not change it", 0)


class AgentsSpec(Table):
    """The agents and where they start."""

    start: Annotated[
        Annotated[StartPoints, Tag("~points")] | Annotated[ScatterSpec, Tag("~table")],
        points_or_table,
    ] = doc(
        "positions, one per agent, each a list of one number per dimension (on a line "
        "a plain number will do), or {count, region, seed} to draw them"
    )
    coordinates: Literal["metres", "degrees"] | None = doc(
        'of start and of agents that arrive, at a site: "metres" of its frame, or "degrees", '
        'longitude and latitude on WGS 84; "metres" if absent',
        None,
    )
    ids: Annotated[tuple[AgentId, ...], listed("a list of whole numbers")] | None = doc(
        "distinct whole numbers from 0 to 2147483647, one per agent, that choose the "
        "random stream of each; 0, 1, 2 and so on if absent",
        None,
        per_agent=True,
    )
    radius: PerAgent | None = doc(
        "how far agents sense, a length; one number, or one per agent; unlimited if absent",
        None,
        unit=LENGTH,
        per_agent=True,
    )
    sensors: (
        Annotated[
            tuple[Annotated[tuple[Text, ...], listed("a list of names of sensors")], ...],
            listed('a list with a list of names for each agent, such as [["a"], ["a", "b"]]'),
        ]
        | None
    ) = doc(
        "the names of the sensors of each agent, those included that arrive later; for [[sensor]] "
        "tables only",
        None,
        per_agent=True,
    )

    @property
    def count(self) -> int:
        """How many agents there are."""
        return self.start.count if isinstance(self.start, ScatterSpec) else len(self.start)

    @property
    def start_seed(self) -> int | None:
        """The seed of a start drawn at random; None where positions are given."""
        return self.start.seed if isinstance(self.start, ScatterSpec) else None

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """Places that do not have n coordinates."""
        if not isinstance(self.start, ScatterSpec):
            yield from checks.points(("start",), self.start, n)
        elif isinstance(self.start.region, ScatterBoxSpec):
            for problem in self.start.region.of_dimension(n):
                yield problem.inside(("start", "region"))

    def _problems(self) -> Iterator[Problem]:
        seen: dict[int, int] = {}
        for index, one in enumerate(self.ids or ()):
            first = seen.setdefault(one, index)
            if first != index:
                says = f"must differ from every other id, got {one} again, as in ids[{first}]"
                yield Problem(("ids", index), "agents.ids", says)
                return


class SensorSpec(Table):
    """A sensor that some agents have, with a density of its own."""

    name: Text = doc("what it is called, one line")
    density: DensitySpec = doc("how much each place matters to this sensor")


class WorldSpec(Table):
    """The world from a time on; what is absent stays as it is."""

    model_config = ConfigDict(serialize_by_alias=True)

    begin: Positive = doc(
        "the time from which on it is so; a sample at that very time sees it", alias="from"
    )
    workspace: WorkspaceSpec | None = doc("the region to be covered from then on", None)
    density: DensitySpec | None = doc("how much each place matters from then on", None)
    network: NetworkSpec | None = doc("samples and messages that are lost or late", None)
    leave: Annotated[tuple[Whole, ...], listed("a list of agents' numbers")] | None = doc(
        "numbers of the agents that leave, counted from 0", None
    )
    arrive: StartPoints | None = doc(
        "positions of agents that arrive, numbered after all agents before them", None
    )

    def _problems(self) -> Iterator[Problem]:
        leave = self.leave or ()
        for k, agent in enumerate(leave):
            if agent in leave[:k]:
                says = f"must differ from the other numbers, got {agent} again"
                yield Problem(("leave", k), "world", says)

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """What does not have n coordinates."""
        if self.workspace is not None and self.workspace.dimension != n:
            says = f"needs {counted(n, 'dimension')}, as before, got {self.workspace.dimension}"
            yield Problem(("workspace",), "scenario.dimension", says)
        if self.density is not None:
            for problem in self.density.of_dimension(n):
                yield problem.inside(("density",))
        yield from checks.points(("arrive",), self.arrive or (), n)


def sensor_problems(scenario: Any) -> Iterator[Problem]:
    """Sensors without owner, agents without sensor, and names that are not known."""
    owned = scenario.agents.sensors
    names = [one.name for one in scenario.sensor or ()]
    if not names:
        if owned is not None:
            says = "names sensors, but there is no [[sensor]] table; add some, or leave it out"
            yield Problem(("agents", "sensors"), "sensor.missing", says)
        return
    if scenario.density != uniform():
        says = "cannot be given beside [[sensor]] tables, which have their own; leave it out"
        yield Problem(("density",), "sensor.density", says)
    if any(one.density is not None for one in scenario.world or ()):
        says = "cannot switch where sensors have their own; give those keyframes"
        yield Problem(("world",), "sensor.density", says)
    for k, name in enumerate(names):
        if name in names[:k]:
            yield Problem(("sensor", k, "name"), "sensor.name", f"is {name!r} again")
    if owned is None:
        says = 'is missing; it lists the sensors of each agent, such as [["a"], ["a", "b"]]'
        yield Problem(("agents", "sensors"), "scenario.missing-key", says)
        return
    for p, own in enumerate(owned):
        unknown = [name for name in own if name not in names]
        if unknown:
            says = f"must be among the sensors {', '.join(names)}, got {unknown[0]!r}"
            yield Problem(("agents", "sensors", p), "sensor.name", says)
        elif not own:
            says = "needs at least one sensor; an agent without any covers nothing"
            yield Problem(("agents", "sensors", p), "sensor.none", says)
    for k, name in enumerate(names):
        if not any(name in own for own in owned):
            says = f"= {name!r} has no owner; give it to an agent, or leave the sensor out"
            yield Problem(("sensor", k, "name"), "sensor.owners", says)
