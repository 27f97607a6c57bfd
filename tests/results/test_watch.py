"""A run that is watched is the same run, and what was seen of it is the run's own table."""

from __future__ import annotations

import pytest

from dwell.agents import EventTable
from dwell.runner import run_scenario
from tests.conftest import differing
from tests.controllers.examples import LAWS
from tests.results.crashes import KINDS, Crash, same, scenario


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("law", "kind"),
    [
        *((law, "events") for law in ("timer", "lloyd", "lloyd-ode", "event-triggered")),
        ("timer", "samples"),
        ("timer", "summary"),
    ],
)
def test_watching_changes_no_bit_and_sees_every_jump(law, kind):
    seen, samples = [], []

    def watch(recorder, piece):
        seen.append(piece)
        samples.append(len(recorder.metrics))

    asked = scenario(LAWS[law], KINDS[kind])
    assert same(run_scenario(asked, watch=watch), run_scenario(asked))
    assert seen[0] is None  # the start comes first, once
    pieces = seen[1:]
    assert all(piece is not None for piece in pieces)
    assert law == "lloyd-ode" or len(pieces) > 3
    parts = [piece.table for piece in pieces if len(piece.table)]
    whole = run_scenario(scenario(LAWS[law], KINDS["events"])).events
    assert differing(EventTable.joined(parts), whole) == []
    assert samples == sorted(samples)


def test_whoever_watches_may_end_it():
    def watch(recorder, piece):
        raise Crash

    with pytest.raises(Crash):
        run_scenario(scenario(LAWS["timer"], KINDS["events"]), watch=watch)
