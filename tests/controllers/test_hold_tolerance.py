"""A velocity at the limit is judged alike in a scenario and by the law: one rounding of a norm."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.scenario import parse_scenario
from tests.test_refused_calls import SCENARIO

K1 = 0.4


def scenario(hold):
    law = {**SCENARIO["controller"], "initial_hold": hold}
    return parse_scenario({**SCENARIO, "controller": law})


def law(hold):
    return dwell.Timer(k1=K1, nu=0.2, t1=0.1, t2=0.3, initial_hold=tuple(map(tuple, hold)))


def accepted(call):
    try:
        return bool(call())
    except dwell.InputError:
        return False


@pytest.mark.parametrize("excess", [0.0, 1e-16, 1e-15, 5e-13, 2e-12, 1e-11, 1e-3])
@pytest.mark.parametrize("angle", np.linspace(0.0, 2.0, 5))
def test_scenario_and_law_accept_the_same(excess, angle):
    size = K1 * (1.0 + excess)
    hold = [[size * math.cos(angle), size * math.sin(angle)], [0.0, 0.0]]
    by_scenario = accepted(lambda: dwell.run_scenario(scenario(hold), progress=False))
    by_law = accepted(lambda: law(hold).numbers(2) is not None)
    assert by_scenario == by_law == (excess < 1e-12)


def test_the_refusal_tells_the_two_numbers_apart():
    with pytest.raises(dwell.InputError, match=r"k1 = 0.4, got length 0.40000000001$"):
        law([[K1 + 1e-11, 0.0], [0.0, 0.0]])
