"""An interrupt costs no more than what was not done yet."""

import numpy as np
import pytest

import dwell
from dwell import Box, Timer, simulate

LAW = Timer(k1=0.3, nu=0.2, t1=0.1, t2=0.3)


@pytest.mark.parametrize("record", ["events", "samples", "summary"])
@pytest.mark.parametrize("phase", ["preparing", "simulating", "measuring"])
def test_an_interrupt_by_who_watches_keeps_what_was_done(phase, record, tmp_path):
    def impatient(what, share):
        if what.startswith(phase):
            raise KeyboardInterrupt

    start = [(0.2, 0.3), (0.7, 0.6)]
    run = simulate(
        Box((0, 0), (1, 1)), None, start, LAW, until=5000.0, record=record, sample_every=10.0,
        progress=impatient,
    )  # fmt: skip
    assert run.stop.reason.value == ("horizon" if phase == "measuring" else "interrupted")
    assert (run.horizon == 0.0) == (phase == "preparing")
    assert np.isfinite(run.cost(run.horizon))
    run.save(tmp_path / "run.nc")
    kept = dwell.load_run(tmp_path / "run.nc")
    assert kept.horizon == run.horizon
    if record == "events" and phase == "simulating":
        assert dwell.check(kept).ok
