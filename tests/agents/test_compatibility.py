"""What goes with what: one table, and the features of worlds by which it is read."""

from __future__ import annotations

import ast
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Information, Traits
from dwell._compatibility import TABLE, Feature, Need, Refusal, fits, of_dimension, refusals, refuse
from dwell.agents import CoverageSystem, Network, Sensor
from dwell.agents.traits import traits_of
from dwell.agents.world import Timeline, World
from dwell.density import Function, Raster
from dwell.density.moving import Moving
from dwell.errors import InputError
from dwell.geometry import MovingPolygon
from dwell.motion import Keyframes
from dwell.scenario.build import refuse_unfit
from tests.agents.own_laws import Odd

SOURCE = Path(dwell.__file__).parent
BOX, HILL = dwell.Box((0, 0), (4, 3)), dwell.Gaussian(center=(2, 1), rate=0.3)
CUBE, LINE = dwell.Box((0,) * 3, (1,) * 3), dwell.Interval(0, 1)
HIGH, DISC, BALL = dwell.Box((0,) * 4, (1,) * 4), dwell.Ball((0, 0), 1), dwell.Ball((0,) * 3, 1)
ANGLED = [(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)]
REGION, STAYING = dwell.Region([ANGLED]), dwell.Region([ANGLED], stay=True)
TIMER = dwell.Timer(k1=0.5, nu=0.2, t1=0.1, t2=0.2)
PIXELS = Raster(np.ones((6, 8)), origin=(0, 0), pixel=0.5)
DRIFTING = Moving(
    dwell.Gaussian, center=Keyframes(times=(0.0, 1.0), values=((1.0, 1.0), (2.0, 2.0))), rate=0.3
)
SWELLING = MovingPolygon(
    Keyframes(
        times=(0.0, 1.0),
        values=(((0, 0), (2, 0), (2, 2), (0, 2)), ((0, 0), (3, 0), (3, 3), (0, 3))),
    )
)


RISING = Moving(
    dwell.Gaussian, center=Keyframes((0.0, 1.0), ((0.2, 0.2, 0.2), (0.5, 0.5, 0.5))), rate=0.3
)
SENSORS = Sensor("a", HILL, (0, 1)), Sensor("b", dwell.Uniform(), (1, 2))


def system(site: Any = BOX, density: Any = HILL, law: Any = TIMER, **more: Any) -> CoverageSystem:
    return CoverageSystem(site, density, law, more.pop("agents", 3), **more)


def changing(site: Any = BOX, density: Any = HILL, law: Any = TIMER, **more: Any) -> CoverageSystem:
    timeline = Timeline((World(0.0, site, density),))
    now = site.now(0.0) if isinstance(site, MovingPolygon) else site
    return CoverageSystem(now, dwell.Uniform(), law, 3, changes=timeline, **more)


WORLDS = {
    Feature.LINE: lambda: system(LINE, dwell.Uniform()),
    Feature.PLANE: system,
    Feature.SPACE: lambda: system(CUBE, dwell.Uniform()),
    Feature.HIGH: lambda: system(HIGH, dwell.Uniform()),
    Feature.CURVED: lambda: system(DISC, dwell.Uniform()),
    Feature.REGION: lambda: system(REGION),
    Feature.STAY: lambda: system(STAYING),
    Feature.RASTER: lambda: system(density=PIXELS),
    Feature.FUNCTION: lambda: system(density=Function(lambda z: 1.0 + z[:, 0])),
    Feature.GRID: lambda: system(spacing=0.25),
    Feature.RADIUS: lambda: system(radius=(1.0, 1.0, 1.0)),
    Feature.NETWORK: lambda: system(network=Network(loss=0.2)),
    Feature.CHANGES: lambda: changing(density=DRIFTING),
    Feature.MOVING: lambda: changing(density=DRIFTING),
    Feature.BOUNDARY: lambda: changing(SWELLING, dwell.Uniform()),
    Feature.SITES: lambda: changing(SWELLING, dwell.Uniform()),
    Feature.UNTRACKED: lambda: changing(SWELLING, dwell.Uniform()),
    Feature.ALONE: lambda: system(agents=1),
    Feature.NO_TIMER: lambda: system(law=dwell.Lloyd()),
    Feature.NO_PROGRAM: lambda: system(law=Odd()),
    Feature.MESSAGES: lambda: system(law=dwell.EventTriggered()),
    Feature.BEYOND_SAMPLES: lambda: system(law=dwell.TVD()),
    Feature.FOLLOWING: lambda: system(law=replace(TIMER, feedforward="own")),
    Feature.FIRST_HOLD: lambda: system(law=replace(TIMER, initial_hold=((0.0, 0.0),) * 3)),
}


@pytest.mark.parametrize("feature", WORLDS, ids=lambda one: one.value)
def test_features_of_worlds_are_found(feature: Feature) -> None:
    plain = system().features[0]
    assert plain == {Feature.PLANE}
    assert feature in WORLDS[feature]().features[0]


CELLS = [(need, together, cell) for need, row in TABLE.items() for together, cell in row.items()]


@pytest.mark.parametrize(("need", "together", "cell"), CELLS, ids=str)
def test_cells_have_sentences_and_codes(
    need: Need, together: tuple[Feature, ...], cell: Refusal
) -> None:
    fields = {name for _, name, _, _ in string.Formatter().parse(cell.says) if name}
    assert fields <= {"law", "workspace", "n", "density"}
    assert bool(cell.code) == bool(cell.key)
    assert next(refusals(need, together)) == cell  # no other cell hides this one
    given = dict.fromkeys(("law", "workspace", "n", "density"), "NAME")
    if cell.code:
        with pytest.raises(cell.error) as bad:
            refuse(need, together, **given)
        assert (bad.value.code, bad.value.key) == (cell.code, cell.key)
        assert "{" not in str(bad.value).replace("{ kind", "")


def test_a_cell_refuses_worlds_with_all_of_its_features() -> None:
    plane, function = {Feature.PLANE}, {Feature.FUNCTION}
    assert not fits(Need.WEIGHTS, plane | function)
    assert not fits(Need.WEIGHTS, plane | function | {Feature.NETWORK})
    assert fits(Need.WEIGHTS, plane)
    assert fits(Need.WEIGHTS, function | {Feature.LINE})


def test_every_need_has_a_row() -> None:
    assert set(TABLE) == set(Need)
    assert [of_dimension(n).value for n in (1, 2, 3, 4, 9)] == [
        "on the line", "in the plane", "in three dimensions", *["in four dimensions or more"] * 2
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "compiles"),
    [
        (system, True),
        (lambda: system(LINE, dwell.Uniform()), True),
        (lambda: system(CUBE, dwell.Uniform()), True),
        (lambda: system(dwell.Ball((0,), 1), dwell.Uniform()), True),
        (lambda: system(density=PIXELS), True),
        (lambda: system(spacing=0.25), True),
        (lambda: system(radius=(1.0, 1.0, 1.0)), True),
        (lambda: system(LINE, dwell.Uniform(), radius=(0.1, 0.1, 0.1)), False),
        (lambda: system(REGION), True),
        (lambda: changing(density=DRIFTING), True),
        (lambda: changing(density=DRIFTING, radius=(1.0, 1.0, 1.0)), True),
        (lambda: changing(SWELLING, dwell.Uniform()), False),
        (lambda: system(STAYING), False),
        (lambda: system(DISC, dwell.Uniform()), False),
        (lambda: system(BALL, dwell.Uniform()), False),
        (lambda: system(HIGH, dwell.Uniform()), False),
        (lambda: system(network=Network(loss=0.2)), False),
        (lambda: system(law=Odd()), False),
    ],
)
def test_which_systems_the_compiled_loop_runs(made: Any, compiles: bool) -> None:
    assert made().compiles is compiles


class Guarded(Odd):
    """A law of one's own that works with guaranteed cells."""

    traits = Traits(guaranteed=True)


class Watching(Odd):
    """A law of one's own that knows its neighbours' positions."""

    traits = Traits(information=Information(others="samples"))


@pytest.mark.parametrize(
    ("made", "code", "match"),
    [
        (lambda: system(REGION, law=Guarded()), "workspace.region", "is not convex"),
        (
            lambda: system(HIGH, dwell.Uniform(), Guarded()),
            "controller.dimension",
            "Guarded works with",
        ),
        (lambda: system(density=PIXELS, law=Guarded()), "density.raster", "Guarded works with"),
        (lambda: changing(SWELLING, law=Guarded()), "world.guaranteed", "the boundary moves"),
        (lambda: system(STAYING, law=Watching()), "workspace.stay", "came with Watching"),
        (lambda: system(law=Watching(), radius=(1.0,) * 3), "agents.radius", "with Watching"),
        (lambda: system(density=PIXELS, radius=(1.0,) * 3), "agents.radius", "came with a raster"),
        (lambda: system(CUBE, dwell.Uniform(), dwell.SelfTriggered()), "", ""),
    ],
)
def test_laws_are_refused_by_what_they_state(made: Any, code: str, match: str) -> None:
    if not code:
        refuse_unfit(made())
        return
    with pytest.raises(InputError, match=match) as bad:
        refuse_unfit(made())
    assert bad.value.code == code


class Equation(Odd):
    """A differential equation of one's own, with a gain."""

    traits = Traits(accuracy=1e-6, gain=1e4)

    def velocities(self, errors: Any) -> Any:
        return 1e4 * errors


class Steering(Odd):
    """A law of one's own that follows the world by the rate of its centroid."""

    traits = Traits(information=Information(world="rate"))


OWN = (
    lambda: changing(density=DRIFTING, law=Equation()),
    lambda: system(law=Equation(), network=Network(loss=0.2)),
    lambda: system(law=Equation(), spacing=0.25),
    lambda: changing(SWELLING, dwell.Uniform(), Guarded()),
    lambda: system(HIGH, dwell.Uniform(), Guarded()),
    lambda: changing(CUBE, RISING, Steering()),
    lambda: system(law=Watching(), changes=Timeline((World(0.0, BOX, HILL),), sensors=SENSORS)),
)


@pytest.mark.parametrize("made", OWN)
def test_sentences_about_own_laws_name_these(made: Any) -> None:
    one = made()
    with pytest.raises(InputError) as bad:
        refuse_unfit(one)
    says = str(bad.value)
    assert "controller.kind = " not in says
    assert not says.startswith("controller")
    key = str(bad.value.key)
    assert not key.startswith("controller.") or key == "controller.kind"


def test_a_stiff_equation_of_one_s_own_has_no_gain_in_its_file() -> None:
    with pytest.raises(InputError, match="the gain of Equation is 10000") as bad:
        dwell.simulate(BOX, None, [[1, 1], [2, 2]], Equation(), until=1e3)
    assert bad.value.key == "controller.kind"


def test_sentences_about_built_in_laws_name_their_keys() -> None:
    with pytest.raises(InputError, match="lloyd is a differential equation, which needs a") as bad:
        refuse_unfit(changing(density=DRIFTING, law=dwell.Lloyd(mode="ode")))
    assert bad.value.key == "controller.mode"
    with pytest.raises(InputError, match="self-triggered works with guaranteed cells") as bad:
        refuse_unfit(changing(SWELLING, dwell.Uniform(), dwell.SelfTriggered()))
    assert bad.value.key == "controller.kind"


# Every feature of a world that a run can have, as arguments of `dwell.simulate`.
FRAMED = dwell.Box((0, 0), (3, 3))
PLACES = [[0.4, 0.45], [0.7, 0.4], [0.5, 0.8]]
RUNS: dict[Feature, dict[str, Any]] = {
    Feature.LINE: {"workspace": LINE, "density": None, "start": [[0.2], [0.5], [0.7]]},
    Feature.PLANE: {},
    Feature.SPACE: {
        "workspace": CUBE,
        "density": None,
        "start": [[*place, 0.5] for place in PLACES],
    },
    Feature.HIGH: {
        "workspace": HIGH,
        "density": None,
        "start": [[*place, 0.5, 0.4] for place in PLACES],
    },
    Feature.CURVED: {"workspace": DISC},
    Feature.REGION: {"workspace": REGION},
    Feature.STAY: {"workspace": STAYING},
    Feature.RASTER: {"density": PIXELS},
    Feature.PIXELS: {"density": replace(PIXELS, interpolation="constant")},
    Feature.FUNCTION: {"density": Function(lambda z: 1.0 + z[:, 0])},
    Feature.GRID: {"spacing": 0.25},
    Feature.RADIUS: {"radius": 1.0},
    Feature.SENSORS: {"density": None, "sensors": SENSORS},
    Feature.NETWORK: {"network": Network(loss=0.2, delay=0.01)},
    Feature.PRESENCE: {"switches": [dwell.Switch(at=0.2, leave=(0,), arrive=[[2.0, 2.0]])]},
    Feature.CHANGES: {"switches": [dwell.Switch(at=0.2, density=dwell.Uniform())]},
    Feature.MOVING: {"density": DRIFTING},
    Feature.BOUNDARY: {"workspace": SWELLING, "density": None},
    Feature.ALONE: {"start": PLACES[:1]},
}
LAWS_OF: dict[Need, tuple[Any, dict[str, Any]]] = {
    Need.COMPILED: (TIMER, {}),
    Need.RADIUS: (TIMER, RUNS[Feature.RADIUS]),
    Need.GRID: (TIMER, RUNS[Feature.GRID]),
    Need.BEYOND_CENTROID: (replace(TIMER, reset="adaptive", eta_max=0.2), {}),
    Need.FADING: (dwell.EventTriggered(), {}),
    Need.EQUATION: (dwell.Lloyd(mode="ode", tolerance=1e-3), {}),
    Need.GUARANTEED: (dwell.SelfTriggered(v=0.4), {}),
    Need.FOLLOWING: (replace(TIMER, feedforward="own"), {}),
}


@pytest.mark.parametrize("feature", RUNS, ids=lambda one: one.value)
@pytest.mark.parametrize("need", LAWS_OF, ids=lambda one: one.value)
def test_empty_cells_run_and_others_are_refused(need: Need, feature: Feature) -> None:
    """What the table does not refuse runs; the rest is refused with a code of the table."""
    law, more = LAWS_OF[need]
    given = {"workspace": FRAMED, "density": HILL, "start": PLACES, **more, **RUNS[feature]}
    run, fault = None, None
    try:
        run = dwell.simulate(controller=law, until=0.4, **given)
    except InputError as refused:
        fault = refused
    if run is None:
        assert fault.code in {
            cell.code
            for one, together, cell in CELLS
            if cell.code and feature in together and one in (need, *traits_of(law).needs)
        }
        return
    assert dwell.check(run).ok
    assert need is Need.COMPILED or run.system.fits(need)


def test_laws_of_guaranteed_cells_are_refused_before_they_run() -> None:
    places = [[0.25] * 4, [0.75] * 4]
    with pytest.raises(InputError, match="at most 3 dimensions, got 4") as bad:
        dwell.simulate(HIGH, None, places, dwell.SelfTriggered(), until=1.0)
    assert (bad.value.code, bad.value.key) == ("controller.dimension", "controller.kind")


def test_codes_of_the_table_stand_in_no_other_file() -> None:
    """Not even in one that says no `code=`; codes that also refuse values are named here.

    Keys may be called as codes are, as arguments and in dictionaries.
    """
    values = {"density.derivatives", "density.raster", "design.law", "fleet", "workspace.stay"}
    values |= {"agents.radius"}
    codes = {cell.code for _, _, cell in CELLS if cell.code} - values
    for path in SOURCE.rglob("*.py"):
        if path.name == "_compatibility.py":
            continue
        nodes = list(ast.walk(ast.parse(path.read_text())))
        keys = [n.value for n in nodes if isinstance(n, ast.keyword) and n.arg == "key"]
        keys += [key for n in nodes if isinstance(n, ast.Dict) for key in n.keys if key is not None]
        for node in nodes:
            if isinstance(node, ast.Constant) and node not in keys:
                assert node.value not in codes, f"{path.name}:{node.lineno}: {node.value}"
