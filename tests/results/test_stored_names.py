"""Names in files stay what they are, whatever the fields of the classes are called."""

from __future__ import annotations

import pytest

import dwell
from dwell.agents.events import USUALLY
from dwell.engine.codec import KNOWN, plain
from dwell.results.dataset import EVENT_VARIABLES
from dwell.results.journal import _columns


def names(text: str, lead: str = "") -> list[str]:
    return [lead + name for name in text.split()]


BOX, START = dwell.Box((0, 0), (1, 1)), [(0.2, 0.2), (0.7, 0.6), (0.4, 0.8)]
TIMER = dwell.Timer(k1=0.3, nu=0.2, t1=0.1, t2=0.3)
COMMON = names("agent sample_time error hold_error cost separation summary")
COMMON += names("spent position hold next_at", "start_")
EVENTS = names(
    "time agent position hold next_at error hold_error neighbors nearest empty", "event_"
)
EXTRA = names(
    "cruise bend looked guaranteed dual_guaranteed sent received mark promise voronoi", "event_"
)
SUMS = ["kept", *names("since place hold next_at", "final_"), *names("distance energy", "sum_")]
SUMS += names("looked guaranteed dual_guaranteed sent received voronoi events updates", "count_")
WINDOW = names("since place hold next_at", "window_")


def simulate(law, **options):
    return dwell.simulate(BOX, None, START, law, until=0.5, sample_every=0.25, **options)


@pytest.mark.parametrize(
    ("law", "record", "wanted"),
    [
        (TIMER, "events", COMMON + EVENTS),
        (TIMER, "summary", COMMON + SUMS + WINDOW),
        (dwell.DiscreteLloyd(step=0.2), "events", names("event_cruise start_cruise")),
        (dwell.DiscreteLloyd(step=0.2), "summary", ["final_cruise"]),
        (dwell.Lloyd(mode="ode"), "events", names("event_bend event_looked start_bend")),
        (dwell.Lloyd(mode="ode"), "summary", ["final_bend"]),
        (dwell.EventTriggered(), "events", names("event_promise event_sent event_mark")),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_variables(law, record, wanted):
    every = set(simulate(law, record=record).to_xarray().variables) - {"axis"}
    found = {name for name in every if not name.startswith("window_event_")}
    assert found >= set(wanted)
    assert law is not TIMER or found == set(wanted)


def test_columns_of_tables_and_journals():
    assert {name for name, _ in EVENT_VARIABLES.values()} == {*EVENTS, *EXTRA}
    assert {EVENT_VARIABLES[field][0] for field in USUALLY} == set(EXTRA)
    run = simulate(dwell.EventTriggered())
    usual = "time agent positions holds next_at errors hold_error neighbors nearest empty cruise"
    assert set(_columns([run.events], [run.metrics])) == {
        *names(f"{usual} looked guaranteed dual_guaranteed sent received mark promise", "event_"),
        *names("times errors hold_errors costs separations", "sample_"),
    }


def test_fields_of_a_state():
    state = simulate(dwell.EventTriggered()).details.recorder.remembered
    (fields,) = plain(state).values()
    assert list(fields) == names(
        "time start hold since first next_at looks last cruise fade bend looking memory mail spent "
        "promise promised past before"
    )
    assert list(fields["last"]["Look"]) == names("agent error mass neighbors nearest empty stretch")
    spent = fields["spent"]["tuple"][0]["Spent"]
    assert list(spent) == names("looked guaranteed dual_guaranteed sent received mark voronoi")
    mail = fields["mail"]["tuple"][0]["Mail"]
    assert list(mail) == ["heard", "coming"]
    message = mail["heard"]["dict"][0][1]["Message"]
    assert list(message) == names("sender time position promise before")
    assert list(fields["memory"]["tuple"][0]["Memory"]) == ["level", "spoke"]
    law = dwell.SelfTriggeredCentroid(dt=0.1)
    plan = plain(simulate(law).details.recorder.remembered.memory[0])["Plan"]
    assert list(plan) == names("sample steps moves goal")
    assert list(plan["sample"]["Sample"]) == names("time agents positions velocities")
    ball = plain(KNOWN["Ball"]((1.0,), 1.0, 0.5))
    assert ball == {"Ball": {"middle": {"tuple": [1.0]}, "distance": 1.0, "radius": 0.5}}


def test_numbers_of_a_run_in_progress():
    _, info = simulate(TIMER, record="summary").details.recorder.frozen()
    assert list(info) == names("tally done late standing state")
    assert list(info["tally"].pop("samples")) == names("taken last_large after")
    assert list(info["tally"]) == names(
        "time empty floors outside top_speed nearest hold_error last_large"
    )


def test_a_run_has_few_public_names():
    run = simulate(TIMER)
    public = {name for name in {*dir(run), *vars(run)} if not name.startswith("_")}
    assert len(public) <= 30
    for name in public & set(dir(dwell.Run)):
        assert getattr(dwell.Run, name).__doc__
