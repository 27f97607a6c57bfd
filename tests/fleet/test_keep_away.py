"""The keep-away over a network that loses, delays and repeats messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell._types import lengths
from dwell.fleet.faults import Faults
from dwell.live.settings import LiveSettings
from tests.fleet.fleets import record_of, scenario

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
    times = np.linspace(0.0, HORIZON, 2000)
    paths = []
    for p in range(len(START)):
        own = live.samples[live.samples["agent"] == p]
        held = own[np.searchsorted(own["time"], times, side="right") - 1]
        since = np.minimum(times - held["time"], held["cruise"])
        paths.append(held["position"] + held["hold"] * since[:, None])
    first, second = np.triu_indices(len(START), 1)
    return min(lengths(paths[a] - paths[b]).min() for a, b in zip(first, second, strict=True))


@settings(max_examples=12)
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
