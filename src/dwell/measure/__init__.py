"""Quantities of a run at given times: errors, hold errors, cost, separation, closest approach."""

from dwell.measure.metrics import Metrics, covered_from, measure

__all__ = ["Metrics", "covered_from", "measure"]
