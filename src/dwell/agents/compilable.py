"""Whether the compiled event loop can run a system."""

from __future__ import annotations

from dwell.agents.system import CoverageSystem
from dwell.geometry import is_flat

DIMENSIONS = (1, 2, 3)  # that have a compiled event loop


def can_compile(system: CoverageSystem) -> bool:
    """Return whether the compiled event loop knows this system's workspace, law and density."""
    n, grounds = system.dimension, [phase.ground for phase in system.timeline.phases]
    bounded = n in DIMENSIONS and all(n == 1 or is_flat(one.workspace) for one in grounds)
    known = system.program is not None and all(one.terms is not None for one in grounds)
    still = all(one.tracked or not one.moves for one in grounds)
    ranged = system.radius is None or (n == 2 and not any(one.moves for one in grounds))
    return bounded and known and still and ranged and system.perfect and not system.sensors
