"""What a worker does: some cases, one after another, to rows of a table.

The same function runs in a process of this machine and on a cluster. It keeps no files and knows
nothing of other workers.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from dwell.errors import DwellError, InputError, Interrupted, UnsavedError
from dwell.sweep.plan import Brief, Case, Frame

if TYPE_CHECKING:
    from dwell.results import Run

DONE, FAILED, AGAIN = "done", "failed", "again"  # the last: worth another try
OWN: Final = ("case", "point", "repeat", "key", "status", "failure")  # columns before the figures
SEEDS: Final = ("seed", "start_seed")  # then these
BESIDE: Final = ("_seconds", "_worker")  # told, but not in the table: they differ between runs
LONG: Final = ("final_positions", "final_centroids", "final_masses")
TABLES: Final = ("certificate",)  # tables of their own, where there are any
# Not columns: `wall_seconds` differs every time, and the findings are sentences by the dozen.
LEFT_OUT: Final = ("schema", "wall_seconds", "certificate.findings")


@final
@dataclass(frozen=True)
class Order:
    """Cases for a worker, and what it must know for them."""

    frame: str
    cases: tuple[Brief, ...]
    attempt: int = 0
    alone: bool = False  # with nothing else under way

    @property
    def first(self) -> int:
        """The number of its first case."""
        return self.cases[0][0]

    def __len__(self) -> int:
        return len(self.cases)


@final
@dataclass(frozen=True)
class Result:
    """What came of an order."""

    rows: list[dict[str, Any]]
    versions: dict[str, str]
    runs: dict[str, bytes] = field(default_factory=dict)  # by key, where they are kept


def run_order(order: Order) -> Result:
    """Every case of `order`. What goes wrong with one is in its row, and the next goes on."""
    frame = _frame(order.frame)
    rows: list[dict[str, Any]] = []
    runs: dict[str, bytes] = {}
    for brief in order.cases:
        case = frame.case(brief)
        began = time.perf_counter()
        row = run_case(case, frame, runs)
        row |= {"_seconds": time.perf_counter() - began, "_worker": _worker()}
        rows.append(row)
    return Result(rows, versions(), runs)


@lru_cache(maxsize=4)
def _frame(text: str) -> Frame:
    return Frame(text)


def run_case(case: Case, frame: Frame, runs: dict[str, bytes]) -> dict[str, Any]:
    """The row of one case; its run is put into `runs` if runs are kept."""
    from dwell.runner import run_scenario

    row = blank_row(case, frame)
    try:
        run = run_scenario(case.scenario(), threads=1, progress=False)
        figures = flat_figures(run.summary(), final=frame.final)
        if frame.keep_runs:
            runs[case.key] = _bytes_of(run)
    except Interrupted:
        raise KeyboardInterrupt from None  # without the run, which need not reach other processes
    except (MemoryError, OSError, UnsavedError) as fault:  # may be of the moment, or this machine
        return {**row, "status": AGAIN, "failure": f"{type(fault).__name__}: {_sentence(fault)}"}
    except InputError as fault:
        return {**row, "status": FAILED, "failure": _sentence(fault)}
    except Exception as fault:
        words = str(fault) if isinstance(fault, DwellError) else f"{type(fault).__name__}: {fault}"
        return {**row, "status": FAILED, "failure": " ".join(words.split())[:500]}
    return {**row, **figures}


def blank_row(case: Case, frame: Frame) -> dict[str, Any]:
    """The row of a case before anything is known of its run."""
    values = {
        key: as_cell(value, key in frame.words)
        for key, value in zip(frame.keys, case.values, strict=True)
    }
    seeds = {"seed": case.seed, "start_seed": case.start_seed}
    mine = {"case": case.number, "point": case.point, "repeat": case.repeat, "key": case.key}
    return {**mine, "status": DONE, "failure": None, **values, **seeds}


def as_cell(value: Any, as_text: bool) -> Any:
    """A value of a sweep file as one cell of a table: lists and tables are JSON text."""
    if value is not None and (as_text or isinstance(value, (list, tuple, dict))):
        return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return value


def flat_figures(summary: Mapping[str, Any], *, final: bool, prefix: str = "") -> dict[str, Any]:
    """The numbers of a run by dotted name, one cell each."""
    cells: dict[str, Any] = {}
    for name, value in summary.items():
        key = f"{prefix}{name}"
        if key in LEFT_OUT or (key in LONG and not final) or (key in TABLES and value is None):
            continue
        if isinstance(value, Mapping):
            cells |= flat_figures(value, final=final, prefix=f"{key}.")
        elif key == "flags":
            cells[key] = [flag["code"] for flag in value]
        else:
            cells[key] = value
    return cells


def figures_alone(row: Mapping[str, Any], keys: Sequence[str], final: bool) -> dict[str, Any]:
    """What a row would have besides its own columns, had it been made alone."""
    found = {name: value for name, value in row.items() if name not in keys}
    left_out = [] if final else list(LONG)
    for prefix in TABLES:  # empty columns for the sake of rows of other laws
        inner = [name for name in found if name.startswith(f"{prefix}.")]
        left_out += inner if all(found[name] is None for name in inner) else []
    return {name: value for name, value in found.items() if name not in left_out}


def _sentence(fault: BaseException) -> str:
    return " ".join(str(fault).split())[:500]


def _bytes_of(run: Run) -> bytes:
    """A run as the content of its file."""
    from dwell.results import save_run

    with tempfile.TemporaryDirectory(prefix="dwell-") as folder:
        path = Path(folder) / "run.nc"
        save_run(run, path)
        return path.read_bytes()


def _worker() -> str:
    return f"{platform.node()}:{os.getpid()}"


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """What must be equal for rows to be comparable to the bit."""
    from dwell.runner import provenance

    found = provenance()
    return {name: found[name] for name in ("dwell", "kernels", "numpy", "numba")}
