"""A toy workspace, added as CONTRIBUTING says: run, stored, checked, swept, drawn and served."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.toys.overlay import Overlay

pytestmark = pytest.mark.slow

WORKSPACE = '''
"""Regular polygons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.errors import WorkspaceError
from dwell.geometry.convex import ConvexRegion, Polygon


@final
@dataclass(frozen=True, eq=False)
class Regular(ConvexRegion):
    """A regular polygon about a center, with its first corner to the right."""

    center: tuple[float, float]
    reach: float
    sides: int = 6

    def __post_init__(self) -> None:
        if not self.sides >= 3:
            raise WorkspaceError(
                f"a regular polygon has {self.sides} sides; at least 3 are needed",
                code="workspace.sides", key="workspace.sides",
            )

    @cached_property
    def polygon(self) -> Polygon:
        """The same as a polygon."""
        angle = 2.0 * np.pi * np.arange(self.sides) / self.sides
        return Polygon(self.center + self.reach * np.column_stack([np.cos(angle), np.sin(angle)]))

    @property
    def repairs(self) -> tuple[str, ...]:
        """Nothing is ever put right."""
        return ()

    @property
    def vertices(self) -> Points:
        """Its corners."""
        return self.polygon.vertices

    @property
    def normals(self) -> Points:
        """Outward unit normal of each edge."""
        return self.polygon.normals

    @property
    def offsets(self) -> Floats:
        """normals . x <= offsets inside."""
        return self.polygon.offsets

    @property
    def faces(self) -> tuple[Ints, ...]:
        """Both vertices of each edge."""
        return self.polygon.faces

    @property
    def volume(self) -> float:
        """Area."""
        return self.polygon.volume

    def nearest(self, points: Points) -> Points:
        """The nearest point of the polygon to each point."""
        return self.polygon.nearest(points)
'''
TABLE = '''class RegularSpec(WorkspaceTable):
    """A regular polygon."""

    made_of = Regular
    dimension: ClassVar[int] = 2
    kind: Literal["regular"] = doc("which form of workspace this is")
    center: Point = doc("the middle, in units of length")
    reach: Positive = doc("the distance from the middle to a corner, a length")
    sides: int = doc("how many sides it has", 6)


'''
SCENARIO = """
[workspace]
kind = "regular"
center = [1.0, 1.0]
reach = 2.0
sides = 5

[agents]
start = { count = 4 }

[controller]
kind = "timer"
k1 = 0.5
nu = 0.2
t1 = 0.1
t2 = 0.3

[run]
horizon = 2.0
seed = 2
"""
AREA = 2.5 * 4.0 * math.sin(0.4 * math.pi)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Overlay:
    package = Overlay(tmp_path_factory.mktemp("workspace") / "package")
    package.add("src/dwell/geometry/regular.py", WORKSPACE.lstrip())
    package.insert(
        "src/dwell/geometry/__init__.py",
        ("from dwell.geometry.regular import Regular\n", "from dwell.geometry.voronoi import"),
        ("Regular | ", "Interval | Polygon | Box | Polytope"),
        ('    "Regular",\n', '    "Star",\n'),
    )
    package.insert(
        "src/dwell/scenario/places.py",
        ("    Regular,\n", "    Workspace,\n)"),
        (TABLE, "# In the order in which they are listed.\n"),
        ("    RegularSpec,\n", ")\nif TYPE_CHECKING:\n    WorkspaceSpec"),
    )
    package.insert(
        "src/dwell/__init__.py",
        ("        Regular,\n", "    )\n    from dwell.motion"),
        ('"Regular", ', '"Run", "Scenario"'),
        ('"Regular", ', '\n    ),\n    "motion"'),
    )
    return package


def test_it_is_used(package: Overlay, tmp_path_factory: pytest.TempPathFactory) -> None:
    axis = '"workspace.sides" = [3, 7]'
    used: dict[str, Any] = package.used(SCENARIO, axis, tmp_path_factory.mktemp("used"))
    assert used["stored"]["stop"]["reason"] == "horizon"
    assert sum(used["stored"]["final_masses"]) == pytest.approx(AREA)
    assert used["check"]["ok"]
    assert used["rows"] == 4
    assert "workspace.sides" in used["columns"]
    assert all("<svg" in used["plots"][name] for name in ("toy.nc", "swept"))


def test_it_is_served(package: Overlay) -> None:
    found = package.served(SCENARIO)
    assert found["valid"]["ok"]
    drawn = found["begin"]["workspace"]
    assert (drawn["kind"], drawn["dimension"], len(drawn["vertices"])) == ("regular", 2, 5)
    assert sum(found["job"]["summary"]["final_masses"]) == pytest.approx(AREA)


def test_laws_designs_and_best_deployments_take_it(package: Overlay, tmp_path: Path) -> None:
    code = """
import dwell
site = dwell.Regular((1.0, 1.0), 2.0, 5)
law = dwell.SelfTriggeredCentroid(v_max=0.5, dt=0.1)
run = dwell.simulate(site, None, [(0.5, 0.5), (1.5, 1.0)], law, until=0.5)
print(run.scenario.workspace.model_dump())
print(dwell.optimize(site, agents=2, starts=1, workers=1).cost > 0)
print(dwell.tessellate(site, [(0.5, 0.5), (1.5, 1.0)]).masses.sum())
"""
    done = package.python("-c", code, cwd=tmp_path)
    assert done.code == 0, done.err
    scenario, positive, mass = done.out.splitlines()
    assert scenario == "{'kind': 'regular', 'center': (1.0, 1.0), 'reach': 2.0, 'sides': 5}"
    assert positive == "True"
    assert float(mass) == pytest.approx(AREA)
