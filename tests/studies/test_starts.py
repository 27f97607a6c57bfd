"""Random starts: seeded, inside, of two kinds; quartiles that know about never."""

from __future__ import annotations

import numpy as np

from dwell.scenario.build import build
from dwell.studies.paper.simulations import LAWS, paper_scenario
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
