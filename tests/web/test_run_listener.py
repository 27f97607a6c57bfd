"""What a listener hears: the run itself, bit for bit, also after a lost connection."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dwell.agents import EventTable
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario
from dwell.web.wire_format import TYPES
from tests.web.servers import CHANGING, scenario, slow
from tests.workers.watch import wait_for


def joined(frames, kind="events"):
    """Columns of the messages one after another, each row once and in order.

    A message without a loss leaves columns out: every event is a sample, and its velocity is held.
    """
    usual = {"cruise": (np.inf, TYPES["f8"]), "looked": (1, TYPES["i4"])}
    wanted = [(header, columns) for header, columns in frames if header["type"] == kind]
    names = {name: None for _, columns in wanted for name in columns}
    rows, parts = 0, {name: [] for name in names}
    for header, columns in wanted:
        assert header["first"] == rows
        rows += header["count"]
        for name in names:
            if name not in columns:
                columns = {**columns, name: np.full(header["count"], *usual[name])}
            parts[name].append(columns[name])
    return {name: np.concatenate(several) for name, several in parts.items()}


def sent(table: EventTable, rows=None):
    """The columns of a table, or of its first rows, as messages hold them."""
    columns = {**table.columns(), "received": table.count("received")}
    kinds = {"i": TYPES["i4"], "f": TYPES["f8"]}
    return {
        name: np.ascontiguousarray(values[:rows], dtype=kinds[values.dtype.kind])
        for name, values in columns.items()
    }


def same(found, table: EventTable):
    columns = sent(table)
    assert found.keys() == columns.keys()
    for name, values in columns.items():
        assert found[name].tobytes() == values.tobytes(), name


def test_a_listener_hears_the_whole_run(server):
    body = scenario(horizon=60.0, seed=7)
    texts, frames = server.hear(server.start(body))
    own = run_scenario(parse_scenario(body))
    same(joined(frames), own.events)
    samples = joined(frames, "samples")
    assert samples["time"].tobytes() == own.metrics.times.tobytes()
    assert samples["cost"].tobytes() == own.metrics.costs.tobytes()
    assert samples["error"].tobytes() == own.metrics.errors.max(axis=1).tobytes()
    assert samples["errors"].tobytes() == own.metrics.errors.tobytes()
    assert samples["hold_errors"].tobytes() == own.metrics.hold_errors.tobytes()
    kinds = [text["type"] for text in texts if text["type"] != "beat"]
    assert kinds[0] == "job"
    assert kinds[-1] == "end"
    assert kinds.count("begin") == 1
    begin = next(text for text in texts if text["type"] == "begin")
    start = own.start
    assert begin["start"]["positions"] == start.positions.tolist()
    assert begin["start"]["holds"] == start.segments.hold.tolist()
    assert begin["start"]["next_at"] == start.segments.next_at.tolist()
    sizes = np.hypot(*np.array(begin["start"]["errors"]).T)
    assert np.allclose(sizes, own.errors(0.0), rtol=1e-12)
    samples_taken = sum(begin["start"]["spent"]["looked"]) + len(own.events)
    assert samples_taken == texts[-1]["summary"]["measurements"]
    heard = sum(begin["start"]["spent"]["received"]) + int(joined(frames)["received"].sum())
    assert heard == texts[-1]["summary"]["messages"]
    assert begin["nu"] == body["controller"]["nu"]
    assert begin["fade"] is None
    assert begin["world"] is None
    assert texts[-1]["summary"]["final_positions"] == own.summary()["final_positions"]


def test_a_world_that_changes_comes_with_the_beginning(server):
    texts, frames = server.hear(server.start(CHANGING))
    own = run_scenario(parse_scenario(CHANGING))
    same(joined(frames), own.events)
    begin = next(text for text in texts if text["type"] == "begin")
    walls = {**CHANGING["workspace"]["vertices"], "between": "linear"}
    workspace = {"kind": "polygon", "vertices": walls}
    assert begin["agents"] == 5
    assert begin["world"]["phases"] == [{"from": 0.0, "workspace": workspace}, {"from": 2.0}]
    assert begin["world"]["arrivals"] == [0.0, 0.0, 0.0, 0.0, 2.0]
    assert begin["world"]["departures"] == [None, None, 2.0, None, None]
    smoke, heat = begin["world"]["sensors"]
    assert (smoke["name"], smoke["owners"]) == ("smoke", [0, 1, 4])
    assert (heat["name"], heat["owners"]) == ("heat", [1, 2, 3])
    circle = {"center": [2.0, 2.0], "radius": 1.0, "period": 3.0, "phase": 0.0}
    assert heat["density"]["center"] == circle


def test_sensing_radii_come_with_the_beginning(server):
    radii = [0.4, 0.5, 0.6, 0.5]
    later = [{"from": 1.0, "arrive": [[0.5, 0.5]]}]
    body = scenario("two-hills", horizon=2.0)
    for radius, world, found in (
        (radii, None, radii),
        (0.5, later, [0.5] * 5),
        (None, None, None),
    ):
        agents = {"start": {"count": 4}, **({} if radius is None else {"radius": radius})}
        changed = {**body, "agents": agents, **({} if world is None else {"world": world})}
        texts, frames = server.hear(server.start(changed))
        begin = next(text for text in texts if text["type"] == "begin")
        assert begin["radii"] == found
        assert server.post(changed, "/api/validate").json()["radii"] == found
        same(joined(frames), run_scenario(parse_scenario(changed)).events)


def test_a_run_that_is_done_can_be_heard_from_anywhere(server):
    body = scenario(horizon=300.0, seed=7)
    run = server.start(body)
    server.wait(run)
    _, frames = server.hear(run)
    table = run_scenario(parse_scenario(body)).events
    edges = [header["first"] for header, _ in frames if header["type"] == "events"]
    # Also across the seam of two messages.
    for have in (edge + extra for edge in (0, edges[1] - 10) for extra in (0, 1, 17)):
        _, rest = server.hear(run, **{"from": have, "samples": 100})
        first = [header["first"] for header, _ in rest if header["type"] == "events"]
        assert first[0] == have
        known = [({"type": "events", "first": 0, "count": have}, sent(table, have))]
        same(joined(known + rest), table)
        assert next(h["first"] for h, _ in rest if h["type"] == "samples") == 100


def test_a_lost_connection_is_taken_up_again_while_the_run_goes_on(server):
    body = slow(horizon=60.0)
    run = server.start(body, live=True)
    frames, texts, times = [], [], 0

    def some(_, heard):
        return sum(header["type"] == "events" for header, _ in heard) >= 2

    while not any(text["type"] == "end" for text in texts):
        events = sum(h["count"] for h, _ in frames if h["type"] == "events")
        samples = sum(h["count"] for h, _ in frames if h["type"] == "samples")
        texts, more = server.hear(run, some, **{"from": events, "samples": samples})
        frames += more
        times += 1
    assert times > 2
    own = run_scenario(parse_scenario(body))
    same(joined(frames), own.events)
    assert joined(frames, "samples")["time"].tobytes() == own.metrics.times.tobytes()


def test_two_listeners_hear_the_same(server):
    run = server.start(slow(horizon=30.0))
    with server.listen(run) as one, server.listen(run) as other:
        for socket in (one, other):
            assert '"job"' in socket.recv()
        heard = [[m for m in socket if isinstance(m, bytes)] for socket in (one, other)]
    assert heard[0] == heard[1]
    assert len(heard[0]) > 2


def test_a_solution_of_a_differential_equation_comes_with_its_bends(server):
    body = {**scenario(horizon=1.0), "controller": {"kind": "lloyd", "k2": 1.0, "mode": "ode"}}
    texts, frames = server.hear(server.start(body))
    own = run_scenario(parse_scenario(body))
    same(joined(frames), own.events)
    begin = next(text for text in texts if text["type"] == "begin")
    assert begin["start"]["bend"] == own.start.segments.bend.tolist()


def test_a_late_listener_receives_the_end_of_a_cancelled_run(server):
    """Its files are gone, and the stream ends as others do: clients must not try again."""
    run = server.start(slow(), live=True)
    with server.listen(run) as first:
        server.running(run)
        first.close()
    server.wait(run, "cancelled")
    wait_for(lambda: not server.http.get("/api/health").json()["running"], "its worker to be free")
    with server.listen(run) as late:
        heard = list(late)
        assert late.protocol.close_code == 1000
    assert [json.loads(text)["job"]["status"] for text in heard] == ["cancelled"] * 2


@pytest.mark.parametrize("query", [{"run": "nothing"}, {"from": "-1"}, {"samples": "x"}])
def test_questions_that_cannot_be_answered(server, query):
    run = query.pop("run", None) or server.start(scenario(horizon=1.0))
    with server.listen(run, **query) as socket:
        assert '"error"' in socket.recv()
        with pytest.raises(Exception, match="4404"):
            socket.recv()
