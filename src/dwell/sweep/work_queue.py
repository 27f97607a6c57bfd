"""The queue of chunks: their sizes, and retries of those that were lost or failed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, final

from dwell.sweep.cases import CaseStatus, Chunk, Result, blank_row
from dwell.sweep.plan import Plan

SECONDS = 0.5  # of work in one chunk: enough that its transfer costs little
LARGEST = 1_000  # cases in one chunk
SHARE = 3  # chunks left for each worker towards the end
TRIES = 3  # of a case whose worker dies, or that fails for want of memory or disk
PIECES = 8  # a chunk whose worker died is cut into so many


@final
class ChunkSizer:
    """The number of cases in a chunk, from the times of earlier ones."""

    def __init__(self, fixed: int | None) -> None:
        self._fixed = fixed
        self._size = 1

    def size(self, left: int, workers: int) -> int:
        """Return the size of the next chunk, with `left` cases to go."""
        if self._fixed is not None:
            return self._fixed
        return max(1, min(self._size, -(-left // (SHARE * workers))))

    def learn(self, rows: Sequence[dict[str, Any]]) -> None:
        """Adapt to the time that some cases took, by at most a factor of four at once."""
        seconds = sum(row.get("_seconds") or 0.0 for row in rows) / len(rows)
        wanted = int(SECONDS / max(seconds, 1e-6))
        self._size = max(1, min(wanted, 4 * self._size, LARGEST))


@final
class WorkQueue:
    """Cases that are still to be run."""

    def __init__(self, plan: Plan, missing: Iterator[int], left: int) -> None:
        self._plan, self._missing = plan, missing
        self._back: deque[Chunk] = deque()
        self._isolated: deque[Chunk] = deque()  # run one at a time, at the end
        self.left = left  # cases that were never in a chunk

    def next(self, size: int, under_way: int = 0) -> Chunk | None:
        """Return the next chunk: retries first, then new cases, then suspects one at a time."""
        if self._back:
            return self._back.popleft()
        specs = []
        for case in self._missing:
            specs.append(self._plan.spec(case))
            if len(specs) >= size:
                break
        self.left -= len(specs)
        if specs:
            return Chunk(self._plan.template, tuple(specs))
        return self._isolated.popleft() if self._isolated and not under_way else None

    def requeue(
        self, chunk: Chunk, reason: str, suspect: bool, certain: bool = True
    ) -> list[dict[str, Any]]:
        """Queue a lost chunk again; return the rows of cases that were tried too often.

        A suspect that may not be the cause is tried again in isolation, where its failure counts.
        """
        if not suspect:
            (self._isolated if chunk.isolated else self._back).append(chunk)
            return []
        if len(chunk) > 1:  # cut it, to find the cause
            size = -(-len(chunk) // PIECES)
            pieces = range(0, len(chunk), size)
            self._back.extend(replace(chunk, cases=chunk.cases[k : k + size]) for k in pieces)
            return []
        if not certain and not chunk.isolated:
            self._isolated.append(replace(chunk, isolated=True))
            return []
        return self._retry(chunk, reason)

    def _retry(self, chunk: Chunk, reason: str) -> list[dict[str, Any]]:
        if chunk.attempt + 1 < TRIES:
            waiting = self._isolated if chunk.isolated else self._back
            waiting.append(replace(chunk, attempt=chunk.attempt + 1))
            return []
        row = blank_row(chunk.template.case(chunk.cases[0]), chunk.template)
        return [{**row, "status": CaseStatus.FAILED, "failure": f"{reason}, {TRIES} times"}]

    def split_retries(self, chunk: Chunk, result: Result) -> Result:
        """Return a result without the cases that are worth a retry, which are queued again."""
        rows: list[dict[str, Any]] = []
        specs = {spec.number: spec for spec in chunk.cases}
        for row in result.rows:
            if row["status"] != CaseStatus.AGAIN:
                rows.append(row)
                continue
            one = replace(chunk, cases=(specs[row["case"]],))
            rows += self._retry(one, row["failure"])
        return replace(result, rows=rows)
