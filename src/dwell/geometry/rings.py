"""Rings of vertices that bound regions: repairs, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dwell._types import Ints, Points
from dwell.errors import WorkspaceError
from dwell.geometry.rational import exact, orientation
from dwell.geometry.validation import as_points, refuse_range, signed_area

KEY = "workspace.parts"
MOST_PAIRS = 4096  # of edges that are compared in rationals
CLOSE = 1e-9  # sines of turns that are computed again in rationals
THIN = 1e-12  # area over squared extent of a ring below which it has no inside


def clean_rings(
    parts: Sequence[Sequence[object]],
) -> tuple[list[list[Points]], tuple[str, ...]]:
    """The rings of each part, outer ones counter-clockwise and holes clockwise, and the repairs.

    Refuses rings that cross, holes outside their part and parts inside others.
    """
    repairs: list[str] = []
    found = [
        [_clean(ring, _named(p, h), repairs) for h, ring in enumerate(rings)]
        for p, rings in enumerate(parts)
    ]
    every = [ring for rings in found for ring in rings]
    names = [_named(p, h) for p, rings in enumerate(found) for h in range(len(rings))]
    corners = np.concatenate(every)
    extent = float(np.hypot(*np.ptp(corners, axis=0)))
    refuse_range(extent, float(np.abs(corners).max()), 2, KEY)
    _refuse_crossings(every, names)
    found = [
        [_directed(ring, _named(p, h), h > 0, repairs) for h, ring in enumerate(rings)]
        for p, rings in enumerate(found)
    ]
    _refuse_nesting(found)
    return found, tuple(repairs)


def _named(part: int, ring: int) -> str:
    """A ring in words."""
    return f"part {part}, outer ring" if ring == 0 else f"part {part}, hole {ring - 1}"


def _clean(given: object, name: str, repairs: list[str]) -> Points:
    """A ring without repeated and collinear vertices."""
    ring = as_points(given)
    kept = ring[(ring != np.roll(ring, 1, axis=0)).any(axis=1)] if len(ring) else ring
    if len(kept) < len(ring):
        repairs.append(f"{name}: removed {len(ring) - len(kept)} repeated vertices")
    if len(kept) < 3:
        raise _empty(name, kept, 0.0)
    return _without_straight(kept, name, repairs)


def _empty(name: str, ring: Points, area: float) -> WorkspaceError:
    return WorkspaceError(
        f"{name}: {len(ring)} distinct vertices with an area of {area:.3g}; a ring of at least "
        "three vertices with an area is needed",
        code="workspace.degenerate",
        key=KEY,
    )


def _directed(ring: Points, name: str, hole: bool, repairs: list[str]) -> Points:
    """A ring counter-clockwise, or clockwise if it is a hole."""
    area = signed_area(ring)
    if abs(area) <= THIN * float((np.ptp(ring, axis=0) ** 2).sum()):
        raise _empty(name, ring, abs(area))
    if (area < 0.0) != hole:
        repairs.append(f"{name}: reversed its direction")
        ring = ring[::-1]
    return np.ascontiguousarray(ring)


def _without_straight(ring: Points, name: str, repairs: list[str]) -> Points:
    """The ring without vertices in the middle of a straight side."""
    before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    onward = (before * after).sum(axis=1) > 0.0
    size = np.abs(before[:, 0] * after[:, 1]) + np.abs(before[:, 1] * after[:, 0])
    keep = ~(onward & (np.abs(turn) <= 4.0 * np.finfo(float).eps * size))
    if keep.all() or keep.sum() < 3:
        return ring
    repairs.append(f"{name}: removed {int((~keep).sum())} vertices on straight sides")
    return np.asarray(ring[keep])


def _refuse_crossings(rings: Sequence[Points], names: Sequence[str]) -> None:
    """Refuse edges that cross or overlap; contact in single points is left to other tests."""
    sizes = [len(ring) for ring in rings]
    owner = np.repeat(np.arange(len(rings)), sizes)
    begins = np.cumsum([0, *sizes])
    after = np.arange(1, len(owner) + 1)
    after[begins[1:] - 1] = begins[:-1]
    starts = np.concatenate(rings)
    ends = starts[after]
    number = np.arange(len(owner)) - begins[owner]

    def said(e: int) -> str:
        a, b = starts[e].tolist(), ends[e].tolist()
        return f"edge {number[e]} of {names[owner[e]]}, from {a} to {b},"

    for e, other in _pairs(starts, ends, after):
        point = _contact(starts[e], ends[e], starts[other], ends[other])
        if point is not None:
            place = ", ".join(f"{float(c):.12g}" for c in point)
            raise WorkspaceError(
                f"{said(e)} meets {said(other)} at ({place}); the rings of a region may touch in "
                "single points but not cross or overlap; correct the outline there",
                code="workspace.crossing",
                key=KEY,
            )
    back = ((ends - starts) * (ends[after] - ends)).sum(axis=1) < 0.0
    for edge in np.flatnonzero(back & (np.abs(_turns(starts, ends, ends[after])) <= CLOSE)):
        e = int(edge)
        if orientation(starts[e], ends[e], ends[after[e]]) == 0:
            raise WorkspaceError(
                f"{said(e)} is followed by an edge that runs back along it; correct the outline",
                code="workspace.crossing",
                key=KEY,
            )


def _turns(a: Points, b: Points, c: Points) -> np.ndarray:
    """The sine of the turn at each b, on the way from a to c."""
    one, two = b - a, c - b
    turn = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    return np.asarray(turn / np.hypot(*one.T) / np.hypot(*two.T))


def _pairs(starts: Points, ends: Points, after: Ints) -> list[tuple[int, int]]:
    """Pairs of edges that may have a point in common, neighbours in a ring left out."""
    from dwell._kernels.polygon.crossings import count_in_bins, find_pairs

    local = starts - starts[0]
    edges = [np.ascontiguousarray(c) for c in (*local.T, *(ends - starts[0]).T)]
    low, size = local.min(axis=0), np.maximum(np.ptp(local, axis=0), 1e-300)
    shape = np.maximum(np.ceil(np.sqrt(len(local)) * size / size.max()), 1.0)
    columns, rows = (int(c) for c in shape)
    frame = np.concatenate([low, size / shape])
    first = np.zeros(columns * rows + 1, dtype=np.int64)
    total = count_in_bins(*edges, frame, columns, rows, first)
    filled, member = np.zeros_like(first), np.empty(total, dtype=np.int64)
    pair = np.empty((MOST_PAIRS, 2), dtype=np.int64)
    count = find_pairs(*edges, after, frame, columns, rows, first, filled, member, pair)
    some = pair if count < 0 else pair[:count]
    return sorted({(int(a), int(b)) for a, b in some})


Exact = tuple[Fraction, Fraction]


def _contact(a: Points, b: Points, c: Points, d: Points) -> Exact | None:
    """A point where the segments ab and cd cross or overlap; None if they only touch or do not."""
    one, two = orientation(a, b, c), orientation(a, b, d)
    three, four = orientation(c, d, a), orientation(c, d, b)
    if one * two < 0 and three * four < 0:
        share = three / (three - four)
        return _between(a, b, share)
    if one == two == 0:  # on one line
        axis = int(abs(b[0] - a[0]) < abs(b[1] - a[1]))
        low = max(min(a[axis], b[axis]), min(c[axis], d[axis]))
        high = min(max(a[axis], b[axis]), max(c[axis], d[axis]))
        if low < high:
            begin, end, at = (Fraction(float(v)) for v in (a[axis], b[axis], low))
            return _between(a, b, (at - begin) / (end - begin))
    return None


def _between(a: Points, b: Points, share: Fraction) -> Exact:
    """The point at this share of the way from a to b."""
    begin, end = exact([a, b])
    x, y = (p + share * (q - p) for p, q in zip(begin, end, strict=True))
    return x, y


def _refuse_nesting(parts: Sequence[Sequence[Points]]) -> None:
    """Refuse holes outside their part or in other holes, and parts inside others."""
    owner = [(p, h) for p, rings in enumerate(parts) for h in range(len(rings))]
    around = _rings_around([ring for rings in parts for ring in rings])
    for (p, h), k in zip(owner, around, strict=True):
        if h == 0 and k is not None and owner[k][1] == 0:
            raise WorkspaceError(
                f"part {p} lies inside part {owner[k][0]}; parts must not overlap: join them, or "
                "make a hole for it",
                code="workspace.overlap",
                key=KEY,
            )
    for (p, h), k in zip(owner, around, strict=True):
        if h > 0 and (k is None or owner[k] != (p, 0)):
            raise WorkspaceError(
                f"{_named(p, h)} is not inside its part, or inside another hole; each hole "
                "belongs to the part around it, and land in a hole is a part of its own",
                code="workspace.nesting",
                key=KEY,
            )


def _rings_around(rings: Sequence[Points]) -> list[int | None]:
    """The innermost ring around each ring; None if there is none. The rings do not cross."""
    low, high = (np.array([f(ring, axis=0) for ring in rings]) for f in (np.min, np.max))
    area = np.array([abs(signed_area(ring)) for ring in rings])
    # Bins along x: a ring around another one is listed in the bin where that begins.
    count = int(np.sqrt(len(rings))) + 1
    edges = np.linspace(low[:, 0].min(), high[:, 0].max(), count + 1)[1:-1]
    first, last = np.searchsorted(edges, low[:, 0]), np.searchsorted(edges, high[:, 0])
    spans = last - first + 1
    which = np.repeat(np.arange(len(rings)), spans)
    bins = np.repeat(first - np.cumsum(spans) + spans, spans) + np.arange(len(which))
    order = np.lexsort((area[which], bins))
    which, begins = which[order], np.searchsorted(bins[order], np.arange(count + 1))
    found: list[int | None] = []
    for k, ring in enumerate(rings):
        some = which[begins[first[k]] : begins[first[k] + 1]]
        wide = (low[some] <= low[k]) & (high[some] >= high[k])
        some = some[wide.all(axis=1) & (some != k)]
        found.append(next((int(j) for j in some if is_inside(ring, rings[j])), None))
    return found


def is_inside(ring: Points, around: Points) -> bool:
    """Whether a ring that crosses no other is inside one, by the first vertex not on it."""
    after = np.roll(around, -1, axis=0)
    for point in ring[: min(len(ring), 16)]:
        crossed = (around[:, 1] > point[1]) != (after[:, 1] > point[1])
        a, b = around[crossed], after[crossed]
        side = (b[:, 0] - a[:, 0]) * (point[1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (
            point[0] - a[:, 0]
        )
        if (side == 0.0).any() or (around == point).all(axis=1).any():
            continue
        right = (side > 0.0) == (b[:, 1] > a[:, 1])
        return bool(right.sum() % 2)
    return False
