"""Sweeps: one scenario with many values, many starts; on this machine or on a cluster."""

from dwell.sweep.plan import Plan, plan_of
from dwell.sweep.run import Outcome, plan_file, run_sweep
from dwell.sweep.spec import Sweep, load_sweep, parse_sweep

__all__ = [
    "Outcome",
    "Plan",
    "Sweep",
    "load_sweep",
    "parse_sweep",
    "plan_file",
    "plan_of",
    "run_sweep",
]
