"""A run that is watched is the same run, and what was seen of it is the run's own table."""

from __future__ import annotations

import pytest

from dwell.agents import EventTable
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from tests.conftest import differing

LAWS = {
    "timer": {"kind": "timer", "k1": 0.5, "nu": 0.5, "t1": 0.2, "t2": 0.65},
    "lloyd": {"kind": "lloyd", "k2": 1.0, "mode": "sampled", "dt": 0.1},
    "ode": {"kind": "lloyd", "k2": 1.0, "mode": "ode"},
    "event-triggered": None,  # the template's own
}


def scenario(law: str, record: str = "events"):
    name = "event-triggered-8" if LAWS[law] is None else "two-hills"
    data = text_to_mapping(template_text(name))
    data["run"] = {"horizon": 3.0, "seed": 4, "record": {"kind": record}}
    if LAWS[law] is not None:
        data["controller"] = LAWS[law]
        data.pop("certificate", None)
    return parse_scenario(data)


def bits(metrics):
    return [getattr(metrics, name).tobytes() for name in ("times", "errors", "costs")]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("law", LAWS)
def test_watching_changes_no_bit_and_sees_every_jump(law):
    seen, samples = [], []

    def watch(recorder, piece):
        seen.append(piece)
        samples.append(len(recorder.metrics))

    watched = run_scenario(scenario(law), watch=watch)
    alone = run_scenario(scenario(law))
    assert differing(watched.events, alone.events) == []
    assert bits(watched.metrics) == bits(alone.metrics)
    assert seen[0] is None  # the start comes first, once
    pieces = seen[1:]
    assert all(piece is not None for piece in pieces)
    assert law == "ode" or len(pieces) > 3
    parts = [piece.table for piece in pieces if len(piece.table)]
    assert differing(EventTable.joined(parts), alone.events) == []
    assert samples == sorted(samples)


@pytest.mark.parametrize("record", ["samples", "summary"])
def test_pieces_are_shown_whatever_is_kept(record):
    parts = []

    def watch(recorder, piece):
        if piece is not None:
            parts.append(piece.table)

    run_scenario(scenario("timer", record), watch=watch)
    whole = run_scenario(scenario("timer")).events
    assert differing(EventTable.joined(parts), whole) == []


def test_whoever_watches_may_end_it():
    class Enough(BaseException):
        pass

    def watch(recorder, piece):
        raise Enough

    with pytest.raises(Enough):
        run_scenario(scenario("timer"), watch=watch)
