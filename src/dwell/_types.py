"""Shapes and units, once: lengths in the unit of the workspace, times in one unit of your own."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]  # any shape; the comment beside a field says which
Ints: TypeAlias = NDArray[np.int64]
Points: TypeAlias = NDArray[np.float64]  # (n, 2), one point per row
