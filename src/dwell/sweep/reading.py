"""A sweep's table in memory, for pictures and notebooks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell._types import Floats
from dwell.results.files import refused, shown
from dwell.sweep.store import RUNS, read_plan
from dwell.sweep.table import need_pyarrow, read


@final
@dataclass(frozen=True, eq=False)
class SweepTable:
    """One entry per run in every column; runs that failed are left out."""

    keys: tuple[str, ...]  # what was varied
    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(self.columns["case"])

    def numbers(self, name: str) -> Floats:
        """A column of numbers; nan where a run has none."""
        values = [np.nan if value is None else float(value) for value in self.columns[name]]
        return np.array(values)


def read_sweep(folder: str | os.PathLike[str]) -> SweepTable:
    """The table of a finished sweep."""
    need_pyarrow()
    path = Path(folder)
    keys = tuple(read_plan(path)["keys"])
    if not (path / RUNS).exists():
        raise refused(f"the sweep in {shown(path)} is not finished; the same command goes on")
    table = read(path / RUNS)
    long = [name for name in table.column_names if name.startswith("final_")]
    table = table.drop_columns(long)
    good = [status == "done" for status in table.column("status").to_pylist()]
    columns = {name: table.column(name).filter(good).to_pylist() for name in table.column_names}
    return SweepTable(keys, columns)
