"""The table of a sweep in memory, for plots and notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell._types import Floats
from dwell._units import METRIC, OPEN, Units
from dwell.results.files import refused, shown
from dwell.sweep.cases import CaseStatus
from dwell.sweep.store import RUNS, read_plan
from dwell.sweep.table import need_pyarrow, read

T2 = "controller.t2"
# Keys beside T2 that its limits do not depend on.
HARMLESS = frozenset({"controller.kind", "controller.t1", "controller.reset", "agents.start.seed"})


@final
class Columns(Mapping[str, Sequence[Any]]):
    """The columns of an Arrow table by name; each becomes a list when it is first read."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._lists: dict[str, Sequence[Any]] = {}

    def __getitem__(self, name: str) -> Sequence[Any]:
        if name not in self._lists:
            self._lists[name] = self.table.column(name).to_pylist()  # or raise KeyError
        return self._lists[name]

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers as an array; nan where a run has none."""
        column = self.table.column(name).cast("float64")
        found: Floats = column.to_numpy(zero_copy_only=False)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.table.column_names

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.column_names)

    def __len__(self) -> int:
        return len(self.table.column_names)


@final
@dataclass(frozen=True, eq=False)
class SweepTable:
    """One entry per run in every column; failed runs are left out."""

    keys: tuple[str, ...]  # what was varied
    columns: Mapping[str, Sequence[Any]]  # by dotted name; None where a run has no such value
    marks: Mapping[str, Sequence[tuple[float, str]]] = field(default_factory=dict)  # of theory
    units: Units = OPEN

    def __len__(self) -> int:
        return len(self.columns["case"])

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers; nan where a run has none."""
        if isinstance(self.columns, Columns):
            return self.columns.numbers(name)
        found = [np.nan if value is None else float(value) for value in self.columns[name]]
        return np.array(found, dtype=np.float64)


def read_sweep(folder: str | os.PathLike[str]) -> SweepTable:
    """Return the table of a finished sweep."""
    need_pyarrow()
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    path = Path(folder)
    plan = read_plan(path)
    keys = tuple(plan["keys"])
    if not (path / RUNS).exists():
        raise refused(f"the sweep in {shown(path)} is not finished; the same command goes on")
    names = pq.read_schema(path / RUNS).names
    table = read(path / RUNS, [name for name in names if not name.startswith("final_")])
    done = table.filter(pc.equal(table.column("status"), CaseStatus.DONE))
    bases = plan["frame"]["bases"]
    units = METRIC if all(base.get("site") for base in bases) else OPEN
    return SweepTable(keys, Columns(done), limits_of_waits(bases, keys), units)


def limits_of_waits(
    bases: Sequence[Mapping[str, Any]], keys: Sequence[str]
) -> dict[str, list[tuple[float, str]]]:
    """Return the limits of theory for T2 of the timer law, if all other parameters are fixed."""
    from dwell.theory import max_dwell_time

    found = [base for base in bases if base["controller"]["kind"] == "timer"]
    moved = {key for key in keys if key.startswith(("controller.", "certificate.", "agents."))}
    if len(found) != 1 or T2 not in moved or moved - {T2, *HARMLESS}:
        return {}
    law, assumed = found[0]["controller"], found[0].get("certificate")
    reach = (1.0 - law["epsilon"]) * law["nu"]
    marks = [
        (reach / law["k1"], r"$k_1 T_2 = \tilde\nu$: async_local, no overshoot"),
        (2.0 * reach / law["k1"], r"$k_1 T_2 = 2\tilde\nu$: sync_global"),
    ]
    if assumed is not None and isinstance(assumed["lipschitz"], (int, float)):
        start = found[0]["agents"]["start"]
        agents = start["count"] if isinstance(start, Mapping) else len(start)
        known = (assumed["eta_max"], reach, law["k1"], assumed["lipschitz"])
        limit = max_dwell_time(*known, agents)
        marks.insert(0, (float(limit), "paper's limit"))
    return {T2: marks}
