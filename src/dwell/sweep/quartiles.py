"""One row per point: medians and quartiles over its repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dwell._types import Floats
from dwell.sweep.cases import OWN, SEEDS, CaseStatus

PARTS = {"q25": 0.25, "median": 0.5, "q75": 0.75}


def summary_schema(schema: Any, keys: Sequence[str]) -> Any:
    """Return the columns of the summary: point, number of runs, and four for each number."""
    import pyarrow as pa

    fields = [pa.field("point", pa.int64()), *(schema.field(key) for key in keys)]
    fields += [pa.field(name, pa.int64()) for name in ("runs", "failed", "ended_badly")]
    for name in _figures(schema, keys):
        fields += [pa.field(f"{name}.{part}", pa.float64()) for part in PARTS]
        fields.append(pa.field(f"{name}.count", pa.int64()))
    return pa.schema(fields)


def _figures(schema: Any, keys: Sequence[str]) -> list[str]:
    """Return the names of numeric columns."""
    import pyarrow as pa

    given = {*OWN, *keys, *SEEDS}
    return [
        field.name
        for field in schema
        if field.name not in given
        and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    ]


def summary_blocks(blocks: Iterator[Any], schema: Any, keys: Sequence[str]) -> Iterator[Any]:
    """Return blocks of the summary from blocks of whole points in order."""
    import pyarrow as pa

    for block in blocks:
        point = block.column("point").to_numpy()
        cuts = np.flatnonzero(np.diff(point)) + 1
        status = np.array(block.column("status").to_pylist(), dtype=object)
        firsts = np.concatenate([[0], cuts]).astype(np.int64)
        columns: dict[str, Any] = {"point": point[firsts]}
        columns |= {key: block.column(key).take(pa.array(firsts)) for key in keys}
        columns["runs"] = _counts(np.ones(len(point)), cuts)
        columns["failed"] = _counts(status != CaseStatus.DONE, cuts)
        columns["ended_badly"] = _counts(_ended_badly(block), cuts)
        for name in _figures(block.schema, keys):
            columns |= _spread(name, block.column(name), cuts)
        yield pa.table(columns).select(schema.names).cast(schema)


def _ended_badly(block: Any) -> Any:
    """Return which runs ended badly; a failed case is not among them."""
    if "stop.ok" not in block.column_names:
        return np.zeros(block.num_rows, dtype=bool)
    return np.array([ok is False for ok in block.column("stop.ok").to_pylist()], dtype=bool)


def _counts(which: Any, cuts: Any) -> list[int]:
    return [int(np.sum(some.astype(bool))) for some in np.split(np.asarray(which), cuts)]


def _spread(name: str, column: Any, cuts: Any) -> dict[str, list[Any]]:
    """Return quartiles over the runs that have the number, and their count."""
    values: Floats = column.cast("float64").to_numpy(zero_copy_only=False)
    found: dict[str, list[Any]] = {f"{name}.{part}": [] for part in (*PARTS, "count")}
    for some in np.split(values, cuts):
        there = np.sort(some[~np.isnan(some)])
        for part, share in PARTS.items():
            found[f"{name}.{part}"].append(_quantile(there, share))
        found[f"{name}.count"].append(len(there))
    return found


def _quantile(ordered: Floats, share: float) -> float | None:
    """Return the value at a share of sorted values, interpolated; None if there are none."""
    if not len(ordered):
        return None
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))
