"""Time, flow and jump: hybrid systems, and the loop that solves them."""

from dwell.hybrid.arc import HybridArc
from dwell.hybrid.simulate import simulate
from dwell.hybrid.system import Event, Halt, HybridSystem, Stop, StopReason

__all__ = ["Event", "Halt", "HybridArc", "HybridSystem", "Stop", "StopReason", "simulate"]
