"""A live fleet on the page, as a client of the server sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import numpy as np
import pytest
from websockets.sync.client import connect

from dwell._types import lengths
from dwell.fleet.virtual import VirtualFleet
from dwell.live.beliefs import Announcement
from dwell.live.settings import LiveSettings, live_law
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from dwell.web.fleet_view import PageView
from dwell.web.wire_format import unpack
from tests.web.servers import scenario as template


class Shown(NamedTuple):
    """A view, and the announcements of a fleet in virtual time."""

    view: PageView
    announced: list[Announcement]


@pytest.fixture
def shown() -> Iterator[Shown]:
    given = parse_scenario(template(horizon=4.0, seed=3))
    system, positions, _ = build(given)
    announced: list[Announcement] = []
    law = live_law(system, LiveSettings(margin=0.0))
    fleet = VirtualFleet(law, positions, watch=lambda one: announced.append(one.announcement))
    fleet.run(3.0)
    view = PageView(given, system, positions, port=0)
    yield Shown(view, announced)
    view.close()


def messages(view: PageView) -> tuple[list[Any], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Everything that a client receives of a fleet that is closed: texts, events, samples."""
    address = view.address.removesuffix("#f")
    run = httpx.get(f"{address}api/fleet").json()["run"]
    texts, tables = list[Any](), dict[str, list[dict[str, np.ndarray]]](events=[], samples=[])
    live = f"{address}api/live?run={run}".replace("http", "ws")
    with connect(live, max_size=None) as socket:
        view.close()
        for received in socket:
            if isinstance(received, str):
                texts.append(json.loads(received))
            else:
                header, columns = unpack(received)
                tables[header["type"]].append(columns)
    events, samples = (
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        for parts in tables.values()
    )
    return texts, events, samples


def test_the_page_gets_the_segments_in_order(shown: Shown) -> None:
    view, announced = shown
    late = announced[40]  # comes 0.4 s after it was sent, when later ones are on the page
    arrivals = {id(one): one.stamp + 0.4 * (one is late) for one in announced}
    for now in np.arange(0.0, 3.05, 0.05).tolist():
        fresh = [one for one in announced if now - 0.05 < arrivals[id(one)] <= now]
        view.update(now, fresh[::-1] + fresh[:1])  # out of order, and one of them twice
    texts, events, samples = messages(view)
    assert [text["type"] for text in texts[:2]] == ["job", "begin"]
    assert not np.array(texts[1]["start"]["holds"]).any()
    job = texts[-1]["job"]
    assert (job["status"], job["error"]["code"]) == ("cancelled", "web.fleet")
    assert len(events["time"]) == len(announced)
    assert (np.diff(events["time"]) >= 0.0).all()
    moved = np.setdiff1d([one.stamp for one in announced], events["time"])
    assert moved.tolist() == [late.stamp]
    for t, agent, place in zip(events["time"], events["agent"], events["positions"], strict=True):
        own = [one for one in announced if one.agent == agent and one.stamp <= t][-1]
        expected = own.position + own.velocity * min(t - own.stamp, own.cruise)
        assert np.allclose(place, expected, atol=1e-12)
    assert len(samples["time"]) >= 5
    assert samples["time"][-1] == events["time"][-1]  # up to the end
    assert samples["cost"][-1] < samples["cost"][0]
    assert lengths(events["errors"]).max() > 0.0


def test_the_start_has_the_agents_of_the_scenario_without_those_that_arrive() -> None:
    given = parse_scenario(template("switching-site", horizon=4.0, seed=3))
    system, positions, _ = build(given)
    view = PageView(given, system, positions, port=0)
    found = httpx.get(f"{view.address.removesuffix('#f')}api/fleet").json()
    view.close()
    assert len(found["start"]) == given.agents.count < system.agents


def test_no_request_ends_a_fleet_and_others_have_none(shown: Shown, server: Any) -> None:
    address = shown.view.address.removesuffix("#f")
    found = httpx.get(f"{address}api/fleet").json()
    assert found["scenario"]["controller"]["kind"] == "timer"
    assert found["start"] == shown.view._beliefs.position.tolist()
    answer = httpx.delete(f"{address}api/runs/{found['run']}", headers={"origin": address[:-1]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "web.fleet")
    health = httpx.get(f"{address}api/health").json()
    assert health["workers"] == 0, "worker processes would take the time of the agents"
    assert server.http.get("/api/fleet").status_code == 404
