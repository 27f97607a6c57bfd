"""The kernels' memory in space holds the loops of all faces of any cell."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box
from dwell._kernels.space.memory import make_memory
from dwell.geometry.polyhedra import cells, solid_of


@pytest.mark.parametrize("agents", [1, 2, 12, 40])
def test_loops_fit_into_the_memory_they_are_listed_in(agents: int) -> None:
    room = Box((0, 0, 0), (4, 3, 2.5))
    memory = make_memory(agents, solid_of(room))
    for seed in range(10):
        places = np.random.default_rng(seed).uniform(0.1, 1.6, (agents, 3))
        for cell in cells(room, places):
            assert sum(map(len, cell.faces)) == 3 * len(cell.offsets) <= len(memory.gone)
    assert len(memory.gone) >= 3 * len(memory.x)  # three edges leave every vertex
