"""Densities: how much each point of a workspace matters."""

from dwell.density.base import Density, as_density
from dwell.density.function import Function
from dwell.density.gaussian import Gaussian
from dwell.density.mixture import Mixture
from dwell.density.moving import Moving
from dwell.density.moving_raster import MovingRaster
from dwell.density.polynomial import Polynomial
from dwell.density.raster import Raster
from dwell.density.uniform import Uniform

# Those whose parameters are declared.
DECLARED = (Uniform, Polynomial, Gaussian)

__all__ = [
    "Density",
    "Function",
    "Gaussian",
    "Mixture",
    "Moving",
    "MovingRaster",
    "Polynomial",
    "Raster",
    "Uniform",
    "as_density",
]
