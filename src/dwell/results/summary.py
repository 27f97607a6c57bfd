"""The numbers of a run as one JSON object. Its keys are stable: scripts depend on them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dwell.results.figures import Kind, figures, nested, values_of
from dwell.verify import Flag

if TYPE_CHECKING:
    from dwell.results.run import Run

# What a notebook shows.
SHOWN = ("cost.initial", "cost.final", "error.final_max", "coverage.reached_at", "separation.min")
UNSEEN = Flag(
    "coverage-unseen",
    "When coverage was reached is not known: a summary without samples looks at the end alone; "
    "give record.sample_every.",
)


def summarize(run: Run) -> dict[str, Any]:
    """Everything `dwell run --json` prints."""
    return nested(values_of(run, figures().values()))


def flat(summary: Mapping[str, Any], *, final: bool = True) -> dict[str, Any]:
    """The columns of a run by dotted name, one cell each.

    Flags are their codes, and lists of tables are JSON text. Lists with an entry per agent are left
    out unless `final`, tables that a run does not have always.
    """
    return dict(_cells(summary, "", final))


def _cells(table: Mapping[str, Any], prefix: str, final: bool) -> Iterator[tuple[str, Any]]:
    known = figures()
    for name, value in table.items():
        key = f"{prefix}{name}"
        figure = known.get(key)
        kind = None if figure is None else figure.kind
        absent = kind is Kind.TABLE and value is None and not prefix
        if absent or (kind is Kind.AGENTS and not final) or (figure and not figure.column):
            continue
        if isinstance(value, Mapping):
            yield from _cells(value, f"{key}.", final)
        elif kind is Kind.FLAGS:
            yield key, [flag["code"] for flag in value]
        elif kind is Kind.TABLES:
            yield key, json.dumps(value, sort_keys=True)
        else:
            yield key, value
