"""Report: all findings about one run, and the verdict that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, final

from dwell._tables import html_table, text_table
from dwell.verify.finding import (
    FINDING_HEAD,
    NOT_APPLICABLE,
    VIOLATED,
    Finding,
    counted,
    finding_rows,
)

SOLUTION, ALTERED, NO_SOLUTION = "solution", "altered", "not-a-solution"
VERDICTS = {
    SOLUTION: "is a solution of its scenario",
    ALTERED: "was changed after it was written; its events still solve its scenario",
    NO_SOLUTION: "is NOT a solution of its scenario",
}


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
        """One of "solution", "altered" and "not-a-solution"; the certificate has no part in it.

        "altered": the file does not match its digest, and nothing else is violated.
        """
        violated = {finding.name for finding in self.findings if finding.status == VIOLATED}
        if violated - {"digest"}:
            return NO_SOLUTION
        return ALTERED if violated else SOLUTION

    @property
    def says(self) -> str:
        """The verdict as the end of a sentence about the run."""
        changed = [f.where for f in self.findings if f.name == "source" and f.where]
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
