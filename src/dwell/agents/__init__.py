"""Agents, their segments of motion, what each measures, and the multi-agent hybrid system."""

from dwell.agents.events import EventTable
from dwell.agents.interfaces import (
    Command,
    CompiledController,
    Controller,
    Information,
    Message,
    Observation,
    Sample,
)
from dwell.agents.network import Network
from dwell.agents.segments import Segments
from dwell.agents.start import check_start, scatter
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.agents.timeline import Switch
from dwell.agents.traits import Traits
from dwell.agents.trajectory import Trajectory, table_of
from dwell.agents.world import Sensor
from dwell.cells.measurement import CellMeasurement
from dwell.cells.weighted_region import WeightedRegion

__all__ = [
    "AgentsState",
    "CellMeasurement",
    "Command",
    "CompiledController",
    "Controller",
    "CoverageSystem",
    "EventTable",
    "Information",
    "Message",
    "Network",
    "Observation",
    "Sample",
    "Segments",
    "Sensor",
    "Switch",
    "Traits",
    "Trajectory",
    "WeightedRegion",
    "check_start",
    "scatter",
    "table_of",
]
