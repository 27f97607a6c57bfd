"""Agreement on k1: every agent knows its own cap, and all must use one gain below every cap.

Agents talk to their neighbours only, over one graph or over graphs that change from round to round.

- Flooding: everybody takes the least of its own and its neighbours' values, all at once. Exact when
  the least cap has come to everybody.
- Gossip: two neighbours, chosen at random, meet and both take the lesser of their values.
- Equalizing (Lu, Tang, Regier and Bow): the agents together minimize the sum of convex functions
  f_p(k) = -mu log(cap_p - k) - log k. Each starts at its own minimum; two that meet both take the z
  with f_p'(z) + f_q'(z) = f_p'(k_p) + f_q'(k_q), so the sum of all f_p'(k_p) stays 0. The common
  value is below every cap, and nobody learns another's cap.

A round of the last two has as many meetings as there are agents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
NAMED = 5  # agents of a part that are listed

Graph = Sequence[Sequence[int]]  # the neighbours of each agent
Progress = Callable[[str, float], None]


@final
@dataclass(frozen=True, eq=False)
class Agreement:
    """What the agents agreed on, and what it took."""

    method: str
    values: Floats  # (N,) of each agent in the end
    rounds: int
    messages: int
    history: Floats  # (rounds + 1, N) values after each round
    agreed: bool  # False: cut short

    @property
    def value(self) -> float:
        """What all may use: the least of their values, which is within every cap at any time."""
        return float(self.values.min())

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "method": self.method,
            "k1": self.value,
            "agreed": self.agreed,
            "rounds": self.rounds,
            "messages": self.messages,
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
    match method:
        case "flooding":
            return flooding(caps, graphs)
        case "gossip":
            return gossip(caps, graphs, seed=seed, progress=progress)
        case "equalizing":
            return equalizing(caps, graphs, seed=seed, progress=progress)
    raise InputError(
        f"there is no way of agreeing called {method!r}; choose from {', '.join(METHODS)}",
        code="agreement.method",
    )


def flooding(
    caps: object,
    graphs: Sequence[Graph],
    *,
    only_changes: bool = False,
    most_rounds: int = MOST_ROUNDS,
) -> Agreement:
    """The least cap, by rounds in which everybody tells its neighbours.

    Round r uses graph r; when the graphs are used up they come again from the first. With
    `only_changes` an agent tells a neighbour only what it has not told it yet.

    >>> path = [[1], [0, 2], [1]]
    >>> found = flooding([3.0, 2.0, 1.0], [path])
    >>> found.value, found.rounds, found.messages
    (1.0, 2, 8)
    >>> flooding([3.0, 2.0, 1.0], [path], only_changes=True).messages
    7
    """
    values = _caps(caps)
    edges = _checked(graphs, len(values))
    goal = float(values.min())
    told: dict[tuple[int, int], float] = {}
    history = [values]
    messages = 0
    while (values != goal).any() and len(history) <= most_rounds:
        now = edges[(len(history) - 1) % len(edges)]
        after = values.copy()
        for i, j in ((0, 1), (1, 0)):
            np.minimum.at(after, now[:, j], values[now[:, i]])
        messages += _fresh(now, values, told) if only_changes else 2 * len(now)
        values = after
        history.append(values)
    agreed = bool((values == goal).all())
    return Agreement("flooding", values, len(history) - 1, messages, np.array(history), agreed)


def _fresh(edges: Ints, values: Floats, told: dict[tuple[int, int], float]) -> int:
    """How many messages say something new; remembers them."""
    count = 0
    for p, q in (*map(tuple, edges.tolist()), *map(tuple, edges[:, ::-1].tolist())):
        if told.get((p, q)) != values[p]:
            told[p, q] = float(values[p])
            count += 1
    return count


def gossip(
    caps: object,
    graphs: Sequence[Graph],
    *,
    seed: int = 0,
    most_meetings: int = MOST_MEETINGS,
    progress: Progress | None = None,
) -> Agreement:
    """The least cap, by meetings of two. Each of the two sends one message."""
    values = _caps(caps)
    goal = float(values.min())
    edges = _checked(graphs, len(values))
    left = int((values != goal).sum())

    def meet(p: int, q: int) -> None:
        nonlocal left
        least = min(values[p], values[q])
        left -= int((values[[p, q]] != goal).sum()) if least == goal else 0
        values[p] = values[q] = least

    meetings = _Meetings(edges, seed, most_meetings, progress)
    return meetings.hold("gossip", values, meet, lambda: left == 0)


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
    """A value strictly below every cap, without telling any cap; `weight` is mu.

    The smaller mu, the nearer the value is to the least cap. The values approach each other without
    end; they count as one when they differ by no more than `spread`, relatively.
    """
    limits = _caps(caps)
    if not is_positive(weight):
        raise InputError(f"mu is {weight!r}; a positive number is needed", code="agreement.weight")
    starts = limits / (1.0 + weight)
    slopes = [barrier_slope(float(cap), weight) for cap in limits]
    return equalize(
        starts, slopes, limits, graphs, seed=seed, spread=spread, most_meetings=most_meetings,
        progress=progress,
    )  # fmt: skip


def barrier_slope(cap: float, weight: float) -> Callable[[float], float]:
    """The derivative of -mu log(cap - k) - log k."""
    return lambda k: weight / (cap - k) - 1.0 / k


def equalize(
    starts: Floats,
    slopes: Sequence[Callable[[float], float]],
    ceilings: Floats,
    graphs: Sequence[Graph],
    *,
    seed: int = 0,
    spread: float = SPREAD,
    most_meetings: int = MOST_MEETINGS,
    progress: Progress | None = None,
) -> Agreement:
    """Pairwise equalizing for any convex functions with increasing `slopes`.

    Agent p starts at its own minimum `starts[p]`, and its function is defined below `ceilings[p]`.
    """
    values = np.array(starts, dtype=np.float64)
    edges = _checked(graphs, len(values))

    def meet(p: int, q: int) -> None:
        ceiling = float(min(ceilings[p], ceilings[q]))
        pair = float(values[p]), float(values[q])
        values[p] = values[q] = _balanced(slopes[p], slopes[q], pair, ceiling)

    def done() -> bool:
        return float(values.max() - values.min()) <= spread * float(np.abs(values).max())

    meetings = _Meetings(edges, seed, most_meetings, progress)
    return meetings.hold("equalizing", values, meet, done)


def _balanced(
    one: Callable[[float], float],
    other: Callable[[float], float],
    pair: tuple[float, float],
    ceiling: float,
) -> float:
    """The z between the two values at which the slopes have the same sum as before."""
    target = one(pair[0]) + other(pair[1])
    low, high = min(pair), min(max(pair), ceiling)
    while low < (middle := 0.5 * (low + high)) < high:
        if one(middle) + other(middle) <= target:
            low = middle
        else:
            high = middle
    return low


@final
@dataclass(frozen=True, eq=False)
class _Meetings:
    """Random meetings of neighbours."""

    edges: Sequence[Ints]  # round by round
    seed: int
    most: int
    progress: Progress | None

    def hold(
        self,
        method: str,
        values: Floats,
        meet: Callable[[int, int], None],
        done: Callable[[], bool],
    ) -> Agreement:
        """Meetings until `done`; `meet` changes `values` in place."""
        agents, met = len(values), 0
        history = [values.copy()]
        while not done() and met < self.most:
            if self.progress is not None:
                self.progress("agreeing", met / self.most)
            for edge in self._round(len(history) - 1, agents):
                meet(*edge)
                met += 1
                if done() or met == self.most:
                    break
            history.append(values.copy())
        return Agreement(method, values, len(history) - 1, 2 * met, np.array(history), done())

    def _round(self, number: int, agents: int) -> Iterator[tuple[int, int]]:
        """Edges chosen evenly: draw k depends on the seed and k alone."""
        from dwell._kernels.philox import uniform

        key, edges = seed_words(self.seed), self.edges[number % len(self.edges)]
        for k in range(number * agents, (number + 1) * agents) if len(edges) else ():
            p, q = edges[int(uniform(*key, MEETINGS, 0, k) * len(edges))]
            yield int(p), int(q)


def _caps(caps: object) -> Floats:
    listed = caps if isinstance(caps, Sequence | np.ndarray) else []
    numbers = [finite_number(cap) for cap in listed]
    good = [number for number in numbers if number is not None and number > 0.0]
    if not good or len(good) < len(numbers):
        raise InputError(
            f"the caps are {caps!r}; one positive number per agent is needed", code="agreement.caps"
        )
    return np.array(good)


def _checked(graphs: Sequence[Graph], agents: int) -> list[Ints]:
    """The edges of each graph; refused if all graphs together leave agents apart."""
    if not len(graphs):
        raise InputError("there is no graph to talk over", code="agreement.graph")
    edges = [edges_of(graph, agents) for graph in graphs]
    apart = parts_of(np.concatenate(edges), agents)
    if len(apart) > 1:
        named = "; ".join(_listed(part) for part in apart[:NAMED])
        more = f" and {len(apart) - NAMED} more" if len(apart) > NAMED else ""
        raise InputError(
            f"the graph is not connected, so the agents cannot agree: it has {len(apart)} parts, "
            f"{named}{more}; every agent must be able to reach every other",
            code="agreement.disconnected",
        )
    return edges


def _listed(part: Sequence[int]) -> str:
    more = f" and {len(part) - NAMED} more" if len(part) > NAMED else ""
    noun = "agent" if len(part) == 1 else "agents"
    return f"{noun} {', '.join(map(str, part[:NAMED]))}{more}"


def edges_of(graph: Graph, agents: int) -> Ints:
    """The pairs p < q of a graph given by the neighbours of each agent, (E, 2)."""
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


def parts_of(edges: Ints, agents: int) -> list[list[int]]:
    """The connected parts of a graph, each ascending, by their first agents."""
    label = np.arange(agents)
    while True:
        before = label.copy()
        for i, j in ((0, 1), (1, 0)):
            np.minimum.at(label, edges[:, i], label[edges[:, j]])
        label = label[label]
        if (label == before).all():
            break
    return [np.flatnonzero(label == root).tolist() for root in np.unique(label)]
