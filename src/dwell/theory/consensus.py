"""Consensus on k1: each agent knows its own cap, and all need one gain below every cap.

Agents exchange values with their neighbours only, over one graph or over graphs that change from
round to round. `flooding` and `gossip` are min-consensus, synchronous and pairwise at random.
`equalizing` (Lu, Tang, Regier and Bow) ends below every cap without disclosing any: agent p has the
convex function f_p(k) = -mu log(cap_p - k) - log k and starts at its minimum; two neighbours both
take the z with f_p'(z) + f_q'(z) = f_p'(k_p) + f_q'(k_q), so the sum of all f_p'(k_p) stays 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, finite_number, is_positive, is_whole
from dwell.agents.start import seed_words
from dwell.errors import InputError

METHODS = ("flooding", "gossip", "equalizing")
MEETINGS = 101  # purpose of the random draws; those below 100 belong to the simulation
WEIGHT = 0.05  # mu
SPREAD = 1e-6  # relative difference of the values at which equalizing ends
MOST_ROUNDS = 100_000
MOST_MEETINGS = 300_000
NAMED = 5  # agents of a component that are listed

Graph = Sequence[Sequence[int]]  # the neighbours of each agent
Progress = Callable[[str, float], None]


@final
@dataclass(frozen=True, eq=False)
class Agreement:
    """The values that agents ended with, and the rounds and messages it took."""

    method: str
    values: Floats  # (N,) of each agent in the end
    rounds: int
    messages: int
    history: Floats  # (rounds + 1, N) values after each round
    agreed: bool  # False: cut short

    @property
    def value(self) -> float:
        """The gain that all may use: the least of their values, within every cap at any time."""
        return float(self.values.min())

    def as_json(self) -> dict[str, Any]:
        """Return the gain and the counts as `dwell design --json` prints them."""
        keys = ("agreed", "rounds", "messages")
        return {
            "method": self.method,
            "k1": self.value,
            **{key: getattr(self, key) for key in keys},
        }


def agree(
    method: str,
    caps: object,
    graphs: Sequence[Graph],
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Agreement:
    """Agree by one of `METHODS`."""
    if method == "flooding":
        return flooding(caps, graphs)
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise InputError(
            f"there is no way of agreeing called {method!r}; choose from {known}",
            code="agreement.method",
        )
    pairwise = gossip if method == "gossip" else equalizing
    return pairwise(caps, graphs, seed=seed, progress=progress)


def flooding(
    caps: object,
    graphs: Sequence[Graph],
    *,
    only_changes: bool = False,
    most_rounds: int = MOST_ROUNDS,
) -> Agreement:
    """Find the least cap by rounds in which every agent sends its value to its neighbours.

    Round r uses graph r; when the graphs are used up they come again from the first. With
    `only_changes` an agent sends a neighbour only what it has not sent it yet.

    >>> path = [[1], [0, 2], [1]]
    >>> found = flooding([3.0, 2.0, 1.0], [path])
    >>> found.value, found.rounds, found.messages
    (1.0, 2, 8)
    >>> flooding([3.0, 2.0, 1.0], [path], only_changes=True).messages
    7
    """
    history = [_checked_caps(caps)]
    links = [np.vstack([e, e[:, ::-1]]) for e in _checked_edges(graphs, len(history[0]))]
    least, messages = history[0].min(), 0
    sent: dict[tuple[int, int], float] = {}  # the last value, by sender and receiver
    while (history[-1] != least).any() and len(history) <= most_rounds:
        values, now = history[-1], links[(len(history) - 1) % len(links)]
        known = {(p, q): float(values[p]) for p, q in now.tolist()}
        messages += len(known.items() - sent.items()) if only_changes else len(known)
        sent |= known
        history.append(values.copy())
        np.minimum.at(history[-1], now[:, 1], values[now[:, 0]])
    agreed = bool((history[-1] == least).all())
    return Agreement("flooding", history[-1], len(history) - 1, messages, np.array(history), agreed)


def gossip(
    caps: object,
    graphs: Sequence[Graph],
    *,
    seed: int = 0,
    most_meetings: int = MOST_MEETINGS,
    progress: Progress | None = None,
) -> Agreement:
    """Find the least cap by random meetings of two neighbours: both take the lesser value."""
    values = _checked_caps(caps)

    def least(p: int, q: int) -> float:
        return float(min(values[p], values[q]))

    return _pairwise("gossip", values, graphs, least, 0.0, seed, most_meetings, progress)


def equalizing(
    caps: object,
    graphs: Sequence[Graph],
    *,
    seed: int = 0,
    weight: float = WEIGHT,
    spread: float = SPREAD,
    most_meetings: int = MOST_MEETINGS,
    progress: Progress | None = None,
) -> Agreement:
    """Find a value strictly below every cap without disclosing any cap; `weight` is mu.

    The smaller mu, the nearer the value is to the least cap. The values approach each other without
    end; they count as one when they differ by no more than `spread`, relatively.
    """
    limits = _checked_caps(caps)
    if not is_positive(weight):
        raise InputError(f"mu is {weight!r}; a positive number is needed", code="agreement.weight")
    values = limits / (1.0 + weight)

    def slope(p: int, k: float) -> float:
        return float(weight / (limits[p] - k) - 1.0 / k)

    def balanced(p: int, q: int) -> float:
        total = slope(p, values[p]) + slope(q, values[q])
        low, high = sorted((values[p], values[q]))
        high = min(high, limits[p], limits[q])
        while low < (middle := 0.5 * (low + high)) < high:
            if slope(p, middle) + slope(q, middle) <= total:
                low = middle
            else:
                high = middle
        return float(low)

    return _pairwise("equalizing", values, graphs, balanced, spread, seed, most_meetings, progress)


def _pairwise(
    method: str,
    values: Floats,
    graphs: Sequence[Graph],
    combined: Callable[[int, int], float],
    spread: float,
    seed: int,
    most: int,
    progress: Progress | None,
) -> Agreement:
    """Change `values` in place by meetings of two random neighbours until they are one value.

    A round has as many meetings as there are agents; draw k depends on the seed and k alone.
    """
    from dwell._kernels.common.philox import uniform

    edges, key = _checked_edges(graphs, len(values)), seed_words(seed)
    history, meetings = [values.copy()], 0

    def done() -> bool:
        return bool(np.ptp(values) <= spread * values.max())

    while not done() and meetings < most:
        if progress is not None:
            progress("agreeing", meetings / most)
        now, first = edges[(len(history) - 1) % len(edges)], (len(history) - 1) * len(values)
        for k in range(first, first + len(values)) if len(now) else ():
            p, q = now[int(uniform(*key, MEETINGS, 0, k) * len(now))].tolist()
            values[p] = values[q] = combined(p, q)
            meetings += 1
            if done() or meetings == most:
                break
        history.append(values.copy())
    return Agreement(method, values, len(history) - 1, 2 * meetings, np.array(history), done())


def _checked_caps(caps: object) -> Floats:
    listed = caps if isinstance(caps, Sequence | np.ndarray) else []
    numbers = [finite_number(cap) for cap in listed]
    good = [number for number in numbers if number is not None and number > 0.0]
    if not good or len(good) < len(numbers):
        raise InputError(
            f"the caps are {caps!r}; one positive number per agent is needed", code="agreement.caps"
        )
    return np.array(good)


def _checked_edges(graphs: Sequence[Graph], agents: int) -> list[Ints]:
    """Return the edges of each graph; refuse graphs that leave agents apart even together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(graphs):
        raise InputError("there is no graph; at least one is needed", code="agreement.graph")
    edges = [edges_of(graph, agents) for graph in graphs]
    p, q = np.concatenate(edges).T
    whole = coo_array((np.ones(len(p)), (p, q)), shape=(agents, agents))
    count, label = connected_components(whole, directed=False)
    if count > 1:
        parts = [np.flatnonzero(label == k).tolist() for k in range(min(count, NAMED))]
        nouns = ["agent " if len(part) == 1 else "agents " for part in parts]
        named = [
            noun + _listed(map(str, part), len(part), ", ")
            for noun, part in zip(nouns, parts, strict=True)
        ]
        raise InputError(
            f"the graph is not connected, so the agents cannot agree: it has {count} parts, "
            f"{_listed(named, count, '; ')}; every agent must be able to reach every other",
            code="agreement.disconnected",
        )
    return edges


def _listed(words: Iterable[str], count: int, separator: str) -> str:
    """The first of `count` words, and how many more there are."""
    more = f" and {count - NAMED} more" if count > NAMED else ""
    return separator.join(islice(words, NAMED)) + more


def edges_of(graph: Graph, agents: int) -> Ints:
    """Return the pairs p < q of a graph given by the neighbours of each agent, (E, 2)."""
    if len(graph) != agents:
        raise InputError(
            f"a graph lists the neighbours of {len(graph)} agents; {agents} are needed",
            code="agreement.graph",
        )
    pairs = {(p, q) for p, near in enumerate(graph) for q in near}
    for p, q in pairs:
        if not (is_whole(q) and 0 <= q < agents) or p == q or (q, p) not in pairs:
            raise InputError(
                f"agent {p} has the neighbour {q!r}; neighbours are other agents, from 0 to "
                f"{agents - 1}, and have each other",
                code="agreement.graph",
            )
    return np.array(sorted((p, q) for p, q in pairs if p < q), dtype=np.int64).reshape(-1, 2)
