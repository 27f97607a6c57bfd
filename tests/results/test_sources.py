"""Which edits of the source make a checkpoint unusable: those that may change its numbers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import dwell
from dwell._kernels import _jit
from dwell.agents import CoverageSystem
from dwell.engine import sources
from dwell.errors import StoreError
from dwell.runner import resume_run, run_scenario
from dwell.scenario import parse_scenario
from tests.agents.own_laws import OwnTimer

TIMER = dwell.Timer(k1=0.5, nu=0.3, t1=0.2, t2=0.5)
TABLES = {
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 4]},
    "density": {"kind": "gaussian", "center": [3, 1], "rate": 0.3},
    "agents": {"start": [[1, 1], [3, 3], [1, 3]]},
    "controller": {"kind": "timer", "k1": 0.5, "nu": 0.3, "t1": 0.2, "t2": 0.5},
    "run": {"horizon": 1.0, "seed": 4},
}
PANELS = "_kernels/polygon/guaranteed_moments.py", "REACH = 1.6", "REACH = 1.7"
# Of a run in a polygon under the timer law: a file, what is edited, by what.
KEEPS = {
    "a docstring of a kernel": ("_kernels/polygon/moments.py", '"""Mass,', '"""A mass,'),
    "a comment in a kernel": ("_kernels/polygon/moments.py", "# densities down", "# those down"),
    "a docstring of the law": ("controllers/timer.py", '    """', '    """Once more: '),
    "an empty line": ("_kernels/common/event_loop.py", "@spliced\n", "\n\n@spliced\n"),
    "a kernel of space": ("_kernels/space/moments.py", "WIDE = 3.0", "WIDE = 2.0"),
    "a kernel of discs": ("_kernels/star/ring.py", "WIDEST_ARC = 0.9", "WIDEST_ARC = 0.8"),
    "guaranteed cells": PANELS,
    "another backend": ("cells/simplices.py", " + ", " - "),
    "another law": ("controllers/event_triggered.py", " + ", " - "),
    "what draws": ("plotting/maps.py", " + ", " - "),
}  # fmt: skip
LOSES = {
    "the moments": ("_kernels/polygon/moments.py", " + ", " - "),
    "the event loop": ("_kernels/common/event_loop.py", "until", "until_then"),
    "a constant": ("_kernels/polygon/moments.py", "-600.0", "-500.0"),
    "a quadrature rule": ("_kernels/common/quadrature.txt", "1", "2"),
    "how arrays reach kernels": ("cells/polygon.py", " < ", " <= "),
    "the law": ("controllers/timer.py", "law.k1 * (1.0 +", "law.k1 * (1.0 -"),
    "the density": ("density/gaussian.py", "self.rate * np", "self.rate / np"),
    "the stepper": ("engine/compiled.py", " + ", " - "),
}


LENGTHS = ("_types.py", "np.sqrt(dots(", "np.sqrt(2.0 * dots(")
HILL = dwell.Gaussian((3, 1), rate=0.3)
BOX = dwell.Box((0, 0), (4, 4))
FEEDING = dwell.Timer(k1=0.5, nu=0.3, t1=0.2, t2=0.5, feedforward="neighbours")
EQUATION = dwell.Lloyd(mode="ode")
# Of other runs: a density, a law, and an edit that may change their numbers.
OTHERS = {
    "any run: lengths of vectors": (HILL, TIMER, LENGTHS),
    "any run: times of each agent": (HILL, TIMER, ("_parameters.py", "def each_of", "def each_")),
    "an equation: its solver": (HILL, EQUATION, ("hybrid/ode.py", "0.02 * tol", "0.03 * tol")),
    "an equation: its knots": (HILL, EQUATION, ("agents/continuous.py", "3.0 * st", "2.0 * st")),
    "a law of one's own: a law that it may call": (
        HILL, OwnTimer(), ("controllers/timer.py", "law.k1 * (1.0 +", "law.k1 * (1.0 -")
    ),
    "a law of one's own: cells that it may call": (
        HILL, OwnTimer(), ("cells/simplices.py", " + ", " - ")
    ),
    "a function: a density that it may call": (
        dwell.density.Function(lambda z: 1.0 + z[:, 0]), TIMER,
        ("density/gaussian.py", "self.rate * np", "self.rate / np"),
    ),
    "rates of centroids: integrals along borders": (
        HILL, FEEDING, ("cells/border_integrals.py", "level * self.m0 +", "level * self.m0 -")
    ),
    "neighbours: their cells": (HILL, FEEDING, ("cells/polygon.py", " < ", " <= ")),
    "guaranteed cells": (HILL, dwell.SelfTriggered(), PANELS),
    "guaranteed cells: how arrays reach kernels": (
        HILL, dwell.SelfTriggered(), ("cells/guaranteed.py", "ground.", "the_ground.")
    ),
}  # fmt: skip


def forget() -> None:
    for cached in (
        _jit.imports_of, sources._closure, sources._imported_by, sources._defining,
        sources._file_of, sources._digest,
    ):  # fmt: skip
        cached.cache_clear()


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package, whose source counts as that of this one."""
    root = tmp_path / "dwell"
    for file in [*sources.ROOT.rglob("*.py"), *sources.ROOT.rglob("*.txt")]:
        target = root / file.relative_to(sources.ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    monkeypatch.setattr(sources, "ROOT", root)
    monkeypatch.setattr(_jit, "ROOT", root / "_kernels")
    forget()
    yield root
    forget()


def edit(root: Path, file: str, before: str, after: str) -> None:
    text = (root / file).read_text()
    assert before in text
    (root / file).write_text(text.replace(before, after, 1))
    forget()


def planar() -> CoverageSystem:
    return CoverageSystem(dwell.Box((0, 0), (4, 4)), dwell.Gaussian((3, 1), rate=0.3), TIMER, 3)


@pytest.mark.parametrize("name", KEEPS)
def test_an_edit_of_nothing_that_decides_numbers_changes_no_digest(copied: Path, name: str) -> None:
    before = sources.source_digest(planar())
    edit(copied, *KEEPS[name])
    assert sources.source_digest(planar()) == before


@pytest.mark.parametrize("name", LOSES)
def test_an_edit_of_what_decides_numbers_changes_the_digest(copied: Path, name: str) -> None:
    before, every = sources.source_digest(planar()), sources.source_digest()
    edit(copied, *LOSES[name])
    assert sources.source_digest(planar()) != before
    assert sources.source_digest() != every


@pytest.mark.parametrize("name", OTHERS)
def test_an_edit_of_what_another_run_uses_changes_its_digest(copied: Path, name: str) -> None:
    density, law, edited = OTHERS[name]
    system = CoverageSystem(BOX, density, law, 3)
    before = sources.source_digest(system)
    edit(copied, *edited)
    assert sources.source_digest(system) != before


@pytest.mark.parametrize("feedforward", ["own", "ahead", "neighbours"])
def test_feed_forward_over_a_function_counts_the_cells_of_polygons(feedforward: str) -> None:

    ramp = dwell.density.Function(lambda z: 1.0 + z[:, 0])
    files = sources.sources_of(
        CoverageSystem(BOX, ramp, replace(FEEDING, feedforward=feedforward), 3)
    )
    assert sources.ROOT / "cells" / "polygon.py" in files


def test_each_kind_of_run_has_its_own_sources() -> None:
    cases = {
        "line": (dwell.Interval(0, 1), dwell.Uniform(), TIMER),
        "plane": (dwell.Box((0, 0), (1, 1)), dwell.Uniform(), TIMER),
        "space": (dwell.Box((0, 0, 0), (1, 1, 1)), dwell.Uniform(), TIMER),
        "disc": (dwell.Ball((0, 0), 1), dwell.Uniform(), TIMER),
        "sample": (dwell.Box((0, 0), (1, 1)), dwell.Uniform(), dwell.SelfTriggered()),
    }
    found = {
        name: {
            file.relative_to(sources.ROOT).with_suffix("").as_posix()
            for file in sources.sources_of(CoverageSystem(site, density, law, 2))
        }
        for name, (site, density, law) in cases.items()
    }
    own = {
        "line": "_kernels/line/engine", "plane": "_kernels/polygon/engine",
        "space": "_kernels/space/engine", "disc": "cells/cones",
        "sample": "_kernels/polygon/self_trigger",
    }  # fmt: skip
    for name, kernel in own.items():
        having = {other for other, files in found.items() if kernel in files}
        assert having == ({"plane", "sample"} if name == "plane" else {name}), kernel
    assert not any(file.startswith(("scenario/", "web/", "cli/")) for file in found["plane"])


@pytest.mark.parametrize(("edits", "goes_on"), [(KEEPS, True), (LOSES, False)])
def test_a_stored_run_goes_on_unless_its_source_changed(
    copied: Path, tmp_path: Path, edits: dict[str, tuple[str, str, str]], goes_on: bool
) -> None:
    run_scenario(parse_scenario(TABLES), out=tmp_path / "run.nc", progress=False)
    for one in edits.values() if goes_on else list(edits.values())[:1]:
        edit(copied, *one)
    if goes_on:
        assert resume_run(tmp_path / "run.nc", horizon=1.5, progress=False).horizon == 1.5
        assert dwell.check(tmp_path / "run.nc", progress=False).ok
        return
    with pytest.raises(StoreError) as refused:
        resume_run(tmp_path / "run.nc", horizon=1.5, progress=False)
    assert refused.value.code == "store.kernels"


def test_strings_are_no_comments() -> None:
    text = '''"""A module."""
NAME = "a # b"  # a comment

def f(x):
    """One's own; "quoted" # and not."""
    # alone
    return x + len('#') + len("""kept
 # too""")
'''
    assert (
        sources.plain_source(text)
        == '''NAME = "a # b"
def f(x):
    return x + len('#') + len("""kept
 # too""")'''
    )
