"""Function: any Python function of points as a density."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from dwell._types import Floats, Points
from dwell.errors import DensityError, DwellError


@final
@dataclass(frozen=True)
class Function:
    """The density ``call(points)``, integrated by adaptive quadrature with an error estimate.

    Parameters
    ----------
    call : callable
        A function of a (k, n) array of points that returns k numbers, none of them negative.
    name : str, optional
        How a scenario file refers to it, ``package.module:function``.

    Examples
    --------
    >>> import dwell
    >>> ramp = dwell.Function(lambda points: 1.0 + points[:, 0])
    >>> round(dwell.moments(dwell.Box((0, 0), (1, 1)), ramp).mass, 9)
    1.5
    """

    call: Callable[[Points], Any]
    name: str | None = None
    dimension: ClassVar[None] = None  # what the function makes of its points is not known

    def at(self, points: Points) -> Floats:
        """The weight at each point, checked: finite, real, not negative."""
        points = np.asarray(points, dtype=np.float64)
        try:
            with np.errstate(all="ignore"):  # what is not finite is refused below, with its place
                values = np.asarray(self.call(points))
        except DwellError:  # of a function that cannot be imported
            raise
        except Exception as fault:
            what = f"failed with {type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
            raise self._refused(what) from fault
        if values.dtype == bool or not np.issubdtype(values.dtype, np.number):
            raise self._refused(f"gave values of type {values.dtype}; numbers are needed")
        if np.iscomplexobj(values):
            raise self._refused("gave complex values; real numbers are needed")
        if values.shape == ():
            values = np.full(len(points), values)
        if values.shape != (len(points),):
            raise self._refused(
                f"gave an array of shape {values.shape} for {len(points)} points; one number per "
                f"point, shape ({len(points)},), is needed"
            )
        values = values.astype(np.float64)
        for bad, code, what in (
            (~np.isfinite(values), "density.nonfinite", "a finite number is needed"),
            (values < 0.0, "density.negative", "a density must not be negative"),
        ):
            if bad.any():
                k = int(np.argmax(bad))
                place = points[k].tolist()
                raise self._refused(f"gave {values[k]} at {place}; {what}", code)
        return values

    def terms(self) -> None:
        """None: the kernels cannot call Python."""
        return None

    def _refused(self, what: str, code: str = "density.function") -> DensityError:
        name = self.name or getattr(self.call, "__qualname__", repr(self.call))
        return DensityError(f"the density function {name} {what}", code=code, key="density")
