"""Laws in Python that state their largest speed and their gain are compared at the same pace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dwell import Command, Observation, Traits, check, compare
from dwell.errors import ControllerError
from dwell.runner import simulate
from dwell.scenario import Scenario, parse_scenario
from dwell.studies.laws import scenarios_of_laws

MODULE = '''
from dataclasses import dataclass
import numpy as np
from dwell import Command, Traits

@dataclass(frozen=True)
class Silent:
    """States nothing."""
    fast: float = 3.0
    def begin(self, observation):
        return self.decide(observation)
    def decide(self, observation):
        error = observation.measurement.error
        size = float(np.hypot(*error))
        speed = min(self.limit, size / 0.25)
        return Command(error * (speed / size), observation.time + 0.25)
    @property
    def limit(self):
        return self.fast

class Fixed(Silent):
    """States a speed and a gain that cannot be set."""
    traits = Traits(top_speed=0.5, gain=4.0)
    @property
    def limit(self):
        return 0.5

@dataclass(frozen=True)
class Paced(Silent):
    """Takes its speed and its gain as parameters."""
    top_speed: float | None = None
    gain: float | None = None
    @property
    def traits(self):
        return Traits(top_speed=self.top_speed, gain=self.gain)
    @property
    def limit(self):
        return self.top_speed or 9.0
'''


@pytest.fixture
def site(tmp_path: Path) -> dict[str, Any]:
    """Tables of a scenario with classes beside it."""
    (tmp_path / "pace_laws.py").write_text(MODULE)
    return {
        "modules": str(tmp_path),
        "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [4.0, 3.0]},
        "density": {"kind": "uniform"},
        "agents": {"start": [[0.5, 0.5], [0.7, 0.6], [0.6, 0.9]]},
        "controller": {"kind": "timer", "k1": 0.75, "nu": 0.25, "t1": 0.1, "t2": 0.2},
        "run": {"horizon": 1.5, "seed": 1},
    }


def made(site: dict[str, Any], **controller: Any) -> Scenario:
    return parse_scenario({**site, "controller": controller} if controller else site)


def test_a_class_with_these_parameters_gets_the_pace_of_the_scenario(site: dict[str, Any]) -> None:
    found = compare(made(site), ["timer", "pace_laws:Paced"], workers=1)
    law = found.runs["pace_laws:Paced"].system.controller
    assert (law.top_speed, law.gain) == (0.75, 3.0)
    speeds = {name: row["top_speed"] for name, row in found.figures.items()}
    assert speeds == pytest.approx({"timer": 0.75, "pace_laws:Paced": 0.75}, rel=1e-9, abs=0.0)
    assert not found.notes
    table = {"kind": "python", "class": "pace_laws:Paced", "top_speed": 0.6}
    kept = compare(made(site), {"mine": table}, workers=1)
    assert kept.runs["mine"].system.controller.top_speed == 0.6
    assert "mine: top_speed = 0.6 makes the largest speed 0.6" in kept.notes[0]
    free = scenarios_of_laws(made(site), ["pace_laws:Paced"], match=False)
    assert free["pace_laws:Paced"].controller.model_extra == {}


def test_other_laws_get_the_pace_that_a_class_states(site: dict[str, Any]) -> None:
    own = made(site, kind="python", **{"class": "pace_laws:Fixed"})
    laws = scenarios_of_laws(own, ["python", "lloyd", "event-triggered", "pace_laws:Paced"])
    assert laws["lloyd"].controller.speed == 0.5
    assert laws["lloyd"].controller.k2 == 4.0
    assert laws["event-triggered"].controller.s_max == 0.5
    assert laws["pace_laws:Paced"].controller.model_extra == {"top_speed": 0.5, "gain": 4.0}
    assert laws["python"].controller == own.controller


@pytest.mark.parametrize(
    ("own", "law", "note"),
    [
        ({}, "pace_laws:Silent", "pace_laws:Silent: its traits have no top_speed, so the"),
        (
            {},
            "pace_laws:Fixed",
            "top_speed = 0.5 makes the largest speed 0.5; that of the scenario",
        ),
        (
            {"kind": "python", "class": "pace_laws:Silent"},
            "lloyd",
            "(python, a class whose traits have no top_speed) sets no largest speed: the others",
        ),
    ],
    ids=["silent", "fixed", "silent scenario"],
)
def test_what_a_class_does_not_state_or_take_is_noted(
    site: dict[str, Any], own: dict[str, Any], law: str, note: str
) -> None:
    found = compare(made(site, **own), [law], workers=1)
    assert note in found.notes[0]


@dataclass(frozen=True)
class Told:
    """A controller of this process, which no scenario can name."""

    top_speed: Any = 0.2

    @property
    def traits(self) -> Traits:
        return Traits(top_speed=self.top_speed)

    def begin(self, observation: Observation) -> Command:
        return self.decide(observation)

    def decide(self, observation: Observation) -> Command:
        return Command(np.array([0.2, 0.0]), observation.time + 0.5)


def test_a_controller_is_run_as_it_is_and_noted(site: dict[str, Any]) -> None:
    class Local(Told):
        pass

    notes = compare(made(site), {"mine": Local()}, workers=1).notes
    assert "mine: top_speed = 0.2 makes the largest speed 0.2" in notes[0]
    assert "mine: its traits have no gain, so the speed per distance" in notes[1]


def test_a_stated_speed_is_verified_and_must_be_a_speed() -> None:
    place = ([(0, 0), (4, 0), (4, 3), (0, 3)], None, [(0.5, 0.5), (0.7, 0.6)])
    assert _speed_check(simulate(*place, Told(0.2), until=1.0)) == "holds"
    assert _speed_check(simulate(*place, Told(0.19), until=1.0)) == "violated"
    for none in (None, float("inf")):
        assert _speed_check(simulate(*place, Told(none), until=1.0)) is None
    for wrong in ("fast", 0.0, -1.0, float("nan"), [0.2]):
        with pytest.raises(ControllerError, match=r"Told has top_speed = .*; a number above 0"):
            simulate(*place, Told(wrong), until=1.0)


def _speed_check(run: Any) -> str | None:
    return next((f.status for f in check(run).findings if f.name == "speed"), None)
