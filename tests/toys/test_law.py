"""A toy law, added as CONTRIBUTING says: run, stored, checked, swept, drawn and served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toys.overlay import Overlay

pytestmark = pytest.mark.slow

LAW = '''
"""Pulses: an agent moves in some of its periods, and rests in the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from dwell._parameters import POSITIVE, RATE, param
from dwell._types import finite_number, listed
from dwell.agents.interfaces import Command, Observation
from dwell.agents.traits import Traits
from dwell.controllers.declared import largest_speed, law, period
from dwell.controllers.saturation import (
    centroid_of,
    gain,
    next_periodic,
    saturated,
    without_sample,
)


@dataclass(frozen=True)
class Pattern:
    """A list of 0 and 1, with a 1 among them."""

    need: str = "a list of 0 and 1, with a 1 among them,"
    limits: str = "0 or 1"
    schema: ClassVar[Any] = {"type": "array", "items": {"enum": [0, 1]}, "contains": {"const": 1}}

    def taken(self, value: object) -> tuple[int, ...]:
        """A tuple of whole numbers."""
        numbers = [finite_number(one) for one in listed(value)]
        if 1.0 not in numbers or not set(numbers) <= {0.0, 1.0}:
            raise ValueError(self.need)
        return tuple(int(one) for one in numbers if one is not None)


@final
@law("pulsed", "Pulsed", "moves in some of its periods, and rests in the others")
class Pulsed:
    """Moves to the centroid in those periods that its pattern has a 1 for.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.Pulsed(dt=0.5, pattern=[1, 0])
    >>> run = dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=40.0)
    >>> run.positions(40.0).ravel().round(2).tolist()
    [0.25, 0.75]
    """

    k2: float = param("the gain", POSITIVE, default=1.0, unit=RATE, role="gain", decays=True)
    dt: float = period(0.1)
    pattern: tuple[int, ...] = param("the periods in which agents move", Pattern(), default=(1, 0))
    speed: float | None = largest_speed()

    @property
    def traits(self) -> Traits:
        """What the law states of itself."""
        return Traits(
            top_speed=self.speed,
            gain=self.k2,
            cost_decreases=self.k2 * self.dt < 2.0,
            nonlinear="agents rest at times",
        )

    def begin(self, observation: Observation) -> Command:
        """Start with the first period."""
        return self.decide(observation)

    def decide(self, observation: Observation) -> Command:
        """Move or rest until the next multiple of dt."""
        assert observation.measurement is not None
        following = next_periodic(observation, self.dt)
        beats = self.pattern[observation.event_count % len(self.pattern)]
        hold = beats * saturated(observation.measurement.error, *gain(self.k2, self.speed))
        return Command(np.asarray(hold), following, memory=centroid_of(observation))

    def miss(self, observation: Observation) -> Command:
        """Without a sample: move to the last known centroid, and stop there."""
        pace = gain(self.k2, self.speed)
        return without_sample(observation, *pace, next_periodic(observation, self.dt))
'''
SECTION = """### `pulsed`

An agent moves in some of its periods, and rests in the others.

<!-- keys of pulsed -->
<!-- end -->

"""
ROW = "| `pulsed` | `dwell.Pulsed` | a test | at events | centroid | every `dt` |\n"
SCENARIO = """
[workspace]
kind = "box"
lower = [0.0, 0.0]
upper = [3.0, 2.0]

[agents]
start = [[0.3, 0.4], [0.9, 1.5], [2.2, 0.5]]

[controller]
kind = "pulsed"
dt = 0.2
speed = 0.5
pattern = [1, 1, 0]

[run]
horizon = 3.0
seed = 2
"""


def added(folder: Path) -> Overlay:
    """The package with the law, after the steps of CONTRIBUTING."""
    package = Overlay(folder)
    package.add("src/dwell/controllers/pulsed.py", LAW.lstrip())
    package.insert(
        "src/dwell/controllers/__init__.py",
        (
            "from dwell.controllers.pulsed import Pulsed\n",
            "from dwell.controllers.self_triggered im",
        ),
        ("    Pulsed,\n", ")\n\n__all__"),
        ('    "Pulsed",\n', '    "SelfTriggered",\n'),
    )
    package.insert(
        "src/dwell/__init__.py",
        ("        Pulsed,\n", "        SelfTriggered,\n"),
        ('"Pulsed", ', '"Raster",\n    "Region", "Run"'),
        ('"Pulsed", ', '"SelfTriggered",\n        "SelfTriggeredCentroid"'),
    )
    return package


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Overlay:
    return added(tmp_path_factory.mktemp("law") / "package")


@pytest.fixture(scope="module")
def used(package: Overlay, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    axis = '"controller.pattern" = [[1, 0], [1, 1, 0]]\n"controller.dt" = [0.1, 0.2]'
    return package.used(SCENARIO, axis, tmp_path_factory.mktemp("used"))


def test_it_runs_and_is_stored(used: dict[str, Any]) -> None:
    assert used["run"]["law"] == used["stored"]["law"] == "pulsed"
    assert used["stored"]["stop"]["reason"] == "horizon"
    assert used["stored"]["samples"]["min"] == 16
    assert used["repr"] == "Pulsed(k2=1.0, dt=0.2, pattern=(1, 1, 0), speed=0.5)"
    assert "pulsed" in used["shown"]


def test_it_is_checked(used: dict[str, Any]) -> None:
    assert used["check"]["ok"]
    held = {one["name"] for one in used["check"]["checks"] if one["status"] == "holds"}
    assert {"speed", "centroid", "jump", "reset"} <= held


def test_it_is_swept_and_drawn(used: dict[str, Any]) -> None:
    assert used["rows"] == 8
    assert {"controller.pattern", "controller.dt"} <= set(used["columns"])
    assert all("<svg" in used["plots"][name] for name in ("toy.nc", "swept"))


def test_it_is_served(package: Overlay) -> None:
    found = package.served(SCENARIO)
    assert found["valid"]["ok"]
    assert found["begin"]["law"] == "pulsed"
    assert found["job"]["summary"]["law"] == "pulsed"
    keys = found["schema"]["$defs"]["PulsedSpec"]["properties"]
    assert keys["pattern"]["contains"] == {"const": 1}
    assert keys["dt"] | {"title": ""} == keys["dt"] | {"title": "", "x-role": "period"}


def test_what_the_package_says_of_it_is_derived(package: Overlay, tmp_path: Path) -> None:
    code = """
import dwell
from dwell.errors import DwellError
from dwell.scenario import parse_scenario
for make in (
    lambda: dwell.Pulsed(pattern=[0, 0]),
    lambda: parse_scenario(
        {"workspace": {"kind": "interval", "bounds": [0, 1]}, "agents": {"start": [0.5]},
         "controller": {"kind": "pulsed", "pattern": [0, 2]}, "run": {"horizon": 1}}),
):
    try:
        make()
    except DwellError as fault:
        print(fault)
print(dwell.Pulsed.__doc__)
"""
    done = package.python("-c", code, cwd=tmp_path)
    assert done.code == 0, done.err
    need = "a list of 0 and 1, with a 1 among them"
    own, in_file, *rest = done.out.splitlines()
    assert own == f"the pulsed law's pattern is [0, 0]; {need}, is needed"
    assert in_file.startswith(f"controller.pattern needs {need}, got [0, 2]")
    assert "pattern : the periods in which agents move." in rest


def test_docs_and_page_get_it(package: Overlay) -> None:
    """Here the steps are those of the docs, and of the generated tables."""
    package.insert("docs/scenario.md", (SECTION, "### `python`\n"))
    package.insert("docs/laws/index.md", (ROW, "| [`python`]"))
    pages = [f"docs/{name}.md" for name in ("results", "compare", "sweeps", "reference")]
    package.generate("docs/tables.py", *pages, "docs/compatibility.md")
    assert "| `pattern` | the periods in which agents move | - | 0 or 1 |" in package.text(
        "docs/scenario.md"
    )
    assert ".. autoclass:: dwell.Pulsed\n" in package.text("docs/reference.md")
    shared = [f"page/src/state/{name}.json" for name in ("tables", "keys", "counted", "figures")]
    package.generate("page/tables.py", *shared)
    laws = json.loads(package.text("page/src/state/tables.json"))["laws"]
    assert laws["pulsed"] == {"name": "Pulsed", "gain": "k2", "period": "dt", "speed": "speed"}
    # Besides: tests/controllers/examples.py, tests/scenario/test_scenario_laws.py, CHANGELOG.md.
    assert len(package.touched) == 5
