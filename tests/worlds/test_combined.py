"""Changes of the world combined with each other, and with what else the program does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.errors import InputError
from dwell.plotting.figures import trajectories
from dwell.scenario import parse_scenario
from tests.cli.shell import dwell as command
from tests.worlds.test_runs import scenario

LAW = dwell.Timer(k1=0.5, nu=0.3, t1=0.1, t2=0.3)
BOX = dwell.Box((0, 0), (4, 4))
START = [(1.0, 1.0), (2.5, 1.5), (1.5, 3.0)]
PATH = dwell.Keyframes([0, 2], [(0, 0), (1, 1)])
HILL = dwell.Moving(dwell.Gaussian, center=PATH, rate=0.5)
DISCS = {
    "disc": dwell.Ball((0, 0), 3.0),
    "ellipse": dwell.Ellipsoid((0, 0), (3.0, 2.0)),
}


@pytest.mark.parametrize("feedforward", ["none", "ahead"])
@pytest.mark.parametrize("name", DISCS)
def test_a_density_moves_in_discs_and_ellipses(name: str, feedforward: str) -> None:
    law = dwell.Timer(k1=0.5, nu=0.3, t1=0.1, t2=0.3, feedforward=feedforward)
    places = [(1.0, 1.0), (2.0, 0.0), (-1.0, 0.3)]
    run = dwell.simulate(DISCS[name], HILL, places, law, until=1.0, sample_every=0.5)
    cells = dwell.tessellate(DISCS[name], run.positions(0.7), HILL.now(0.7))
    np.testing.assert_allclose(run.cost(0.7), cells.cost, rtol=1e-12)
    assert dwell.check(run).ok


@pytest.mark.parametrize("kind", ["timer", "lloyd", "tvd", "minimum-energy"])
def test_validate_refuses_feed_forward_where_rates_are_not_known(kind: str, tmp_path: Path) -> None:
    law = {"timer": 'feedforward = "own"\nk1 = 0.5\nnu = 0.3\nt1 = 0.1\nt2 = 0.3'}
    law |= {"lloyd": 'feedforward = "neighbours"'}
    path = tmp_path / "disc.toml"
    path.write_text(f"""
        [workspace]
        kind = "ball"
        center = [0, 0]
        radius = 3.0
        [density]
        kind = "gaussian"
        center = {{ times = [0, 2], values = [[0, 0], [1, 1]] }}
        rate = 0.5
        [agents]
        start = [[1, 1], [2, 0]]
        [controller]
        kind = "{kind}"
        {law.get(kind, "")}
        [run]
        horizon = 2.0
        """)
    before, then = command("validate", path), command("run", path)
    assert "needs an interval or a flat-sided workspace of the plane" in before.err
    assert (before.code, before.err) == (2, then.err)


def test_one_time_of_a_moving_world_is_optimized() -> None:
    for at, center in ((0.0, (1, 1)), (2.0, (2, 2))):
        hill = dwell.Moving(
            dwell.Gaussian, center=dwell.Keyframes([0, 2], [(1, 1), (2, 2)]), rate=2
        )
        found = dwell.optimize(BOX, hill, 2, starts=2, at=at)
        still = dwell.optimize(BOX, dwell.Gaussian(center, rate=2), 2, starts=2)
        np.testing.assert_array_equal(found.positions, still.positions)
    ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
    wide = [(0, 0), (2, 0), (2, 1), (0, 1)]
    site = dwell.MovingPolygon(dwell.Keyframes([0, 2], [ring, wide]))
    assert dwell.optimize(site, None, 2, starts=2, at=2.0).cost == pytest.approx(2 / 6, rel=1e-12)
    data = scenario(world=[{"from": 1.0, "density": {"kind": "uniform"}}])
    later = dwell.optimize(data, starts=2, at=1.0)
    assert isinstance(later.density, dwell.Uniform)


@pytest.mark.parametrize("at", [-1.0, float("nan"), "now", 5.0])
def test_a_time_that_is_not_known_is_not_optimized(at: Any) -> None:
    with pytest.raises(InputError, match="is needed"):
        dwell.optimize(BOX, HILL, 2, starts=1, at=at)


def test_polynomials_that_move_are_stored(tmp_path: Path) -> None:
    terms = dwell.Keyframes([0, 2], [[(0, 0, 1.0), (1, 0, 0.0)], [(0, 0, 1.0), (1, 0, 0.5)]])
    slope = dwell.Moving(dwell.Polynomial, coefficients=terms)
    run = dwell.simulate(BOX, slope, START, LAW, until=1.0)
    run.save(tmp_path / "run.nc")
    again = dwell.load_run(tmp_path / "run.nc")
    assert again.scenario == run.scenario
    assert dwell.check(again).ok


LISTS: dict[str, dict[str, Any]] = {
    "ids": {"ids": (0, 1, 2)},
    "radius": {"radius": [1.0, 1.0, 1.0]},
    "t1": {"law": dwell.Timer(k1=0.5, nu=0.3, t1=[0.1, 0.1, 0.1], t2=0.3)},
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_per_agent_include_those_that_arrive(name: str) -> None:
    given = dict(LISTS[name])
    law = given.pop("law", LAW)
    come = dwell.Switch(at=1.0, arrive=[(3.0, 3.5), (3.5, 3.0)])
    with pytest.raises(InputError, match="2 of which arrive later"):
        dwell.simulate(BOX, None, START, law, until=2.0, switches=[come], **given)


def test_a_comparison_is_refused_before_any_law_runs() -> None:
    class Watcher:
        traits = dwell.Traits(information=dwell.Information(others="samples"))

        def begin(self, observation: dwell.Observation) -> dwell.Command:
            return dwell.Command(0.0 * observation.position, observation.time + 1.0)

        decide = begin

    limited = parse_scenario(scenario(agents={"start": {"count": 6, "seed": 2}, "radius": 1.0}))
    ran: list[str] = []
    for laws in ({"timer": LAW, "tvd": dwell.TVD()}, {"timer": LAW, "own": Watcher()}):
        with pytest.raises(InputError, match="sensing radii"):
            dwell.compare(limited, laws, workers=1, finished=lambda name, _: ran.append(name))
    assert ran == []


def test_what_is_out_of_range_costs_the_same_whoever_is_present() -> None:
    leave = dwell.Switch(at=1.0, leave=[2])
    radii = [0.5, 0.5, 1.0]
    run = dwell.simulate(BOX, None, START, LAW, until=2.0, switches=[leave], radius=radii)
    (switch,) = run.summary()["world"]["switches"]
    cells = dwell.tessellate(BOX, run.positions(1.0), radius=radii)
    assert switch["cost_before"] == pytest.approx(cells.cost, rel=1e-12)
    lost = cells.masses[2] * 1.0**2 - cells.costs[2]  # R is 1 before and after
    assert switch["cost_after"] - switch["cost_before"] == pytest.approx(lost, rel=1e-9)


@pytest.mark.parametrize("kinds", [6, 7])
def test_long_names_of_sensors_leave_the_figure_its_size(kinds: int) -> None:
    owned = {"smoke": (0, 3, 5), "heat": (1, 3, 4, 5), "radiation": (2, 4, 5)}
    if kinds == 7:
        owned = {name: (*owners, 6) for name, owners in owned.items() if name != "heat"} | {
            "heat": owned["heat"]
        }
    team = [dwell.Sensor(name, dwell.Uniform(), owners) for name, owners in owned.items()]
    arrive = [(3.0, 3.5), (3.5, 3.0), (0.5, 2.5), (0.5, 3.5)][: kinds - 3]
    come = [dwell.Switch(at=0.5, arrive=arrive, leave=[0])]
    run = dwell.simulate(BOX, None, START, LAW, until=1.0, sensors=team, switches=come)
    figure = trajectories(run)
    figure.canvas.draw()
    (ax,) = (ax for ax in figure.axes if ax.get_legend() is not None)
    assert ax.get_window_extent().width > 0.7 * figure.bbox.width
    legend = ax.get_legend()
    box = legend.get_window_extent()
    assert 0.0 <= box.x0 < box.x1 <= figure.bbox.width
    assert any("radiation" in text.get_text() for text in legend.get_texts())
