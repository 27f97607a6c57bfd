"""The hold error of agents that wait where a stretch of their path ends."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
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
