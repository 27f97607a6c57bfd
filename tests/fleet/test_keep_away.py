"""The keep-away over a network that loses, delays and repeats messages."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import dwell
from dwell._types import lengths
from dwell.fleet.virtual import VirtualFleet
from dwell.fleet.wire import SENDER
from dwell.live.faults import Faults
from dwell.live.settings import LiveSettings, live_law
from dwell.scenario.build import build
from tests.fleet.fleets import copied, record_of, recorded, run_from, scenario

RADIUS, HORIZON = 0.08, 5.0
START = [
    [0.5, 0.4], [0.72, 0.45], [0.6, 1.4], [0.8, 1.5], [2.2, 0.5], [2.35, 0.62], [0.7, 2.3],
    [3.3, 2.6], [3.1, 0.3], [1.9, 2.0],
]  # fmt: skip


def closest(radius, peak, faults, seed):
    """The least distance of two agents whose law drives them to a narrow peak at full speed."""
    case = scenario(
        seed=seed, horizon=HORIZON, agents={"start": START},
        controller={"kind": "timer", "k1": 2.0, "nu": 0.02, "t1": 0.2, "t2": 0.6},
        density={"kind": "gaussian", "center": list(peak), "rate": 6.0},
    )  # fmt: skip
    live = record_of(case, LiveSettings(silence=3.0, clearance=radius), faults=faults)
    paths = paths_of(live.samples, HORIZON)
    first, second = np.triu_indices(len(START), 1)
    return min(lengths(paths[a] - paths[b]).min() for a, b in zip(first, second, strict=True))


def paths_of(samples, until):
    """The positions of each agent at 2000 times."""
    times, paths = np.linspace(0.0, until, 2000), []
    for p in range(int(samples["agent"].max()) + 1):
        own = samples[samples["agent"] == p]
        held = own[np.searchsorted(own["time"], times, side="right") - 1]
        since = np.minimum(times - held["time"], held["cruise"])
        paths.append(held["position"] + held["hold"] * since[:, None])
    return paths


@hypothesis_settings(max_examples=12)
@given(
    seed=st.integers(0, 1000),
    peak=st.tuples(st.floats(0.3, 3.7), st.floats(0.3, 2.7)),
    loss=st.floats(0.0, 0.8),
    delay=st.floats(0.0, 0.6),
    repeat=st.floats(0.0, 0.5),
)
def test_robots_stay_two_radii_apart(seed, peak, loss, delay, repeat):
    faults = Faults(loss=loss, delay=(0.0, delay), repeat=repeat, seed=seed)
    assert closest(RADIUS, peak, faults, seed) >= 2.0 * RADIUS


@pytest.mark.parametrize("seed", range(3))
def test_without_it_they_come_closer(seed):
    assert closest(0.0, (2.0, 1.5), Faults(loss=0.5, seed=seed), seed) < 2.0 * RADIUS


LONE = [[0.5, 1.0], [3.5, 1.0], [2.0, 2.8]]
PAIRS = [[0.5, 0.5], [3.5, 0.5], [0.5, 2.5], [3.5, 2.5]]


@pytest.mark.parametrize("clearance", [0.0, 0.25])
@pytest.mark.parametrize(
    ("start", "deaf", "never"),
    [
        (LONE, [(0, 1)], False),
        (LONE, [(0, 1)], True),
        (PAIRS, [(0, 1), (2, 3)], False),  # all know three
    ],
    ids=["one pair", "one pair, never heard of", "two pairs"],
)
def test_robots_between_which_no_message_arrives(start, deaf, never, clearance):
    """Each takes the other one to be gone, but the rest know both."""
    law = {"kind": "timer", "k1": 0.5, "nu": 0.5, "t1": 0.2, "t2": 0.65}
    density = {"kind": "gaussian", "center": [2.0, 1.5], "rate": 2.0}
    case = scenario(
        horizon=30.0, agents={"start": start}, controller=law, density=density,
        fleet={"clearance": clearance, "margin": 0.02},
    )  # fmt: skip
    system, positions, _ = build(case)
    made, settings = [], LiveSettings(clearance=clearance)
    fleet = VirtualFleet(live_law(system, settings), positions, watch=made.append)
    for a, b in [*deaf, *((b, a) for a, b in deaf)]:
        fleet._transports[a] = Deaf(fleet._transports[a], b)
        fleet.beliefs[a].boot[b] = -1 if never else 0
    fleet.run(30.0)
    live = recorded(made, settings)
    paths = paths_of(live.samples, 30.0)
    together = min(lengths(paths[a] - paths[b]).min() for a, b in deaf)
    assert together >= 0.5 if clearance else together < 0.3
    report = dwell.check(run_from(case, live), progress=False)
    assert {f.name for f in report.findings if f.status == "violated"} == set()
    if clearance and not never:
        forged = copied(live)
        forged.beliefs["doubt"] = 0.0
        report = dwell.check(run_from(case, forged), progress=False)
        assert {f.name for f in report.findings if f.status == "violated"} == {"safety"}


class Deaf:
    """A transport that receives nothing from one agent."""

    def __init__(self, transport, other):
        self._transport, self._other = transport, other
        self.send = transport.send

    def receive(self, now):
        found = self._transport.receive(now)
        return [one for one in found if SENDER.unpack_from(one.datagram)[0] != self._other]
