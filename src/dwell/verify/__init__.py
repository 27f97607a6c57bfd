"""Whether a stored run solves its scenario, and what limits its meaning; nothing is simulated."""

from dwell.verify.finding import Finding, Report
from dwell.verify.flags import Flag, flags_of
from dwell.verify.solution import verify

__all__ = ["Finding", "Flag", "Report", "flags_of", "verify"]
