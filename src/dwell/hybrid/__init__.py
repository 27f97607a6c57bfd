"""Time, flow and jump: hybrid systems, and the loop that solves them."""

from dwell.hybrid.arc import HybridArc
from dwell.hybrid.simulate import simulate
from dwell.hybrid.stop import Halt, Stop, StopReason
from dwell.hybrid.system import Event, HybridSystem

__all__ = ["Event", "Halt", "HybridArc", "HybridSystem", "Stop", "StopReason", "simulate"]
