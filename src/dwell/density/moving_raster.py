"""Rasters on keyframes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from dwell._kernels.common.density_terms import OF_RASTER, Terms
from dwell._types import Floats, Points, in_short, listed
from dwell.density.raster import Raster, raster_terms
from dwell.errors import DensityError
from dwell.motion import Keyframes


@final
class MovingRaster:
    """A raster that changes over time: one raster for each keyframe, all on one grid.

    Where no time is given, it is the raster of time 0.

    Parameters
    ----------
    times : sequence of float
        Ascending times, from 0 on.
    rasters : sequence of Raster
        The raster at each of them.
    between : {"linear", "step"}
        How values get from one keyframe to the next: evenly, or at once when the next begins.
    after : {"hold"}, optional
        Keep the last raster after the last keyframe; without it, the last time is the end.

    Examples
    --------
    >>> import dwell
    >>> place = {"origin": (0, 0), "pixel": 1.0}
    >>> ebb, flood = dwell.Raster([[1.0, 3.0]], **place), dwell.Raster([[5.0, 3.0]], **place)
    >>> dwell.MovingRaster([0, 40], [ebb, flood]).now(10.0).values.tolist()
    [[2.0, 3.0]]
    """

    dimension: ClassVar[int] = 2

    def __init__(
        self,
        times: Sequence[float],
        rasters: Sequence[Raster],
        *,
        between: str = "linear",
        after: str | None = None,
    ) -> None:
        self.rasters: tuple[Raster, ...] = tuple(listed(rasters))
        for k, one in enumerate(self.rasters):
            if not isinstance(one, Raster):
                raise _refused(f"frame {k} is {in_short(one)}; a Raster is needed")
        check_frames(self.rasters, [f"frame {k}" for k in range(len(self.rasters))])
        count = len(listed(times))
        if count != len(self.rasters):
            raise _refused(f"there are {count} times and {len(self.rasters)} rasters; one raster "
                           "is needed for each time")  # fmt: skip
        self.frames = Keyframes(tuple(times), tuple(range(count)), between, after)

    def __repr__(self) -> str:
        return f"MovingRaster({list(self.frames.times)}, {list(self.rasters)!r})"

    @property
    def tracks(self) -> dict[str, Keyframes]:
        """The number of the frame over time; its fraction is the share of the next one."""
        return {"file": self.frames}

    def _present(self, t: float) -> tuple[int, float]:
        number = float(self.frames.at(t))
        return int(number), number - int(number)

    def now(self, t: float) -> Raster:
        """The raster at time t."""
        k, share = self._present(t)
        if share == 0.0:
            return self.rasters[k]
        own, other = self.rasters[k : k + 2]
        return own.like((1.0 - share) * own.grid + share * other.grid.astype(np.float64))

    def changes(self, t: float) -> list[tuple[Raster, float]]:
        """Rasters and factors of which the time derivative, from t on, is the sum."""
        rate = float(self.frames.rate(t))
        k, _ = self._present(t)
        return [] if rate == 0.0 else [(self.rasters[k + 1], rate), (self.rasters[k], -rate)]

    def at(self, points: Points) -> Floats:
        """The weight at each point, at time 0."""
        return self.now(0.0).at(points)

    @cached_property
    def _terms(self) -> Terms:
        kind, times, numbers = self.frames.table
        return Terms(
            raster=raster_terms(self.rasters)._replace(frame=numbers[0].copy()),
            track=np.array([[OF_RASTER, 0, 1, kind, 0, len(times)]]),
            key_times=times,
            key_values=np.pad(numbers, ((0, 0), (0, 1))),
        )

    def terms(self) -> Terms:
        """All frames with their sums over blocks, made once, and the track of their number."""
        return self._terms


def check_frames(rasters: Sequence[Raster], names: Sequence[str]) -> None:
    """Refuse rasters that do not lie on the grid of the first; `names` are those of the frames."""
    for name, one in zip(names, rasters, strict=True):
        differs = rasters[0].difference(one)
        if differs is not None:
            says = f"{name} {differs}, as {names[0]} has; all frames must lie on one grid and mean"
            raise _refused(f"{says} the same: `rio warp --like` puts one on the grid of another")


def _refused(says: str) -> DensityError:
    return DensityError(f"of a raster that changes over time {says}", code="density.frames",
                        key="density.file")  # fmt: skip
