"""From half-spaces to the corners of the region they leave, or the reason why there is none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.errors import WorkspaceError
from dwell.geometry.hull import EXACT_LIMIT, find_facets, independent
from dwell.geometry.rational import exact as fractions
from dwell.geometry.rational import solve
from dwell.geometry.validation import FLAT, degenerate

KEY = "workspace.halfspaces"
ROUNDS = 4  # searches for the inscribed ball, each from the result of the last
OPEN = 1e-9  # least cosine between a normal and a direction that it bounds
EMPTY = 1e-11  # of the distances between facets: contradictions below are rounding


class Inscribed(NamedTuple):
    """The largest inscribed ball; a negative radius measures a contradiction."""

    center: Points
    radius: float
    holding: Ints  # the facets that touch it


def unit_halfspaces(normals: Points, offsets: Floats) -> tuple[Points, Floats, Ints]:
    """Rows divided by their lengths, without rows of zeros; and the numbers of those kept."""
    size = np.abs(normals).max(axis=1)
    kept = np.flatnonzero(size > 0.0)
    wrong = np.flatnonzero((size == 0.0) & (offsets < 0.0))
    if wrong.size:
        raise empty(f"half-space {wrong[0]} asks for 0 <= {offsets[wrong[0]]:g}")
    with np.errstate(over="ignore"):
        rows = normals[kept] / size[kept, None]
        lengths = np.sqrt((rows * rows).sum(axis=1))
        return rows / lengths[:, None], offsets[kept] / size[kept] / lengths, kept


def corners_of(rows: Points, values: Floats) -> Points:
    """The corners of {z: rows z <= values}; what is empty, open or flat is refused."""
    normals, offsets, kept = unit_halfspaces(rows, values)
    if not kept.size:
        raise unbounded(np.eye(rows.shape[1])[0])
    if not np.isfinite(offsets).all():
        raise WorkspaceError(
            f"half-space {kept[~np.isfinite(offsets)][0]} lies beyond all numbers; scale its row",
            code="workspace.range",
            key=KEY,
        )
    ball = inscribed(normals, offsets)
    scale = max(float(np.abs(offsets - normals @ ball.center).max()), abs(ball.radius))
    if ball.radius < -EMPTY * scale:
        named = ", ".join(str(kept[k]) for k in ball.holding[:8])
        raise empty(
            f"half-spaces {named} contradict each other by {-ball.radius:.3g}: each would have to "
            "be moved outward by at least that much"
        )
    refuse_open(normals)
    if ball.radius <= FLAT * scale:
        named = ", ".join(str(kept[k]) for k in ball.holding[:8])
        raise degenerate(f"half-spaces {named} leave nothing but a flat between them", KEY)
    return _corners(normals, offsets, rows[kept], values[kept], ball)


def inscribed(normals: Points, offsets: Floats) -> Inscribed:
    """The largest ball in {z: normals z <= offsets}, unit normals, found from nearer and nearer.

    A linear program is solved to a tolerance of its own; each round sees the last answer as its
    origin and the last radius as its unit, so that the tolerance shrinks with it.
    """
    center = np.zeros(normals.shape[1])
    unit = float(np.abs(offsets).max()) or 1.0
    best = Inscribed(center, -np.inf, np.zeros(0, dtype=np.int64))
    for _ in range(ROUNDS):
        gaps = offsets - normals @ center
        move, radius, holding = _largest_ball(normals, gaps / unit)
        center = center + unit * move
        best = Inscribed(center, float((offsets - normals @ center).min()), holding)
        smaller = max(abs(radius), 1e-5) * unit
        if smaller > 0.1 * unit:
            break
        unit = smaller
    return best


def _largest_ball(normals: Points, gaps: Floats) -> tuple[Points, float, Ints]:
    from scipy.optimize import linprog

    n = normals.shape[1]
    near = gaps < 1e7  # those farther away hold nothing
    system = np.column_stack([normals[near], np.ones(int(near.sum()))])
    cost = np.append(np.zeros(n), -1.0)
    cap = max(float(np.abs(gaps[near]).max(initial=0.0)), 1.0)
    sides = [(None, None)] * n + [(None, cap)]
    found = linprog(cost, A_ub=system, b_ub=gaps[near], bounds=sides, method="highs")
    if found.x is None:
        raise degenerate(f"its half-spaces cannot be told apart ({found.message})", KEY)
    holding = np.flatnonzero(near)[np.abs(found.ineqlin.marginals) > 1e-9]
    return found.x[:n], float(found.x[n]), holding


def refuse_open(normals: Points) -> None:
    """Refuse half-spaces that leave a direction unbounded, and name it."""
    from scipy.optimize import linprog

    sizes, axes = np.linalg.svd(normals, full_matrices=True)[1:]
    if len(sizes) < normals.shape[1] or sizes[-1] <= OPEN * sizes[0]:
        raise unbounded(axes[-1])
    # The direction least opposed by a normal; in a bounded region each one is opposed.
    found = linprog(
        normals.sum(axis=0),
        A_ub=normals,
        b_ub=np.zeros(len(normals)),
        bounds=[(-1.0, 1.0)] * normals.shape[1],
        method="highs",
    )
    if found.x is not None and found.fun < -1e-6:
        raise unbounded(found.x)


def empty(why: str) -> WorkspaceError:
    """The error for half-spaces that have no point in common."""
    return WorkspaceError(
        f"the workspace is empty: {why}; loosen one of them", code="workspace.empty", key=KEY
    )


def unbounded(direction: Points) -> WorkspaceError:
    """The error for a region that goes on for ever."""
    unit = direction / np.abs(direction).max()
    shown = [float(f"{v:.4g}") + 0.0 for v in unit]
    return WorkspaceError(
        f"the workspace is unbounded: it goes on for ever in the direction {shown}; add a "
        "half-space that closes it",
        code="workspace.unbounded",
        key=KEY,
    )


def _corners(
    normals: Points, offsets: Floats, rows: Points, values: Floats, ball: Inscribed
) -> Points:
    """Vertices as facets of the hull of the dual points, normal / distance."""
    n = normals.shape[1]
    gaps = np.maximum(offsets - normals @ ball.center, ball.radius)
    dual = normals * (ball.radius / gaps)[:, None]
    # Facets that many times farther than the nearest nearly share one dual point, the origin: they
    # matter only where the region is that long, which `find_facets` takes care of.
    facets = find_facets(dual, KEY)
    exact = len(facets.groups) * n**3 <= EXACT_LIMIT

    def meeting(chosen: Ints) -> Points:
        """The point where n facets meet: rounded once from the given numbers, if that is quick."""
        if not exact:
            gaps = offsets[chosen] - normals[chosen] @ ball.center
            return ball.center + np.linalg.lstsq(normals[chosen], gaps, rcond=None)[0]
        try:
            solution = solve(fractions(rows[chosen]), fractions(values[chosen, None]))
            return np.array([float(row[0]) for row in solution])
        except (ZeroDivisionError, OverflowError):
            return np.full(n, np.inf)

    own = [np.unique(facets.simplices[group]) for group in facets.groups]
    found = np.array([meeting(planes[independent(normals[planes], n)]) for planes in own])
    far = ~np.isfinite(found).all(axis=1)
    if far.any():
        raise unbounded(facets.normals[int(np.argmax(far))])
    return np.unique(found, axis=0)
