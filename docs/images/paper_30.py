"""Draws paper-30.png, the picture of the README: python docs/images/paper_30.py"""

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dwell import Run, run_scenario
from dwell.plotting import (
    Style,
    draw_agents,
    draw_cells,
    draw_cost,
    draw_density,
    draw_trajectories,
    draw_workspace,
)
from dwell.scenario import parse_scenario, template_text, text_to_mapping


def main() -> None:
    """Simulate the scenario, draw three panels, write the file beside this one."""
    run = run_scenario(parse_scenario(text_to_mapping(template_text("paper-30"))))
    figure = Figure(figsize=(10.0, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    start, end, cost = figure.subplots(1, 3, width_ratios=[1.1, 1.1, 0.9])
    draw_start(start, run)
    draw_trajectories(end, run)
    end.set_title("paths, and cells at the end", fontsize=9, pad=18)
    draw_cost(cost, run)
    cost.set_title("locational cost", fontsize=9, pad=18)
    figure.savefig(Path(__file__).with_name("paper-30.png"), dpi=120)


def draw_start(ax, run: Run) -> None:
    """Density, cells and agents at t = 0."""
    positions = run.positions(0.0)
    draw_workspace(ax, run.workspace)
    draw_density(ax, run.workspace, run.system.density)
    draw_cells(ax, run.workspace, positions, style=Style(cell="#F0F0F0"))
    draw_agents(ax, positions)
    ax.set_title("density, and cells at the start", fontsize=9, pad=18)


if __name__ == "__main__":
    main()
