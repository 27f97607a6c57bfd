"""Parameters that a law refuses, by name."""

from __future__ import annotations

from math import inf, nan

import pytest

from dwell._parameters import LARGEST
from dwell.controllers import (
    DiscreteLloyd,
    EventTriggered,
    Lloyd,
    SelfTriggered,
    SelfTriggeredCentroid,
    Timer,
)
from dwell.errors import ControllerError

ADAPTIVE = {"k1": 0.5, "nu": 0.4, "t1": 0.01, "t2": 0.7, "reset": "adaptive", "eta_max": 0.2}
NO_SIZE = (0, -1, nan, "1", True)  # for what must be a positive number
REFUSED = [
    *((Lloyd, "speed", {"speed": value}) for value in (0.0, -1.0, inf, "fast", True)),
    *((Lloyd, "k2", {"k2": value}) for value in (0.0, -1.0, True, nan)),
    (Lloyd, "dt", {"dt": 0.0}),
    (Lloyd, "dt", {"mode": "ode", "dt": 0.1}),
    (Lloyd, "mode", {"mode": "euler"}),
    (Lloyd, "tolerance", {"tolerance": 1e-9}),
    (Lloyd, "tolerance", {"mode": "ode", "tolerance": 0.5}),
    (DiscreteLloyd, "step", {"step": -1.0}),
    (DiscreteLloyd, "relaxation", {"relaxation": 2.0}),
    (DiscreteLloyd, "relaxation", {"relaxation": 0.0}),
    (DiscreteLloyd, "speed", {"speed": -0.1}),
    (DiscreteLloyd, "schedule", {"schedule": "always"}),
    (DiscreteLloyd, "rate", {"rate": 1.0}),
    (DiscreteLloyd, "rate", {"schedule": "poisson", "rate": 0.0}),
    *(
        (Timer, "eta_max", {**ADAPTIVE, "eta_max": value})
        for value in (None, 0.0, -1.0, nan, 0.5, 0.7)
    ),
    (Timer, "eta_max", {**ADAPTIVE, "reset": "uniform"}),
    (SelfTriggered, "kappa", {"kappa": 0.0}),
    (SelfTriggered, "kappa", {"kappa": -1.0}),
    (SelfTriggered, "v", {"v": -0.3}),
    (SelfTriggered, "delta", {"delta": 0.0}),
    (SelfTriggered, "tau_min", {"tau_min": 0.0}),
    (SelfTriggered, "tau_min", {"tau_min": 1.0, "tau_max": 0.5}),
    (SelfTriggered, "scan", {"scan": 1.0}),
    (SelfTriggered, "scan", {"scan": 1e-14}),  # more steps than can be waited for
    (SelfTriggered, "preset", {"preset": "paper"}),
    (SelfTriggered, "factor", {"factor": 3}),
    (SelfTriggered, "factor", {"factor": True}),
    (SelfTriggered, "own", {"own": "none"}),
    (SelfTriggered, "second", {"second": "both"}),
    (SelfTriggered, "bound", {"bound": "radius"}),
    (SelfTriggered, "stop", {"stop": "never"}),
    *(
        (SelfTriggeredCentroid, name, {name: value})
        for name in ("v_max", "dt", "t_max")
        for value in NO_SIZE
    ),
    (SelfTriggeredCentroid, "epsilon", {"epsilon": -0.1}),
    (SelfTriggeredCentroid, "epsilon", {"epsilon": inf}),
    (SelfTriggeredCentroid, "decision", {"decision": "two-step"}),
    (SelfTriggeredCentroid, "bound", {"bound": "radius"}),
    *(
        (EventTriggered, name, {name: value})
        for name in ("s_max", "dt", "k_v", "d_start", "heartbeat")
        for value in NO_SIZE
    ),
    *((EventTriggered, "d_stop", {"d_stop": value}) for value in (-0.1, nan, "0")),
    *((EventTriggered, "d_start", {"d_stop": value}) for value in (0.02, 0.5)),
    (EventTriggered, "bound", {"bound": "radius"}),
    *(
        (EventTriggered, "levels", {"levels": levels})
        for levels in (
            (), (0.0,), (1.0,), (0.0, 0.5), (0.25, 1.0), (0.0, 0.5, 0.5, 1.0), (0.0, 2.0), 1.0,
            (0.0, 0.6, 0.4, 1.0), (0.0, nan, 1.0), (0.0, "0.5", 1.0), (False, True), "01", None,
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("law", "name", "options"), REFUSED, ids=str)
def test_refused_by_name(law, name, options):
    with pytest.raises(
        ControllerError, match=rf"law's {name}(\[\d\])? (is|must|belongs)"
    ) as caught:
        law(**options)
    assert str(caught.value.key).partition("[")[0] == f"controller.{name}"
    assert "controller." not in str(caught.value)


def test_accepted():
    law = EventTriggered(s_max=2, levels=[0, 0.5, 1], d_stop=0, heartbeat=3)
    assert law.levels == (0.0, 0.5, 1.0)
    assert hash(law) == hash(EventTriggered(s_max=2, levels=(0, 0.5, 1), d_stop=0, heartbeat=3))
    assert (law.traits.information.own, law.traits.information.others) == ("always", "broadcasts")
    other = SelfTriggeredCentroid(v_max=2, epsilon=0, t_max=1)
    assert (other.traits.information.own, other.traits.information.others) == ("always", "samples")
    for each in (law, other):
        traits = each.traits
        assert (traits.top_speed, traits.stays_inside, traits.cost_decreases) == (2.0, True, True)
    assert SelfTriggered(tau_max=1.0, scan=1e-6).scan == 1e-6


def test_intervals_of_a_sequence_are_one_list_for_all_or_one_for_each():
    waits = {"k1": 0.5, "nu": 0.4, "t1": 0.1, "t2": 0.7, "reset": "sequence"}
    alike = Timer(**waits, intervals=(0.2, 0.5)).numbers(3)
    assert alike.intervals.tolist() == [[0.2, 0.5]] * 3
    each = Timer(**waits, intervals=((0.2, 0.5), (0.3, 0.6))).numbers(2)
    assert each.intervals.tolist() == [[0.2, 0.5], [0.3, 0.6]]
    for agents in (1, 3):
        with pytest.raises(ControllerError, match="one per agent"):
            Timer(**waits, intervals=((0.2, 0.5), (0.3, 0.6))).numbers(agents)


def test_times_as_long_as_numbers_allow():
    largest = Timer(k1=1.0, nu=0.4, t1=0.1, t2=LARGEST)
    assert largest.t2 == LARGEST
    with pytest.raises(ControllerError, match="t2"):
        Timer(k1=2.0, nu=0.4, t1=0.1, t2=LARGEST)


def test_a_list_has_one_entry_for_each_agent():
    law = Timer(k1=0.5, nu=0.4, t1=(0.1, 0.2), t2=0.7)
    assert law.numbers(2).t1.tolist() == [0.1, 0.2]
    with pytest.raises(ControllerError, match="one for each of 3 agents"):
        law.numbers(3)
