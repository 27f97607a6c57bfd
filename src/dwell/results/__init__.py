"""What is kept of a run, and how it survives a crash."""

from dwell.engine.tally import Counters
from dwell.results.dataset import save_run
from dwell.results.run import Run
from dwell.results.store import RunLike, as_run, load_run
from dwell.results.worlds import WorldAt

__all__ = ["Counters", "Run", "RunLike", "WorldAt", "as_run", "load_run", "save_run"]
