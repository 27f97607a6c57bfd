"""Places on the Earth: outlines and rasters from map files, in local metres, and back."""

from dwell.sites.frames import Frame
from dwell.sites.vector import Site

__all__ = ["Frame", "Site"]
