"""Worlds that change, as figures draw them: regions, agents present, sensors, switches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents.world import World
from dwell.cells.measurement import of_one
from dwell.density import Density
from dwell.geometry import Box, Workspace
from dwell.geometry.moving import MovingPolygon
from dwell.measure import Metrics
from dwell.measure.metrics import cost_in, metrics_of
from dwell.plotting.style import PLAIN, Axes, Style
from dwell.results import Run

MARKERS = ("o", "^", "D", "v", "P", "X")  # of agents with different sensors
SHAPES = ("circles", "triangles", "diamonds", "pointed down", "pluses", "crosses")
LINES: tuple[Any, ...] = ("-", (0, (4, 2)), (0, (1, 1.3)))  # of the cells of each sensor
LINE_WORDS = ("solid", "dashed", "dotted")
WIDEST_WORDS = 75  # characters that fit below the map of a film
SAME = 1e-7  # of the extent of a diagram: vertices so close are one


# Regions.


def scope_of(run: Run) -> Workspace:
    """The workspace; a box around the workspaces of all times, if it changes."""
    if not run.system.timeline.region_changes:
        return run.workspace
    corners = np.array([workspace.bounds for workspace in _regions(run)])
    return Box(corners[:, 0].min(axis=0).tolist(), corners[:, 1].max(axis=0).tolist())


def _regions(run: Run) -> list[Workspace]:
    """The workspaces of the run: one per phase; of one that moves, at its keyframes and ends."""
    found: list[Workspace] = []
    for begin, end, number in phases_of(run):
        region = run.system.timeline.worlds[number].workspace
        if isinstance(region, MovingPolygon):
            keys = [t for t in region.vertices.times if begin < t < end]
            found += [region.now(t) for t in (begin, *keys, end)]
        else:
            found.append(region)
    return found


def phases_of(run: Run) -> list[tuple[float, float, int]]:
    """Begin, end and number of each phase of the run; one phase if nothing switches."""
    cuts = [0.0, *switch_times(run), run.horizon]
    return [(begin, end, k) for k, (begin, end) in enumerate(pairwise(cuts))]


def switch_times(run: Run) -> list[float]:
    """When the world switches."""
    return [t for t in run.system.timeline.begins[1:] if t <= run.horizon]


def changes(run: Run) -> bool:
    """Whether workspace or density are not the same all the time."""
    first, *later = run.system.timeline.worlds
    alike = all(w.workspace is first.workspace and w.density is first.density for w in later)
    return not alike or run.system.timeline.moves


# Agents.


def lives(run: Run) -> tuple[Floats, Floats]:
    """When each agent arrives and when it leaves, (N,) each; inf if it stays."""
    return run.system.arrivals, run.system.departures


def presence(run: Run, times: Floats) -> np.ndarray:
    """Whether each agent is present at each time, (len(times), N)."""
    arrivals, departures = lives(run)
    here: np.ndarray = (arrivals <= times[:, None]) & (times[:, None] < departures)
    return here


def arrived(run: Run) -> Ints:
    """The agents that arrive after the beginning."""
    arrivals, _ = lives(run)
    return np.flatnonzero((arrivals > 0.0) & (arrivals <= run.horizon))


def departed(run: Run) -> Ints:
    """The agents that leave before the end, or at it."""
    return np.flatnonzero(lives(run)[1] <= run.horizon)


def kinds_of(run: Run) -> dict[str, Ints]:
    """Agents by the sensors they have; empty where all have the same, or kinds are many."""
    sensors = run.system.sensors
    owned = [tuple(_plain(s.name) for s in sensors if p in s.owners) for p in range(run.agents)]
    kinds = sorted(set(owned), key=lambda names: (len(names), owned.index(names)))
    if not 1 < len(kinds) <= len(MARKERS):
        return {}
    every = np.arange(run.agents)
    return {" and ".join(kind): every[[own == kind for own in owned]] for kind in kinds}


def _plain(name: str) -> str:
    """A name as figures write it."""
    return name.replace("$", r"\$")


class MarkerGroup(NamedTuple):
    """Agents that one marker stands for."""

    agents: Ints
    marker: str | None  # None: the usual one


def groups_of(run: Run, agents: Ints) -> list[MarkerGroup]:
    """The agents by marker: one group, or one for each kind of sensors."""
    kinds = kinds_of(run).values()
    if not kinds:
        return [MarkerGroup(agents, None)]
    return [
        MarkerGroup(np.intersect1d(kind, agents), marker)
        for kind, marker in zip(kinds, MARKERS, strict=False)
    ]


# Cells.


class Division(NamedTuple):
    """Agents whose cells divide the workspace, with the line of their borders."""

    agents: Ints
    density: Density
    line: Any
    name: str | None  # of the sensor; None where all agents sense the same


def divisions_at(run: Run, t: float) -> list[Division]:
    """The diagrams of the world at time t, those of the first three sensors only."""
    world: World = run.system.world_at(t)
    names = [_plain(sensor.name) for sensor in run.system.sensors]
    every = np.arange(run.agents)
    return [
        Division(
            every if diagram.members is None else diagram.members,
            diagram.ground.at(t).density,
            LINES[k],
            names[k] if len(names) > 1 else None,
        )
        for k, diagram in enumerate(world.diagrams[: len(LINES)])
    ]


def shared_edges(rings: Sequence[Points]) -> list[Points]:
    """The edges between two of the rings, (2, 2) each, once."""
    if not rings:
        return []
    every = np.vstack(rings)
    unit = SAME * float(np.ptp(every, axis=0).max())
    count: Counter[tuple[Any, ...]] = Counter()
    edges: dict[tuple[Any, ...], Points] = {}
    for ring in rings:
        for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            ends = sorted([tuple(np.round(a / unit).tolist()), tuple(np.round(b / unit).tolist())])
            count[tuple(ends)] += 1
            edges[tuple(ends)] = np.stack([a, b])
    return [edge for key, edge in edges.items() if count[key] > 1 and key[0] != key[1]]


# Over time.


def both_sides(run: Run) -> Metrics:
    """The metric samples, with two more at each switch: just before it, and just after."""
    found = run.metrics
    for before, t in zip([0.0, *switch_times(run)], switch_times(run), strict=False):
        if not len(found.times):
            break
        row = int(np.searchsorted(found.times, t))
        seen = row < len(found.times) and found.times[row] == t
        found = _inserted(found, row, t, _measured(run, before, t))
        if not seen:
            found = _inserted(found, row + 1, t, _measured(run, t, t))
    return found


def _measured(run: Run, phase: float, t: float) -> Metrics | None:
    """Metrics of the positions at time t in the world of a phase; None where they are not known."""
    if run.details.table is None:
        return None
    now, every = run.details.snapshots_at(t), np.arange(run.agents)
    world, when = run.system.world_at(phase), np.array([t])
    seen = run.system.measure(*of_one(now.positions[0], every), when, world=world)
    if seen.coincident.any():
        return None
    cost = cost_in(world.ground.at(t), now.positions[0], seen, run.system.radii)
    return replace(metrics_of(run.system, now, when, seen), costs=np.array([cost]))


def _inserted(metrics: Metrics, row: int, t: float, new: Metrics | None) -> Metrics:
    """Metrics with one more row; without numbers where they are not known, so that curves break."""
    columns = {
        name: np.insert(column, row, np.nan if new is None else vars(new)[name][0], axis=0)
        for name, column in vars(metrics).items()
        if name != "times"
    }
    return replace(metrics, times=np.insert(metrics.times, row, t), **columns)


def while_present(run: Run, agent: int, times: Floats) -> slice:
    """The part of ascending times, with both sides of switches, in which an agent is present."""
    arrival, departure = (float(when[agent]) for when in lives(run))
    if arrival > run.horizon:
        return slice(0, 0)
    first = 0 if arrival == 0.0 else max(int(np.searchsorted(times, arrival, side="right")) - 1, 0)
    return slice(first, int(np.searchsorted(times, departure)) + 1)


def draw_switches(
    ax: Axes, run: Run, begin: float, end: float, style: Style = PLAIN, *, named: bool = True
) -> None:
    """A thin vertical line at each switch of the world between two times."""
    inside = [t for t in switch_times(run) if begin < t < end]
    for t in inside:
        label = "switch" if named and t == inside[0] else None
        ax.axvline(t, color=style.cell, lw=style.thin, ls=(0, (2, 2)), zorder=0.5, label=label)


# Words.


def explain_sensors(ax: Axes, run: Run, style: Style = PLAIN) -> None:
    """Entries of a legend for agents with different sensors, and for the cells of each."""
    lines = _lines(run)
    dot: Any = {"color": style.cell, "ms": 4.0, "mec": "white", "mew": 0.3, "lw": style.line}
    for name, marker in zip(kinds_of(run), MARKERS, strict=False):
        ax.plot([], [], marker=marker, ls=lines.pop(name, "none"), label=name, **dot)
    for name, line in lines.items():
        ax.plot([], [], ls=line, color=style.cell, lw=style.line, label=f"cells of {name}")


def sensor_words(run: Run) -> str:
    """What markers and lines mean in a film; empty where all agents sense the same."""
    lines = dict(zip(_lines(run), LINE_WORDS, strict=False))
    words = []
    for kind, shape in zip(kinds_of(run), SHAPES, strict=False):
        line = lines.pop(kind, None)
        words.append(f"{shape}: {kind}" if line is None else f"{shape}, {line}: {kind}")
    words += [f"{line}: cells of {name}" for name, line in lines.items()]
    half = -(-len(words) // (1 if sum(map(len, words)) < WIDEST_WORDS else 2)) or 1
    rows = [words[k : k + half] for k in range(0, len(words), half)]
    return "\n".join("      ".join(row) for row in rows)


def border_words(run: Run) -> str:
    """What the lines between cells mean in a film on the line."""
    named = zip(LINE_WORDS, _lines(run), strict=False)
    lines = ", ".join(f"{word}: {name}" for word, name in named)
    return f"borders of cells, {lines}" if lines else "dashed: borders of cells"


def _lines(run: Run) -> dict[str, Any]:
    """The line of each sensor's cells, by its name; empty where all agents sense the same."""
    return {one.name: one.line for one in divisions_at(run, 0.0) if one.name is not None}
