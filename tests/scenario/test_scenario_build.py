"""From a scenario to laws and networks, and back."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pytest

from dwell import controllers
from dwell.agents import Network
from dwell.density import Uniform
from dwell.geometry import Box
from dwell.scenario import parse_scenario
from dwell.scenario.build import build, build_controller
from dwell.scenario.describe import describe, describe_controller
from dwell.scenario.laws import LAW_KINDS
from tests.scenario.test_scenario_laws import DEFAULTS, GIVEN, TIMER, with_law


def test_every_class_has_a_kind():
    assert {law.__name__ for law in LAW_KINDS.values()} == set(controllers.__all__)


@pytest.mark.parametrize("law", GIVEN, ids=str)
def test_there_and_back(law):
    spec = parse_scenario(with_law(law)).controller
    controller = build_controller(spec)
    assert type(controller) is LAW_KINDS[law["kind"]]
    for key in law.keys() - {"kind"}:
        assert getattr(controller, key) == getattr(spec, key)
    described = describe_controller(controller)
    assert parse_scenario(with_law(described)).controller == spec


@pytest.mark.parametrize("kind", DEFAULTS)
def test_a_class_has_the_keys_and_defaults_of_its_table(kind):
    """What is absent in a file means the same as what is absent in Python."""
    public = {f.name: f.default for f in fields(LAW_KINDS[kind]) if not f.name.startswith("_")}
    assert public == DEFAULTS[kind]


def test_private_fields_are_left_out():
    law = controllers.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
    law.program(3)
    assert describe_controller(law) == TIMER


def test_a_law_of_ones_own_is_not_in_a_file():
    @dataclass(frozen=True)
    class Timer:
        k1: float = 1.0

    assert describe_controller(Timer()) is None
    assert describe_controller(object()) is None
    box, start = Box((0, 0), (4, 4)), np.array([[1.0, 1.0]])
    assert describe(box, Uniform(), start, Timer(), {"horizon": 1.0}) is None


@pytest.mark.parametrize("network", [None, Network(), Network(0.25, 0.5)], ids=str)
def test_networks_there_and_back(network):
    box, start = Box((0, 0), (4, 4)), np.array([[1.0, 1.0], [2.0, 3.0]])
    law = controllers.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
    scenario = describe(box, Uniform(), start, law, {"horizon": 1.0}, network=network)
    assert scenario is not None
    assert (scenario.network is None) == (network is None or network.perfect)
    assert build(scenario)[0].network == (network or Network())
