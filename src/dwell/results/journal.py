"""Checkpoints: the journal of a run in progress, in a folder beside its file.

The folder has one file for the jumps and samples of each interval, written once and never changed,
and one file `state.columns` for everything else, replaced each time. Every file is written under
another name, flushed to disk and renamed, so that it is complete or absent; `state.columns` has the
number of valid other files. A file has arrays in NumPy's format, and a checksum of all bytes: a zip
archive would copy every number twice, which takes longer than writing it. `run.nc` itself is the
run before its first jump, with the name of the folder. A thread of its own writes, while the engine
runs.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import secrets
import shutil
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np

from dwell.agents import EventTable
from dwell.agents.stored_names import stored_names
from dwell.engine.recorder import Recorder
from dwell.errors import ControllerError, DwellWarning, StoreError
from dwell.measure import Metrics
from dwell.results.files import brief, shown, sync_folder, written_whole

WRITER = "dwell journal"  # the thread that writes
STATE, PART = "state.columns", "{:06}.columns"
UNSAVED = "checkpoints"  # in a run's provenance: why one of its checkpoints could not be written
LAYOUT = 3  # of the files: older ones cannot be read
SLOWER = 2.0  # writing may take so many times as long as the last time,
SPARE = 0.125  # ... or this share of the interval, and is still on disk in time
CHECK = 4  # bytes of the checksum at the end of a file
_ID = re.compile(r"[0-9a-f]{16}")

Pieces = Sequence[np.ndarray]  # of one column, one after another


def folder_of(target: Path, name: str) -> Path:
    """The folder of the journal called `name` of the run at `target`."""
    if not _ID.fullmatch(name):
        raise ValueError(f"{name!r} names no journal")
    return target.with_name(f"{target.name}.{name}.journal")


@final
@dataclass(frozen=True, eq=False)
class Journaled:
    """The contents of a journal, or of one checkpoint."""

    arrays: dict[str, np.ndarray]
    info: dict[str, Any]
    tables: list[EventTable]
    metrics: list[Metrics]


@final
class Journal:
    """Writes a checkpoint of a run every so many seconds."""

    def __init__(
        self,
        target: Path,
        every: float,
        first: Callable[[str], None],
        name: str | None = None,
        parts: int = 0,
        reached: float = 0.0,
    ) -> None:
        """`first` writes the file at `target` that names the journal, before the first checkpoint.

        `name`, `parts` and `reached` are those of a journal that is continued.
        """
        self.target, self.every = target, every
        self.name = name or secrets.token_hex(8)
        self.folder = folder_of(target, self.name)
        self._first: Callable[[str], None] | None = first if name is None else None
        self._parts = parts
        self.reached = reached  # the time of the last checkpoint
        self._tables = self._metrics = 0  # how many of the recorder's are written
        self._writer: threading.Thread | None = None
        self._fault, self._warned = "", False  # why the first checkpoint that failed did
        self._last = time.monotonic()
        self._takes = every  # seconds that the last one took; of the first nothing is known

    @property
    def begun(self) -> bool:
        """Whether a checkpoint is on disk."""
        return self._first is None

    def skip(self, recorder: Recorder) -> None:
        """Note that the journal has everything in `recorder` already."""
        self._tables, self._metrics = len(recorder.tables), len(recorder.metrics)

    def is_due(self, piece: float) -> bool:
        """Whether to write a checkpoint now, so that it is on disk at the end of the interval.

        The next opportunity is after another chunk, which takes about `piece` seconds.
        """
        spare = self.every - max(SLOWER * self._takes, SPARE * self.every) - piece
        return time.monotonic() - self._last >= max(0.5 * self.every, spare)

    def write(self, recorder: Recorder, about: dict[str, Any]) -> None:
        """Start to write everything since the last checkpoint, in the background."""
        self.wait()
        tables = [table for table in recorder.tables[self._tables :] if len(table)]
        metrics = recorder.metrics[self._metrics :]
        try:
            arrays, info = recorder.frozen()
        except ControllerError as fault:  # a memory that no file can hold
            self._fault, self._last = self._fault or str(fault), time.monotonic()
            return
        before = self._tables, self._metrics, self._parts
        self._tables, self._metrics = len(recorder.tables), len(recorder.metrics)
        info |= {**about, "layout": LAYOUT, "journal": self.name}
        given = (Journaled(arrays, info, tables, metrics), before)
        self._writer = threading.Thread(target=self._write, args=given, daemon=True, name=WRITER)
        self._writer.start()
        self._last = time.monotonic()

    def wait(self) -> str:
        """Wait until the last checkpoint is on disk; returns why one failed, "" if none did.

        The first one that fails gives a warning. The run goes on, and the next checkpoint holds
        what this one should have held.
        """
        if self._writer is not None:
            self._writer.join()
            self._writer = None
        if self._fault and not self._warned:
            self._warned = True
            text = f"a checkpoint of {shown(self.target)} could not be written ({self._fault})"
            warnings.warn(f"{text}; the run goes on", DwellWarning, stacklevel=2)
        return self._fault

    def _write(self, given: Journaled, before: tuple[int, int, int]) -> None:
        began = time.monotonic()
        try:
            self._put(given)
            self.reached = float(given.info["reached"])
            self._takes = time.monotonic() - began
        except Exception as fault:
            if self._first is not None:  # nothing refers to it yet
                shutil.rmtree(self.folder, ignore_errors=True)
            self._tables, self._metrics, self._parts = before
            cause = fault.__cause__ or fault
            self._fault = self._fault or getattr(cause, "strerror", None) or brief(cause)

    def _put(self, given: Journaled) -> None:
        self.folder.mkdir(exist_ok=True)
        if given.tables or given.metrics:
            part = _columns(given.tables, given.metrics)
            write_columns(self.folder / PART.format(self._parts + 1), part)
            self._parts += 1
        info = {**given.info, "parts": self._parts}
        text = np.frombuffer(json.dumps(info).encode(), dtype=np.uint8)
        columns = {**given.arrays, "info": text}
        write_columns(self.folder / STATE, {name: [values] for name, values in columns.items()})
        if self._first is not None:
            sync_folder(self.folder.parent)
            self._first(self.name)
            self._first = None


def clear(target: Path) -> None:
    """Remove all journals beside `target`, which is complete, and unfinished files.

    The caller must have the lock of `target`.
    """
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            name = path.name.removeprefix(f"{target.name}.").removesuffix(".journal")
            if _ID.fullmatch(name) and path == folder_of(target, name):
                shutil.rmtree(path, ignore_errors=True)
            elif path.name.startswith(f".{target.name}.") and path.suffix == ".part":
                path.unlink(missing_ok=True)


def read_journal(target: Path, name: str) -> Journaled:
    """The journal called `name` of the run at `target`."""
    folder = folder_of(target, name)
    if not (folder / STATE).is_file():
        raise StoreError(
            f"{shown(target)} is the beginning of a run, and the rest of it, {shown(folder)}, is "
            "not there; put both into one folder again",
            code="store.journal",
        )
    arrays = read_columns(folder / STATE)
    info = json.loads(arrays.pop("info").tobytes())
    if info["journal"] != name or int(info["layout"]) > LAYOUT:
        raise ValueError(f"{STATE} belongs to another run")
    tables, metrics = [], []
    for k in range(1, int(info["parts"]) + 1):
        part = read_columns(folder / PART.format(k))
        if own := _under("event_", EventTable, part):
            tables.append(EventTable(**own))
        if own := _under("sample_", Metrics, part):
            metrics.append(Metrics(**own))
    return Journaled(arrays, info, tables, metrics)


def _columns(tables: list[EventTable], metrics: list[Metrics]) -> dict[str, Pieces]:
    found: dict[str, Pieces] = {}
    if len({tuple(table.columns()) for table in tables}) > 1:  # some have columns that others lack
        tables = [EventTable.joined(tables)]
    names = stored_names(EventTable)
    for field in tables[0].columns() if tables else ():
        found[f"event_{names[field]}"] = [getattr(table, field) for table in tables]
    for field, name in stored_names(Metrics).items() if metrics else ():
        found[f"sample_{name}"] = [getattr(some, field) for some in metrics]
    return found


def _under(lead: str, cls: type, part: dict[str, np.ndarray]) -> dict[str, Any]:
    """The stored fields of a class."""
    return {f: part[lead + name] for f, name in stored_names(cls).items() if lead + name in part}


@final
class _Checked:
    """A file opened for writing, and the checksum of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.check = file, 0

    def write(self, data: bytes) -> None:
        """Write `data`."""
        self.check = zlib.crc32(data, self.check)
        self.file.write(data)


def write_columns(path: Path, columns: Mapping[str, Pieces]) -> None:
    """Write columns, each given in pieces."""
    with written_whole(path) as temporary, temporary.open("wb") as file:
        checked = _Checked(file)
        np.save(checked, np.array(list(columns)))
        for pieces in columns.values():
            np.save(checked, np.concatenate(pieces))
        file.write(checked.check.to_bytes(CHECK, "little"))


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """Return all columns of a file; refuse one in which any byte differs from what was written."""
    try:
        data = path.read_bytes()
        if zlib.crc32(data[:-CHECK]).to_bytes(CHECK, "little") != data[-CHECK:]:
            raise ValueError("its checksum is wrong")
        file = io.BytesIO(data)
        return {str(name): np.load(file) for name in np.load(file)}
    except (OSError, ValueError, TypeError, KeyError, IndexError) as fault:
        raise StoreError(
            f"{shown(path)} is damaged ({brief(fault)}), and with it the run", code="store.journal"
        ) from None
