"""The memory that a run will need, estimated before it begins, and refused if it is not free."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import final

from dwell.agents import CoverageSystem
from dwell.engine.recorder import CELLS_AT_ONCE, EVENTS, SUMMARY, Recorder, expected_events
from dwell.engine.stepper import LAST_CHUNK
from dwell.errors import InputError

PER_AGENT = 700  # bytes: segments, counters, measurements at the start and at the end
COPIES = 2.0  # of events and samples: in pieces, and put together
SAVING = 1.3  # of them again, while a file is put together
PER_CELL = 130  # bytes
PIECE = 4  # copies of the events of a piece while it is counted
NUMBER = 8  # bytes
SMALL = 1e7  # bytes that any process has


@final
@dataclass(frozen=True, slots=True)
class Need:
    """An estimate of the size of a run."""

    events: float | None  # jumps; None if unknown
    samples: int
    size: float  # bytes at the worst moment, beside what is there already
    done: int = 0  # jumps that are stored already
    rasters: float = 0.0  # bytes of densities on grids, which are there already

    @property
    def says(self) -> str:
        """The figures as text."""
        more = "more events; in all " if self.done else "events, "
        left = max((self.events or 0.0) - self.done, 0.0)
        jumps = "" if self.events is None else f"about {left:.2g} {more}"
        whole = in_bytes(self.size + self.rasters)
        grids = f", {in_bytes(self.rasters)} of them for rasters" if self.rasters > SMALL else ""
        return f"{jumps}{self.samples} metric samples, {whole} of memory{grids}"


def need_of(recorder: Recorder, until: float, max_jumps: int, *, saved: bool) -> Need:
    """An estimate of the size of the run that `recorder` is for."""
    system, agents = recorder.system, recorder.system.agents
    events = expected_events(system, recorder.start, until)
    if events is not None:
        events = float(min(events, max_jumps))  # the limit may be too large for a float
    samples = len(recorder.sample_times)
    copies = COPIES + (SAVING if saved else 0.0)
    size = float(PER_AGENT * agents) + _of_ways(system)
    size += PER_CELL * min(samples * agents, max(CELLS_AT_ONCE, agents))  # those taken at a time
    size += PIECE * _bytes_per_event(system) * min(events or 0.0, LAST_CHUNK)
    if recorder.kind != SUMMARY:
        size += copies * samples * agents * 2 * NUMBER
    if recorder.kind == EVENTS and events is not None:
        size += copies * events * _bytes_per_event(system)
    return Need(events, samples, size, recorder.tally.jumps, _of_rasters(system))


def _of_ways(system: CoverageSystem) -> float:
    """The bytes of ways within regions in which agents stay."""
    masks = [world.ground.mask for world in system.timeline.worlds]
    staying = [mask for mask in masks if mask is not None and mask.stay]
    return float(sum(routes.size for mask in staying for routes in mask.routes))


def _of_rasters(system: CoverageSystem) -> float:
    """The bytes of rasters: their values, a copy of these in tiles, and sums."""
    found: dict[int, float] = {}
    for world in system.timeline.worlds:
        for diagram in world.diagrams:
            raster = getattr(diagram.ground.terms, "raster", None)
            if raster is not None:
                sums = sum(table.nbytes for table in (raster.blocks, raster.tiles))
                found[id(raster.values)] = 2.0 * raster.values.nbytes + sums
    return math.fsum(found.values())


def _bytes_per_event(system: CoverageSystem) -> int:
    usual = 7 + 3 * system.dimension
    return NUMBER * (usual if system.program is not None else usual + 8)


def refuse_too_much(need: Need, kind: str) -> None:
    """Refuse a run that exceeds the free memory; advise what would fit."""
    free = None if need.size <= SMALL else free_memory()
    if free is None or need.size <= free:
        return
    less = {EVENTS: '"samples" or "summary"', SUMMARY: ""}.get(kind, '"summary"')
    advice = f"keep less with record.kind = {less}, or " if less else ""
    raise InputError(
        f"this run would need {need.says}, and {in_bytes(free)} are free; {advice}take fewer "
        "agents, fewer samples, a shorter horizon or a smaller max_jumps",
        code="run.memory",
        key="run.record.kind",
    )


def free_memory() -> float | None:
    """Bytes that this process may still take; None where unknown."""
    found = [_available(Path("/proc/meminfo")), _allowed(Path("/sys/fs/cgroup"))]
    known = [value for value in found if value is not None]
    return min(known) if known else None


def _available(table: Path) -> float | None:
    with contextlib.suppress(OSError, ValueError):
        for line in table.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024.0
    return None


def _allowed(group: Path) -> float | None:
    """Bytes left below the limit of a container."""
    with contextlib.suppress(OSError, ValueError):
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            return float(limit) - float((group / "memory.current").read_text())
    return None


def in_bytes(size: float) -> str:
    """A number of bytes as text."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000.0 or unit == "TB":
            break
        size /= 1000.0
    return f"{size:.3g} {unit}"
