"""A run while it is computed: steppers, the run loop, and what is recorded on the way."""

from dwell.engine.run_loop import run_compiled

__all__ = ["run_compiled"]
