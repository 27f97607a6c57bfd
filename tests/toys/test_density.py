"""A toy density, added as CONTRIBUTING says: run, stored, checked, swept, drawn and served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.toys.overlay import Overlay

pytestmark = pytest.mark.slow

DENSITY = '''
"""Slopes: densities that rise in one direction."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from dwell._kernels.common.density_terms import GeneralTerms, Terms
from dwell._parameters import OF_ANY_SIZE, Point, param, parametric
from dwell._types import Floats, Points
from dwell.density.polynomial import Polynomial
from dwell.errors import DensityError


@final
@parametric("density", "the sloping density", DensityError, kind="slope", code="density.slope")
class Slope:
    """A level at the origin, and a gradient."""

    gradient: tuple[float, ...] = param("how fast the density rises", Point(), unit=(-1, 0))
    level: float = param("the density at the origin", OF_ANY_SIZE, default=1.0)

    @property
    def dimension(self) -> int:
        """How many coordinates its points have."""
        return len(self.gradient)

    @property
    def _polynomial(self) -> Any:
        n = self.dimension
        rows = np.column_stack([np.eye(n, dtype=int), self.gradient]).tolist()
        return Polynomial([[0] * n + [self.level], *([*map(int, r[:-1]), r[-1]] for r in rows)])

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        return np.asarray(self._polynomial.at(points))

    def terms(self) -> Terms | None:
        """A polynomial, in the plane."""
        return self._polynomial.terms()

    def general_terms(self, dimension: int) -> GeneralTerms:
        """A polynomial, in n dimensions."""
        return self._polynomial.general_terms(dimension)
'''
SECTION = """### `slope`

<!-- keys of slope -->
<!-- end -->

"""
SCENARIO = """
[workspace]
kind = "box"
lower = [0.0, 0.0]
upper = [3.0, 2.0]

[density]
kind = "mixture"
parts = [{ kind = "slope", gradient = [0.5, 0.0] }, { kind = "uniform", level = 0.5 }]

[agents]
start = [[0.3, 0.4], [0.9, 1.5], [2.2, 0.5]]

[controller]
kind = "lloyd"
dt = 0.1

[run]
horizon = 2.0
seed = 1
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Overlay:
    package = Overlay(tmp_path_factory.mktemp("density") / "package")
    package.add("src/dwell/density/slope.py", DENSITY.lstrip())
    package.insert(
        "src/dwell/density/__init__.py",
        ("from dwell.density.slope import Slope\n", "from dwell.density.uniform"),
        (", Slope", ")\n\n__all__"),
        ('    "Slope",\n', '    "Uniform",\n'),
    )
    package.insert(
        "src/dwell/__init__.py",
        ("        Slope,\n", "        Uniform,\n"),
        ('"Slope", ', '"Switch", "Tessellation", "Timer", "Traits"'),
        ('"Slope", ', '"Uniform",\n    ),'),
    )
    package.insert("docs/scenario.md", (SECTION, "### Mixtures, rasters"))
    return package


@pytest.fixture(scope="module")
def used(package: Overlay, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    alone = SCENARIO[: SCENARIO.index("[density]")] + SCENARIO[SCENARIO.index("[agents]") :]
    alone += '\n[density]\nkind = "slope"\ngradient = [0.5, 0.0]\n'
    axis = '"density.level" = [1.0, 2.0]'
    return package.used(alone, axis, tmp_path_factory.mktemp("used"))


def test_it_is_used(used: dict[str, Any]) -> None:
    assert used["stored"]["stop"]["reason"] == "horizon"
    assert sum(used["stored"]["final_masses"]) == pytest.approx(6.0 + 0.5 * 9.0)
    assert used["check"]["ok"]
    assert used["rows"] == 4
    assert "density.level" in used["columns"]
    assert all("<svg" in used["plots"][name] for name in ("toy.nc", "swept"))


def test_it_is_served(package: Overlay) -> None:
    found = package.served(SCENARIO)
    assert found["valid"]["ok"]
    assert sum(found["job"]["summary"]["final_masses"]) == pytest.approx(9.0 + 0.5 * 9.0)
    keys = found["schema"]["$defs"]["SlopeSpec"]["properties"]
    assert keys["gradient"]["x-unit"] == [-1, 0]


def test_docs_get_it(package: Overlay) -> None:
    pages = [f"docs/{name}.md" for name in ("results", "compare", "sweeps", "reference")]
    package.generate("docs/tables.py", *pages, "docs/compatibility.md")
    row = "| `gradient` | how fast the density rises | 1 / length | one number per dimension |"
    assert row in package.text("docs/scenario.md")


def test_it_is_written_into_a_scenario(package: Overlay, tmp_path: Path) -> None:
    code = """
import dwell
from dwell.scenario.build import build
run = dwell.simulate(
    dwell.Interval(0, 1), dwell.Slope(2.0), [0.2, 0.3], dwell.Lloyd(dt=0.5), until=1.0
)
print(run.scenario.density.model_dump(), type(build(run.scenario)[0].density))
"""
    done = package.python("-c", code, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.startswith("{'kind': 'slope', 'gradient': (2.0,), 'level': 1.0}")
    assert "Slope" in done.out
