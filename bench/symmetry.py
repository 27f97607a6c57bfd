"""Whether runs depend on what they must not: the numbers of agents, a mirror, a place, units.

``python -m bench.symmetry --runs 1000`` makes random problems for every law and its options,
renumbers, reflects, translates, rotates and scales each, and prints the largest differences.

A difference counts relative to the size of the workspace, the horizon, and their quotient. Some
runs amplify rounding: near saddles of the cost, and under feed-forward without a largest speed. A
run that differs by more than 1e-9 is therefore repeated from starts 1e-12 of the workspace's size
away; it may differ by as much as these differ.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dwell
from dwell._parameters import Times, Vectors, parameters_of
from dwell.agents import CoverageSystem, EventTable, table_of
from dwell.agents.continuous import is_continuous, solve_continuous
from dwell.agents.network import PERFECT, Network
from dwell.agents.traits import traits_of
from dwell.agents.world import Sensor, Timeline, World
from dwell.controllers.timer import RESET_RULES
from dwell.density.moving import Moving
from dwell.engine import run_compiled
from dwell.errors import AgentsError, DwellError
from dwell.geometry.moving import MovingPolygon
from dwell.hybrid import HybridArc
from dwell.hybrid import simulate as solve
from dwell.motion import Keyframes
from dwell.scenario.build import refuse_unfit

Points = np.ndarray
Law = Any
LIMIT = 1e-9
MOVED = 1e-12  # of the workspace's size: how far other starts are away
STARTS = 3  # of them
SOLVED = 1e-8  # the accuracy of a differential equation
EXTENT = 4.0  # of a workspace
KINDS = ("renumbering", "mirror image", "translation", "rotation", "lengths", "times", "all")
FEEDFORWARD = tuple(parameters_of(dwell.Lloyd)["feedforward"].kind.choices)
TAKEN = 7  # times at which positions are compared


@dataclass(frozen=True)
class Problem:
    """A run to be made."""

    law: Law
    places: Points
    worlds: tuple[World, ...]
    until: float
    arrivals: Points | None = None
    departures: Points | None = None
    sensors: tuple[Sensor, ...] = ()
    radius: tuple[float, ...] | None = None
    ids: tuple[int, ...] = ()

    @property
    def size(self) -> float:
        """The diameter of the workspace at the beginning."""
        return float(self.worlds[0].ground.at(0.0).workspace.diameter)

    @property
    def stays_the_same(self) -> bool:
        """Whether nothing of the world changes."""
        first = self.worlds[0]
        return len(self.worlds) == 1 and not first.ground.moves and not self.sensors

    def system(self) -> CoverageSystem:
        """The system to be simulated; refused like that of a scenario."""
        first = self.worlds[0]
        now = first.ground.at(0.0)
        timeline = Timeline(self.worlds, self.arrivals, self.departures, self.sensors)
        system = CoverageSystem(
            now.workspace, now.density, self.law, len(self.places), seed=7, ids=self.ids,
            network=first.network, radius=self.radius,
            changes=None if self.stays_the_same else timeline,
        )  # fmt: skip
        refuse_unfit(system)
        return system

    def run(self) -> HybridArc[Any]:
        """The solution, by the compiled loop where it can."""
        system = self.system()
        if is_continuous(system):
            from dwell.agents.continuous import beginning

            return solve_continuous(system, beginning(system, self.places), until=self.until)
        start = system.start(self.places)
        loop = run_compiled if system.compiles else solve
        return loop(system, start, until=self.until)


@dataclass(frozen=True)
class Similarity:
    """z -> length Q z + shift, t -> time t, and agent order[k] becomes agent k."""

    turn: Points  # Q, (n, n)
    shift: Points
    length: float
    time: float
    order: Points

    def points(self, of: Any) -> Points:
        """Points, (..., n)."""
        return self.vectors(of) + self.shift

    def vectors(self, of: Any) -> Points:
        """Differences of points."""
        return self.length * (np.asarray(of, dtype=float) @ self.turn.T)

    def problem(self, of: Problem) -> Problem:
        """The same problem as seen from elsewhere."""
        given: dict[str, Any] = {
            name: None if value is None else self.time * value[self.order]
            for name, value in (("arrivals", of.arrivals), ("departures", of.departures))
        }
        number = np.argsort(self.order)
        sensors = (
            Sensor(s.name, self.density(s.density), tuple(int(number[p]) for p in s.owners))
            for s in of.sensors
        )
        radius = None if of.radius is None else self.length * np.array(of.radius)[self.order]
        return replace(
            of, law=self.law(of.law), places=self.points(of.places)[self.order],
            worlds=tuple(map(self.world, of.worlds)), until=self.time * of.until,
            sensors=tuple(sensors), ids=tuple(of.ids[p] for p in self.order),
            radius=None if radius is None else tuple(radius), **given,
        )  # fmt: skip

    def world(self, of: World) -> World:
        """A phase of the world."""
        network = replace(of.network, delay=self.time * of.network.delay)
        site, density = self.site(of.workspace), self.density(of.density)
        return World(self.time * of.begin, site, density, network)

    def site(self, of: Any) -> Any:
        """A workspace."""
        if isinstance(of, dwell.Interval):
            return dwell.Interval(*sorted(self.points([[of.lower], [of.upper]]).ravel().tolist()))
        if isinstance(of, MovingPolygon):
            frames = [self._ring(ring) for ring in of.vertices.values]
            return MovingPolygon(self.track(of.vertices, lambda values: frames))
        if isinstance(of, dwell.Region):
            parts = [
                {"outer": self._ring(p.outer), "holes": [self._ring(hole) for hole in p.holes]}
                for p in of.parts
            ]
            return dwell.Region(parts, stay=of.stay)
        return dwell.Polygon(self._ring(of.vertices))

    def _ring(self, vertices: Any) -> Points:
        """Vertices of a ring in their old sense."""
        points = self.points(vertices)
        return points if np.linalg.det(self.turn) > 0.0 else points[::-1]

    def track(self, of: Keyframes, change: Callable[[Any], Any]) -> Keyframes:
        """Keyframes with other times and values."""
        times = [self.time * t for t in of.times]
        return Keyframes(times, change(of.values), of.between, of.after)

    def density(self, of: Any) -> Any:
        """A density; the value at a point does not change."""
        if isinstance(of, dwell.Uniform):
            return of
        if isinstance(of, dwell.Mixture):
            return dwell.Mixture(tuple(self.density(part) for part in of.parts))
        names = ("center", "rate", "covariance", "weight")
        given = (
            dict(of.parameters)
            if isinstance(of, Moving)
            else {name: getattr(of, name) for name in names}
        )
        changes: dict[str, Callable[[Any], Any]] = {
            "center": self.points,
            "rate": lambda value: np.asarray(value) / self.length**2,
            "covariance": self._spread,
            "weight": np.asarray,
        }
        for name, change in changes.items():
            value = given.get(name)
            if isinstance(value, Keyframes):
                given[name] = self.track(value, change)
            elif value is not None:
                given[name] = change(value).tolist()
        return Moving(of.kind, **given) if isinstance(of, Moving) else dwell.Gaussian(**given)

    def _spread(self, covariance: Any) -> Points:
        """A covariance, exactly symmetric."""
        return symmetric(self.length**2 * (self.turn @ np.asarray(covariance) @ self.turn.T))

    def law(self, of: Law) -> Law:
        """A law in other units."""
        changes: dict[str, Any] = {}
        for name, about in parameters_of(type(of)).items():
            value, (lengths, times) = getattr(of, name), about.unit
            if value is None or not any(about.unit):
                continue
            array = np.array(value, dtype=float) * self.length**lengths * self.time**times
            if isinstance(about.kind, Vectors):
                array = array @ self.turn.T
            per_agent = about.per_agent and array.ndim > isinstance(about.kind, Times)
            if per_agent and len(array) == len(self.order) > 1:
                array = array[self.order]
            changes[name] = array.tolist()
        return replace(of, **changes)

    def gap(self, problem: Problem, one: HybridArc[Any], two: HybridArc[Any]) -> float:
        """How far a run is from the image of another one, relative to its scales."""
        found = self._positions_apart(problem, one, two)
        if is_continuous(one.system):  # knots are chosen by the solver
            return found
        tables = table_of(one), table_of(two)
        if one.stop.reason is not two.stop.reason or one.jumps != two.jumps:
            return math.inf
        for k, p in enumerate(self.order):
            rows = tables[0].of_agent(int(p)), tables[1].of_agent(k)
            if len(rows[0]) != len(rows[1]):
                return math.inf
            parts = (table.take(own) for table, own in zip(tables, rows, strict=True))
            found = max(found, self._rows_apart(problem, *parts))
        return found

    def _positions_apart(self, problem: Problem, one: HybridArc[Any], two: HybridArc[Any]) -> float:
        worst = 0.0
        for share in np.linspace(0.0, 1.0, TAKEN):
            t = share * min(one.until, two.until / self.time)
            before = self.points(one.at(t).positions)[self.order]
            after = two.at(min(self.time * t, two.until)).positions
            worst = max(worst, float(np.abs(before - after).max()))
        return worst / (self.length * problem.size)

    def _rows_apart(self, problem: Problem, one: EventTable, two: EventTable) -> float:
        size, until = problem.size, problem.until
        if not len(one):
            return 0.0
        for name in ("neighbors", "empty", "looked", "guaranteed", "dual_guaranteed", "sent"):
            if (one.column(name) != two.column(name)).any():
                return math.inf
        for name in ("received", "mark"):
            if (one.column(name) != two.column(name)).any():
                return math.inf
        # What exceeds every scale counts relative to itself.
        speed = size / until
        pairs = (
            (one.positions, two.positions, self.points, self.length, size),
            (one.holds, two.holds, lambda v: self.vectors(v) / self.time, self.length / self.time,
             max(speed, float(np.abs(one.holds).max()))),
            (one.errors, two.errors, self.vectors, self.length, size),
        )  # fmt: skip
        worst = 0.0
        for before, after, change, unit, scale in pairs:
            worst = max(worst, float(np.abs(change(before) - after).max()) / (unit * scale))
        for name in ("time", "next_at", "cruise"):
            before, after = self.time * one.column(name), two.column(name)
            with np.errstate(invalid="ignore"):
                gap = np.where(before == after, 0.0, np.abs(before - after))
            worst = max(worst, float(gap.max()) / (self.time * until))
        return worst


def symmetric(matrix: Points) -> Points:
    """A matrix without the rounding by which it is not symmetric."""
    return 0.5 * (matrix + matrix.T)


# Random problems.


def timers(rng: np.random.Generator, reset: str, feedforward: str, agents: int) -> Law:
    """A timer law; half of them with limits of each agent's own."""
    t1, t2 = rng.uniform(0.05, 0.12, agents), rng.uniform(0.2, 0.4, agents)
    if rng.random() < 0.5:
        t1, t2 = t1[:1], t2[:1]
    more: dict[str, Any] = {
        "periodic": {"period": (t1 + 0.7 * (t2 - t1)).tolist()},
        "sequence": {"intervals": [float(rng.uniform(t1.max(), t2.min())) for _ in range(3)]},
        "dropout": {"loss": 0.4},
        "adaptive": {"eta_max": 0.2},
    }.get(reset, {})
    if rng.random() < 0.3 and reset != "adaptive":
        more["initial_timer"] = (t1 + 0.3 * (t2 - t1)).tolist()
    if feedforward == "neighbours" and rng.random() < 0.5:
        more["trust"] = float(rng.uniform(0.3, 1.0))
    k1, nu = float(rng.uniform(0.4, 1.5)), float(rng.uniform(0.3, 1.0))
    return dwell.Timer(
        k1=k1, nu=nu, t1=t1.tolist(), t2=t2.tolist(), reset=reset, feedforward=feedforward, **more
    )


def _laws() -> dict[str, Callable[[np.random.Generator, int], Law]]:
    made: dict[str, Callable[[np.random.Generator, int], Law]] = {}

    def add(name: str, law: Callable[[np.random.Generator, int], Law]) -> None:
        made[name] = law

    for reset in RESET_RULES:
        for forward in FEEDFORWARD:
            if (reset, forward) != ("adaptive", "ahead"):
                name = f"timer {reset}" + (f", {forward}" if forward != "none" else "")
                add(name, lambda g, n, r=reset, f=forward: timers(g, r, f, n))
    for forward in FEEDFORWARD:
        name = "lloyd" + (f", {forward}" if forward != "none" else "")
        add(name, lambda g, n, f=forward: dwell.Lloyd(
            k2=float(g.uniform(0.5, 2.0)), dt=float(g.uniform(0.1, 0.3)), feedforward=f,
            speed=float(g.uniform(0.5, 2.0)) if g.random() < 0.7 else None,
        ))  # fmt: skip
    add("lloyd, ode", lambda g, n: dwell.Lloyd(
        k2=float(g.uniform(0.5, 2.0)), mode="ode", tolerance=1e-12))  # fmt: skip
    for schedule in ("synchronous", "round-robin", "random", "poisson"):
        add(f"discrete-lloyd, {schedule}", lambda g, n, s=schedule: dwell.DiscreteLloyd(
            step=float(g.uniform(0.1, 0.3)) / (n if s in ("round-robin", "random") else 1),
            relaxation=float(g.uniform(0.5, 1.6)), schedule=s,
            speed=float(g.uniform(0.5, 2.0)) if g.random() < 0.5 else None,
        ))  # fmt: skip
    for preset in ("default", "paper-like"):
        for second in ("gv-centroid", "sampled"):
            add(f"self-triggered, {preset}, {second}", lambda g, n, p=preset, s=second: (
                dwell.SelfTriggered(
                    v=float(g.uniform(0.2, 0.6)), kappa=float(g.uniform(0.5, 1.5)),
                    delta=float(g.uniform(0.2, 2.0)), tau_min=0.04, tau_max=0.5,
                    scan=float(g.uniform(0.02, 0.05)), preset=p, second=s,
                    bound=str(g.choice(["diameter", "circumradius"])),
                )
            ))  # fmt: skip
    for decision in ("multi-step", "one-step"):
        add(f"self-triggered-centroid, {decision}", lambda g, n, d=decision: (
            dwell.SelfTriggeredCentroid(
                v_max=float(g.uniform(0.2, 0.6)), dt=float(g.uniform(0.05, 0.1)),
                epsilon=float(g.uniform(0.02, 0.2)), decision=d,
                t_max=float(g.uniform(0.2, 0.6)) if g.random() < 0.5 else None,
                bound=str(g.choice(["diameter", "circumradius"])),
            )
        ))  # fmt: skip
    for silent in (False, True):
        add("event-triggered" + (", heartbeat" if silent else ""), lambda g, n, h=silent: (
            dwell.EventTriggered(
                s_max=float(g.uniform(0.2, 0.6)), dt=float(g.uniform(0.05, 0.1)),
                k_v=float(g.uniform(0.5, 2.0)), d_stop=0.013, d_start=0.027,
                heartbeat=float(g.uniform(0.2, 0.5)) if h else None,
                bound=str(g.choice(["diameter", "circumradius"])),
            )
        ))  # fmt: skip
    for order in ("C", 0, 1, 2):
        add(f"tvd, {order}", lambda g, n, o=order: dwell.TVD(
            kappa=float(g.uniform(0.5, 1.5)), order=o, dt=float(g.uniform(0.1, 0.3)),
            speed=float(g.uniform(0.5, 2.0)) if g.random() < 0.7 else None,
        ))  # fmt: skip
    add("minimum-energy", lambda g, n: dwell.MinimumEnergy(
        alpha=float(g.uniform(1.0, 3.0)), rho=float(g.uniform(10.0, 200.0)),
        dt=float(g.uniform(0.1, 0.3)),
        speed=float(g.uniform(0.5, 2.0)) if g.random() < 0.7 else None,
    ))  # fmt: skip
    return made


LAWS = _laws()
BY_NUMBER = ("discrete-lloyd, round-robin", "discrete-lloyd, random")  # whose turn it is
GUARANTEED = ("self-triggered", "event-triggered")


def ring(rng: np.random.Generator, corners: int) -> Points:
    """The vertices of a convex polygon, counter-clockwise."""
    turn = 2.0 * np.pi * (np.arange(corners) + rng.uniform(0.1, 0.6, corners)) / corners
    round_about = np.column_stack([np.cos(turn), np.sin(turn)])
    return 0.5 * EXTENT * round_about * rng.uniform(0.7, 1.0, 2) + rng.uniform(-1.0, 1.0, 2)


def inside(rng: np.random.Generator, site: Any, count: int) -> Points:
    """Random positions, well apart."""
    low, high = np.atleast_2d(site.bounds)
    found: list[Points] = []
    while len(found) < count:
        z = rng.uniform(low, high)
        far = all(np.hypot(*(z - other)) > 0.1 if len(z) > 1 else abs(z - other) > 0.1
                  for other in found)  # fmt: skip
        if far and float(site.outside_by(z[None])[0]) == 0.0:
            found.append(z)
    return np.array(found)


def random_density(rng: np.random.Generator, n: int, until: float, moving: bool) -> Any:
    """A uniform density, Gaussians that may move, or both together."""
    choice = rng.integers(4)
    if choice == 0 and not moving:
        return dwell.Uniform()
    center, shape = rng.uniform(-1.0, 1.0, n), rng.normal(size=(n, n))
    spread: dict[str, Any] = {"rate": float(rng.uniform(0.1, 0.6))}
    if choice == 1 and n > 1:
        spread = {"covariance": symmetric(np.eye(n) + 0.3 * shape @ shape.T).tolist()}
    if moving:
        path = [center.tolist(), (center + rng.uniform(-1.0, 1.0, n)).tolist()]
        track = Keyframes([0.0, 1.1 * until], path)
        hill: Any = Moving(dwell.Gaussian, center=track, **spread)
    else:
        hill = dwell.Gaussian(center.tolist(), **spread)
    return dwell.Mixture((hill, dwell.Uniform(0.05))) if choice == 3 else hill


def random_problem(name: str, rng: np.random.Generator) -> Problem:
    """A problem for a law, with anything that the law can take."""
    while True:
        problem = _drawn(name, rng)
        try:
            problem.system()
        except DwellError:
            continue
        return problem


def _drawn(name: str, rng: np.random.Generator) -> Problem:
    agents, n = int(rng.integers(2, 6)), int(rng.integers(1, 3))
    law = LAWS[name](rng, agents)
    traits = traits_of(law)
    plain, solved = traits.needs_centroid_only, traits.is_equation
    guaranteed = name.startswith(GUARANTEED)
    until = float(rng.uniform(0.8, 1.2))
    site: Any = dwell.Interval(-2.0, float(rng.uniform(1.0, 2.5)))
    moving = not solved and rng.random() < 0.5
    if n == 2:
        corners = int(rng.integers(3, 8))
        vertices = ring(rng, corners)
        site = dwell.Polygon(vertices)
        if rng.random() < 0.2 and not guaranteed and not solved:
            later = vertices * rng.uniform(0.8, 1.2) + rng.uniform(-0.3, 0.3, 2)
            site = MovingPolygon(Keyframes([0.0, 1.1 * until], [vertices, later]))
        elif rng.random() < 0.2 and plain:
            hole = (vertices - vertices.mean(axis=0)) * 0.2 + vertices.mean(axis=0)
            notched = vertices.copy()
            notched[0] = 0.6 * notched[0] + 0.4 * vertices.mean(axis=0)
            part = {"outer": notched, "holes": [hole[::-1]]}
            site = dwell.Region(part, stay=bool(rng.random() < 0.5) and not solved)
    network = PERFECT
    if rng.random() < 0.3 and not solved:
        delay = float(rng.uniform(0.01, 0.15)) if rng.random() < 0.5 else 0.0
        network = Network(loss=float(rng.uniform(0.0, 0.4)), delay=delay)
    now = site.now(0.0) if isinstance(site, MovingPolygon) else site
    worlds = [World(0.0, site, random_density(rng, n, until, moving), network)]
    given: dict[str, Any] = {"ids": tuple(int(p) for p in rng.permutation(20)[:agents])}
    if rng.random() < 0.3 and not solved and not guaranteed:
        changed = random_density(rng, n, until, moving=False)
        at = float(rng.uniform(0.3, 0.7)) * until
        worlds.append(World(at, site, changed, network))
        if rng.random() < 0.7 and agents > 2:  # in the middle of the numbers
            comes, goes = np.zeros(agents), np.full(agents, np.inf)
            comes[int(rng.integers(agents))] = at
            goes[rng.choice(np.flatnonzero(comes == 0.0))] = at
            given |= {"arrivals": comes, "departures": goes}
    if plain and not solved and rng.random() < 0.15:
        owned = [sorted({int(p), (int(p) + 1) % agents}) for p in rng.integers(agents, size=2)]
        rest = sorted(set(range(agents)) - set(owned[1]))
        owners = owned[0], tuple(rest or range(agents))
        every = set(owners[0]) | set(owners[1])
        owners = (owners[0], tuple(sorted(set(owners[1]) | (set(range(agents)) - every))))
        given["sensors"] = tuple(
            Sensor(f"s{k}", random_density(rng, n, until, False), tuple(own))
            for k, own in enumerate(owners)
        )
    elif plain and n == 2 and rng.random() < 0.2:
        given["radius"] = tuple(rng.uniform(0.8, 2.0, agents).tolist())
    return Problem(law, inside(rng, now, agents), tuple(worlds), until, **given)


def similarity(kind: str, name: str, agents: int, n: int, rng: np.random.Generator) -> Similarity:
    """A random symmetry of one kind, or all at once."""
    same = Similarity(np.eye(n), np.zeros(n), 1.0, 1.0, np.arange(agents))
    mirror, angle = np.eye(n), rng.uniform(0.2, 6.0)
    mirror[0, 0] = -1.0
    turned = np.eye(n)
    if n == 2:
        turned = np.array([(np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))])
    order = rng.permutation(agents)
    while (order == np.arange(agents)).all():
        order = rng.permutation(agents)
    changes: dict[str, dict[str, Any]] = {
        "renumbering": {} if name in BY_NUMBER else {"order": order},
        "mirror image": {"turn": mirror},
        "translation": {"shift": rng.uniform(-10.0, 10.0, n)},
        "rotation": {"turn": turned},
        "lengths": {"length": float(10.0 ** rng.uniform(-2.0, 2.0))},
        "times": {"time": float(10.0 ** rng.uniform(-1.0, 1.0))},
    }
    if kind != "all":
        return replace(same, **changes[kind])
    every = {key: value for change in changes.values() for key, value in change.items()}
    return replace(same, **{**every, "turn": turned @ mirror})


@dataclass(frozen=True)
class Outcome:
    """One comparison."""

    gap: float
    allowed: float

    @property
    def equal(self) -> bool:
        """Whether the runs are equal, as far as rounding allows."""
        return self.gap <= self.allowed


def compared(name: str, seed: int, kinds: Sequence[str] = KINDS) -> dict[str, Outcome]:
    """One random problem under symmetries of some kinds."""
    rng = np.random.default_rng([seed, *name.encode()])
    problem = random_problem(name, rng)
    plain, found = problem.run(), {}
    agents, n = problem.places.shape
    for kind in kinds:
        if (kind == "rotation" and n == 1) or (kind == "renumbering" and name in BY_NUMBER):
            continue
        change = similarity(kind, name, agents, n, rng)
        gap = change.gap(problem, plain, change.problem(problem).run())
        least = SOLVED if is_continuous(plain.system) else LIMIT
        allowed = least if gap <= least else max(least, amplified(problem, plain))
        found[kind] = Outcome(gap, allowed)
    return found


def amplified(problem: Problem, plain: HybridArc[Any]) -> float:
    """How far runs from starts close by differ."""
    agents, n = problem.places.shape
    same = Similarity(np.eye(n), np.zeros(n), 1.0, 1.0, np.arange(agents))
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(STARTS):
        away = MOVED * problem.size * rng.choice([-1.0, 1.0], (agents, n))
        try:
            other = replace(problem, places=problem.places + away).run()
        except AgentsError:
            continue
        worst = max(worst, same.gap(problem, plain, other))
    return worst


def figures(name: str, runs: int, first: int, kinds: Sequence[str] = KINDS) -> Iterator[str]:
    """Lines of the table for one law."""
    by_kind: dict[str, list[Outcome]] = {kind: [] for kind in kinds}
    broken: list[str] = []
    for seed in range(first, first + runs):
        for kind, outcome in compared(name, seed, kinds).items():
            by_kind[kind].append(outcome)
            if not outcome.equal:
                broken.append(f"{kind} {seed}: {outcome.gap:.2g} > {outcome.allowed:.2g}")
    for kind, outcomes in by_kind.items():
        if kind == "renumbering" and name in BY_NUMBER:
            yield f"{name:36s} {kind:13s} takes turns by number"
            continue
        gaps = np.array([outcome.gap for outcome in outcomes])
        fair = gaps[gaps <= LIMIT]
        more = int((gaps > LIMIT).sum())
        wrong = sum(not outcome.equal for outcome in outcomes)
        yield (
            f"{name:36s} {kind:13s} {len(gaps):6d} runs, worst {fair.max(initial=0.0):.1e}, "
            f"{more} amplified, {wrong} unequal"
        )
    yield from broken[:5]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.symmetry", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="random problems for each law")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", nargs="+", help="laws whose names begin like this")
    options = parser.parse_args(arguments)
    for name in LAWS:
        if options.only and not name.startswith(tuple(options.only)):
            continue
        for line in figures(name, options.runs, options.first):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
