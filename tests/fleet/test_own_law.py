"""Laws in Python on fleets: their keep-away, and parameters that are called as others are."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import dwell
from dwell.agents import Command, Traits
from dwell.errors import InputError
from dwell.fleet.virtual import VirtualFleet
from dwell.live.faults import Faults
from dwell.live.settings import LiveSettings, live_law
from dwell.scenario.build import build
from tests.fleet.fleets import START, record_of, recorded, run_from, scenario


@dataclass(frozen=True)
class Steady:
    """Moves towards its centroid, at times of its own."""

    gain: float = 1.0
    most: float = 0.4

    def begin(self, view):
        error = view.measurement.error
        size = float(np.linalg.norm(error))
        hold = error * min(self.gain, self.most / max(size, 1e-12))
        return Command(hold, view.time + 0.2 + 0.3 * view.draw)

    decide = begin


@dataclass(frozen=True)
class Bounded(Steady):
    """The same, with what a keep-away must know."""

    traits = Traits(shortest_interval=0.2, longest_interval=0.5, top_speed=0.4)


SETTINGS = LiveSettings(margin=0.05, silence=5.0, clearance=0.3)


def of_law(name):
    return scenario(controller={"kind": "python", "class": f"{__name__}:{name}"}, horizon=12.0)


@pytest.mark.parametrize("law", [Steady(), replace(Bounded(), most=np.inf)])
def test_advice_about_the_keep_away_can_be_followed(law):
    system = replace(build(of_law("Steady"))[0], controller=law)
    settings = replace(SETTINGS, clearance=0.1)
    with_speed = replace(settings, top_speed=0.4)
    if isinstance(law, Bounded):
        assert live_law(system, settings).speed == 0.4
        return
    with pytest.raises(InputError, match=r"set fleet\.top_speed, state shortest_interval and"):
        live_law(system, settings)
    with pytest.raises(InputError) as left:
        live_law(system, with_speed)
    assert "top_speed" not in str(left.value)
    assert "shortest_interval and longest_interval" in str(left.value)
    told = type("Told", (Steady,), {"traits": replace(Bounded.traits, top_speed=None)})
    assert live_law(replace(system, controller=told()), with_speed).shortest.min() == 0.2


def test_robots_under_a_law_of_ones_own_keep_apart():
    case, made = of_law("Bounded"), []
    system, start, _ = build(case)
    VirtualFleet(live_law(system, SETTINGS), start, Faults(loss=0.3, seed=2), made.append).run(12.0)
    report = dwell.check(run_from(case, recorded(made, SETTINGS)), progress=False)
    found = {f.name: f for f in report.findings}
    assert found["clearance"].status == "holds", found["clearance"]
    assert any(f["flags"] & 32 for f in (one.sample for one in made))  # the keep-away acted


@dataclass(frozen=True)
class Tardy(Steady):
    """The same, with a longest interval that it does not keep."""

    traits = Traits(shortest_interval=0.2, longest_interval=0.3, top_speed=0.4)


@pytest.mark.parametrize(
    ("name", "status", "says"),
    [
        ("Bounded", "holds", ""),
        ("Tardy", "degraded", "are longer than T2"),
        ("Steady", "not applicable", "Steady states no limits of its intervals"),
    ],
)
def test_gaps_are_compared_with_what_the_law_states(name, status, says):
    case = of_law(name)
    settings = LiveSettings(silence=5.0, margin=0.0)
    run = run_from(case, record_of(case, settings))
    found = next(f for f in dwell.check(run, progress=False).findings if f.name == "interval")
    assert found.status == status
    assert says in f"{found.says}; {found.where}"
    assert (run.summary()["live"]["gaps_over_t2"] > 0) is (status == "degraded")


@dataclass(frozen=True)
class Odd(Steady):
    """Parameters that built-in laws use for something else."""

    accuracy: float = 0.1
    radius: float = 0.5
    t1: float = 0.3
    t2: float = 0.1
    nu: float = 0.2


def test_parameters_of_a_law_of_ones_own_mean_nothing_else(tmp_path):
    run = dwell.simulate(dwell.Box((0, 0), (4, 3)), None, START, Odd(), until=2.0)
    assert dwell.check(run).ok
    system = replace(build(of_law("Steady"))[0], controller=Odd())
    law = live_law(system, LiveSettings(silence=2.0))
    assert law.system.controller == Odd()
    case, made = of_law("Odd"), []
    VirtualFleet(law, build(case)[1], watch=made.append).run(2.0)
    assert dwell.check(run_from(case, recorded(made, LiveSettings(silence=2.0)))).ok
