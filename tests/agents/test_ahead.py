"""Events that ask for their memory ahead are the same events."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np

from dwell import Box, Timer, Uniform
from dwell._kernels.ahead import MANY
from dwell.agents import CoverageSystem, run_compiled, table_of
from dwell.hybrid import simulate

RUN = """
import hashlib
import numpy as np
from dwell import Box, Timer, Uniform
from dwell._kernels import engine
from dwell.agents import CoverageSystem, run_compiled, table_of
engine.MANY = {many}
places = np.random.default_rng(0).uniform(0, 1, (130, 2))
law = Timer(k1=0.05, nu=0.05, t1=0.01, t2=0.3)
system = CoverageSystem(Box((0, 0), (1, 1)), Uniform(), law, len(places), seed=3)
arc = run_compiled(system, system.start(places), until=1.0, max_jumps=60)
columns = table_of(arc).columns().values()
print(hashlib.sha256(b"".join(values.tobytes() for values in columns)).hexdigest())
"""


def test_very_many_agents_are_held_to_the_readable_loop():
    side = np.sqrt(MANY + 5.0)
    places = np.random.default_rng(1).uniform(0, side, (MANY + 5, 2))
    law = Timer(k1=0.5, nu=0.5, t1=0.5, t2=1.0)
    system = CoverageSystem(Box((0, 0), (side, side)), Uniform(), law, len(places), seed=1)
    start = system.start(places)
    fast = run_compiled(system, start, until=2.0, max_jumps=40)
    slow = simulate(system, start, until=2.0, max_jumps=40)
    assert fast.jumps == slow.jumps == 40
    for field, values in table_of(fast).columns().items():
        assert np.array_equal(values, getattr(table_of(slow), field)), field


def test_hints_change_no_bit_in_plain_python():
    def printed(many: int) -> str:
        done = subprocess.run(
            [sys.executable, "-c", RUN.format(many=many)],
            env={**os.environ, "DWELL_JIT": "0"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    found = printed(100)
    assert len(found) == len(hashlib.sha256().hexdigest())
    assert found == printed(10**9)
