"""Cells, measurements and facets on the line (n = 1): intervals between midpoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dwell._kernels.common.cell_table import (
    E0,
    LOG_SCALE,
    MASS,
    MASS_ERROR,
    NEAREST,
    POLAR,
    SECOND,
    STATUS,
)
from dwell._types import Floats, Ints, Points
from dwell.cells.facets import Borders, as_borders
from dwell.cells.measurement import (
    CellMeasurements,
    Loop,
    errors_in,
    in_blocks,
    measurements_of,
    of_one,
)
from dwell.cells.power import power_of
from dwell.cells.simplices import weigh_function
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.uniform import Uniform
from dwell.geometry import Cell, Workspace, interval_of
from dwell.geometry.voronoi import coincident

Power = tuple[Floats | None, Floats | None]  # radii or weights of all agents, or neither


def measure(
    ground: WeightedRegion,
    positions: Points,
    row: Ints,
    agent: Ints,
    *,
    threads: int | None = 1,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> CellMeasurements:
    """Measure the cell of agent[k] in configuration row[k] of `positions`, (rows, agents, 1).

    Each configuration is sorted once, so the cells of all N agents take N log N steps.
    Uniform, polynomial and Gaussian densities are integrated to rounding, functions by quadrature.
    """
    out = _measured(ground, positions, row, agent, threads, (radius, weights))
    return measurements_of(out, 1)


def loop(
    ground: WeightedRegion, now: float, cruise: float, row: Floats, radii: Floats | None
) -> Loop:
    """The event loop for agents that move as `row` says, from time `now` on."""
    from dwell._kernels.common.density_terms import GeneralTerms
    from dwell._kernels.line.cells import MEMORY
    from dwell._kernels.line.engine import (
        IntervalEnds,
        LineBuffers,
        make_order,
        run_events,
        sort_agents,
    )

    assert isinstance(ground.terms, GeneralTerms)
    assert radii is None
    ends, order = interval_of(ground.workspace), make_order(len(row))
    sort_agents(now, cruise, row, order)
    memory = LineBuffers(order, np.empty((len(ground.terms.weights), MEMORY)))
    return run_events, IntervalEnds(ends.lower, ends.upper), memory


def cells(
    workspace: Workspace,
    positions: Points,
    agents: Iterable[int] | None = None,
    *,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> list[Cell]:
    """The cells of `agents` (all, by default) among `positions`, (N, 1).

    The two vertices of a cell are its lower and its upper end; border k lies behind vertex k. It is
    -3 where the cell ends at the agent's radius.
    """
    from dwell._kernels.line import cells as kernel

    points = np.ascontiguousarray(positions, dtype=np.float64).reshape(-1, 1)
    who = np.arange(len(points)) if agents is None else np.array(list(agents), dtype=np.int64)
    terms = Uniform().general_terms(1)
    out = _table_of(workspace, terms, *of_one(points, who), 1, (radius, weights))
    _refuse_coincidence(points, who, out[:, NEAREST])
    found = []
    for p, line in zip(who, out, strict=True):
        labels = line[[kernel.LABEL_A, kernel.LABEL_B]].astype(np.int64)
        ends = line[[kernel.A, kernel.B]]
        kept = 2 if ends[0] < ends[1] else 0
        found.append(Cell(int(p), points[p], ends[:kept, None], labels[:kept]))
    return found


def borders(
    ground: WeightedRegion,
    positions: Points,
    *,
    agents: int | None = None,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> Borders:
    """All borders between cells, of the first `agents` cells only; each is a single point."""
    from dwell._kernels.common.status import NO_MASS
    from dwell._kernels.line import cells as kernel

    points = np.ascontiguousarray(positions, dtype=np.float64).reshape(-1, 1)
    who = np.arange(len(points) if agents is None else agents)
    out = _measured(ground, *of_one(points, who), 1, (radius, weights))
    _refuse_coincidence(points, who, out[:, NEAREST])
    labels = out[:, [kernel.LABEL_A, kernel.LABEL_B]].astype(np.int64)
    cut = (labels >= 0) & (out[:, kernel.A] < out[:, kernel.B])[:, None]
    agent, other = np.nonzero(cut)[0], labels[cut]
    place = out[:, [kernel.A, kernel.B]][cut]
    weight = out[:, [kernel.AT_A, kernel.AT_B]][cut]
    moments = np.column_stack([weight, weight * place, weight * place * place])
    mass, log_scale = out[:, MASS].copy(), out[:, LOG_SCALE].copy()
    empty = out[:, STATUS] == NO_MASS
    facets, error = (agent, other, moments), errors_in(out, 1)
    ends = labels == kernel.RANGE_END
    arms = out[:, [kernel.AT_A, kernel.AT_B]] * (out[:, [kernel.A, kernel.B]] - error) * (-1.0, 1.0)
    arcs = None if radius is None else np.where(ends, arms, 0.0).sum(axis=1)[:, None, None]
    return as_borders(points, mass, log_scale, error, empty, facets, arcs)


def _measured(
    ground: WeightedRegion,
    positions: Points,
    row: Ints,
    agent: Ints,
    threads: int | None,
    power: Power = (None, None),
) -> Floats:
    """The table of `_table_of`, also for a function, which is first measured as if uniform.

    With radii the error of a cell without mass is 0.
    """
    from dwell._kernels.common.status import NO_MASS

    terms = Uniform().general_terms(1) if ground.terms is None else ground.terms
    out = _table_of(ground.workspace, terms, positions, row, agent, threads, power)
    if ground.terms is None:
        _weigh(ground, positions, row, agent, out)
    if power[0] is not None:
        out[out[:, STATUS] == NO_MASS, E0] = 0.0
    return out


def _weigh(ground: WeightedRegion, positions: Points, row: Ints, agent: Ints, out: Floats) -> None:
    """Replace moments in `out` by those of a function."""
    from dwell._kernels.common.status import NO_MASS
    from dwell._kernels.line import cells as kernel

    moments = [LOG_SCALE, MASS, E0, SECOND, POLAR, MASS_ERROR]
    for k in np.flatnonzero(out[:, STATUS] == 0.0):
        place, ends = positions[row[k], agent[k]], out[k, [kernel.A, kernel.B]][:, None]
        found = weigh_function(ground.density, place, ends[None])
        e = found.error[0]
        if not found.mass > 0.0:
            out[k, STATUS] = NO_MASS
            e = ground.workspace.nearest(place[None])[0, 0] - place[0]
        polar = found.second + found.mass * e * e
        out[k, moments] = found.log_scale, found.mass, e, found.second, polar, found.doubt
        out[k, [kernel.AT_A, kernel.AT_B]] = ground.density.at(place + ends)


def _table_of(
    workspace: Workspace,
    terms: Any,  # GeneralTerms
    positions: Points,
    row: Ints,
    agent: Ints,
    threads: int | None,
    power: Power = (None, None),
) -> Floats:
    """The table that the kernel fills."""
    from dwell._kernels.line import cells as kernel

    ends = interval_of(workspace)
    x = np.ascontiguousarray(positions[..., 0])
    plain = all(values is None for values in power)
    measure = kernel.measure_many if plain else kernel.measure_power
    given = _beside(x, row, agent, threads) if plain else power_of(*power)[:2]
    out = np.empty((len(row), kernel.COLUMNS))

    def work(lo: int, hi: int) -> None:
        memory = np.empty((len(terms.weights), kernel.MEMORY))
        measure(lo, hi, row, agent, x, *given, ends.lower, ends.upper, terms, memory, out)

    in_blocks(work, len(row), threads)
    return out


def _beside(x: Floats, row: Ints, agent: Ints, threads: int | None) -> tuple[Ints, Ints]:
    """For each measurement the agents next below and next above; -1 where there is none."""
    from dwell._kernels.line.cells import scan

    left, right = np.empty_like(row), np.empty_like(row)
    counts = np.bincount(row, minlength=len(x))
    crowded = counts > np.log2(x.shape[1] + 1.0)
    if not crowded.any():
        in_blocks(lambda lo, hi: scan(lo, hi, row, agent, x, left, right), len(row), threads)
        return left, right
    # A stable order: where agents coincide, who is next to whom does not depend on the sorting.
    used = np.flatnonzero(counts > 0)
    order = np.argsort(x[used], axis=1, kind="stable")
    below, above = np.full(order.shape, -1), np.full(order.shape, -1)
    np.put_along_axis(below, order[:, 1:], order[:, :-1], axis=1)
    np.put_along_axis(above, order[:, :-1], order[:, 1:], axis=1)
    place = np.searchsorted(used, row)
    return below[place, agent], above[place, agent]


def _refuse_coincidence(points: Points, who: Ints, nearest: Floats) -> None:
    """Refuse the first of some agents at the same position as another."""
    shared = who[nearest == 0.0]
    if shared.size:
        p = int(shared[0])
        same = np.flatnonzero(np.square(points[:, 0] - points[p, 0]) == 0.0)
        raise coincident(p, int(same[same != p][0]), points[p])
