"""What is kept of a run, and how it survives a crash."""

from dwell.engine.counters import Counters
from dwell.results.run import Run
from dwell.results.store import RunLike, as_run, load_run, save_run

__all__ = ["Counters", "Run", "RunLike", "as_run", "load_run", "save_run"]
