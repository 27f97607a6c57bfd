"""Finding: one property of a run, and whether it holds; Report: all of them, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, final

import numpy as np

from dwell._tables import html_table, text_table
from dwell._types import Floats, Ints, Points

Where = Callable[[int], str]  # the row of the worst value to where that is, in words
Tell = Callable[[str, float], None]  # called with the present activity and the share done

SECOND_OPINIONS = ("by-hand", "by-counting")  # the findings of independent code
HOLDS, VIOLATED, NOT_APPLICABLE = "holds", "violated", "not applicable"
NOT_YET = "not yet"  # what a longer run may still come to
DEGRADED = "degraded"  # a live run has not the property in full, and may still be a solution
UNCERTAIN = "uncertain"  # what was recorded cannot tell; such a run is not certified
EXPECTED = "expected: "  # before the sentence of a property that the run does not have
CHANGED = "changed"  # a module of the scenario, since the run was stored
SOLUTION, ALTERED, NO_SOLUTION = "solution", "altered", "not-a-solution"
UNKNOWN = "uncertain"
VERDICTS = {
    SOLUTION: "is a solution of its scenario",
    ALTERED: "was changed after it was written; its events still solve its scenario",
    NO_SOLUTION: "is NOT a solution of its scenario",
    UNKNOWN: "cannot be certified",
}


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One property: whether it holds, its worst value, the limit, and where the worst is."""

    name: str
    says: str
    status: str
    worst: float
    limit: float
    where: str = ""
    per_agent: tuple[float | None, ...] | None = None  # a number of each agent, if there is one

    def as_json(self) -> dict[str, Any]:
        """For programs, which know no infinity."""
        found = asdict(self)
        for key in ("worst", "limit"):
            found[key] = found[key] if math.isfinite(found[key]) else None
        return {**found, "per_agent": None if self.per_agent is None else list(self.per_agent)}


agent_named: Where = "agent {}".format
FINDING_HEAD = ("check", "", "worst", "limit", "says")


def finding_rows(findings: Iterable[Finding]) -> Iterator[tuple[str, ...]]:
    """The table of findings: name, status, worst value, limit, and the property in words."""
    for f in findings:
        says = f.says if not f.where else f"{f.says}; {f.where}"
        yield f.name, f.status, f"{f.worst:.3g}", f"{abs(f.limit):.3g}", says


def counted(findings: Sequence[Finding]) -> str:
    """How many findings have each status: "20 holds, 1 violated"."""
    statuses = [f.status for f in findings]
    return ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))


def spread(count: int, most: int | None) -> Ints:
    """At most `most` of 0 ... count - 1, evenly, the first and the last included; None: all."""
    if most is None or count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).astype(np.int64))


def agreement(
    name: str, what: str, values: Floats, limit: float, total: int, where: Where, note: str = ""
) -> Finding:
    """How many of `total` things were recomputed, and whether all agree: `values` <= `limit`."""
    wrong = int(np.count_nonzero(~(np.asarray(values) <= limit)))
    outcome = f"{wrong} {'differs' if wrong == 1 else 'differ'}" if wrong else "all agree"
    says = f"{len(values)} of {total} {what}: {outcome}{note}"
    return replace(worst_of(name, says, values, limit, where), says=says)


def worst_of(
    name: str,
    says: str,
    values: Floats | Ints | Points,
    limit: float,
    where: Where,
    strict: bool = False,
) -> Finding:
    """`values` <= limit everywhere (or < with `strict`: the limit itself is a violation)."""
    values = np.asarray(values, dtype=np.float64)
    if values.size == 0:
        return Finding(name, says, HOLDS, 0.0, limit)
    k = int(np.argmax(np.where(np.isnan(values), np.inf, values)))
    worst = float(values[k])
    good = worst < limit if strict else worst <= limit
    if good:
        return Finding(name, says, HOLDS, worst if worst > 0.0 else 0.0, limit)
    return violated(name, says, worst, limit, where(k))


def violated(name: str, says: str, worst: float, limit: float, where: str, **more: Any) -> Finding:
    """A property that the run does not have; the sentence says that it was expected."""
    return Finding(name, EXPECTED + says, VIOLATED, worst, limit, where, **more)


def if_guaranteed(found: Finding, guaranteed: bool = False) -> Finding:
    """`found`, or not applicable where it is violated but the property is not guaranteed."""
    excused = found.status == VIOLATED and not guaranteed
    if not excused:
        return found
    return replace(found, status=NOT_APPLICABLE, says=found.says.removeprefix(EXPECTED))


def not_applicable(name: str, says: str, why: str) -> Finding:
    """A property that cannot be judged here."""
    return Finding(name, says, NOT_APPLICABLE, 0.0, 0.0, why)


def yes_or_no(name: str, says: str, holds: bool, where: str = "") -> Finding:
    """A property without a size."""
    if not holds:
        return violated(name, says, 1.0, 0.0, where)
    return Finding(name, says, HOLDS, 0.0, 0.0, where)


@final
@dataclass(frozen=True, slots=True)
class Report:
    """All findings about one run."""

    findings: tuple[Finding, ...]  # whether it is a solution
    certificate: tuple[Finding, ...] = ()  # whether, and from when on not, the theorem covers it
    samples: tuple[int, int] = (0, 0)  # how many were measured again, and how many there are

    def __repr__(self) -> str:
        theorem = f"; certificate: {counted(self._tested)}" if self._tested else ""
        part = f"; {self.left_out}" if self.left_out else ""
        return f"<Report: the run {self.says}{part}; checks: {counted(self.findings)}{theorem}>"

    def __str__(self) -> str:
        rows = finding_rows((*self.findings, *self._tested))
        return f"{text_table(rows, FINDING_HEAD)}\n{self!r}"

    def _repr_html_(self) -> str:
        rows = finding_rows((*self.findings, *self._tested))
        return f"{html_table(rows, FINDING_HEAD)}<p>{escape(repr(self))}</p>"

    @property
    def _tested(self) -> tuple[Finding, ...]:
        """The certificate, if any part of it applies."""
        applies = any(f.status != NOT_APPLICABLE for f in self.certificate)
        return self.certificate if applies else ()

    @property
    def verdict(self) -> str:
        """One of "solution", "altered", "not-a-solution" and "uncertain", the certificate aside.

        "altered": the file does not match its digest, and nothing else is violated.
        "uncertain": a live run with a record that cannot tell, such as with clocks that are not
        known well enough, and nothing that is violated.
        """
        violated = {finding.name for finding in self.findings if finding.status == VIOLATED}
        if violated - {"digest"}:
            return NO_SOLUTION
        if any(finding.status == UNCERTAIN for finding in self.findings):
            return UNKNOWN
        return ALTERED if violated else SOLUTION

    @property
    def says(self) -> str:
        """The verdict as the end of a sentence about the run."""
        changed = [f.where for f in self.findings if f.name == "source" and f.where]
        for f in self.findings:
            if f.name in SECOND_OPINIONS and f.status == NOT_APPLICABLE:
                changed.append(f"no other code has recomputed its centroids ({f.where})")
        for status in (UNCERTAIN, DEGRADED):
            some = [f.name for f in self.findings if f.status == status]
            changed += [f"{status}: {', '.join(some)}"] if some else []
        return "; ".join([VERDICTS[self.verdict], *changed])

    @property
    def left_out(self) -> str:
        """How many metric samples were recomputed; empty if all were, or for no solution."""
        measured, total = self.samples
        if measured == total or self.verdict == NO_SOLUTION:
            return ""
        return f"{measured} of {total} metric samples were recomputed"

    @property
    def ok(self) -> bool:
        """Whether nothing is violated, the certificate aside."""
        return self.verdict == SOLUTION

    def as_json(self) -> dict[str, Any]:
        """The report as `dwell check --json` prints it."""
        return {
            "schema": 1,
            "ok": self.ok,
            "verdict": self.verdict,
            "checks": [finding.as_json() for finding in self.findings],
            "certificate": [finding.as_json() for finding in self.certificate],
        }
