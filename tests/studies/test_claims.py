"""Each claim holds when the runs are as the paper says, and fails when one thing is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dwell
from dwell.agents.state import Spent
from dwell.scenario.build import build
from dwell.studies.paper import simulations
from dwell.studies.paper.claims import Claim, judge
from dwell.studies.paper.simulations import (
    LAWS,
    Pair,
    Simulations,
    TriggerFigures,
    paper_scenario,
    scenarios,
    trigger_figures,
)
from dwell.studies.paper.variations import (
    QUANTITIES,
    SIDE,
    Row,
    as_json,
    quartiles_of,
    start_jobs,
    start_tables,
    values_of,
)

from . import fakes

SLOWER = ("self-triggered-slower", "timer-slower")

# One change of the simulations, and the claims that it must bring down.
BREAKS: list[tuple[dict[str, dict[str, Any]], set[str]]] = [
    ({"n30": {"cost": 203.5}}, {"n30-cost"}),
    ({"n30": {"cost": 198.5}}, {"n30-cost"}),
    ({"n30": {"contact": True}}, {"n30-cost", "n30-error-final"}),
    ({"n30": {"reached_at": 60.5}}, {"n30-coverage"}),
    ({"n30": {"reached_at": None}}, {"n30-coverage"}),
    ({"n30": {"hold_error": 0.41}}, {"n30-hold-error"}),
    ({"n30": {"floor": 2e-9}}, {"n30-error-final"}),
    ({"n30": {"law": dwell.Timer(k1=0.6, nu=0.7, t1=0.01, t2=0.03)}}, {"n30-dwell-bound"}),
    ({"lloyd": {"floor": 1.4e-13}}, {"lloyd-error", *SLOWER}),
    ({"lloyd": {"rests": 80.5}}, {"lloyd-error", *SLOWER}),
    ({"lloyd": {"intervals": [0.02, 0.02]}}, {"lloyd-cells"}),
    ({"self_triggered": {"rests": 150.0}}, {"self-triggered-error", SLOWER[0]}),
    ({"self_triggered": {"counts": {}}}, {"self-triggered-cells"}),
    ({"self_triggered": {"counts": {"guaranteed": 180}}}, {"self-triggered-cells"}),
    (
        {"self_triggered": {"intervals": [0.09, 0.75], "counts": {}}},
        {"self-triggered-intervals", "self-triggered-cells", "self-triggered-communication"},
    ),
    ({"self_triggered": {"places": [(0.0, 0.0), (10.0, 1.0)]}}, {"self-triggered-same-cvc"}),
    ({"self_triggered": {"rests": 50.0}}, {"self-triggered-slower"}),
    (
        {"self_triggered": {"trigger": TriggerFigures(0, 0, 400, 3.1, 0.1)}},
        {"self-triggered-drift"},
    ),
    ({"other_preset": {"trigger": TriggerFigures(0, 0, 9, 0.1, -0.1)}}, {"self-triggered-target"}),
    (
        {"other_preset": {"trigger": TriggerFigures(9, 0, 9, None, None)}},
        {"self-triggered-drift", "self-triggered-target"},
    ),
    ({"timer": {"floor": 1e-13}}, {"timer-error", SLOWER[1]}),
    ({"timer": {"rests": 105.5}}, {"timer-error", SLOWER[1]}),
    ({"timer": {"intervals": [0.3, 0.425]}}, {"timer-cells"}),
    ({"timer": {"intervals": [0.19, 0.425]}}, {"timer-cells", "timer-communication"}),
    ({"timer": {"places": [(10.0, 0.01), (0.01, 0.0)]}}, {"timer-different-cvc"}),
    ({"timer": {"rests": 59.0}}, {"timer-slower"}),
]


@pytest.fixture(autouse=True)
def trigger_of_fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins provide the figures of their triggers themselves."""
    real = simulations.trigger_figures
    fake = lambda run: run.trigger if hasattr(run, "trigger") else real(run)  # noqa: E731
    monkeypatch.setattr(simulations, "trigger_figures", fake)


def failed(found: Simulations) -> set[str]:
    return {claim.id for claim in judge(found) if not claim.holds}


def test_all_hold_when_runs_are_as_the_paper_says() -> None:
    found = [claim.id for claim in judge(fakes.paper())]
    assert len(found) == len(set(found)) == 20
    assert failed(fakes.paper()) == set()
    assert set().union(*(broken for _, broken in BREAKS)) == set(found)  # every claim can fail


@pytest.mark.parametrize(("changes", "broken"), BREAKS)
def test_a_claim_fails_when_its_number_is_wrong(
    changes: dict[str, dict[str, Any]], broken: set[str]
) -> None:
    assert failed(fakes.paper(**changes)) == broken


def test_only_the_column_that_decides_counts() -> None:
    good, bad = fakes.paper(), fakes.paper(n30={"cost": 150.0, "floor": 1.0})
    mixed = Pair(good.n30.exact, bad.n30.grid)
    by_id = {c.id: c for c in judge(Simulations(**{**vars(good), "n30": mixed}))}

    assert by_id["n30-cost"].holds
    assert by_id["n30-cost"].grid == 150.0
    assert not by_id["n30-error-final"].holds
    assert (by_id["n30-error-final"].by, by_id["n30-cost"].by) == ("grid", "exact")


def test_numbers_are_what_they_say() -> None:
    by_id: dict[str, Claim] = {claim.id: claim for claim in judge(fakes.paper())}

    assert by_id["n30-dwell-bound"].exact == pytest.approx(0.0357877, abs=5e-8)
    assert by_id["n30-dwell-bound"].grid is None
    assert by_id["lloyd-cells"].exact == 15_000
    assert by_id["self-triggered-cells"].exact == 1 + 199 * 141
    assert by_id["timer-communication"].exact == pytest.approx(353 / 15_000)
    assert by_id["timer-different-cvc"].exact == pytest.approx(5.0)
    assert by_id["self-triggered-drift"].exact == 0.5
    assert (by_id["self-triggered-intervals"].paper, by_id["self-triggered-intervals"].exact) == (
        0.1,
        pytest.approx(0.75),
    )
    assert by_id["timer-slower"].exact == pytest.approx(78.5 / 60.0)
    assert all(claim.note and claim.says for claim in by_id.values())


def test_cells_at_the_start_count_and_those_at_the_end_do_not() -> None:
    run = fakes.run(intervals=[50.0, 75.0], first=Spent(1, 3, 4))

    np.testing.assert_array_equal(simulations.cells_before_end(run), [8 + 2, 8 + 1])


def test_intervals_that_begin_early_or_never_end_do_not_count() -> None:
    run = fakes.run(intervals=[20.0, 40.0])
    late = simulations.late_intervals(run)

    assert [len(own) for own in late] == [4, 1]
    assert simulations.patient_agents(fakes.run(intervals=[200.0, 200.0])) is None
    assert simulations.patient_agents(fakes.run(intervals=[0.05, 0.5])) == 0.5
    assert simulations.usual_least(fakes.run(intervals=[200.0, 200.0])) is None
    assert simulations.usual_least(fakes.run(intervals=[20.0, 40.0])) == 20.0
    # One interval in five is 0.1 long: too many for nearly all to be longer.
    assert simulations.usual_least(fakes.run(intervals=[0.1, 0.4])) == pytest.approx(0.1)
    assert simulations.usual_least(fakes.run(intervals=[4.0, 0.4])) == pytest.approx(0.4)


def test_figures_of_the_trigger_are_those_of_the_run() -> None:
    law = dwell.SelfTriggered(v=0.2, tau_min=0.15, tau_max=0.3, scan=0.05, delta=0.5)
    start = [(0.3, 0.4), (0.34, 0.4), (3.1, 2.7), (3.6, 0.4)]
    run = dwell.simulate(dwell.Box((0, 0), (4, 3)), None, start, law, until=6.0)
    found = trigger_figures(run)
    marks = np.concatenate([[s.mark for s in run.start.spent], run.events.count("mark")])

    assert found.floor_hits == (marks == 1).sum() > 0
    assert found.ceiling_hits == (marks == 2).sum() > 0
    assert found.intervals == len(run.events) + 4
    assert 0.0 < found.drift < 0.5
    assert found.room > 0.0


def test_a_short_run_of_the_real_thing_is_judged_without_trouble() -> None:
    runs = {name: dwell.run_scenario(scenario) for name, scenario in scenarios(horizon=0.3).items()}
    by_id = {claim.id: claim for claim in judge(Simulations.of(runs))}

    assert by_id["n30-dwell-bound"].holds
    assert by_id["lloyd-error"].exact is None  # there is nothing at t >= 80
    assert not by_id["lloyd-error"].holds
    assert by_id["lloyd-cells"].exact == 30
    assert by_id["self-triggered-intervals"].exact is None


def test_scenarios_of_the_paper_differ_only_as_asked() -> None:
    plain = paper_scenario("timer")
    grid = paper_scenario("timer", 0.4, 7.0)

    assert grid.run.integration.spacing == 0.4
    assert grid.run.horizon == 7.0
    assert grid.controller == plain.controller
    assert grid.agents == plain.agents
    assert paper_scenario("self-triggered", preset="paper-like").controller.preset == "paper-like"


# Random starts: seeded, inside, of two kinds; quartiles that know about never.


def test_starts_are_the_same_every_time_and_differ_from_each_other() -> None:
    tables = start_tables(5)
    assert start_tables(5) == tables
    assert len([name for name in tables if name.startswith("clustered")]) == 2
    placed = {
        name: build(paper_scenario("timer", start=table))[1] for name, table in tables.items()
    }
    assert len({points.tobytes() for points in placed.values()}) == len(tables)
    for name, points in placed.items():
        spread = np.ptp(points, axis=0).max()
        assert points.shape == (12, 2)
        assert (spread <= SIDE) == name.startswith("clustered")


def test_more_starts_do_not_change_the_first_ones() -> None:
    few, many = start_tables(2), start_tables(9)

    assert all(many[name] == table for name, table in few.items())


def test_a_job_for_every_start_and_law() -> None:
    jobs = start_jobs(1, horizon=0.2)

    assert list(jobs) == [f"{s}-{law}" for s in ("spread-1", "clustered-1") for law in LAWS]
    row = jobs["spread-1-timer"](lambda what, share: None)
    assert (row.start, row.law, row.ended) == ("spread-1", "timer", "horizon")
    assert row.values["settled_hundredth"] is None
    assert row.values["looks"] == row.values["cells"] == 1.0


def row(law: str, start: str, settled: float | None) -> Row:
    return Row(start, law, "horizon", {**dict.fromkeys(QUANTITIES, 1.0), "settled_half": settled})


def test_never_counts_as_later_than_everything() -> None:
    assert quartiles_of([1.0, 2.0, 3.0, 4.0])["median"] == 2.0
    assert [*quartiles_of([None, 1.0, None, None]).values()] == [1.0, None, None]
    assert quartiles_of([])["median"] is None


def test_rows_become_a_table() -> None:
    rows = [row("timer", "spread-1", 1.0), row("timer", "clustered-1", None)]
    value = as_json(rows)

    assert values_of(rows, "timer", "settled_half") == [1.0, None]
    assert (value["spread"], value["clustered"]) == (1, 1)
    assert set(value["laws"]["timer"]) == set(QUANTITIES)
