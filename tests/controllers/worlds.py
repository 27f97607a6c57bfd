"""A small world for tests of laws."""

from __future__ import annotations

import numpy as np

from dwell.density import Gaussian
from dwell.geometry import Box

BOX = Box((0.0, 0.0), (4.0, 3.0))
HILL = Gaussian(center=(2.6, 1.9), rate=0.4)
START = np.array([(0.3, 0.4), (0.9, 0.5), (0.6, 1.2), (1.4, 0.2), (3.1, 2.7), (3.6, 0.4)])
