"""Figures and films of a run. Needs matplotlib, which is loaded when something is drawn."""

from dwell.plotting.figures import FIGURES
from dwell.plotting.film import animate
from dwell.plotting.maps import (
    draw_agents,
    draw_cells,
    draw_configurations,
    draw_density,
    draw_trajectories,
    draw_workspace,
)
from dwell.plotting.panels import COMPARED, errors_side_by_side, quartiles, time_since_events
from dwell.plotting.save import FORMATS, save_figures, write_figures
from dwell.plotting.style import PLAIN, Style
from dwell.plotting.timelines import (
    draw_cell_counts,
    draw_cost,
    draw_errors,
    draw_hold_errors,
)
from dwell.plotting.timers import draw_time_since, draw_timers

__all__ = [
    "COMPARED",
    "FIGURES",
    "FORMATS",
    "PLAIN",
    "Style",
    "animate",
    "draw_agents",
    "draw_cell_counts",
    "draw_cells",
    "draw_configurations",
    "draw_cost",
    "draw_density",
    "draw_errors",
    "draw_hold_errors",
    "draw_time_since",
    "draw_timers",
    "draw_trajectories",
    "draw_workspace",
    "errors_side_by_side",
    "quartiles",
    "save_figures",
    "time_since_events",
    "write_figures",
]
