"""Events that are planned, and ask for their memory ahead, are the same events."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from dwell import Box, Timer, Uniform
from dwell._kernels.ahead import MANY
from dwell.agents import CoverageSystem, run_compiled, table_of
from dwell.agents.engine import _Engine
from dwell.hybrid import simulate

RUN = """
import hashlib
import numpy as np
from dwell import Box, Timer, Uniform
from dwell._kernels import ahead
from dwell.agents import CoverageSystem, run_compiled, table_of
planned = 0
def counted(*given, gather=ahead.gather_planned):
    global planned
    planned += 1
    return gather(*given)
ahead.MANY, ahead.gather_planned = {many}, counted
draw = np.random.default_rng(0)
places = draw.uniform(0, 1, (130, 2))
if {crowded}:
    places[20:] = 0.31 + 0.01 * draw.uniform(0, 1, (110, 2))  # one bin holds most of them
law = Timer(k1={k1}, nu=0.05, t1={t1}, t2=0.3)
system = CoverageSystem(Box((0, 0), (1, 1)), Uniform(), law, len(places), seed=3)
arc = run_compiled(system, system.start(places), until=9.0, max_jumps={jumps})
columns = table_of(arc).columns().values()
print(hashlib.sha256(b"".join(values.tobytes() for values in columns)).hexdigest(), planned)
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


def test_plans_change_no_bit():
    places = np.random.default_rng(2).uniform(0, 1, (MANY + 5, 2)) ** [1.0, 1.4]
    law = Timer(k1=0.02, nu=0.01, t1=0.02, t2=1.0)
    system = CoverageSystem(Box((0, 0), (1, 1)), Uniform(), law, len(places), seed=4)
    many, one = (_Engine.of(system, system.start(places)) for _ in range(2))
    for engine in (many, one):
        engine.advance(9.0, MANY * 3 // 2)  # into the times when all look at times of their own
    at_once, _ = many.advance(9.0, 4000)
    by_one = [one.advance(9.0, 1)[0] for _ in range(4000)]  # of which none has a plan
    for field, values in at_once.columns().items():
        alone = np.concatenate([getattr(part, field) for part in by_one])
        assert np.array_equal(values, alone), field


@pytest.mark.parametrize(
    "case",
    [
        {"k1": 0.05, "t1": 0.01, "jumps": 400},
        {"k1": 0.5, "t1": 0.29, "jumps": 400},  # they go far, and are put into bins often
        {"k1": 0.05, "t1": 1e-6, "jumps": 200},  # some look again before the next one
        {"k1": 0.001, "t1": 0.01, "jumps": 150, "crowded": True},
    ],
)
def test_plans_change_no_bit_in_plain_python(case):
    def printed(many: int) -> list[str]:
        given = {"many": many, "crowded": False, **case}
        done = subprocess.run(
            [sys.executable, "-c", RUN.format(**given)],
            env={**os.environ, "DWELL_JIT": "0"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split()

    with_plans, without = printed(100), printed(10**9)
    assert len(with_plans[0]) == len(hashlib.sha256().hexdigest())
    assert with_plans[0] == without[0]
    assert int(without[1]) == 0
    assert int(with_plans[1]) > (0 if case.get("crowded") else case["jumps"] // 2)
