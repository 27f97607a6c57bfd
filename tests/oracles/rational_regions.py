"""Moments over the part of a Voronoi cell in a region that is not convex, in rationals or mpmath.

Triangles from the agent to all edges of the region are cut by the bisectors in rationals; those
that lead clockwise count negatively. Gaussians are integrated over each to 30 digits.
"""

from __future__ import annotations

from collections.abc import Sequence

from mpmath import mp

from tests.oracles.mp_moments import WORK_DPS, Density, Moments, Raw, _raw, to_mp
from tests.oracles.rational_cells import Number, clip, cross, edges, exact


def moments(
    rings: Sequence[Sequence[Sequence[Number]]],
    positions: Sequence[Sequence[Number]],
    agent: int,
    density: Density,
) -> Moments | None:
    """Moments of the cell of an agent; None if none of it lies in the region."""
    own = exact(positions[agent])
    others = [exact(z) for k, z in enumerate(positions) if k != agent]
    total = Raw(own, *[mp.mpf(0)] * 4)
    with mp.workdps(WORK_DPS):
        for ring in rings:
            for a, b in edges([exact(v) for v in ring]):
                turn = cross(own, a, b)
                corners = [own, a, b] if turn > 0 else [own, b, a]
                for z in others:
                    dx, dy = z[0] - own[0], z[1] - own[1]
                    middle = (z[0] + own[0]) / 2, (z[1] + own[1]) / 2
                    corners = clip(corners, dx, dy, dx * middle[0] + dy * middle[1])
                if turn == 0 or len(corners) < 3:
                    continue
                part = _raw(corners, density, None).shifted(own).in_mp()
                sign = 1 if turn > 0 else -1
                sums = (getattr(total, n) + sign * getattr(part, n) for n in ("m", "fx", "fy", "j"))
                total = Raw(own, *sums)
        if not total.m > mp.mpf(10) ** -25:
            return None
        cx, cy = total.fx / total.m, total.fy / total.m
        return Moments(
            mass=total.m,
            log_mass=mp.log(total.m),
            centroid=(to_mp(own[0]) + cx, to_mp(own[1]) + cy),
            polar_centroid=total.j - total.m * (cx * cx + cy * cy),
        )
