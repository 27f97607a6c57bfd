"""The page follows a live fleet."""

from __future__ import annotations

import threading
import time
from typing import Any

from dwell.fleet.virtual import VirtualFleet
from dwell.live.beliefs import Announcement
from dwell.live.settings import LiveSettings, live_law
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from dwell.web.fleet_view import PageView
from tests.page.conftest import PATIENCE, Watched
from tests.web.servers import scenario as template

LATER = "() => dwellPage.session.clock.t > 2 && dwellPage.store.get().lanes[0].job.events > 50"


def test_a_fleet_is_followed_until_it_ends(browser: Any, watched: Watched) -> None:
    given = parse_scenario(template(horizon=60.0, seed=3))
    system, positions, _ = build(given)
    announced: list[Announcement] = []
    law = live_law(system, LiveSettings(margin=0.0))
    fleet = VirtualFleet(law, positions, watch=lambda one: announced.append(one.announcement))
    view, ending, began = (
        PageView(given, system, positions, port=0),
        threading.Event(),
        time.monotonic(),
    )

    def feed() -> None:
        done = 0
        while not ending.wait(0.05):
            now = time.monotonic() - began
            fleet.run(now)
            view.update(now, announced[done:])
            done = len(announced)

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        watched.watch(page)
        page.goto(view.address)
        page.wait_for_function(LATER)
        first = page.evaluate("dwellPage.session.clock.t")
        page.reload()
        page.wait_for_function(f"() => dwellPage.session.clock.t > {first}")
    finally:
        ending.set()
        feeding.join()
        view.close()
    page.get_by_text("The fleet has ended").wait_for()
    page.close()
    assert not [one for one in watched.errors if "ERR_CONNECTION" not in one]
