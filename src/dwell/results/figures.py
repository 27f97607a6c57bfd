"""The figures of a run, in one table.

A row says what a figure is called, what it means, its unit, and how a run has it. The summary of a
run, columns of sweeps and batches, rows of comparisons and of the terminal, plots, the page and the
docs are selections of the table. To add a figure is to add a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, final

from dwell._parameters import LENGTH, PLAIN, SPEED, TIME, in_words
from dwell._types import Floats, Ints
from dwell._units import OPEN, Units
from dwell.results import parts
from dwell.results.live_record import live_numbers

if TYPE_CHECKING:
    from dwell.engine.tally import Counters
    from dwell.results.details import Details
    from dwell.results.run import Run

VERSION = 1  # of the summary
ENERGY = (2, -1)  # length^2 / time
SPREAD = ("min", "mean", "max")  # over the agents

Value = Callable[["Run"], Any]
OfAgents = Callable[["Counters"], "Floats | Ints"]


class Kind(Enum):
    """What the value of a figure is, in words."""

    NUMBER = "number"
    WHOLE = "whole number"
    WORD = "word"
    FLAG = "true or false"
    WORDS = "list of words"
    NUMBERS = "list of numbers"
    AGENTS = "list with an entry per agent"
    FLAGS = "list of tables with `code` and `says`"
    EITHER = "number, or one per agent"
    TABLE = "table"
    TABLES = "list of tables"


NUMBER, WHOLE, WORD, FLAG, TABLE = Kind.NUMBER, Kind.WHOLE, Kind.WORD, Kind.FLAG, Kind.TABLE


@final
@dataclass(frozen=True)
class Figure:
    """One figure of a run.

    Parameters
    ----------
    key : its dotted name in the summary.
    label : its name in tables and plots.
    sentence : what it means, for the docs.
    kind : what its value is.
    of : its value in a run; None for a part of a table that another row has.
    unit : powers of length and of time.
    each : its value for each agent, where the value is a sum or a spread over the agents.
    spread : whether the value has `min`, `mean` and `max` over the agents.
    optional : whether the summary leaves it out where it is None.
    recorded : whether it depends on what a run records.
    column : whether sweeps have it as a column.
    row : the row of `dwell run` that shows it; nothing where none does.
    compared : its name in `dwell compare --json`; nothing where comparisons leave it out.
    """

    key: str
    label: str
    sentence: str
    kind: Kind
    of: Value | None
    unit: tuple[int, int] = PLAIN
    each: OfAgents | None = None
    spread: bool = False
    optional: bool = False
    recorded: bool = False
    column: bool = True
    row: str = ""
    compared: str = ""

    @property
    def columns(self) -> dict[str, Kind]:
        """The names in the flat summary, with the kinds of their values."""
        if not self.spread:
            return {self.key: self.kind}
        return {f"{self.key}.{part}": NUMBER if part == "mean" else self.kind for part in SPREAD}

    @property
    def dimension(self) -> str:
        """The unit in words, such as "length / time"."""
        return in_words(self.unit)

    def named(self, units: Units = OPEN, more: str = "") -> str:
        """The label, `more` words, and the unit in brackets where units are known."""
        return units.beside(f"{self.label}{more}", self.dimension.replace("$", ""))

    def compared_value(self, run: Run) -> Any:
        """The value in a comparison: the spread over the agents, where agents have values."""
        assert self.of is not None
        return self.of(run) if self.each is None else spread_of(self.each(run.counters))

    def mean_of_agents(self, column: Callable[[str], Floats]) -> Floats:
        """The mean over the agents, of runs whose flat summaries have these columns."""
        return column(f"{self.key}.mean") if self.spread else column(self.key) / column("agents")


def spread_of(values: Floats | Ints) -> dict[str, float]:
    """Smallest, mean and largest over the agents."""
    return {"min": values.min().item(), "mean": float(values.mean()), "max": values.max().item()}


def _spread(key: str, label: str, sentence: str, each: OfAgents, **about: Any) -> Figure:
    """A figure whose value is the spread over the agents."""

    def of(run: Run) -> dict[str, float]:
        return spread_of(each(run.counters))

    kind = about.pop("kind", WHOLE)
    return Figure(key, label, sentence, kind, of, each=each, spread=True, **about)


def _total(key: str, label: str, sentence: str, each: OfAgents, **about: Any) -> Figure:
    """A figure whose value is a count, summed over the agents."""

    def of(run: Run) -> int:
        return int(each(run.counters).sum())

    return Figure(key, label, sentence, WHOLE, of, each=each, **about)


def _closest(read: Callable[[Any], Any]) -> Value:
    """Something of the closest approach; None where it is not known."""

    def of(run: Run) -> Any:
        approach = parts.closest(run.details)
        return None if approach is None else read(approach)

    return of


def _live(details: Details) -> dict[str, Any] | None:
    return None if details.live is None else live_numbers(details.system, details.live)


def _part(key: str, sentence: str, kind: Kind, **about: Any) -> Figure:
    """A part of the table of another row."""
    label = key.partition(".")[2].replace("_", " ")
    return Figure(key, label, sentence, kind, None, recorded=True, **about)


FIGURES: tuple[Figure, ...] = (
    Figure(
        "schema", "version of the keys", "version of this object, 1", WHOLE, lambda run: VERSION,
        column=False,
    ),
    Figure(
        "law", "law", "kind of the controller; the class name of one written in Python", WORD,
        parts.law_of, row="law", compared="law",
    ),
    Figure(
        "units", "units", "only at a [site](places.md): `length` and `time`, `m` and `s`", TABLE,
        lambda run: run.details.units.as_json().get("units"), optional=True, column=False,
    ),
    Figure(
        "dimension", "dimension", "of the workspace", WHOLE, lambda run: run.workspace.dimension,
    ),
    Figure("agents", "agents", "number of agents", WHOLE, lambda run: run.agents, row="law"),
    Figure(
        "horizon", "horizon", "the requested end time", NUMBER,
        lambda run: run.scenario.run.horizon if run.scenario else run.horizon, TIME,
    ),
    Figure(
        "seed", "seed", "seed of all random draws", WHOLE, lambda run: run.system.seed, row="law",
    ),
    Figure(
        "start_seed", "seed of the start",
        "seed of a start drawn at random; null where positions are given", WHOLE,
        lambda run: None if run.scenario is None else run.scenario.agents.start_seed,
    ),
    Figure(
        "integration", "integration", "`exact` or `grid`", WORD,
        lambda run: "exact" if run.system.spacing is None else "grid", row="law",
    ),
    Figure(
        "stop.reason", "ended", "why the run ended, see [stop reasons](results.md#stop-reasons)",
        WORD, lambda run: run.stop.reason.value, row="ended", compared="stop.reason",
    ),
    Figure(
        "stop.ok", "reached the horizon", "whether it ended at its horizon", FLAG,
        lambda run: run.stop.reason.ok, row="ended", compared="stop.ok",
    ),
    Figure(
        "stop.time", "time of the end", "the time reached", NUMBER, lambda run: run.stop.time,
        TIME, row="ended",
    ),
    Figure(
        "stop.detail", "detail of the end", "more about an early end", WORD,
        lambda run: run.stop.detail, row="ended",
    ),
    Figure(
        "live", "live fleet",
        "only for the run of a live fleet: number of `agents`, `boots` and `samples`, "
        "`gaps_over_t2`, `stale` samples, `interventions` and `dropped` datagrams by reason, "
        "`clock_uncertainty`, and whether positions are `exact`",
        TABLE, lambda run: _live(run.details), optional=True, row="live",
    ),
    Figure(
        "world", "changing world",
        "only where the world changes or agents have different sensors: the table of the "
        "following",
        TABLE, lambda run: parts.world(run.details), optional=True, recorded=True, row="world",
    ),
    _part("world.moves", "whether anything moves", FLAG),
    _part(
        "world.moving",
        "the spans in which `density` or `workspace` move: `what`, `from`, `until`, null to the "
        "end",
        Kind.TABLES,
    ),
    _part(
        "world.switches",
        "the switches: `time`, `cost_before`, `cost_after`, the number of `agents` after it, and "
        "the agents that `leave` and `arrive`",
        Kind.TABLES,
    ),
    _part("world.sensors", "the sensors: `name` and `owners`", Kind.TABLES),
    Figure(
        "record", "record", "what was stored: `events`, `samples` or `summary`", WORD,
        lambda run: run.details.record, recorded=True,
    ),
    Figure(
        "events.total", "jumps", "number of jumps", WHOLE, lambda run: run.details.tally.jumps,
        row="events",
    ),
    Figure(
        "events.per_agent", "jumps per agent", "jumps of each agent", WHOLE,
        lambda run: spread_of(run.details.tally.event_counts), spread=True, row="events",
    ),
    _total(
        "cells.voronoi", "Voronoi cells", "Voronoi cells computed, the initial ones included",
        lambda counted: counted.voronoi, row="cells", compared="cells.voronoi",
    ),
    _total(
        "cells.guaranteed", "guaranteed cells", "guaranteed cells computed",
        lambda counted: counted.guaranteed, row="cells", compared="cells.guaranteed",
    ),
    _total(
        "cells.dual_guaranteed", "dual guaranteed cells", "dual guaranteed cells computed",
        lambda counted: counted.dual_guaranteed, row="cells", compared="cells.dual_guaranteed",
    ),
    _spread(
        "cells.per_agent", "cells of all kinds", "cells of all kinds that each agent computed",
        lambda counted: counted.cells, row="cells", compared="cells.all",
    ),
    _spread(
        "samples", "samples", "samples of each agent, one for each of its sensors",
        lambda counted: counted.samples, compared="looks",
    ),
    _total(
        "measurements", "own positions measured",
        "events at which agents measured their own positions, the initial ones included",
        lambda counted: counted.measurements, compared="measurements",
    ),
    _total(
        "messages", "positions received",
        "positions of other agents received: the neighbours at every sample, or the broadcasts",
        lambda counted: counted.received, row="messages", compared="received",
    ),
    _total(
        "broadcasts", "messages sent", "messages sent",
        lambda counted: counted.sent, row="messages", compared="sent",
    ),
    _spread(
        "updates", "changes of velocity",
        "events of each agent that changed its velocity (at the beginning: from 0)",
        lambda counted: counted.updates, compared="updates",
    ),
    Figure(
        "cost.initial", "cost at the start", "locational cost at the start", NUMBER,
        lambda run: parts.cost_at(run.details, 0), row="cost", compared="cost.initial",
    ),
    Figure(
        "cost.final", "cost at the end", "locational cost at the end", NUMBER,
        lambda run: parts.cost_at(run.details, 1), row="cost", compared="cost.final",
    ),
    Figure(
        "log_cost.initial", "logarithm of the cost at the start",
        "natural logarithm of the cost at the start, which exists even if the cost is below the "
        "smallest double (see the flag `underflow`); null if the cost is 0",
        NUMBER, lambda run: parts.log_cost_at(run.details, 0), row="cost",
    ),
    Figure(
        "log_cost.final", "logarithm of the cost at the end", "the same at the end", NUMBER,
        lambda run: parts.log_cost_at(run.details, 1), row="cost",
    ),
    Figure(
        "error.final_max", "largest error at the end", "the largest tracking error at the end",
        NUMBER, lambda run: parts.final_error(run.details), LENGTH,
        row="error", compared="error.final_max",
    ),
    Figure(
        "coverage.nu", "error that counts as covered",
        "the error that counts as covered; null if none does", NUMBER,
        lambda run: run.system.nu, LENGTH, row="coverage",
    ),
    Figure(
        "coverage.reached_at", "time of coverage",
        "the time from which every error stays within `coverage.nu`; null if never, or if a "
        "summary took no samples (see the flag `coverage-unseen`)",
        NUMBER, lambda run: run.reached_at, TIME, recorded=True, row="coverage",
    ),
    Figure(
        "coverage.last_beyond", "last time beyond",
        "the last time, over the start, the events and the end, with an error beyond "
        "`coverage.nu`; null if there is none",
        NUMBER, lambda run: run.details.last_beyond, TIME,
    ),
    Figure(
        "hold_error.max", "largest hold error",
        "the largest hold error at the start, the ends of all holds and the end; null for laws "
        "without one",
        NUMBER, lambda run: run.details.largest_hold_error, SPEED, row="hold error",
    ),
    Figure(
        "hold_error.limit", "limit of the hold error",
        "its limit: that of the certificate, or else that of adaptive timers; null if there is "
        "none",
        NUMBER, parts.hold_limit, SPEED, row="hold error",
    ),
    Figure(
        "separation.min", "closest two agents",
        "smallest distance between two agents at any time, also between events; null for one "
        "agent, or without events",
        NUMBER, _closest(lambda approach: approach.distance), LENGTH,
        recorded=True, row="separation",
    ),
    Figure(
        "separation.time", "time of the closest approach", "when that was", NUMBER,
        _closest(lambda approach: approach.time), TIME, recorded=True, row="separation",
    ),
    Figure(
        "separation.agents", "agents of the closest approach", "the two agents", Kind.NUMBERS,
        _closest(lambda approach: list(approach.agents)), recorded=True, row="separation",
    ),
    Figure(
        "separation.seen", "closest two agents, as seen",
        "smallest distance between two agents at the start, at events and at the end; null for "
        "one agent",
        NUMBER, lambda run: parts.seen_separation(run.details), LENGTH,
    ),
    Figure(
        "certificate", "certificate",
        "null without a `[certificate]` table; else the table of the following", TABLE,
        lambda run: parts.certificate(run.details), recorded=True, row="certificate",
    ),
    _part("certificate.holds", "names of what holds", Kind.WORDS),
    _part("certificate.violated", "names of what is violated", Kind.WORDS),
    _part("certificate.not_yet", "names of what is not yet so at the end", Kind.WORDS),
    _part("certificate.not_applicable", "names of what does not apply", Kind.WORDS),
    _part("certificate.findings", "all findings, as in `dwell check`", Kind.TABLES, column=False),
    _part(
        "certificate.assumed_lipschitz",
        "the Lipschitz constant that the certificate assumes",
        Kind.EITHER,
    ),
    _part(
        "certificate.measured_lipschitz", "the constant along the run; null where unknown", TABLE
    ),
    _spread(
        "distance", "path length", "length of each agent's path",
        lambda counted: counted.distance, kind=NUMBER, unit=LENGTH, row="distance",
        compared="distance",
    ),
    Figure(
        "top_speed", "top speed", "the largest speed of all agents at any time", NUMBER,
        lambda run: run.details.tally.top_speed_until(run.horizon), SPEED, compared="top_speed",
    ),
    _spread(
        "energy", "energy", "integral of each agent's squared speed",
        lambda counted: counted.energy, kind=NUMBER, unit=ENERGY, compared="energy",
    ),
    Figure(
        "final_positions", "positions at the end", "positions at the end", Kind.AGENTS,
        lambda run: parts.in_lists(run.details.at_the_end.positions[0]), LENGTH,
    ),
    Figure(
        "final_centroids", "centroids at the end", "centroids of the cells at the end",
        Kind.AGENTS, lambda run: parts.centroids(run.details), LENGTH,
    ),
    Figure(
        "final_masses", "masses at the end", "masses of the cells at the end", Kind.AGENTS,
        lambda run: parts.masses(run.details),
    ),
    Figure(
        "repairs", "repaired", "what was repaired in the input", Kind.WORDS,
        lambda run: list(run.repairs), recorded=True,
    ),
    Figure(
        "flags", "note", "what limits the meaning of the run, see [flags](results.md#flags)",
        Kind.FLAGS, lambda run: [{"code": flag.code, "says": flag.says} for flag in run.flags],
        recorded=True,
    ),
    Figure(
        "wall_seconds", "time taken", "seconds taken, without compiling kernels", NUMBER,
        lambda run: run.details.wall_seconds, recorded=True, column=False,
        row="time taken", compared="wall_seconds",
    ),
)  # fmt: skip


def figures() -> dict[str, Figure]:
    """Every figure by its key, in the order of the table."""
    return {figure.key: figure for figure in FIGURES}


def compared_figures() -> list[Figure]:
    """The figures that comparisons of laws have."""
    return [figure for figure in FIGURES if figure.compared]


def batched_figures() -> list[Figure]:
    """The figures of each of many runs: those that do not depend on what is recorded."""
    apart = (TABLE, Kind.WORDS, Kind.FLAGS)
    return [one for one in FIGURES if one.column and not one.recorded and one.kind not in apart]


def column_kinds() -> dict[str, Kind]:
    """The columns of a sweep by their names, with the kinds of their values."""
    return {name: kind for one in FIGURES if one.column for name, kind in one.columns.items()}


def figure_of(run: Run, key: str) -> Any:
    """The value of one figure of a run."""
    of = figures()[key].of
    assert of is not None
    return of(run)


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted names, as tables within tables."""
    tables: dict[str, Any] = {}
    for name, value in values.items():
        *path, last = name.split(".")
        inner = tables
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return tables


def values_of(run: Run, chosen: Iterable[Figure]) -> dict[str, Any]:
    """The values of some figures of a run, by their keys; parts of tables are within these."""
    known = {one.key: (one, one.of(run)) for one in chosen if one.of is not None}
    return {
        key: value for key, (one, value) in known.items() if value is not None or not one.optional
    }
