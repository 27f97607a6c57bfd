"""Agreement on a gain: below every cap, as quickly as the graph allows, by the known invariants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell import Box, tessellate
from dwell.agents import scatter
from dwell.errors import InputError
from dwell.theory.consensus import (
    METHODS,
    Graph,
    agree,
    edges_of,
    equalizing,
    flooding,
    gossip,
)

PATH = [[1], [0, 2], [1, 3], [2]]
SITE = Box((0, 0), (3, 2))


def voronoi(agents: int, seed: int) -> Graph:
    return tessellate(SITE, scatter(SITE, agents, seed)).neighbors


def eccentricity(graph: Graph, sources: Sequence[int]) -> int:
    """How many steps the agent farthest from all sources is away."""
    reached, steps = set(sources), 0
    while len(reached) < len(graph):
        reached |= {q for p in reached for q in graph[p]}
        steps += 1
    return steps


def caps_of(agents: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 2.0, agents)


# Caps, the graph of some agents, and a seed.
cases = st.tuples(st.integers(1, 16), st.integers(0, 50)).map(
    lambda case: (caps_of(*case), voronoi(*case), case[1])
)
Case = tuple[np.ndarray, Graph, int]


@settings(max_examples=12)
@given(cases)
def test_the_result_is_within_every_cap(case: Case) -> None:
    caps, graph, seed = case
    for method in METHODS:
        found = agree(method, caps, [graph], seed=seed)
        assert found.agreed
        assert found.value <= caps.min()
        assert (found.history[0] <= caps).all()
        assert found.history.shape == (found.rounds + 1, len(caps))
        assert (found.history[-1] == found.values).all()
    assert agree("equalizing", caps, [graph], seed=seed).value < caps.min()


@given(cases)
def test_flooding_is_exact_after_as_many_rounds_as_the_least_is_away(case: Case) -> None:
    caps, graph, _ = case
    found = flooding(caps, [graph])

    assert (found.values == caps.min()).all()
    assert found.rounds == eccentricity(graph, [int(np.argmin(caps))])
    assert found.messages == 2 * len(edges_of(graph, len(caps))) * found.rounds
    quiet = flooding(caps, [graph], only_changes=True)
    assert (quiet.history == found.history).all()
    assert quiet.messages <= found.messages


def test_who_says_only_what_is_new_sends_less() -> None:
    found = flooding([4.0, 3.0, 2.0, 1.0], [PATH], only_changes=True)

    # Everybody speaks in the first two rounds (6 + 6, less agent 3, whose value never changes);
    # then 0 and 1 have changed, and say so to 1, 0 and 2.
    assert found.rounds == 3
    assert found.messages == 6 + 5 + 3


@given(cases)
def test_gossip_is_exact_and_repeatable(case: Case) -> None:
    caps, graph, seed = case
    found, again = (gossip(caps, [graph], seed=seed) for _ in range(2))

    assert (found.values == caps.min()).all()
    assert (found.history == again.history).all()
    assert found.messages == again.messages
    each = 2 * len(caps)  # messages of a round
    assert (found.rounds - 1) * each < max(found.messages, 1) <= found.rounds * each + 1
    assert (np.diff(found.history, axis=0) <= 0.0).all()


def barrier_slope(cap: float, mu: float) -> Callable[[float], float]:
    """The derivative of -mu log(cap - k) - log k."""
    return lambda k: mu / (cap - k) - 1.0 / k


def bregman(caps: np.ndarray, values: np.ndarray, best: float, mu: float) -> float:
    """Sum of f(best) - f(k) - f'(k) (best - k), which is a distance from agreement on `best`."""
    total = []
    for cap, k in zip(caps.tolist(), values.tolist(), strict=True):
        cost = [-mu * math.log(cap - z) - math.log(z) for z in (best, k)]
        total.append(cost[0] - cost[1] - barrier_slope(cap, mu)(k) * (best - k))
    return math.fsum(total)


def optimum(caps: np.ndarray, mu: float) -> float:
    """Where the slopes add up to 0."""
    low, high = 0.0, float(caps.min())
    for _ in range(200):
        middle = 0.5 * (low + high)
        total = math.fsum(barrier_slope(cap, mu)(middle) for cap in caps.tolist())
        low, high = (middle, high) if total < 0.0 else (low, middle)
    return low


@settings(max_examples=25)
@given(cases, st.sampled_from([0.01, 0.05, 0.3, 2.0]))
def test_equalizing_keeps_the_sum_of_slopes_and_approaches_the_optimum(
    case: Case, mu: float
) -> None:
    caps, graph, seed = case
    found = equalizing(caps, [graph], seed=seed, weight=mu, spread=1e-9)
    best = optimum(caps, mu)

    assert found.value == pytest.approx(best, rel=1e-6)
    for values in found.history:
        slopes = [barrier_slope(c, mu)(k) for c, k in zip(caps, values, strict=True)]
        assert abs(math.fsum(slopes)) <= 1e-9 * (1.0 + math.fsum(map(abs, slopes)))
    distances = [bregman(caps, values, best, mu) for values in found.history]
    size = max(1.0, *map(abs, distances))
    assert all(b <= a + 1e-12 * size for a, b in pairwise(distances))
    assert distances[-1] <= 1e-12 * size


# Graphs.


def test_graphs_that_change_need_to_connect_only_together() -> None:
    there, here = [[1], [0], []], [[], [2], [1]]
    found = flooding([1.0, 2.0, 3.0], [there, here])
    assert (found.rounds, found.messages, found.value) == (2, 4, 1.0)
    back = flooding([3.0, 2.0, 1.0], [there, here])  # the wrong way round: a third is needed
    assert (back.rounds, back.value) == (3, 1.0)
    quiet = flooding([3.0, 2.0, 1.0], [there, here], only_changes=True)
    assert (quiet.history == back.history).all()
    for method in METHODS:
        assert agree(method, [3.0, 2.0, 1.0], [there, here, [[], [], []]]).agreed


def test_a_graph_in_parts_is_named() -> None:
    with pytest.raises(InputError) as caught:
        flooding([1.0, 2.0, 3.0, 4.0], [[[1], [0], [3], [2]]])
    assert "it has 2 parts, agents 0, 1; agents 2, 3;" in str(caught.value)
    assert caught.value.code == "agreement.disconnected"
    with pytest.raises(InputError, match="agent 0; agent 1; agent 2; agent 3; agent 4 and 3 more"):
        gossip(np.ones(8), [[[]] * 8])
    with pytest.raises(InputError, match="agents 0, 1, 2, 3, 4 and 2 more; agent 7"):
        equalizing(np.ones(8), [[[1], *([k - 1, k + 1] for k in range(1, 6)), [5], []]])


def test_an_agreement_cut_short_says_so() -> None:
    for found in (
        flooding([4.0, 3.0, 2.0, 1.0], [PATH], most_rounds=2),
        gossip([4.0, 3.0, 2.0, 1.0], [PATH], most_meetings=2),
        equalizing([4.0, 3.0, 2.0, 1.0], [PATH], most_meetings=5),
    ):
        assert not found.agreed
        assert found.as_json()["agreed"] is False
