"""With a delay an agent knows itself as it is now, and others as they were, each on its path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import dwell
from dwell.agents import Command, Information, Network
from dwell.agents.traits import Traits

SITE, HILL = dwell.Box((0, 0), (4, 3)), dwell.Gaussian((3.0, 1.0), rate=0.2)
START = np.array([(0.6, 0.5), (3.1, 1.2), (2.0, 2.2), (0.9, 2.7)])


class Held(NamedTuple):
    """A velocity that an agent holds from some time and place on, for so long."""

    time: float
    place: np.ndarray
    hold: np.ndarray
    cruise: float

    def at(self, time: float) -> np.ndarray:
        return self.place + min(time - self.time, self.cruise) * self.hold

    def velocity(self, time: float) -> np.ndarray:
        return self.hold * (time - self.time < self.cruise)


@dataclass(frozen=True)
class Walk:
    """Goes where it is drawn to, and stops before its next sample; notes what it observes."""

    stops: bool = True
    others: str = "velocities"
    orders: dict[int, list[Held]] = field(default_factory=dict)
    seen: list[Any] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)

    @property
    def traits(self) -> Traits:
        return Traits(information=Information(others=self.others))

    def begin(self, view: Any) -> Command:
        self.seen.append(view)
        return self._ordered(view)

    decide = begin

    def miss(self, view: Any) -> Command:
        self.lost.append(view.time)
        return self._ordered(view)

    def _ordered(self, view: Any) -> Command:
        wait, turn = 0.05 + 0.2 * view.draw, 7.0 * view.draw + view.agent
        hold = 0.2 * np.array([np.cos(turn), np.sin(turn)])
        cruise = 0.4 * wait if self.stops else np.inf
        own = Held(view.time, np.array(view.position), hold, cruise)
        self.orders.setdefault(view.agent, []).append(own)
        return Command(hold, view.time + wait, cruise)


def latest(orders: list[Held], time: float) -> Held:
    return [one for one in orders if one.time <= max(time, 0.0)][-1]


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("network", [Network(delay=0.37), Network(loss=0.3, delay=0.02)])
def test_others_are_seen_where_and_as_fast_as_they_were(network: Network, stops: bool) -> None:
    law, leave = Walk(stops), dwell.Switch(at=1.0, leave=(1,))
    dwell.simulate(
        SITE, HILL, START, law, until=2.0, seed=3, network=network, switches=[leave],
        sample_every="off",
    )  # fmt: skip
    assert bool(law.lost) == (network.loss > 0.0)
    compared = 0
    for view in law.seen:
        then = max(view.time - network.delay, 0.0) if view.time else 0.0
        there = [p for p in range(4) if p != 1 or view.time < 1.0]
        places = np.array([latest(law.orders[p], then).at(then) if p in law.orders else START[p]
                           for p in range(4)])  # fmt: skip
        places[view.agent] = view.position
        cells = dwell.tessellate(SITE, places[there], HILL)
        own = there.index(view.agent)
        assert view.measurement.error == pytest.approx(cells.errors[own], abs=1e-12)
        if view.time > network.delay:
            neighbors = [there[k] for k in np.sort(cells.cells[own].neighbors)]
            assert view.sample.agents.tolist() == neighbors
            assert view.sample.positions == pytest.approx(places[neighbors], abs=1e-12)
            speeds = [latest(law.orders[p], then).velocity(then) for p in neighbors]
            assert view.sample.velocities == pytest.approx(np.array(speeds), abs=1e-12)
            compared += 1
    assert compared > 20
