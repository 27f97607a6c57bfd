"""Records that keep less give the same figures, and say what they cannot tell."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dwell
from dwell.agents import EventTable
from dwell.engine.tally import Tally
from dwell.errors import InputError
from tests.controllers.examples import LAWS
from tests.controllers.worlds import BOX, HILL, START

# Figures that need what happened between looks and samples.
OF_EVENTS = {"wall_seconds", "record", "separation", "certificate"}


def run(law, record, every=0.05, until=2.0, **options):
    return dwell.simulate(
        BOX, HILL, START, law, until=until, seed=5, record=record, sample_every=every, **options
    )


def figures(one):
    found = {k: v for k, v in one.summary().items() if k not in OF_EVENTS}
    return {**found, "seen": one.summary()["separation"]["seen"]}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("kind", ["samples", "summary"])
def test_figures_are_the_same_bit_for_bit(name, kind):
    whole, less = run(LAWS[name], "events"), run(LAWS[name], kind)
    assert figures(whole) == figures(less)
    for field in ("distance", "energy", "updates", "voronoi", "received", "measurements"):
        one, other = getattr(whole.counters, field), getattr(less.counters, field)
        assert one.tobytes() == other.tobytes(), field
    if kind == "samples":
        for field in ("times", "errors", "hold_errors", "costs", "separations"):
            one, other = getattr(whole.metrics, field), getattr(less.metrics, field)
            assert one.tobytes() == other.tobytes(), field
    else:
        assert less.metrics.times.tolist() == [2.0]
        assert (less.metrics.errors[0] == whole.errors(2.0)).all()


@pytest.mark.parametrize("name", ["timer", "self-triggered", "event-triggered"])
def test_without_samples(name):
    whole, less = run(LAWS[name], "events", "off"), run(LAWS[name], "summary", None)
    one, other = figures(whole), figures(less)
    known = less.reached_at is not None or "coverage-unseen" not in {f.code for f in less.flags}
    if not known:  # then, and only then, it says so
        other["coverage"] = one["coverage"]
        other["flags"] = [f for f in other["flags"] if f["code"] != "coverage-unseen"]
        assert one["coverage"]["reached_at"] is not None
    assert one == other


def test_the_time_of_coverage_is_found_again_in_the_window():
    """Errors that come and go beyond nu: the window must follow the last of them."""
    law = dwell.Timer(k1=0.4, nu=0.25, t1=0.3, t2=1.1)
    for seed in range(6):
        found = [
            dwell.simulate(
                BOX, HILL, START, law, until=30.0, seed=seed, record=kind, sample_every=every
            ).reached_at
            for every in (0.5, 7.0)
            for kind in ("events", "samples", "summary")
        ]
        assert found[0] is not None
        assert found[0] == found[1] == found[2]
        assert found[3] == found[4] == found[5]


@pytest.mark.parametrize("kind", ["samples", "summary"])
def test_what_is_not_kept_is_refused_in_one_sentence(kind, tmp_path):
    one = run(LAWS["timer"], kind)
    asked = [lambda: one.events, lambda: one.arc, lambda: one.positions(1.0), lambda: one.cost(0.7)]
    asked.append(lambda: dwell.check(one))
    for ask in asked:
        with pytest.raises(InputError, match=rf'record.kind = "{kind}".*"events"') as refused:
            ask()
        assert refused.value.code == "run.record"
    whole = run(LAWS["timer"], "events")
    for t in (0.0, 2.0):
        assert one.positions(t).tobytes() == whole.positions(t).tobytes()
        assert one.holds(t).tobytes() == whole.holds(t).tobytes()
        assert one.timers(t).tobytes() == whole.timers(t).tobytes()
        assert one.cost(t) == whole.cost(t)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["timer", "discrete-lloyd", "event-triggered", "lloyd-ode"])
@pytest.mark.parametrize("kind", ["samples", "summary"])
def test_saved_and_loaded(name, kind, tmp_path):
    one = run(LAWS[name], kind)
    one.save(tmp_path / "run.nc")
    again = dwell.load_run(tmp_path / "run.nc")
    assert again.provenance["intact"] == "true"
    assert again.details.record == kind
    assert again.summary() == one.summary()
    assert json.loads(json.dumps(again.summary())) == again.summary()


def test_an_odd_record_is_refused():
    with pytest.raises(InputError, match="record is 'some'"):
        run(LAWS["timer"], "some")
    with pytest.raises(InputError, match="leaves nothing"):
        run(LAWS["timer"], "samples", "off")


def test_a_tally_does_not_care_how_a_table_is_cut():
    whole = run(LAWS["timer"], "events", until=20.0)
    random = np.random.default_rng(4)
    tallies = []
    for pieces in (1, 2, 7, 50):
        cuts = np.sort(random.integers(0, len(whole.events), pieces - 1))
        tally = Tally(whole.system, whole.start)
        for lo, hi in zip([0, *cuts], [*cuts, len(whole.events)], strict=True):
            tally.add(whole.events.take(slice(lo, hi)))
        tallies.append(tally)
    first = tallies[0]
    for other in tallies[1:]:
        for name, values in first.arrays().items():
            assert values.tobytes() == other.arrays()[name].tobytes(), name
        assert first.scalars() == other.scalars()
    # Against sums that are rounded once.
    import math

    counted = first.counters(whole.horizon)
    for p in range(whole.agents):
        segments = whole.events.segments(whole.start, p)
        length, work = segments.work_until(np.append(segments.since[1:], whole.horizon))
        assert counted.distance[p] == math.fsum(length)
        assert counted.energy[p] == math.fsum(work)
    assert isinstance(whole.events, EventTable)


@pytest.mark.exhaustive
def test_figures_that_can_be_drawn_are(tmp_path, capsys):
    from tests.cli.shell import dwell as command

    run(LAWS["timer"], "samples").save(tmp_path / "run.nc")
    done = command("plot", tmp_path / "run.nc", "--out", tmp_path / "figures")
    assert done.code == 0
    drawn = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert {"configurations", "cost"} <= drawn
    assert "trajectories" not in drawn
    assert 'keeps less (record.kind = "samples")' in done.err
    assert done.err.count("\n") == 1
