"""Names in files stay what they are, whatever the fields of the classes are called."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell.agents.events import USUALLY
from dwell.engine.codec import KNOWN, plain
from dwell.results.dataset import EVENT_VARIABLES
from dwell.results.journal import _columns

BOX, START = dwell.Box((0, 0), (1, 1)), [(0.2, 0.2), (0.7, 0.6), (0.4, 0.8)]
TIMER = dwell.Timer(k1=0.3, nu=0.2, t1=0.1, t2=0.3)
COMMON = {
    "agent",
    "sample_time",
    "error",
    "hold_error",
    "cost",
    "separation",
    "start_spent",
    "start_position",
    "start_hold",
    "start_next_at",
    "summary",
}
EVENTS = {
    "event_time",
    "event_agent",
    "event_position",
    "event_hold",
    "event_next_at",
    "event_error",
    "event_hold_error",
    "event_neighbors",
    "event_nearest",
    "event_empty",
}
EXTRA = {
    "event_cruise",
    "event_bend",
    "event_looked",
    "event_guaranteed",
    "event_dual_guaranteed",
    "event_sent",
    "event_received",
    "event_mark",
    "event_promise",
}
SUMS = {
    "kept",
    "final_since",
    "final_place",
    "final_hold",
    "final_next_at",
    "count_looked",
    "count_guaranteed",
    "count_dual_guaranteed",
    "count_sent",
    "count_received",
    "count_events",
    "count_updates",
    "sum_distance",
    "sum_energy",
}
WINDOW = {f"window_{name}" for name in ("since", "place", "hold", "next_at")}


def simulate(law, **options):
    return dwell.simulate(BOX, None, START, law, until=0.5, sample_every=0.25, **options)


@pytest.mark.parametrize(
    ("law", "record", "names"),
    [
        (TIMER, "events", COMMON | EVENTS),
        (TIMER, "summary", COMMON | SUMS | WINDOW),
        (dwell.DiscreteLloyd(step=0.2), "events", {"event_cruise", "start_cruise"}),
        (dwell.DiscreteLloyd(step=0.2), "summary", {"final_cruise"}),
        (dwell.Lloyd(mode="ode"), "events", {"event_bend", "event_looked", "start_bend"}),
        (dwell.Lloyd(mode="ode"), "summary", {"final_bend"}),
        (dwell.EventTriggered(), "events", {"event_promise", "event_sent", "event_mark"}),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_variables(law, record, names):
    found = set(simulate(law, record=record).to_xarray().variables) - {"axis"}
    assert names <= {name for name in found if not name.startswith("window_event_")}
    if law is TIMER:
        assert {name for name in found if not name.startswith("window_event_")} == names


def test_every_column_of_a_table():
    assert {name for name, _ in EVENT_VARIABLES.values()} == EVENTS | EXTRA
    assert {EVENT_VARIABLES[field][0] for field in USUALLY} == EXTRA


def test_columns_of_a_journal():
    run = simulate(dwell.EventTriggered())
    assert set(_columns([run.events], [run.metrics])) == {
        "event_time",
        "event_agent",
        "event_positions",
        "event_holds",
        "event_next_at",
        "event_errors",
        "event_hold_error",
        "event_neighbors",
        "event_nearest",
        "event_empty",
        "event_cruise",
        "event_looked",
        "event_guaranteed",
        "event_dual_guaranteed",
        "event_sent",
        "event_received",
        "event_mark",
        "event_promise",
        "sample_times",
        "sample_errors",
        "sample_hold_errors",
        "sample_costs",
        "sample_separations",
    }


def test_fields_of_a_state():
    state = simulate(dwell.EventTriggered()).details.recorder.remembered
    (fields,) = plain(state).values()
    assert list(fields) == (
        [
            "time",
            "start",
            "hold",
            "since",
            "first",
            "next_at",
            "looks",
            "last",
            "cruise",
            "fade",
            "bend",
            "looking",
            "memory",
            "mail",
            "spent",
            "promise",
            "promised",
            "past",
        ]
    )
    assert list(fields["last"]["Look"]) == [
        "agent",
        "error",
        "mass",
        "neighbors",
        "nearest",
        "empty",
    ]
    (spent,) = fields["spent"]["tuple"]
    assert list(spent["Spent"]) == (
        ["looked", "guaranteed", "dual_guaranteed", "sent", "received", "mark"]
    )
    mail = fields["mail"]["tuple"][0]["Mail"]
    assert list(mail) == ["heard", "coming"]
    message = mail["heard"]["dict"][0][1]["Message"]
    assert list(message) == ["sender", "time", "position", "promise", "before"]
    assert list(fields["memory"]["tuple"][0]["Memory"]) == ["level", "spoke"]
    plan = simulate(dwell.SelfTriggeredCentroid(dt=0.1)).details.recorder.remembered.memory[0]
    (moves,) = plain(plan).values()
    assert list(moves) == ["sample", "steps", "moves", "goal"]
    assert list(moves["sample"]["Sample"]) == ["time", "agents", "positions"]
    ball = plain(KNOWN["Ball"]((1.0,), 1.0, 0.5))
    assert ball == {"Ball": {"middle": {"tuple": [1.0]}, "distance": 1.0, "radius": 0.5}}


def test_names_of_the_tally():
    run = simulate(TIMER, record="summary")
    arrays, info = run.details.recorder.frozen()
    assert list(info) == ["tally", "done", "late", "standing", "state"]
    assert list(info["tally"]["samples"]) == ["taken", "last_large", "after"]
    assert list(info["tally"])[:-1] == (
        ["time", "empty", "floors", "outside", "top_speed", "nearest", "hold_error", "last_large"]
    )
    assert all(isinstance(values, np.ndarray) for values in arrays.values())


def test_a_run_has_few_public_names():
    run = simulate(TIMER)
    names = {name for name in dir(run) if not name.startswith("_")} | set(vars(run))
    assert len({name for name in names if not name.startswith("_")}) < 30
    for name in dir(type(run)):
        assert name.startswith("_") or getattr(type(run), name).__doc__
