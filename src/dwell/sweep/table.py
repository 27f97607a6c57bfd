"""Rows to Parquet files, and from many small files to one table.

The table does not depend on how rows were cut into parts: rows are sorted by case, columns by
name, types follow from all rows together, and groups of rows have one size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dwell._need import need
from dwell._types import Ints
from dwell.results.figures import Kind, column_kinds
from dwell.results.files import written_whole
from dwell.sweep.cases import BESIDE, OWN, SEEDS

GROUP = 10_000  # rows of a group in the table
CACHED = 8  # groups of rows in memory at a time while parts are joined


def need_pyarrow() -> None:
    """Refuse to start without pyarrow."""
    what = "sweeps keep their tables in Parquet files, and these need"
    need("pyarrow.parquet", what, "pyarrow", code="sweep.pyarrow")


def arrow_table(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Any:
    """Return rows as an Arrow table, with columns in the order of all tables."""
    import pyarrow as pa

    named = {name for row in rows for name in row}
    columns = {name: [row.get(name) for row in rows] for name in ordered(named, keys)}
    return pa.table({name: _array(name, values) for name, values in columns.items()})


def ordered(names: set[str], keys: Sequence[str]) -> list[str]:
    """Return column names: own columns, varied keys, then numbers by name."""
    leading = [name for name in (*OWN, *keys, *SEEDS) if name in names]
    return leading + sorted(names - set(leading))


def _array(name: str, values: list[Any]) -> Any:
    """Return one column; a mixture of whole and other numbers becomes floats."""
    import pyarrow as pa

    words = pa.list_(pa.string())
    # Of columns that may be empty in all runs.
    types = {
        Kind.NUMBER: pa.float64(),
        Kind.WORD: pa.string(),
        Kind.WORDS: words,
        Kind.FLAGS: words,
    }
    kind = Kind.WORD if name == "failure" else column_kinds().get(name)
    if kind in types:
        return pa.array(values, type=types[kind])
    try:
        return pa.array(values, from_pandas=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # very large whole numbers
        if name in SEEDS:  # whose digits all count
            return pa.array([None if value is None else str(value) for value in values])
        return pa.array([None if value is None else float(value) for value in values])


def write_part(table: Any, target: Path) -> None:
    """Write a small table, whole or not at all."""
    import pyarrow.parquet as pq

    with written_whole(target) as temporary:
        pq.write_table(table, temporary, compression="zstd")


class Parts:
    """Small tables that together make a large one."""

    def __init__(self, paths: Sequence[Path], keys: Sequence[str]) -> None:
        self.paths, self.keys = list(paths), list(keys)
        cases = [read(path, ["case"]).column("case").to_numpy() for path in self.paths]
        counted = [(path, k, n) for path in self.paths for k, n in enumerate(group_sizes(path))]
        self._groups = [(path, k) for path, k, _ in counted]
        sizes = [size for _, _, size in counted]
        self.cases: Ints = np.concatenate(cases) if cases else np.empty(0, dtype=np.int64)
        self._part = np.repeat(np.arange(len(sizes)), sizes)
        self._row = np.concatenate([np.arange(size) for size in sizes] or [np.empty(0, np.int64)])
        # Where a case stands twice, after a crash between joining parts and taking them away,
        # both rows are the same: the first stands for them.
        _, self._order = np.unique(self.cases, return_index=True)

    def __len__(self) -> int:
        return len(self._order)

    def schema(self) -> Any:
        """Return the columns of all parts, with types that hold every value."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schemas = [pq.read_schema(path) for path in self.paths]
        found = pa.unify_schemas(schemas, promote_options="permissive")
        names = ordered(set(found.names), self.keys)
        return pa.schema([found.field(name) for name in names])

    def blocks(self, schema: Any, rows: int = GROUP) -> Iterator[Any]:
        """Return all rows in the order of their cases, some at a time."""
        import pyarrow as pa

        part_of = lru_cache(maxsize=CACHED)(
            lambda part: fitted(read_group(*self._groups[part]), schema)
        )
        for lo in range(0, len(self._order), rows):
            chosen = self._order[lo : lo + rows]
            part, row = self._part[chosen], self._row[chosen]
            cuts = np.flatnonzero(np.diff(part)) + 1
            pieces = [
                part_of(int(part[some[0]])).take(pa.array(row[some]))
                for some in np.split(np.arange(len(chosen)), cuts)
            ]
            yield pa.concat_tables(pieces).combine_chunks()


def read(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Return a table, or some of its columns."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read(columns=None if columns is None else list(columns))


def read_group(path: Path, group: int) -> Any:
    """Return one group of rows of a table."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read_row_group(group)


def group_sizes(path: Path) -> list[int]:
    """Return the number of rows in each group of a table."""
    import pyarrow.parquet as pq

    about = pq.read_metadata(path)
    return [about.row_group(k).num_rows for k in range(about.num_row_groups)]


def groups(path: Path) -> Iterator[Any]:
    """Return a table, group by group."""
    return (read_group(path, k) for k in range(len(group_sizes(path))))


def fitted(table: Any, schema: Any) -> Any:
    """Return `table` with the columns and types of `schema`."""
    import pyarrow as pa

    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
        else:
            columns.append(table.column(field.name).cast(field.type))
    return pa.table(columns, schema=schema)


def without_beside(schema: Any) -> Any:
    """Return the columns that do not depend on the worker."""
    import pyarrow as pa

    return pa.schema([field for field in schema if field.name not in BESIDE])


def write_blocks(blocks: Iterator[Any], schema: Any, target: Path, about: Mapping[str, str]) -> int:
    """Write blocks as the groups of one file; return the number of rows."""
    import pyarrow.parquet as pq

    rows = 0
    schema = schema.with_metadata({f"dwell.{name}": text for name, text in about.items()})
    with (
        written_whole(target) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
    ):
        for block in blocks:
            writer.write_table(fitted(block, schema), row_group_size=GROUP)
            rows += block.num_rows
    return rows


def about_file(path: Path) -> dict[str, str]:
    """Return the metadata of a table."""
    import pyarrow.parquet as pq

    kept = pq.read_schema(path).metadata or {}
    return {
        name.decode().removeprefix("dwell."): text.decode()
        for name, text in kept.items()
        if name.startswith(b"dwell.")
    }
