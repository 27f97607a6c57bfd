"""A comparison of laws: one row of numbers for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from html import escape
from typing import Any, final

import numpy as np

from dwell._tables import html_table, text_table
from dwell._types import Floats, Ints
from dwell.errors import UnsavedError
from dwell.results import Run
from dwell.results.summary import law_of
from dwell.studies.outcome import Match, final_cost, final_error, match, settled_at

SCHEMA = 1
LEVELS = (
    0.5,
    1e-2,
    1e-6,
    1e-12,
)  # of the largest error, for settling times in the paper's workspace
PARTS = (1.0, 0.1, 0.01, 0.001)  # of nu, for settling times elsewhere
UNLIKE = 1.1  # ratio of top speeds from which the comparison has a note
Spread = dict[str, float]


@final
@dataclass(frozen=True, eq=False)
class LawFigures:
    """One column of the table: what a law achieved, and what that took."""

    law: str  # its kind, or the name of its class
    stop: str
    ok: bool
    final_error: float | None  # largest of all agents
    settled: dict[float, float | None]  # level: time from which all errors stay below it
    initial_cost: float
    final_cost: float | None
    cells: dict[str, Spread]  # voronoi, guaranteed, dual_guaranteed, all: per agent
    looks: Spread
    measurements: Spread  # events, at each of which an agent measures its own position
    updates: Spread  # changes of velocity
    received: Spread  # positions of others
    sent: Spread  # messages
    top_speed: float | None  # the largest of all agents at any time
    distance: Spread
    energy: Spread
    wall_seconds: float

    def as_json(self) -> dict[str, Any]:
        """The figures for programs, with the keys of `dwell run --json` where they are the same."""
        nested = {
            "law": self.law,
            "stop": {"reason": self.stop, "ok": self.ok},
            "error": {"final_max": self.final_error},
            "settled_at": {f"{level:g}": at for level, at in self.settled.items()},
            "cost": {"initial": self.initial_cost, "final": self.final_cost},
        }
        return nested | {field.name: getattr(self, field.name) for field in fields(self)[7:]}

    def column(self) -> dict[str, str]:
        """The figures for people, by their labels."""
        return {
            "ended": self.stop,
            "final error": _number(self.final_error),
            **{f"settled to {level:g}": _number(at, "never") for level, at in self.settled.items()},
            "final cost": _number(self.final_cost),
            "Voronoi cells": _spread(self.cells["voronoi"]),
            "guaranteed cells": _spread(self.cells["guaranteed"]),
            "dual guaranteed": _spread(self.cells["dual_guaranteed"]),
            "cells of all kinds": _spread(self.cells["all"]),
            "own position measured": _spread(self.measurements),
            "changes of velocity": _spread(self.updates),
            "positions received": _spread(self.received),
            "messages sent": _spread(self.sent),
            "top speed": _number(self.top_speed),
            "distance": _spread(self.distance),
            "energy": _spread(self.energy),
        }


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of several laws from one start, under the names they were given."""

    runs: dict[str, Run]
    levels: Sequence[float] | None = None  # of settling; None: nu and parts of it
    unmatched: Sequence[str] = ()  # which speeds and gains are not alike, in sentences
    unsaved: UnsavedError | None = None  # why a run is in no file

    @cached_property
    def figures(self) -> dict[str, LawFigures]:
        """The numbers of each law, by its name: the columns of the table."""
        levels = self.levels or levels_of(list(self.runs.values()))
        return {name: figures_of(run, levels) for name, run in self.runs.items()}

    @cached_property
    def notes(self) -> list[str]:
        """What limits the comparison, in sentences."""
        speeds = {name: row.top_speed for name, row in self.figures.items() if row.top_speed}
        low, high = min(speeds.values(), default=0.0), max(speeds.values(), default=0.0)
        if high <= UNLIKE * low:
            return list(self.unmatched)
        rows = ", ".join(f"{name} {speed:.4g}" for name, speed in speeds.items())
        return [*self.unmatched, f"the largest speeds that occurred differ: {rows}."]

    @property
    def reference(self) -> str:
        """The law that the others are matched with: the first."""
        return next(iter(self.runs))

    @cached_property
    def matches(self) -> dict[str, Match]:
        """How far each final configuration is from that of the first law."""
        first = self.runs[self.reference]
        return {name: match(run, first) for name, run in self.runs.items()}

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.runs)}>"

    def __str__(self) -> str:
        notes = (f"note  {note}" for note in self.notes)
        return "\n".join([text_table(self.rows(), ["", *self.runs]), *notes])

    def _repr_html_(self) -> str:
        notes = (f"<p>{escape(note)}</p>" for note in self.notes)
        return "".join([html_table(self.rows(), ["", *self.runs]), *notes])

    def rows(self) -> Iterator[list[str]]:
        """The table for people: a row for each quantity, a column for each law."""
        columns = [figures.column() for figures in self.figures.values()]
        for label in columns[0]:
            yield [label, *(column[label] for column in columns)]
        matches = self.matches.values()
        yield [f"farthest from {self.reference}", *(_number(m.distance) for m in matches)]
        yield ["the same, settled", *(_number(m.settled) for m in matches)]
        yield ["same tessellation", *("yes" if m.same else "no" for m in matches)]
        yield ["time taken", *(f"{f.wall_seconds:.3g} s" for f in self.figures.values())]

    def as_json(self) -> dict[str, Any]:
        """Everything `dwell compare --json` prints."""
        run = self.runs[self.reference]
        tolerance = self.matches[self.reference].tolerance
        return {
            "schema": SCHEMA,
            "scenario": None if run.scenario is None else run.scenario.name,
            "agents": run.agents,
            "horizon": run.scenario.run.horizon if run.scenario else run.horizon,
            "seed": run.system.seed,
            "integration": "exact" if run.system.spacing is None else "grid",
            "laws": {name: row.as_json() for name, row in self.figures.items()},
            "notes": self.notes,
            "same_tessellation": {
                "reference": self.reference,
                "tolerance": tolerance,
                "laws": {
                    name: {
                        "same": found.same,
                        "distance": found.distance,
                        "settled_distance": found.settled,
                    }
                    for name, found in self.matches.items()
                },
            },
        }


def _number(value: float | None, missing: str = "-") -> str:
    return missing if value is None else f"{value:.5g}"


def _spread(values: Mapping[str, float]) -> str:
    return f"{values['mean']:.5g} ({values['max']:.5g})"


def levels_of(runs: Sequence[Run]) -> list[float]:
    """Levels of settling: nu, or a hundredth of the diameter where there is none, and parts of it.

    The first run that has a nu decides for all.
    """
    known = [run.system.nu for run in runs if run.system.nu is not None]
    whole = known[0] if known else 0.01 * runs[0].workspace.diameter
    return [part * whole for part in PARTS]


def figures_of(run: Run, levels: Sequence[float] = LEVELS) -> LawFigures:
    """The figures of one run."""
    counted = run.counters
    cells = {
        "voronoi": spread(counted.voronoi),
        "guaranteed": spread(counted.guaranteed),
        "dual_guaranteed": spread(counted.dual_guaranteed),
        "all": spread(counted.cells),
    }
    counts = ("measurements", "updates", "received", "sent", "distance", "energy")
    return LawFigures(
        law=law_of(run),
        stop=run.stop.reason.value,
        ok=run.stop.reason.ok,
        final_error=final_error(run),
        settled={level: settled_at(run, level) for level in levels},
        initial_cost=float(run.cost(0.0)),
        final_cost=final_cost(run),
        cells=cells,
        looks=cells["voronoi"],
        top_speed=run.details.tally.top_speed_until(run.horizon),
        wall_seconds=run.details.wall_seconds,
        **{name: spread(getattr(counted, name)) for name in counts},
    )


def spread(values: Floats | Ints) -> Spread:
    """Smallest, mean and largest over the agents."""
    whole = np.issubdtype(values.dtype, np.integer)
    number = int if whole else float
    least, most = number(values.min()), number(values.max())
    return {"min": least, "mean": float(values.mean()), "max": most}
