"""A terminal's view of dwell. Knows no mathematics: it reads, calls `run_scenario`, and shows."""

from dwell.cli.main import main

__all__ = ["main"]
