"""The judge: reads runs, says how good they are and whether they are solutions. Never runs them."""

from dwell.theory.certificate import max_dwell_time, max_gain
from dwell.theory.finding import Finding
from dwell.theory.flags import Flag, flags_of
from dwell.theory.metrics import Metrics, covered_from, measure
from dwell.theory.verify import Report, verify

__all__ = [
    "Finding",
    "Flag",
    "Metrics",
    "Report",
    "covered_from",
    "flags_of",
    "max_dwell_time",
    "max_gain",
    "measure",
    "verify",
]
