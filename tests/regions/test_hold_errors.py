"""The hold error of agents that wait where a stretch of their path ends."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell.engine.recorder import expected_events
from tests.regions.sites import U

LAW = dwell.Timer(k1=0.2, nu=0.1, t1=0.2, t2=0.4)


def test_events_and_metrics_measure_one_hold_error():
    site, start = dwell.Region(U, stay=True), [(0.5, 2.5), (0.6, 2.0)]
    run = dwell.simulate(site, None, start, LAW, until=90.0, seed=1)
    events = run.events

    # The limit of the hold error from the left, which is the one that an event ends.
    before = np.nextafter(events.time, 0.0)
    seen = run.hold_errors(before)[np.arange(len(events)), events.agent]

    assert events.hold_error == pytest.approx(seen, abs=1e-9)
    assert run.metrics.hold_errors.max() <= run.summary()["hold_error"]["max"] * (1.0 + 1e-6)
    assert dwell.check(run).ok


def test_events_of_agents_that_stay_are_expected_like_those_of_others():
    law, start = dwell.Timer(k1=0.2, nu=0.1, t1=0.2, t2=1.8), [(0.5, 2.5), (0.6, 2.0)]
    run = dwell.simulate(dwell.Region(U, stay=True), None, start, law, until=90.0, seed=1)

    expected = expected_events(run.system, run.start, 90.0)

    assert expected == pytest.approx(180.0)
    assert len(run.events) == pytest.approx(expected, rel=0.2)


def test_the_verdict_names_what_no_other_code_has_recomputed():
    starts, options = [(0.5, 2.5), (0.6, 2.0)], {"until": 2.0, "seed": 1}
    region = dwell.Region(U, stay=True)
    limited = dwell.simulate(region, None, starts, LAW, radius=1.0, **options)
    values = dwell.Raster(np.ones((3, 3)), origin=(0, 0), pixel=1.0)
    raster = dwell.simulate(region, values, starts, LAW, **options)

    assert "no other code has recomputed its centroids" in dwell.check(limited).says
    assert "no other code" not in dwell.check(raster).says


def test_agents_whose_cell_weighs_nothing_do_not_move():
    values = dwell.Raster([[1.0]], origin=(0, 0), pixel=1.0, outside=0.0)
    start = [(0.5, 0.5), (0.6, 0.2), (3.5, 3.5)]
    run = dwell.simulate(dwell.Box((0, 0), (4, 4)), values, start, LAW, until=5.0, seed=1)

    says = next(flag.says for flag in run.flags if flag.code == "empty-cells")
    assert "did not move" in says
    assert run.positions(5.0)[2].tolist() == [3.5, 3.5]
