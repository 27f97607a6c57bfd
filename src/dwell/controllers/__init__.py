"""Coverage laws: what one agent decides from what it sees. One law per file."""

from dwell.controllers.timer import Timer

__all__ = ["Timer"]
