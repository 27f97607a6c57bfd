"""What a scenario file may say, as frozen data.

Nothing here knows what a polygon or a law does: `build.py` turns these into objects. Lengths and
times are in the units of the scenario itself; a speed is then length per time. The tables of the
laws are in `laws.py`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from html import escape
from itertools import islice
from textwrap import shorten
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr

from dwell._compatibility import Feature, Need, of_dimension, refusals
from dwell._parameters import LENGTH, RATE, TIME
from dwell._types import counted
from dwell.errors import InputError

from . import checks
from .fleet import FleetSpec, fleet_problems
from .laws import (
    AnyLaw,
    NetworkSpec,
    class_of,
    stated_traits,
)
from .places import DensitySpec, WorkspaceSpec, uniform
from .problems import Problem, Where, refuse
from .site import DEGREES, SiteSpec, Units, units_at
from .team import AgentsSpec, SensorSpec, WorldSpec, sensor_problems
from .values import (
    CheckpointEvery,
    Counted,
    NotNegative,
    PerAgent,
    Positive,
    SampleEvery,
    Table,
    Text,
    Whole,
    as_whole,
    doc,
    extras_of,
    listed,
)

SCHEMA_VERSION = 1
CHECKPOINT_EVERY = 5.0  # seconds


class CertificateSpec(Table):
    """What the theorem assumes, to be reported against what was seen."""

    eta_max: Positive = doc("the largest hold error assumed, length per time")
    lipschitz: PerAgent = doc(
        "Lipschitz constant of the centroids; one number, or one per agent, no unit",
        per_agent=True,
    )


class ExactSpec(Table):
    """Integrals over the cells themselves."""

    kind: Literal["exact"] = doc("which form of integration this is")


class GridSpec(Table):
    """Sums over a grid of points, as in the paper."""

    kind: Literal["grid"] = doc("which form of integration this is")
    spacing: Positive = doc("the distance between grid points, a length")


class RecordSpec(Table):
    """What is kept of a run: every event, samples along the way, or the numbers alone."""

    kind: Literal["events", "samples", "summary"] = doc(
        "every event and samples beside them; samples and the final state; or the "
        "final state alone",
        "events",
    )
    sample_every: SampleEvery = doc(
        'time between samples; "off" for none; if absent a thousandth of the horizon '
        "(a hundredth in four and more dimensions and for functions in three), and none for a "
        "summary",
        None,
        unit=TIME,
    )

    @property
    def spacing(self) -> float | str | None:
        """The time between samples; None for a thousandth of the horizon."""
        absent = self.kind == "summary" and self.sample_every is None
        return "off" if absent else self.sample_every

    def _problems(self) -> Iterator[Problem]:
        if self.kind == "samples" and self.sample_every == "off":
            says = 'is "off", which leaves nothing of kind = "samples"; use kind = "summary"'
            yield Problem(("sample_every",), "run.samples", says)


class CheckpointSpec(Table):
    """How often a run that is kept in a file puts away what it has done so far."""

    every: CheckpointEvery = doc(
        'seconds of real time between checkpoints, which is what a crash can cost; "off" for none',
        CHECKPOINT_EVERY,
    )


class RunSpec(Table):
    """How long, with which chance, and what is kept."""

    horizon: NotNegative = doc(
        "the time at which the run ends, from 0; 0 gives the initial state only", unit=TIME
    )
    seed: Whole | None = doc(
        "seed of all chance in the run; if absent one is drawn and recorded", None
    )
    nu: Positive | None = doc(
        "the tracking error that counts as covered, a length; if absent the law's own "
        "nu, where it has one",
        None,
        unit=LENGTH,
    )
    integration: Annotated[ExactSpec | GridSpec, Field(discriminator="kind")] = doc(
        "how masses and centroids are integrated", ExactSpec(kind="exact")
    )
    record: RecordSpec = doc("what is kept of the run", RecordSpec())
    checkpoint: CheckpointSpec = doc(
        "how often a run with --out is put away on its way", CheckpointSpec()
    )
    max_jumps: Counted = doc("the run stops after so many jumps, whatever the time", 50_000_000)


def _as_version(value: Any) -> int:
    version = as_whole(value)
    if version > SCHEMA_VERSION:
        says = f"is {version}, which needs a newer dwell; this one reads {SCHEMA_VERSION}"
        refuse([Problem((), "scenario.version", says)])
    return version


class Scenario(Table):
    """One run, described in full: workspace, density, agents, law and duration.

    Attributes
    ----------
    workspace, density, agents, controller, network, certificate, run
        The tables of a scenario file; see docs/scenario.md for their keys.
    name : str or None
        A title.

    Examples
    --------
    >>> import dwell
    >>> dwell.load_scenario("site.toml").agents.count
    8
    """

    schema_version: Annotated[int, Field(ge=1), BeforeValidator(_as_version)] = doc(
        "version of the scenario format", SCHEMA_VERSION
    )
    name: Text | None = doc("what the scenario is called, one line", None)
    modules: str | None = doc(
        "the folder in which Python modules and rasters that the scenario names are looked for "
        "first; the folder of the scenario file if absent",
        None,
    )
    site: SiteSpec | None = doc("an outline from a map file, in place of workspace", None)
    workspace: WorkspaceSpec = doc("the region to be covered; or give site")
    density: DensitySpec = doc("how much each place matters; uniform if absent", uniform())
    agents: AgentsSpec = doc("the agents and where they start")
    world: Annotated[tuple[WorldSpec, ...], listed("a list of tables")] | None = doc(
        "how the world changes at given times; not at all if absent", None
    )
    sensor: Annotated[tuple[SensorSpec, ...], listed("a list of tables")] | None = doc(
        "sensors with densities of their own, in place of density; none if absent", None
    )
    controller: Annotated[AnyLaw, Field(discriminator="kind")] = doc(
        "the law that the agents follow"
    )
    network: NetworkSpec | None = doc(
        "samples and messages that are lost or late; none if absent", None
    )
    certificate: CertificateSpec | None = doc(
        "what the theorem of the timer law assumes; optional", None
    )
    fleet: FleetSpec | None = doc("how a live fleet executes the law; optional", None)
    run: RunSpec = doc("how long, with which chance, and what is kept")
    _withheld: str = PrivateAttr("")  # why its Python code is not imported; empty if it may be

    def __repr__(self) -> str:
        agents = counted(self.agent_count, "agent")
        named = f" {self.name!r}" if self.name else ""
        return (
            f"<Scenario{named}: {agents}, {self.controller.kind}, until t = {self.run.horizon:g}>"
        )

    def _repr_html_(self) -> str:
        rows = []
        for name, value in self.model_dump(mode="json", exclude_unset=True).items():
            table = value if isinstance(value, dict) else {"": value}
            rows += [
                (f"{name}.{key}".rstrip("."), shorten(repr(v), 100)) for key, v in table.items()
            ]
        pairs = ((escape(key), escape(shorten(text, 100))) for key, text in rows)
        cells = (f"<tr><td>{key}</td><td>{text}</td></tr>" for key, text in pairs)
        return f"<table>{''.join(cells)}</table><p>{escape(repr(self))}</p>"

    def _problems(self) -> Iterator[Problem]:
        agents, horizon = self.agent_count, self.run.horizon
        later = agents - self.agents.count
        for key in extras_of(AgentsSpec, "x-per-agent"):
            given = getattr(self.agents, key)
            yield from checks.one_per_agent(("agents", key), given, agents, later)
        if self.agents.coordinates == DEGREES and (self.site is None or self.site.crs is not None):
            says = (
                f'= "{DEGREES}" needs a [site], which gives the degrees their place; leave it out'
            )
            yield Problem(("agents", "coordinates"), "site.coordinates", says)
        yield from self._dimension_problems()
        yield from self._world_problems()
        yield from sensor_problems(self)
        yield from fleet_problems(self, agents)
        for problem in self.controller.each_per_agent(agents, later):
            yield problem.inside(("controller",))
        yield from self._network_problems()
        yield from self._certificate_problems(agents, later)
        yield from self._clock_problems(horizon)
        record = self.run.record
        if isinstance(record.sample_every, float):
            kept = agents if record.kind != "summary" else 1
            yield from checks.sample_count(record.sample_every, horizon, kept)

    def withhold(self, reason: str) -> Scenario:
        """This scenario without permission to import its Python code; the reason is a sentence."""
        kept = self.model_copy()
        kept._withheld = reason
        return kept

    def refuse_withheld(self) -> None:
        """Refuse what would import its Python code, if that must not be."""
        if self._withheld:
            raise InputError(self._withheld, code="scenario.code")

    @property
    def agent_count(self) -> int:
        """How many agents there are in all, with those that arrive later."""
        return self.agents.count + sum(len(one.arrive or ()) for one in self.world or ())

    @property
    def units(self) -> Units:
        """Metres and seconds at a site; left open otherwise."""
        return units_at(self.site)

    def _world_problems(self) -> Iterator[Problem]:
        """Worlds out of order, and worlds that the law or the integration cannot take."""
        before = 0.0
        for k, one in enumerate(self.world or ()):
            if not one.begin > before:
                says = f"must be greater than {before!r}, when the world before it begins, got "
                yield Problem(("world", k, "from"), "world.times", f"{says}{one.begin!r}")
                return
            before = one.begin

    def _dimension_problems(self) -> Iterator[Problem]:
        """What does not fit the dimension or the kind of the workspace."""
        n, law = self.workspace.dimension, self.controller
        for name in ("density", "agents", "controller"):
            for problem in getattr(self, name).of_dimension(n):
                yield problem.inside((name,))
        for k, one in enumerate(self.world or ()):
            for problem in one.of_dimension(n):
                yield problem.inside(("world", k))
        for k, sensor in enumerate(self.sensor or ()):
            for problem in sensor.density.of_dimension(n):
                yield problem.inside(("sensor", k, "density"))
        if Need.GUARANTEED in stated_traits(law).needs:
            for refusal in refusals(Need.GUARANTEED, (of_dimension(n),)):
                says = refusal.says.format(law=f'= "{law.kind}"', n=n)
                yield Problem(tuple(refusal.key.split(".")), refusal.code, says)
        if isinstance(self.run.integration, GridSpec):
            shape = {of_dimension(n), *((Feature.CURVED,) if self.workspace.curved else ())}
            yield from self._refusals(Need.GRID, shape, ("run", "integration", "kind"))

    def _network_problems(self) -> Iterator[Problem]:
        links = self.network
        if links not in (None, NetworkSpec()) and stated_traits(self.controller).is_equation:
            yield from self._refusals(Need.EQUATION, (Feature.NETWORK,), ("network",))

    def _certificate_problems(self, agents: int, later: int) -> Iterator[Problem]:
        if self.certificate is None:
            return
        where, law = ("certificate", "lipschitz"), self.controller
        yield from checks.one_per_agent(where, self.certificate.lipschitz, agents, later)
        if class_of(law) is None and stated_traits(law).timer is None:
            yield from self._refusals(Need.CERTIFICATE, (Feature.NO_TIMER,), where[:1])

    def _refusals(
        self, need: Need, features: Collection[Feature], where: Where
    ) -> Iterator[Problem]:
        """The first refusal of a need by these features, as the builder would say it."""
        workspace = self.workspace
        for refusal in islice(refusals(need, features), 1):
            says = refusal.says.format(
                law=self.controller.kind, workspace=workspace.kind, n=workspace.dimension
            )
            yield Problem(where, refusal.code, f"cannot be used: {says}")

    def _clock_problems(self, horizon: float) -> Iterator[Problem]:
        """Waits so short, or a rate so high, that the clock cannot advance near the horizon."""
        law, shortest = self.controller, checks.ULPS_PER_TIMER * math.ulp(horizon)
        reason = f"or the clock cannot advance near run.horizon = {horizon!r}, got"
        code = f"{law.kind}.resolution"
        for key, one, given in law.clock():
            at, value = checks.least(given)
            if one.unit == TIME and value < shortest:
                says = f"must be at least {shortest:.3g}, {reason} {value!r}"
                yield Problem(("controller", key, *at), code, says)
            if one.unit == RATE and value > 1.0 / shortest:
                says = f"must be at most {1.0 / shortest:.3g}, {reason} {value!r}"
                yield Problem(("controller", key), code, says)


def scenario_schema() -> dict[str, Any]:
    """The scenario format as a JSON Schema, draft 2020-12."""
    schema = Scenario.model_json_schema()
    schema["title"] = "dwell scenario"
    schema["description"] = str(Scenario.__doc__).partition("\n")[0]
    schema["required"].remove("workspace")
    schema["anyOf"] = [{"required": ["workspace"]}, {"required": ["site"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
