"""Runs do not depend on numbers of agents, mirror images, places, directions or units.

`python -m bench.symmetry` does the same with many random problems.
"""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from bench.symmetry import BY_NUMBER, LAWS, compared

PAIR = {
    "minimum-energy": dwell.MinimumEnergy(dt=0.05),
    "lloyd": dwell.Lloyd(dt=0.05, feedforward="neighbours"),
    "timer": dwell.Timer(k1=0.5, nu=0.25, t1=0.1, t2=0.1, reset="latest", feedforward="neighbours"),
    "tvd": dwell.TVD(dt=0.05),
}
HEPTAGON = [(2, 0), (6, 0), (8, 3), (7, 6), (4, 7), (1, 5), (0, 2)]
FIVE = np.array([(1.5, 2.0), (2.5, 4.5), (4.0, 1.0), (5.5, 5.0), (6.5, 2.5)])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", LAWS)
def test_a_run_seen_from_elsewhere_is_the_same_run(name: str, seed: int) -> None:
    found = compared(name, seed, ("renumbering", "all"))
    assert set(found) == {"renumbering", "all"} - ({"renumbering"} if name in BY_NUMBER else set())
    assert all(outcome.equal for outcome in found.values()), found


@pytest.mark.parametrize("name", PAIR)
def test_a_symmetric_problem_has_a_symmetric_solution(name: str) -> None:
    run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.9], PAIR[name], until=3.0)
    times = np.linspace(0.0, 3.0, 31)
    assert run.positions(times).sum(axis=1) == pytest.approx(1.0, abs=1e-13)
    assert run.counters.energy[0] == pytest.approx(run.counters.energy[1], rel=1e-13)
    assert dwell.check(run).ok


@pytest.mark.parametrize(
    "law",
    [
        dwell.MinimumEnergy(dt=0.1),
        dwell.Lloyd(dt=0.1, feedforward="neighbours", speed=2.0),
        dwell.Timer(k1=0.5, nu=0.25, t1=0.1, t2=0.2, reset="latest", feedforward="neighbours"),
    ],
    ids=["minimum-energy", "lloyd", "timer"],
)
def test_the_energy_of_a_group_does_not_depend_on_its_numbers(law: object) -> None:
    hill = dwell.Gaussian((4.0, 3.0), rate=0.1)
    one, two = (
        dwell.simulate(
            dwell.Polygon(HEPTAGON), hill, FIVE[order], law, until=4.0, ids=tuple(order),
            sample_every="off",
        )
        for order in (np.arange(5), np.arange(5)[::-1])
    )  # fmt: skip
    assert two.counters.energy[::-1] == pytest.approx(one.counters.energy, rel=1e-9)
    assert two.positions(4.0)[::-1] == pytest.approx(one.positions(4.0), abs=1e-9)
