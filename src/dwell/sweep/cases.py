"""Cases to rows of a table, in a process of this machine or on a cluster; no files are written."""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from dwell.errors import DwellError, Interrupted, UnsavedError
from dwell.results.figures import Kind, figures
from dwell.results.summary import flat
from dwell.sweep.template import CaseSpec, CaseTemplate, SweepCase
from dwell.workers.child import in_words

if TYPE_CHECKING:
    from dwell.results import Run

OWN: Final = ("case", "point", "repeat", "key", "status", "failure")  # columns before the figures
SEEDS: Final = ("seed", "start_seed")  # then these
BESIDE: Final = ("_seconds", "_worker")  # not in the table: they differ between runs


class CaseStatus(StrEnum):
    """How a case ended, in its row."""

    DONE = "done"
    FAILED = "failed"
    AGAIN = "again"  # it failed, and is worth a retry


@final
@dataclass(frozen=True)
class Chunk:
    """Cases that a worker runs together, and what they have in common."""

    template: CaseTemplate
    cases: tuple[CaseSpec, ...]
    attempt: int = 0
    isolated: bool = False  # to be run while no other is

    @property
    def first(self) -> int:
        """Number of its first case."""
        return self.cases[0].number

    def __len__(self) -> int:
        return len(self.cases)


@final
@dataclass(frozen=True)
class Result:
    """The rows of a chunk."""

    rows: list[dict[str, Any]]
    versions: dict[str, str]
    runs: dict[str, bytes] = field(default_factory=dict)  # by key, if they are stored


def run_chunk(chunk: Chunk) -> Result:
    """Run every case of `chunk`; the failure of one is stored in its row."""
    rows: list[dict[str, Any]] = []
    runs: dict[str, bytes] = {}
    for spec in chunk.cases:
        began = time.perf_counter()
        row = run_case(chunk.template.case(spec), chunk.template, runs)
        worker = f"{platform.node()}:{os.getpid()}"
        row |= {"_seconds": time.perf_counter() - began, "_worker": worker}
        rows.append(row)
    return Result(rows, versions(), runs)


def run_case(case: SweepCase, template: CaseTemplate, runs: dict[str, bytes]) -> dict[str, Any]:
    """Return the row of one case; add its run to `runs` if runs are stored."""
    from dwell.runner import run_scenario

    row = blank_row(case, template)
    try:
        run = run_scenario(case.scenario(), threads=1, progress=False)
        figures = flat(run.summary(), final=template.final)
        if template.keep_runs:
            runs[case.key] = _bytes_of(run)
    except Interrupted:
        raise KeyboardInterrupt from None  # without the run, which other processes do not need
    except (MemoryError, OSError, UnsavedError) as fault:  # perhaps temporary
        status, says = CaseStatus.AGAIN, in_words(fault)
    except DwellError as fault:
        status, says = CaseStatus.FAILED, str(fault)
    except Exception as fault:
        status, says = CaseStatus.FAILED, in_words(fault)
    else:
        return {**row, **figures}
    return {**row, "status": status, "failure": " ".join(says.split())[:500]}


def blank_row(case: SweepCase, template: CaseTemplate) -> dict[str, Any]:
    """Return the row of a case without results."""
    values = {
        key: as_cell(value, key in template.words)
        for key, value in zip(template.keys, case.values, strict=True)
    }
    seeds = {"seed": case.seed, "start_seed": case.start_seed}
    mine = {"case": case.number, "point": case.point, "repeat": case.repeat, "key": case.key}
    return {**mine, "status": CaseStatus.DONE, "failure": None, **values, **seeds}


def as_cell(value: Any, as_text: bool) -> Any:
    """Return a value of a sweep file as a cell; lists and tables become JSON text."""
    if value is not None and (as_text or isinstance(value, (list, tuple, dict))):
        return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return value


def figures_alone(row: Mapping[str, Any], keys: Sequence[str], final: bool) -> dict[str, Any]:
    """Return the columns of a row beside its own ones, without those of other laws."""
    found = {name: value for name, value in row.items() if name not in keys}
    left_out: list[str] = []
    for key, figure in figures().items():
        if figure.kind is Kind.AGENTS and not final:
            left_out.append(key)
        # Columns of a table that is empty here stand for rows of other laws.
        inner = [name for name in found if figure.kind is Kind.TABLE and name.startswith(f"{key}.")]
        left_out += inner if all(found[name] is None for name in inner) else []
    return {name: value for name, value in found.items() if name not in left_out}


def _bytes_of(run: Run) -> bytes:
    """Return the content of a run's file."""
    from dwell.results import save_run

    with tempfile.TemporaryDirectory(prefix="dwell-") as folder:
        path = Path(folder) / "run.nc"
        save_run(run, path)
        return path.read_bytes()


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return the versions that must be equal for equal bits."""
    from dwell.runner import provenance

    found = provenance()
    return {name: found[name] for name in ("dwell", "kernels", "numpy", "numba")}
