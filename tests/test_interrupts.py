"""An interrupt costs no more than what was not done yet."""

import numpy as np

import dwell
import dwell.runner
from dwell import Box, Timer, simulate


def test_an_interrupt_while_measuring_keeps_the_solution(monkeypatch, tmp_path):
    measure, calls = dwell.runner.measure, []

    def impatient(*args, **options):
        calls.append(args)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return measure(*args, **options)

    monkeypatch.setattr("dwell.runner.measure", impatient)
    law = Timer(k1=0.3, nu=0.2, t1=0.1, t2=0.3)
    run = simulate(Box((0, 0), (1, 1)), None, [(0.2, 0.3), (0.7, 0.6)], law, until=5.0)

    assert run.stop.reason.value == "interrupted"
    assert "measuring" in run.stop.detail
    assert len(run.metrics.times) == 0
    assert np.isfinite(run.cost(5.0))
    run.save(tmp_path / "run.nc")
    assert dwell.check(dwell.load_run(tmp_path / "run.nc")).ok
