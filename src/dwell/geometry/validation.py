"""Validation of numbers: of workspaces, of points, of what an agent knows of the others."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, Points, as_numbers, finite_numbers, in_short
from dwell.errors import AgentsError, WorkspaceError

ROUNDING = 1e-12  # of the diameter: what repairs may move a boundary by
USUAL = 70  # lengths lie between 1e-70 and 1e70: fourth powers stay within doubles
DECADES = 280  # powers of lengths lie between 1e-280 and 1e280
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no guaranteed cell
FLAT = 1e-12  # width over length below which a region has no inside to speak of


class MissingPartError(WorkspaceError, AttributeError):
    """A property that this kind of workspace does not have."""


def missing(workspace: object, dimension: int, part: str) -> MissingPartError:
    """The error for the area of an interval, the vertices of a ball and the like."""
    kind = type(workspace).__name__
    article = "An" if kind[0] in "AEIOU" else "A"
    return MissingPartError(
        f"{article} {kind} in {dimension} dimension{'s' * (dimension != 1)} has no {part}; "
        "what was asked for needs another kind of workspace",
        code="workspace.kind",
        key="workspace",
    )


def as_vector(value: object, what: str, key: str) -> Floats:
    """`value` as a vector of finite doubles, at least one; on the line a plain number will do."""
    vector = as_numbers(value)
    if vector is not None and vector.ndim == 0:
        vector = vector.reshape(1)
    if vector is None or vector.ndim != 1 or vector.size == 0:
        raise WorkspaceError(
            f"{what} is {in_short(value)}; a list of numbers, one per dimension, is needed",
            code="workspace.shape",
            key=key,
        )
    if not np.isfinite(vector).all():
        raise WorkspaceError(
            f"{what} is {in_short(value)}; every coordinate must be a finite number",
            code="workspace.nonfinite",
            key=key,
        )
    return vector


def as_number(value: object, what: str, key: str) -> float:
    """`value` as one finite double; a list of one number will do."""
    found = as_numbers(value)
    if found is None or found.size != 1:
        raise WorkspaceError(
            f"{what} is {in_short(value)}; a number is needed", code="workspace.shape", key=key
        )
    number = float(found.reshape(-1)[0])
    if not np.isfinite(number):
        raise WorkspaceError(
            f"{what} is {number}; a finite number is needed", code="workspace.nonfinite", key=key
        )
    return number


def as_table(value: object, what: str, need: str, key: str) -> Points:
    """`value` as a (rows, n) array of finite doubles, n >= 1; each bad row is named."""
    table = as_numbers(value)
    if table is None or table.ndim != 2 or table.shape[1] == 0:
        came = "cannot be read as that" if table is None else f"have shape {table.shape}"
        raise WorkspaceError(
            f"{what} must be {need}; what came {came}", code="workspace.shape", key=key
        )
    refuse_nonfinite(table, f"row {{}} of {what}", key)
    return table


def refuse_nonfinite(table: Points, row: str, key: str) -> None:
    """Refuse a table with a number that is not finite; `row` names one of its rows."""
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if bad.size:
        came = f"{row.format(bad[0])} is {table[bad[0]].tolist()}"
        raise WorkspaceError(
            f"{came}; every coordinate must be a finite number",
            code="workspace.nonfinite",
            key=f"{key}[{bad[0]}]",
        )


def degenerate(why: str, key: str) -> WorkspaceError:
    """Return the error for a region without an inside."""
    corners = not key.endswith("halfspaces")
    advice = "give the corners of a convex region" if corners else "loosen one of them"
    return WorkspaceError(
        f"the workspace has no inside: {why}; {advice}", code="workspace.degenerate", key=key
    )


def repeats_removed(count: int) -> str:
    """Return the repair that removed vertices which repeated others."""
    return f"removed {count} repeated {'vertex' if count == 1 else 'vertices'} of the workspace"


def refuse_range(length: float, farthest: float, dimension: int, key: str) -> None:
    """Refuse lengths whose powers up to n + 2, which second moments need, leave the doubles."""
    allowed = DECADES // (dimension + 2)
    if allowed < 1:
        raise WorkspaceError(
            f"the workspace has {dimension} dimensions, and powers of lengths as high as that are "
            f"no numbers any more, whatever the unit; at most {DECADES - 2} dimensions can be "
            "handled",
            code="workspace.dimension",
            key=key,
        )
    decades = min(USUAL, allowed)
    where = f" in {dimension} dimensions" if allowed < USUAL else ""
    smallest, largest = 10.0**-decades, 10.0**decades
    if not (smallest <= length <= largest and farthest <= largest):
        raise WorkspaceError(
            f"the workspace is {length:g} across; lengths between {smallest:g} and {largest:g} "
            f"can be handled{where}: choose another unit of length",
            code="workspace.range",
            key=key,
        )


def refuse_lost(center: Points, smallest: float, key: str) -> None:
    """Refuse a region so far out that doubles cannot tell its middle from its boundary."""
    step = float(np.spacing(np.abs(center).max()))
    if smallest <= step:
        raise WorkspaceError(
            f"the workspace reaches {smallest:g} from its center {in_short(center)}, where "
            f"neighbouring numbers are {step:g} apart; shift the coordinates nearer to 0",
            code="workspace.range",
            key=key,
        )


def as_rows(points: object, dimension: int) -> Points:
    """Points to ask about, (k, n); a single point will do, and plain numbers on the line."""
    clean = isinstance(points, np.ndarray) and points.dtype == np.float64
    rows: Points | None = np.asarray(points) if clean else as_numbers(points)
    if rows is None:
        raise AgentsError(
            f"the points are {in_short(points)}; an array of finite numbers, shape "
            f"(k, {dimension}), is needed",
            code="agents.shape",
        )
    if dimension == 1 and rows.ndim <= 1:
        return rows.reshape(-1, 1)
    if rows.ndim not in (1, 2) or rows.shape[-1] != dimension:
        raise AgentsError(
            f"points of shape {rows.shape} came for a workspace in {dimension} dimensions; "
            f"shape (k, {dimension}) is needed",
            code="agents.dimension",
        )
    return np.atleast_2d(rows)


def read_only(array: np.ndarray) -> np.ndarray:
    """`array` in one piece, and not to be changed."""
    kept = np.ascontiguousarray(array)
    kept.setflags(write=False)
    return kept


def as_place(value: object, name: str, dimension: int) -> Points:
    """`value` as a point, read-only."""
    place = as_numbers(value)
    if place is not None and dimension == 1 and place.ndim == 0:
        place = place.reshape(1)
    if place is None or place.shape != (dimension,) or not np.isfinite(place).all():
        shown = {2: " [x, y]", 3: " [x, y, z]"}.get(dimension, "")
        be = "is" if dimension == 1 else "are"
        raise AgentsError(
            f"{name} is at {value!r}; {finite_numbers(dimension)}{shown} {be} needed",
            code="agents.shape",
            key="position",
        )
    return read_only(place)


def as_others(value: object, dimension: int) -> Points:
    """`value` as (k, n) points, read-only; k may be 0."""
    points = as_numbers(value)
    if points is not None and points.size == 0:
        return read_only(np.empty((0, dimension)))
    if points is not None and dimension == 1 and points.ndim == 1:
        points = points[:, None]
    shaped = points is not None and points.ndim == 2 and points.shape[1] == dimension
    if points is None or not shaped or not np.isfinite(points).all():
        need = "pairs [x, y]" if dimension == 2 else f"points with {dimension} coordinates"
        raise AgentsError(
            f"the other agents are at {value!r}; a list of {need} of finite numbers, shape "
            f"(n, {dimension}), is needed",
            code="agents.shape",
            key="others",
        )
    return read_only(np.ascontiguousarray(points))


def as_radii(value: object, count: int) -> Floats:
    """`value` as one radius per other agent, read-only."""
    radii = as_numbers(value)
    if radii is not None and radii.ndim == 0:
        radii = np.full(count, radii)
    fits = radii is not None and radii.shape == (count,)
    if radii is None or not fits or not np.isfinite(radii).all() or (radii < 0.0).any():
        raise AgentsError(
            f"the radii are {value!r}; one number that is not negative, or {count} of them, one "
            "per other agent, is needed",
            code="agents.radii",
            key="radii",
        )
    return read_only(radii)


def refuse_outside(place: Points, distance: float, size: float) -> None:
    """Refuse an agent this far outside a workspace of this size."""
    if distance > BEYOND * size:
        raise AgentsError(
            f"the agent at {place.tolist()} is {distance:.3g} outside the workspace; a guaranteed "
            "cell needs its agent inside",
            code="agents.outside",
            key="position",
        )
