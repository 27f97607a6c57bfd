"""An interrupt costs no more than what was not done yet."""

import time

import numpy as np
import pytest

import dwell
from dwell import Box, Timer, simulate
from dwell.agents import CoverageSystem
from dwell.density import as_density
from dwell.density.looking import in_blocks
from dwell.results.recorder import default_samples

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


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_is_heard_between_blocks(threads):
    done = []

    def work(lo, hi):
        done.append(lo)
        time.sleep(0.001)  # so that the others are not through before the interrupt is heard
        if lo == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_blocks(work, 50_000, threads, block=10)
    assert len(done) < 4000  # the rest of 5000 was left undone


def test_blocks_cover_everything_once():
    for count in (0, 1, 9, 10, 11, 35):
        for threads in (1, 2):
            done = np.zeros(count, dtype=int)

            def work(lo, hi, done=done):
                done[lo:hi] += 1

            in_blocks(work, count, threads, block=10)
            assert (done == 1).all()


@pytest.mark.parametrize(
    ("workspace", "density", "samples"),
    [
        (Box((0, 0), (1, 1)), None, 1000),
        (Box((0, 0), (1, 1)), lambda z: 1.0 + z[:, 0], 1000),
        (Box((0, 0, 0), (1, 1, 1)), None, 1000),
        (Box((0, 0, 0), (1, 1, 1)), lambda z: 1.0 + z[:, 0], 100),
        (Box((0,) * 4, (1,) * 4), None, 100),
        (dwell.Ball((0,) * 4, 1), None, 100),
    ],
)
def test_where_looks_take_long_there_are_fewer_samples(workspace, density, samples):
    weight = dwell.Uniform() if density is None else as_density(density)
    system = CoverageSystem(workspace, weight, LAW, 2, 0)
    assert default_samples(system) == samples


def test_samples_that_are_asked_for_are_taken():
    start = [[0.2] * 4, [0.7] * 4]
    space = Box((0,) * 4, (1,) * 4)
    assert len(simulate(space, None, start, LAW, until=1.0).metrics.times) == 101
    run = simulate(space, None, start, LAW, until=1.0, sample_every=0.05)
    assert len(run.metrics.times) == 21
