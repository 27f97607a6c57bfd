"""Densities whose parameters change over time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._kernels.common.density_terms import GeneralTerms, Terms
from dwell._parameters import parameters_of
from dwell._types import Floats, Points, in_short
from dwell.density.base import Density, dimension_of, general_terms_of
from dwell.density.gaussian import Gaussian
from dwell.density.mixture import Mixture
from dwell.density.moving_raster import MovingRaster
from dwell.errors import DensityError
from dwell.motion import Circle, Keyframes, Track

COLUMNS = {"weight": 0, "center": 1, "rate": 3}  # of a Gaussian in Terms.gaussians
WIDTHS = {"weight": 1, "center": 2, "rate": 1}


@final
class Moving:
    """A density of some kind, with parameters that are `Keyframes` or a `Circle`.

    Where no time is given, it is the density of time 0.

    Parameters
    ----------
    kind : type
        `Gaussian` or `Polynomial`.
    **parameters
        What the kind takes. Center, rate, covariance and weight of a Gaussian, and the coefficients
        of a polynomial, may change over time.

    Examples
    --------
    >>> import dwell
    >>> path = dwell.Keyframes([0, 40], [(0, 0), (8, 0)])
    >>> dwell.Moving(dwell.Gaussian, center=path, rate=0.5).now(10.0).center
    (2.0, 0.0)
    """

    def __init__(self, kind: Any, **parameters: Any) -> None:
        changing = [name for name, one in parameters_of(kind).items() if one.moves]
        if not isinstance(kind, type) or not changing:
            name = in_short(getattr(kind, "__name__", kind))
            raise DensityError(
                f"a moving density is of kind {name}; Gaussian or Polynomial is needed, a "
                "MovingRaster, or a Mixture of moving densities",
                code="density.kind",
                key="density.kind",
            )
        self.kind: Any = kind
        self.parameters = parameters
        for name in self.tracks:
            if name not in changing:
                raise DensityError(
                    f"the {name} of a moving {kind.__name__} changes over time; only "
                    f"{', '.join(changing)} may: give the others as constants",
                    code="density.kind",
                    key=f"density.{name}",
                )
        for t in {0.0, *keyframe_times(self)}:
            self.now(t)  # which refuses what the kind does not take
        frames = getattr(self.tracks.get("coefficients"), "values", ())
        if len({tuple(row[:-1] for row in frame) for frame in frames}) > 1:
            raise DensityError(
                "the powers of a moving Polynomial change over time; those of the first keyframe "
                "are needed at all: give a term that is absent a coefficient 0",
                code="world.powers",
                key="density.coefficients",
            )

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"Moving({self.kind.__name__}, {given})"

    @cached_property
    def tracks(self) -> dict[str, Track]:
        """The parameters that change."""
        given = self.parameters.items()
        return {name: value for name, value in given if isinstance(value, Keyframes | Circle)}

    def now(self, t: float) -> Density:
        """The density at time t."""
        values = {
            name: value.at(t) if isinstance(value, Keyframes | Circle) else value
            for name, value in self.parameters.items()
        }
        try:
            density: Density = self.kind(**values)
        except TypeError as fault:
            raise DensityError(
                f"a {self.kind.__name__} cannot be made of {', '.join(values)}: {fault}",
                code="density.kind",
                key="density",
            ) from None
        return density

    @cached_property
    def _first(self) -> Any:
        return self.now(0.0)

    @property
    def dimension(self) -> int | None:
        """How many coordinates its points have."""
        return dimension_of(self._first)

    def at(self, points: Points) -> Floats:
        """The weight at each point, at time 0."""
        weights: Floats = self._first.at(points)
        return weights

    def terms(self) -> Terms | None:
        """The terms at time 0, in the plane; None if kernels cannot bring them to other times."""
        first: Terms | None = self._first.terms()
        if first is None or self.kind is not Gaussian or not set(self.tracks) <= set(COLUMNS):
            return None
        return with_tracks(first, self.tracks)

    def general_terms(self, dimension: int) -> GeneralTerms | None:
        """The terms at time 0, in n dimensions."""
        return general_terms_of(self._first, dimension)


def with_tracks(terms: Terms, tracks: dict[str, Track]) -> Terms:
    """The terms of one Gaussian, with tracks of some of its parameters."""
    rows: list[list[int]] = []
    times: list[float] = []
    values = np.zeros((0, 2))
    for name, track in tracks.items():
        kind, at, frames = track.table
        rows.append([0, COLUMNS[name], WIDTHS[name], kind, len(times), len(at)])
        times += at.tolist()
        values = np.vstack([values, np.pad(frames, ((0, 0), (0, 2 - frames.shape[1])))])
    return terms._replace(
        track=np.array(rows, dtype=np.int64).reshape(-1, 6),
        key_times=np.array(times),
        key_values=values,
    )


def moves(density: object) -> bool:
    """Whether a density changes over time."""
    return any(True for _ in tracks_of(density))


def density_at(density: Density, t: float) -> Density:
    """A density at time t."""
    if isinstance(density, Mixture) and moves(density):
        return Mixture(tuple(density_at(part, t) for part in density.parts))
    return density.now(t) if isinstance(density, Moving | MovingRaster) else density


def tracks_of(density: object) -> Iterator[tuple[str, Track]]:
    """The parameters of a density that change, by their keys."""
    if isinstance(density, Moving | MovingRaster):
        yield from density.tracks.items()
    for k, part in enumerate(density.parts if isinstance(density, Mixture) else ()):
        for name, track in tracks_of(part):
            yield f"parts[{k}].{name}", track


def keyframe_times(density: object) -> list[float]:
    """The times of all keyframes of a density."""
    tracks = [track for _, track in tracks_of(density)]
    return sorted({t for one in tracks if isinstance(one, Keyframes) for t in one.times})
