"""The folder of a sweep: what was planned, what is done, and the table in the end.

    DIR/sweep.json        the plan and the versions that made the rows
    DIR/parts-PLAN/       rows as they came in, Parquet files; each is whole or not there
    DIR/runs.parquet      one row per case, once all are done
    DIR/summary.parquet   one row per point: median and quartiles of every number
    DIR/timings.parquet   which worker took how long for which case
    DIR/runs/KEY.nc       the runs themselves, if they are kept

One process at a time writes here, and it alone: workers send their rows to it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from dwell.errors import InputError, StoreError
from dwell.results.files import locked, refused, shown, written_whole
from dwell.scenario.trust import sealed
from dwell.sweep import table
from dwell.sweep.cases import CaseStatus, Result, blank_row, figures_alone
from dwell.sweep.plan import Plan
from dwell.sweep.quartiles import summary_blocks, summary_schema

VERSION = 1
MOST_PARTS = 256  # more small files than this are joined to one

T = TypeVar("T")

PLAN = "sweep.json"
PLAN_HAS = {"digest": str, "keys": list, "versions": dict, "frame": dict}
KEPT = "runs"  # folder of the runs themselves
RUNS, SUMMARY, TIMINGS = "runs.parquet", "summary.parquet", "timings.parquet"


@final
@dataclass(frozen=True)
class Failure:
    """A case that failed, and why."""

    case: int
    reason: str


@final
class Folder:
    """The files with the rows of one sweep."""

    def __init__(self, path: Path, plan: Plan, made_with: dict[str, str]) -> None:
        self.path, self.plan = path, plan
        self.made_with = made_with  # versions
        self.done: NDArray[np.bool_] = np.zeros(len(plan), dtype=bool)
        self.failed = 0
        self.parts = parts_of(path, plan.digest)
        self._parts: list[Path] = []
        self._last = -1  # number of the last part
        self.damaged: list[Path] = []  # parts that could not be read, put aside

    # -- opening -----------------------------------------------------------------------------

    def read(self, *, retry: bool) -> None:
        """Read what an earlier command left; with `retry`, failed cases count as missing."""
        parts = sorted(self.parts.glob("*.parquet"))
        self._last = max((int(path.stem) for path in parts if path.stem.isdecimal()), default=-1)
        whole = [self.path / RUNS] if (self.path / RUNS).exists() else []
        for path in whole + parts:
            rows = _unless_damaged(table.read, path, ["case", "status"])
            if rows is None:
                damaged = path.with_name(f"{path.name}.damaged")  # its cases are run again
                self.damaged.append(path.replace(damaged))
            else:
                self._take_stock(path, rows, retry)

    def _take_stock(self, path: Path, rows: Any, retry: bool) -> None:
        cases = rows.column("case").to_numpy()
        good = rows.column("status").to_numpy(zero_copy_only=False) != CaseStatus.FAILED
        if retry and not good.all():
            if not good.any():
                return self._take_away(path)
            path, cases = self._without_failures(path), cases[good]
            good = good[good]
        self._parts.append(path)
        fresh = ~self.done[cases]
        self.failed += int((fresh & ~good).sum())
        self.done[cases] = True

    def _without_failures(self, path: Path) -> Path:
        """Write a file again without the rows of failed cases."""
        import pyarrow.compute as pc

        groups = table.groups(path)
        failed = CaseStatus.FAILED
        good = (rows.filter(pc.not_equal(rows.column("status"), failed)) for rows in groups)
        target = self._new_part()
        table.write_blocks(good, table.Parts([path], self.plan.keys).schema(), target, {})
        self._take_away(path)
        return target

    def _take_away(self, path: Path) -> None:
        if path == self.path / RUNS:  # no summary of a table that is not there
            (self.path / SUMMARY).unlink(missing_ok=True)
        path.unlink()

    def _new_part(self) -> Path:
        self._last += 1
        return self.parts / f"{self._last:08d}.parquet"

    # -- writing -----------------------------------------------------------------------------

    def commit(self, result: Result) -> None:
        """Store rows; those of finished cases are left out."""
        rows = [row for row in result.rows if not self.done[row["case"]]]
        if not rows:
            return
        for row in rows:
            if row["key"] in result.runs:
                self._keep_run(row["key"], result.runs[row["key"]])
        target = self._new_part()
        table.write_part(table.arrow_table(rows, self.plan.keys), target)
        self._parts.append(target)
        self.done[[row["case"] for row in rows]] = True
        self.failed += sum(row["status"] == CaseStatus.FAILED for row in rows)
        if len(self._parts) > MOST_PARTS:
            self._join_parts()

    def _keep_run(self, key: str, content: bytes) -> None:
        folder = self.path / KEPT
        folder.mkdir(exist_ok=True)
        with written_whole(folder / f"{key}.nc") as temporary:
            temporary.write_bytes(content)

    def _join_parts(self) -> None:
        """Join many small files; a crash in between leaves rows twice, never none.

        The largest stay as they are, or each row would be written again with every joining.
        """
        mine = [path for path in self._parts if path.parent == self.parts]
        mine.sort(key=lambda path: path.stat().st_size)
        small = mine[: max(2, len(mine) * 7 // 8)]
        parts = table.Parts(small, self.plan.keys)
        schema = parts.schema()
        target = self._new_part()
        table.write_blocks(parts.blocks(schema), schema, target, {})
        self._parts = [path for path in self._parts if path not in small] + [target]
        for path in small:
            path.unlink()

    def finish(self) -> None:
        """Write the whole table, the summary and the timings, and delete the parts."""
        if self._parts != [self.path / RUNS] or not (self.path / SUMMARY).exists():
            self._write_tables()
        with contextlib.suppress(OSError):
            self.parts.rmdir()

    def _write_tables(self) -> None:
        whole = self.path / RUNS  # last: of rows that stand twice, those of parts know their times
        parts = table.Parts(sorted(self._parts, key=lambda p: p == whole), self.plan.keys)
        schema = parts.schema()
        about = {"plan": self.plan.digest, "versions": json.dumps(self.made_with, sort_keys=True)}
        self._write_timings(parts, schema)
        kept = table.without_beside(schema)
        table.write_blocks(parts.blocks(kept), kept, whole, about)
        self._write_summary(about)
        for path in self._parts:
            if path != whole:
                path.unlink()
        self._parts = [whole]

    def _write_timings(self, parts: table.Parts, schema: Any) -> None:
        if not {"_seconds", "_worker"} <= set(schema.names):
            return
        import pyarrow as pa

        names = {"case": "case", "key": "key", "_seconds": "seconds", "_worker": "worker"}
        chosen = pa.schema([schema.field(name) for name in names])
        renamed = pa.schema([schema.field(a).with_name(b) for a, b in names.items()])
        blocks = (block.rename_columns(list(names.values())) for block in parts.blocks(chosen))
        table.write_blocks(blocks, renamed, self.path / TIMINGS, {})

    def _write_summary(self, about: Mapping[str, str]) -> None:
        repeats = self.plan.sweep.repeats
        whole = table.Parts([self.path / RUNS], self.plan.keys)
        schema = whole.schema()
        points = max(1, table.GROUP // repeats) * repeats  # whole points at a time
        summary = summary_schema(schema, self.plan.keys)
        blocks = summary_blocks(whole.blocks(schema, points), summary, self.plan.keys)
        table.write_blocks(blocks, summary, self.path / SUMMARY, about)

    # -- reading -----------------------------------------------------------------------------

    def failures(self, most: int) -> list[Failure]:
        """Return the first failed cases, and why."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found: dict[int, Failure] = {}  # a case may stand twice after a crash
        for path in self._parts if self.failed else ():
            rows = table.read(path, ["case", "status", "failure"])
            bad = rows.filter(pc.equal(rows.column("status"), pa.scalar(CaseStatus.FAILED)))
            found |= {row["case"]: Failure(row["case"], row["failure"]) for row in bad.to_pylist()}
        return [found[case] for case in sorted(found)[:most]]


@contextlib.contextmanager
def open_folder(
    out: Path,
    plan: Plan,
    versions: dict[str, str],
    *,
    mixed: bool,
    retry: bool,
    extend: bool = False,
) -> Iterator[Folder]:
    """Open the folder of a sweep for this process alone, with the rows that it has."""
    _make(out)
    with locked(out / RUNS):
        made_with = _check_plan(out, plan, versions, mixed, extend)
        folder = Folder(out, plan, made_with)
        folder.parts.mkdir(exist_ok=True)
        folder.read(retry=retry)
        yield folder


def parts_of(out: Path, digest: str) -> Path:
    """Return the folder of the rows of a plan, which no other plan uses."""
    return out / f"parts-{digest[:12]}"


def _make(out: Path) -> None:
    try:
        if out.exists() and not out.is_dir():
            raise refused(f"{shown(out)} is a file; give a folder for the tables")
        out.mkdir(parents=True, exist_ok=True)
        seen = [path.name for path in out.iterdir() if not path.name.startswith(".")]
    except OSError as fault:
        raise refused(f"{shown(out)} cannot be made or read ({fault.strerror})") from None
    if seen and not (out / PLAN).exists():
        raise refused(f"{shown(out)} holds other files; give a new or empty folder")


def _check_plan(
    out: Path, plan: Plan, versions: dict[str, str], mixed: bool, extend: bool
) -> dict[str, str]:
    """Return the versions of the rows; refuse other sweeps, and other versions unless mixed."""
    path = out / PLAN
    if not path.exists():
        _write_plan(path, plan, versions)
        return versions
    kept = read_plan(out)
    made_with: dict[str, str] = kept["versions"]
    if kept["digest"] != plan.digest and not extend:
        raise InputError(
            f"{shown(out)} holds another sweep than this; give another folder, the sweep file as "
            "it was, or --extend to keep the rows of cases that both have",
            code="sweep.differs",
        )
    check_versions(made_with, versions, mixed, f"the rows in {shown(out)}")
    if kept["digest"] != plan.digest:
        take_over(out, kept, plan)
        _write_plan(path, plan, made_with)
    _tidy(out, plan)
    return made_with


def take_over(out: Path, old: Mapping[str, Any], plan: Plan) -> None:
    """Copy the rows of another plan that are cases of this one, under their numbers here.

    They are written to the parts of this plan before it becomes the plan of the folder, and then
    deleted from those of the other: a crash in between costs nothing.
    """
    template = plan.template
    if template.final and not old["frame"]["final"]:
        return  # their rows do not say where the agents were in the end
    numbers = {plan.case(k).key: k for k in range(len(plan))}
    if template.keep_runs:
        numbers = {key: k for key, k in numbers.items() if (out / KEPT / f"{key}.nc").exists()}
    target = parts_of(out, plan.digest)
    target.mkdir(exist_ok=True)
    for k, group in enumerate(_groups_of(out, old)):
        rows = []
        for row in group.to_pylist():
            number = numbers.pop(row["key"], None)
            if number is not None and row["status"] != CaseStatus.FAILED:
                mine = blank_row(plan.case(number), template)
                rows.append({**figures_alone(row, old["keys"], template.final), **mine})
        if rows:
            table.write_part(table.arrow_table(rows, plan.keys), target / f"{k:08d}.parquet")


def _groups_of(out: Path, old: Mapping[str, Any]) -> Iterator[Any]:
    """Return the rows of a plan; those in damaged files are run again."""
    there = [out / RUNS] if (out / RUNS).exists() else []
    for path in [*there, *sorted(parts_of(out, old["digest"]).glob("*.parquet"))]:
        sizes = _unless_damaged(table.group_sizes, path) or []
        for k in range(len(sizes)):
            rows = _unless_damaged(table.read_group, path, k)
            if rows is not None:
                yield rows


def _tidy(out: Path, plan: Plan) -> None:
    """Delete the files of earlier plans."""
    runs = out / RUNS
    about = _unless_damaged(table.about_file, runs) if runs.exists() else None
    if about is not None and about.get("plan", plan.digest) != plan.digest:
        for name in (RUNS, SUMMARY, TIMINGS):
            (out / name).unlink(missing_ok=True)
    for folder in out.glob("parts-*"):
        if folder != parts_of(out, plan.digest):
            shutil.rmtree(folder, ignore_errors=True)


def check_versions(
    ours: Mapping[str, str], theirs: Mapping[str, str], mixed: bool, what: str
) -> None:
    """Refuse to mix rows of different versions."""
    unlike = [name for name in ours if ours[name] != theirs.get(name)]
    if unlike and not mixed:
        pairs = ", ".join(f"{name} {theirs.get(name)} and {ours[name]}" for name in unlike)
        raise InputError(
            f"versions differ ({pairs}), so these rows and {what} need not agree to the bit; use "
            "one version throughout, or --mixed",
            code="sweep.versions",
        )


def _write_plan(path: Path, plan: Plan, versions: dict[str, str]) -> None:
    about = {
        "schema": VERSION,
        "digest": plan.digest,
        "cases": len(plan),
        "points": plan.points,
        "repeats": plan.sweep.repeats,
        "keys": list(plan.keys),
        "versions": versions,
        "frame": asdict(plan.template),
        "sweep": plan.sweep.source,
        "seal": sealed(plan.sweep.source),
        "axes": [
            {key: list(column) for key, column in zip(group.keys, group.columns, strict=True)}
            for group in plan.sweep.groups
        ],
    }
    with written_whole(path) as temporary:
        text = json.dumps(about, indent=1, default=lambda value: value.item())  # NumPy's numbers
        temporary.write_text(text, encoding="utf-8")


def read_plan(out: Path) -> dict[str, Any]:
    """Return the plan that a folder holds."""
    path = out / PLAN
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if about["schema"] > VERSION:
            raise StoreError(f"{shown(path)} was written by a newer dwell", code="store.version")
        whole = all(isinstance(about[name], kind) for name, kind in PLAN_HAS.items())
        if not whole:
            raise ValueError("another kind of file")
        return about
    except (OSError, ValueError, KeyError, TypeError) as fault:
        if isinstance(fault, StoreError):
            raise
        raise refused(f"{shown(out)} is no folder of a sweep ({PLAN} cannot be read)") from None


def _unless_damaged(read: Callable[..., T], path: Path, *what: Any) -> T | None:
    """Return the table in a file; None if it is damaged, an error if it cannot be opened."""
    try:
        return read(path, *what)
    except MemoryError:
        raise
    except Exception as fault:  # whatever a damaged file makes the reader say
        if getattr(fault, "errno", None) is None:
            return None
        reason = getattr(fault, "strerror", None) or fault
        raise refused(f"{shown(path)} could not be read ({reason})") from None
