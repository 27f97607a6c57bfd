"""Worlds that change where other parts of the program meet them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.errors import InputError
from dwell.scenario import parse_scenario
from dwell.scenario.frozen import scenario_at
from tests.worlds.test_runs import CHANGES, HILL, scenario

LAW = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.3)
BOX = dwell.Box((0, 0), (4, 4))
START = [(1.0, 1.0), (2.5, 1.5), (1.5, 3.0)]


def test_a_run_is_not_extended_beyond_what_is_known(tmp_path: Path) -> None:
    path = dwell.Keyframes([0, 1], [(1, 1), (2, 2)])
    hill = dwell.Moving(dwell.Gaussian, center=path, rate=0.5)
    run = dwell.simulate(BOX, hill, START, LAW, until=1.0)
    run.save(tmp_path / "run.nc")
    with pytest.raises(InputError, match="known until 1 only"):
        dwell.resume_run(tmp_path / "run.nc", horizon=2.0)
    assert dwell.load_run(tmp_path / "run.nc").horizon == 1.0


@pytest.mark.parametrize("feedforward", ["own", "ahead"])
def test_feed_forward_knows_neither_ranges_nor_sensors(feedforward: str) -> None:
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.3, feedforward=feedforward)
    with pytest.raises(InputError, match="sensing radii"):
        dwell.simulate(BOX, None, START, law, until=1.0, radius=0.6)
    eyes = [dwell.Sensor("eye", dwell.Uniform(), (0, 1, 2))]
    with pytest.raises(InputError, match="more than the centroid"):
        dwell.simulate(BOX, None, START, law, until=1.0, sensors=eyes)


@pytest.mark.parametrize("kind", ["self-triggered", "self-triggered-centroid", "event-triggered"])
def test_laws_of_guaranteed_cells_need_the_same_agents_all_the_time(kind: str) -> None:
    with pytest.raises(InputError, match="leave or arrive"):
        dwell.run_scenario(scenario(**CHANGES["lives"], controller={"kind": kind}))


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("switch", {"kind": "self-triggered", "v": 0.4, "delta": 0.05}),
        ("moving", {"kind": "self-triggered", "v": 0.4, "delta": 0.05}),
        ("switch", {"kind": "lloyd"}),
        ("lives", {"kind": "lloyd"}),
        ("lives", {"kind": "discrete-lloyd", "step": 0.2, "speed": 2.0}),
        ("moving", {"kind": "event-triggered"}),
    ],
)
def test_what_no_paper_proves_is_not_held_against_a_run(name: str, law: dict[str, Any]) -> None:
    report = dwell.check(dwell.run_scenario(scenario(**CHANGES[name], controller=law)))
    assert report.ok, str(report)


def test_batches_with_starts_of_their_own() -> None:
    whole = parse_scenario(scenario(**CHANGES["lives"]))
    batch = dwell.simulate_many(whole, start_seeds=[2, 3])
    alone = dwell.run_scenario(whole)
    np.testing.assert_array_equal(batch["final_positions"][0], alone.positions(alone.horizon))
    limited = parse_scenario(scenario(agents={"start": {"count": 6, "seed": 2}, "radius": 1.0}))
    places = np.random.default_rng(1).uniform(0.5, 3.5, (2, 5, 2))
    assert dwell.simulate_many(limited, starts=places)["final_positions"].shape == (2, 5, 2)


def test_a_law_of_ones_own_is_compared_with_the_same_radius() -> None:
    class Halfway:
        def begin(self, observation: dwell.Observation) -> dwell.Command:
            return self.decide(observation)

        def decide(self, observation: dwell.Observation) -> dwell.Command:
            assert observation.measurement is not None
            return dwell.Command(0.5 * observation.measurement.error, observation.time + 0.5)

    limited = parse_scenario(scenario(agents={"start": {"count": 6, "seed": 2}, "radius": 1.0}))
    found = dwell.compare(limited, {"timer": LAW, "own": Halfway()})
    assert {run.system.radius for run in found.runs.values()} == {(1.0,) * 6}


def test_figures_have_the_costs_of_both_sides_of_a_switch() -> None:
    from dwell.plotting.worlds import both_sides

    data = scenario(**CHANGES["switch"], agents={"start": {"count": 6, "seed": 2}, "radius": 1.0})
    run = dwell.run_scenario(data)
    metrics = both_sides(run)
    for switch in run.summary()["world"]["switches"]:
        rows = np.flatnonzero(metrics.times == switch["time"])
        costs = metrics.costs[rows]
        assert costs == pytest.approx([switch["cost_before"], switch["cost_after"]], rel=1e-12)


def test_a_density_must_not_be_negative_where_the_boundary_goes() -> None:
    ring = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    away = [(x + 10.0, y) for x, y in ring]
    site = dwell.MovingPolygon(dwell.Keyframes([0, 10], [ring, away]))
    dip = dwell.Polynomial([(0, 0, 26.25), (1, 0, -11.0), (2, 0, 1.0)])
    with pytest.raises(InputError, match="must not be negative"):
        dwell.simulate(site, dip, [(0.5, 0.5)], LAW, until=10.0)


def test_agents_with_nothing_in_range_cover_nothing() -> None:
    ring = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    away = [(x + 20.0, y) for x, y in ring]
    site = dwell.MovingPolygon(dwell.Keyframes([0, 2], [ring, away], after="hold"))
    law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2)
    run = dwell.simulate(site, None, [(0.5, 0.5), (1.5, 1.5)], law, until=6.0, radius=0.3)
    assert run.reached_at is None
    assert run.errors(6.0).tolist() == [0.3, 0.3]


def test_a_scenario_at_one_time_has_its_network() -> None:
    data = scenario(network={"loss": 0.3}, world=[{"from": 2.0, "network": {"loss": 0.0}}])
    whole = parse_scenario(data)
    assert scenario_at(whole, 3.0).network.loss == 0.0
    assert scenario_at(whole, 1.0).network.loss == 0.3


@pytest.mark.parametrize("feedforward", ["none", "own"])
def test_the_first_event_of_an_arrival_is_an_ordinary_sample(feedforward: str) -> None:
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.3, initial_timer=0.15, feedforward=feedforward)
    come = dwell.Switch(at=1.0, arrive=[(3.5, 3.5)])
    run = dwell.simulate(BOX, None, START, law, until=2.0, seed=1, switches=[come])
    first, second = run.events.time[run.events.agent == 3][:2]
    assert first == 1.0
    assert second == pytest.approx(1.2277, abs=0.1)
    assert second != 1.15


def test_flags_say_why_a_certificate_is_void() -> None:
    assumed = {"eta_max": 0.4, "lipschitz": 1.0}
    run = dwell.run_scenario(scenario(certificate=assumed, density=HILL))
    says = {flag.code: flag.says for flag in run.flags}["certificate-void"]
    assert says == "The theorem does not apply, because the density or the workspace moves."


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dwell.Moving(dwell.Uniform, level=dwell.Keyframes([0, 1], [1, 2])), "Gaussian or"),
        (lambda: dwell.Moving(dwell.Gaussian, nonsense=1), "cannot be made"),
        (
            lambda: dwell.Moving(dwell.Gaussian, center=dwell.Circle((0, 0), 1, 2), rate=-1),
            "positive",
        ),
        (
            lambda: dwell.Moving(
                dwell.Polynomial, coefficients=[(0, 0, 1.0)], origin=dwell.Circle((0, 0), 1, 2)
            ),
            "only coefficients may",
        ),
    ],
)
def test_moving_densities_refused(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_one_switch_may_stand_for_a_list() -> None:
    wider = dwell.Switch(at=0.5, workspace=dwell.Box((0, 0), (5, 5)))
    run = dwell.simulate(BOX, None, START, LAW, until=1.0, switches=wider)
    assert run.world(1.0).workspace.volume == 25.0
