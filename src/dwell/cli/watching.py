"""Live views of a fleet, for `dwell fleet --watch`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dwell.cli.options import require_web
from dwell.cli.output import complain
from dwell.fleet.configuration import fleet_settings
from dwell.fleet.launch import FleetProcess, FleetStatus
from dwell.fleet.run import Watch
from dwell.live.settings import live_law
from dwell.progress import reported
from dwell.scenario import Scenario
from dwell.scenario.build import build, with_seed

if TYPE_CHECKING:
    from dwell.exports.foxglove_live import FoxgloveView
    from dwell.web.fleet_view import PageView


@contextmanager
def watched(
    kind: str | None, scenario: Scenario, port: int | None
) -> Iterator[tuple[Scenario, Watch | None]]:
    """The scenario with its seed, and what a fleet calls so that a view follows it."""
    if kind is None:
        yield scenario, None
        return
    seeded = with_seed(scenario)
    with reported() as tell:
        tell("opening the view", 0.0)
        view, ended = _opened(kind, seeded, port), False

    def follow(status: FleetStatus, processes: FleetProcess) -> None:
        nonlocal ended
        if ended or status.time < 0.0:
            return
        try:
            view.update(status.time, status.announcements)
        except Exception as fault:  # agents do without a view
            ended = True
            complain(f"the view has ended ({type(fault).__name__}: {fault}); the fleet goes on")

    try:
        yield seeded, follow
    finally:
        view.close()


def _opened(kind: str, scenario: Scenario, port: int | None) -> FoxgloveView | PageView:
    """The view of that kind, after its address was printed."""
    system, positions, _ = build(scenario)
    found: FoxgloveView | PageView
    if kind == "page":
        require_web("dwell fleet --watch page")
        from dwell.web.fleet_view import PageView

        number = 8000 if port is None else port
        found = PageView(scenario, system, positions, port=number, browser=sys.stdout.isatty())
    else:
        from dwell.exports.foxglove_live import PORT, FoxgloveView

        silence = live_law(system, fleet_settings(scenario)[0]).silence
        number = PORT if port is None else port
        found = FoxgloveView(system, positions, silence=silence, port=number)
    complain(f"the fleet can be seen at {found.address}")
    return found
