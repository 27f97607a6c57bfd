"""Cases in portions: how many at a time, and what becomes of those that come back undone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, final

from dwell.sweep.plan import Frame, Plan
from dwell.sweep.work import AGAIN, FAILED, Order, Result, blank_row

PORTION = 0.5  # seconds of work in one order: enough that handing it over costs little
LARGEST = 1_000  # cases in one order
SHARE = 3  # towards the end, so many orders are left for each worker
TRIES = 3  # for a case whose worker dies, or that fails for a reason of the moment
PIECES = 8  # an order whose worker died is cut into so many


@final
class Sizer:
    """How many cases make a portion, learnt from those that came back."""

    def __init__(self, fixed: int | None) -> None:
        self._fixed = fixed
        self._size = 1

    def size(self, left: int, workers: int) -> int:
        """Of the next order, with `left` cases to go."""
        if self._fixed is not None:
            return self._fixed
        return max(1, min(self._size, -(-left // (SHARE * workers))))

    def learn(self, rows: Sequence[dict[str, Any]]) -> None:
        """From the time that some cases took; by no more than a factor of four at once."""
        seconds = sum(row.get("_seconds") or 0.0 for row in rows) / len(rows)
        wanted = int(PORTION / max(seconds, 1e-6))
        self._size = max(1, min(wanted, 4 * self._size, LARGEST))


@final
class Orders:
    """Which cases are still to be given out."""

    def __init__(self, plan: Plan, missing: Iterator[int], left: int) -> None:
        self._plan, self._missing = plan, missing
        self._frame = Frame(plan.frame)
        self._back: deque[Order] = deque()
        self.left = left  # cases that were never given out

    def next(self, size: int) -> Order | None:
        """The next order: what came back first, then new cases."""
        if self._back:
            return self._back.popleft()
        briefs = []
        for case in self._missing:
            briefs.append(self._plan.brief(case))
            if len(briefs) >= size:
                break
        self.left -= len(briefs)
        return Order(self._plan.frame, tuple(briefs)) if briefs else None

    def give_back(self, order: Order, reason: str, blamed: bool) -> list[dict[str, Any]]:
        """Have an order carried out again; rows of cases that were tried too often."""
        if not blamed:
            self._back.append(order)
            return []
        if len(order) > 1:  # find the culprit: the others are not to suffer
            size = -(-len(order) // PIECES)
            pieces = range(0, len(order), size)
            self._back.extend(replace(order, cases=order.cases[k : k + size]) for k in pieces)
            return []
        return self._once_more(order, reason)

    def _once_more(self, order: Order, reason: str) -> list[dict[str, Any]]:
        if order.attempt + 1 < TRIES:
            self._back.append(replace(order, attempt=order.attempt + 1))
            return []
        row = blank_row(self._frame.case(order.cases[0]), self._frame)
        return [{**row, "status": FAILED, "failure": f"{reason}, {TRIES} times"}]

    def sort_out(self, order: Order, result: Result) -> Result:
        """What stays of a result: cases worth another try are given back."""
        rows: list[dict[str, Any]] = []
        briefs = {brief[0]: brief for brief in order.cases}
        for row in result.rows:
            if row["status"] != AGAIN:
                rows.append(row)
                continue
            alone = Order(order.frame, (briefs[row["case"]],), order.attempt)
            rows += self._once_more(alone, row["failure"])
        return replace(result, rows=rows)
