"""What a run is said to need, against what it needs."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import dwell
from dwell.engine import memory
from dwell.engine.memory import in_bytes, need_of
from dwell.engine.recorder import Recorder, expected_events, sample_times
from dwell.errors import InputError
from tests.controllers.examples import LAWS
from tests.controllers.worlds import BOX, HILL, START

RULES = {
    "uniform": {},
    "earliest": {"reset": "earliest"},
    "latest": {"reset": "latest"},
    "periodic": {"reset": "periodic", "period": 0.35},
    "sequence": {"reset": "sequence", "intervals": (0.2, 0.45)},
    "dropout": {"reset": "dropout", "loss": 0.4},
}


@pytest.mark.parametrize("rule", RULES)
def test_events_of_timers_are_foreseen(rule):
    law = dwell.Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5, **RULES[rule])
    run = dwell.simulate(BOX, HILL, START, law, until=60.0, sample_every="off")
    assert expected_events(run.system, run.start, 60.0) == pytest.approx(len(run.events), rel=0.15)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LAWS)
def test_events_of_other_laws_roughly(name):
    run = dwell.simulate(BOX, HILL, START, LAWS[name], until=5.0, sample_every="off")
    found = expected_events(run.system, run.start, 5.0)
    if name == "lloyd-ode":
        assert found is None
    else:
        assert len(run.events) / 6 < found < 6 * len(run.events)


@pytest.mark.parametrize(
    ("kind", "until", "every"),
    [("events", 3000.0, "off"), ("samples", 300.0, 0.02), ("events", 300.0, 0.02)],
)
@pytest.mark.exhaustive
def test_memory_is_foreseen_within_a_factor(kind, until, every):
    law = dwell.Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5)
    start = np.random.default_rng(1).uniform((0.1, 0.1), (3.9, 2.9), (20, 2))

    def run(until):
        return dwell.simulate(
            BOX, HILL, start, law, until=until, seed=1, record=kind, sample_every=every
        )

    run(1.0)  # what is compiled and imported is no part of it
    gc.collect()
    tracemalloc.start()
    try:
        made = run(until)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    recorder = Recorder(made.system, made.start, sample_times(until, every), kind)
    foreseen = need_of(recorder, until, 50_000_000, saved=False).size
    assert foreseen / 2.5 < peak < 1.25 * foreseen


def test_what_does_not_fit_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1e6)
    law = LAWS["timer"]

    def run(kind, **options):
        return dwell.simulate(BOX, HILL, START, law, until=1e4, record=kind, **options)

    with pytest.raises(InputError, match=r'1 MB are free; keep less.*"samples" or "summary"') as no:
        run("events")
    assert no.value.code == "run.memory"
    with pytest.raises(InputError, match=r'record.kind = "summary"'):
        run("samples", sample_every=0.1)
    assert run("events", sample_every="off", max_jumps=100).stop.reason.value == "jump-limit"
    monkeypatch.setattr(memory, "free_memory", lambda: 1e3)
    with pytest.raises(InputError, match="fewer agents"):
        run("summary")
    assert run("events", sample_every="off", max_jumps=100).stop.reason.value == "jump-limit"


def test_free_memory_is_read_where_it_is_told(tmp_path, monkeypatch):
    assert memory.free_memory() is None or memory.free_memory() > 1e6
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2048 kB\n")
    assert memory._available(tmp_path / "meminfo") == 2048 * 1024
    assert memory._available(tmp_path / "nothing") is None
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("3000\n")
    assert memory._allowed(tmp_path) == 2000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._allowed(tmp_path) is None
    assert in_bytes(12.0) == "12 bytes"
    assert in_bytes(3.2e9) == "3.2 GB"
    assert in_bytes(7e15) == "7e+03 TB"
