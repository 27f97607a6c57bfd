"""How much each place matters: densities, and their moments over cells."""

from dwell.density.base import Density, as_density
from dwell.density.function import Function
from dwell.density.gaussian import Gaussian
from dwell.density.mixture import Mixture
from dwell.density.moments import Moments, moments
from dwell.density.polynomial import Polynomial
from dwell.density.star import star_moments
from dwell.density.tessellation import Tessellation, tessellate
from dwell.density.uniform import Uniform

__all__ = [
    "Density",
    "Function",
    "Gaussian",
    "Mixture",
    "Moments",
    "Polynomial",
    "Tessellation",
    "Uniform",
    "as_density",
    "moments",
    "star_moments",
    "tessellate",
]
