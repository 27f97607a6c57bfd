"""A world that moves is brought to the time of a sample once, whatever the sample depends on."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import dwell
from dwell.agents import Command, CoverageSystem, Information, Network, Traits
from dwell.agents.world import Sensor, Timeline, World
from dwell.cells import weighted_region
from dwell.density.moving import Moving, density_at
from dwell.hybrid import simulate
from dwell.motion import Keyframes

SQUARE = dwell.Box((0.0, 0.0), (4.0, 4.0))
CUBE = dwell.Box((0.0, 0.0, 0.0), (4.0, 4.0, 4.0))
CORNERS = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]
GROWING = dwell.MovingPolygon(
    Keyframes((0.0, 4.0), (CORNERS, [(1.5 * x, y) for x, y in CORNERS]), after="hold")
)
EAST, NORTH = (
    Moving(dwell.Gaussian, center=Keyframes((0.0, 4.0), ends), rate=0.3)
    for ends in (((1.0, 1.0), (3.0, 1.0)), ((1.0, 1.0), (1.0, 3.0)))
)
DEEP = Moving(
    dwell.Gaussian, center=Keyframes((0.0, 4.0), ((1.0, 1.0, 1.0), (3.0, 1.0, 2.0))), rate=0.3
)
PAIR = (Sensor("east", EAST, (0, 1, 2)), Sensor("north", NORTH, (2, 3)))
LATE = Network(delay=0.05)
TIMELINES = {
    "density": Timeline((World(0.0, SQUARE, EAST),)),
    "density in space": Timeline((World(0.0, CUBE, DEEP),)),
    "boundary": Timeline((World(0.0, GROWING, dwell.Uniform()),)),
    "both": Timeline((World(0.0, GROWING, EAST),)),
    "switch": Timeline((World(0.0, SQUARE, EAST), World(0.5, GROWING, NORTH))),
    "sensors": Timeline((World(0.0, GROWING, dwell.Mixture((EAST, NORTH))),), sensors=PAIR),
    "delay": Timeline((World(0.0, GROWING, EAST, LATE),)),
}


class Own:
    """Reads the ground at each sample."""

    def __init__(self, **known: str) -> None:
        self.traits = Traits(information=Information(**known))

    def begin(self, observation):
        return self.decide(observation)

    def decide(self, observation):
        now = observation.time
        assert observation.ground.workspace.diameter > 0.0
        hold = observation.measurement.error
        if observation.rate is not None:
            hold = hold + observation.rate()
        return Command(hold, now + 0.1 + 0.1 * observation.draw)

    miss = decide


LAWS = {"centroid": Own(), "neighbours": Own(others="samples"), "rate": Own(world="rate")}


# Agents with sensors of their own know centroids only, and centroids in space have no rates.
CASES = [
    (kind, law)
    for kind in TIMELINES
    for law in LAWS
    if (kind, law) != ("density in space", "rate") and (kind != "sensors" or law == "centroid")
]


@pytest.mark.parametrize(("kind", "law"), CASES)
def test_a_world_is_built_once_for_each_sample(kind, law, monkeypatch):
    timeline = TIMELINES[kind]
    first = timeline.worlds[0]
    ground = first.ground.at(0.0)
    system = CoverageSystem(
        ground.workspace, ground.density, LAWS[law], 4, 1, network=first.network, changes=timeline
    )
    built: Counter[tuple[int, float]] = Counter()

    def counted(density, t):
        built[id(density), t] += 1
        return density_at(density, t)

    monkeypatch.setattr(weighted_region, "density_at", counted)
    dimension = system.dimension
    places = np.random.default_rng(2).uniform(0.5, 3.5, (4, dimension))
    arc = simulate(system, system.start(places), until=1.0)
    assert arc.jumps > 10
    assert set(built.values()) == {1}
    assert {event.time for event in arc.events} <= {t for _, t in built}
