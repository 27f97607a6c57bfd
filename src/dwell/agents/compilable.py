"""Whether the compiled event loop can run a system."""

from __future__ import annotations

from dwell.agents.system import CoverageSystem
from dwell.geometry import is_flat

DIMENSIONS = (1, 2, 3)  # that have a compiled event loop


def can_compile(system: CoverageSystem) -> bool:
    """Return whether the compiled event loop knows this system's workspace, law and density."""
    n = system.dimension
    bounded = n in DIMENSIONS and (n == 1 or is_flat(system.workspace))
    known = system.program is not None and system.terms is not None
    ranged = system.radius is None or n == 2  # on the line only the readable loop knows radii
    return bounded and known and ranged and system.network.perfect
