"""Ink: figures of a run. Needs matplotlib, which is loaded when something is drawn."""

from dwell.plotting.figures import FIGURES
from dwell.plotting.maps import (
    draw_agents,
    draw_cells,
    draw_configurations,
    draw_density,
    draw_trajectories,
    draw_workspace,
)
from dwell.plotting.save import FORMATS, save_figures
from dwell.plotting.style import PLAIN, Style
from dwell.plotting.timelines import draw_cost, draw_errors, draw_hold_errors
from dwell.plotting.timers import draw_timers

__all__ = [
    "FIGURES",
    "FORMATS",
    "PLAIN",
    "Style",
    "draw_agents",
    "draw_cells",
    "draw_configurations",
    "draw_cost",
    "draw_density",
    "draw_errors",
    "draw_hold_errors",
    "draw_timers",
    "draw_trajectories",
    "draw_workspace",
    "save_figures",
]
