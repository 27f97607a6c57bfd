"""An interrupt costs no more than what was not done yet."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import dwell
from dwell import Box, Timer, simulate
from dwell.agents import CoverageSystem
from dwell.cells.measurement import in_blocks
from dwell.density import Function, as_density
from dwell.engine.recorder import default_samples
from dwell.errors import Aborted
from dwell.scenario import template_text, text_to_mapping
from tests.results.crashes import ending_at

LAW = Timer(k1=0.3, nu=0.2, t1=0.1, t2=0.3)


def tilted(points):
    """A density that only Python can evaluate."""
    return 1.0 + points[:, 0]


@pytest.mark.parametrize("record", ["events", "samples", "summary"])
@pytest.mark.parametrize("phase", ["preparing", "simulating", "measuring"])
def test_an_interrupt_by_who_watches_keeps_what_was_done(phase, record, tmp_path):
    start = [(0.2, 0.3), (0.7, 0.6)]
    with pytest.raises(dwell.Interrupted, match=r"stopped at t = .* attribute run") as stopped:
        simulate(
            Box((0, 0), (1, 1)), None, start, LAW, until=5000.0, record=record, sample_every=10.0,
            progress=ending_at(1, KeyboardInterrupt(), phase),
        )  # fmt: skip
    run = stopped.value.run
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert run.stop.reason.value == ("horizon" if phase == "measuring" else "interrupted")
    assert (run.horizon == 0.0) == (phase == "preparing")
    assert np.isfinite(run.cost(run.horizon))
    run.save(tmp_path / "run.nc")
    kept = dwell.load_run(tmp_path / "run.nc")
    assert kept.horizon == run.horizon
    if record == "events" and phase == "simulating":
        assert dwell.check(kept).ok


SCRIPT = """
import dwell, signal, sys
def stop(what, share):
    if what.startswith(sys.argv[1]):
        for _ in range(int(sys.argv[2])):
            signal.raise_signal(signal.SIGINT)
dwell.simulate(dwell.Box((0, 0), (1, 1)), None, [(0.2, 0.3)], dwell.Lloyd(), until=9, progress=stop)
"""


@pytest.mark.parametrize(
    ("phase", "signals", "says"),
    [
        ("preparing", "1", "Interrupted: stopped at t = 0"),
        ("expecting", "2", "Aborted: aborted, and the run has no checkpoints; nothing of it"),
    ],
)
def test_a_script_that_does_not_catch_it_ends_like_any_interrupted_one(phase, signals, says):
    words = [sys.executable, "-c", SCRIPT, phase, signals]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 130
    assert says in done.stderr


def test_the_first_interrupt_of_many_runs_is_no_abort(monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("dwell.engine.run_loop.RunLoop.run", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        dwell.simulate_many(text_to_mapping(template_text("two-hills")), seeds=[1], threads=1)
    assert not isinstance(caught.value, Aborted)


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


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 35])
def test_blocks_cover_everything_once(count):
    done = np.zeros(count, dtype=int)

    def work(lo, hi):
        done[lo:hi] += 1

    for threads in (1, 2):
        in_blocks(work, count, threads, block=10)
        assert (done == threads).all()


@pytest.mark.parametrize(
    ("workspace", "until", "density", "samples"),
    [
        (Box((0, 0), (1, 1)), 5.0, None, 1000),
        (Box((0, 0, 0), (1, 1, 1)), 5.0, None, 1000),
        (Box((0,) * 4, (1,) * 4), 5.0, None, 100),
        (dwell.Ball((0,) * 4, 1), 5.0, None, 100),
        (Box((0, 0), (1, 1)), 5.0, tilted, 12),  # a look every 0.2, a sample for every two
        (Box((0, 0), (1, 1)), 500.0, tilted, 100),
        (Box((0, 0), (1, 1)), 0.1, tilted, 1),
        (Box((0,) * 3, (1,) * 3), 5.0, tilted, 12),
        (dwell.Interval(0.0, 1.0), 5.0, tilted, 12),
    ],
)
def test_where_looks_take_long_there_are_fewer_samples(workspace, until, density, samples):
    weight = dwell.Uniform() if density is None else as_density(density)
    system = CoverageSystem(workspace, weight, LAW, 2, 0)
    assert default_samples(system, None, until) == samples
    on_a_grid = CoverageSystem(Box((0, 0), (1, 1)), as_density(tilted), LAW, 2, 0, None, 0.1)
    assert default_samples(on_a_grid, None, until) == 1000


def test_samples_that_are_asked_for_are_taken():
    start = [[0.2] * 4, [0.7] * 4]
    space = Box((0,) * 4, (1,) * 4)
    assert len(simulate(space, None, start, LAW, until=1.0).metrics.times) == 101
    run = simulate(space, None, start, LAW, until=1.0, sample_every=0.05)
    assert len(run.metrics.times) == 21


@pytest.mark.parametrize(
    "law",
    [
        LAW,
        dwell.Timer(k1=0.3, nu=0.2, t1=0.1, t2=2.0, reset="adaptive", eta_max=0.1),
        dwell.Lloyd(),
        dwell.DiscreteLloyd(step=0.5),
        dwell.SelfTriggered(),
        dwell.SelfTriggeredCentroid(),
        dwell.EventTriggered(),
    ],
    ids=lambda law: type(law).__name__,
)
@pytest.mark.parametrize("until", [0.2, 1.0])
def test_default_samples_of_a_function_cost_no_more_than_the_run(law, until):
    """Counted in points at which the density is evaluated, which is where the time goes."""
    evaluated = []

    def counted(points):
        evaluated.append(len(points))
        return tilted(points)

    start, cost = [(0.2, 0.3), (0.7, 0.6), (0.4, 0.8)], {}
    for every in ("off", None):
        evaluated.clear()
        run = simulate(Box((0, 0), (1, 1)), counted, start, law, until=until, sample_every=every)
        cost[every] = sum(evaluated)
    assert len(run.metrics.times) >= 2
    assert cost[None] <= 2 * cost["off"]


def test_default_samples_of_a_function_are_the_same_after_a_crash(tmp_path):
    """In the file, when read again, when resumed, and when resumed with a later horizon."""
    weight = Function(tilted, name="tests.test_interrupts:tilted")
    start = [(0.2, 0.3), (0.7, 0.6)]
    for record in ("events", "samples"):
        whole = simulate(Box((0, 0), (1, 1)), weight, start, LAW, until=4.0, record=record)
        assert len(whole.metrics.times) == 11
        path = tmp_path / f"{record}.nc"
        with pytest.raises(dwell.Interrupted) as stopped:
            dwell.run_scenario(whole.scenario, out=path, progress=ending_at(1, KeyboardInterrupt()))
        assert 0 < stopped.value.run.horizon < 4.0
        assert dwell.load_run(path).metrics.times.tolist() == [
            t for t in whole.metrics.times if t < stopped.value.run.horizon
        ]
        again = dwell.resume_run(path)
        assert again.metrics.times.tobytes() == whole.metrics.times.tobytes()
        assert again.metrics.costs.tobytes() == whole.metrics.costs.tobytes()
        further = dwell.resume_run(path, horizon=6.0).metrics.times
        assert len(further) == 16
        np.testing.assert_allclose(further, np.linspace(0.0, 6.0, 16), rtol=1e-14)


@pytest.mark.parametrize("when", ["looking", "sampling"])
def test_a_signal_is_heard_while_a_function_is_evaluated(when):
    """Within the cell under way, although thousands of cells are due before the next piece."""
    calls, at = [], {"looking": 300, "sampling": 1500}[when]

    def slow(points):
        calls.append(when)
        if len(calls) == at:
            signal.raise_signal(signal.SIGINT)
        return 1.0 + points[:, 0]

    every = 1e-4 if when == "sampling" else "off"
    start = np.random.default_rng(1).uniform(0.1, 0.9, (20, 2))
    with pytest.raises(dwell.Interrupted) as stopped:
        simulate(Box((0, 0), (1, 1)), slow, start, LAW, until=50.0, sample_every=every)
    assert len(calls) <= at + 2 * 20  # the cells of one configuration, at the end
    run = stopped.value.run
    assert run.stop.reason.value == "interrupted"
    assert dwell.check(run).ok
