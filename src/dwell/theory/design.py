"""Which T2 and k1 are admissible: by the paper's condition, and by sharper ones.

With D_p = L_p sqrt(N) + 1 the paper needs k1**2 T2_p D_p <= eta_max nu~ and eta_max < k1. In
theta = eta_max / k1 that is k1 T2_p <= theta nu~ / D_p with theta < 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, apart, as_numbers, finite_number, in_short, is_positive
from dwell.agents import CoverageSystem
from dwell.errors import InputError
from dwell.measure.metrics import timer_program
from dwell.theory.lipschitz import Attained
from dwell.theory.scope import (
    FIRST_HOLD,
    INSIDE,
    LOCAL,
    SYNC,
    UNSHARED,
    Scope,
    scope_of,
)

# Proved in docs/theory.md, "No run stays in U".
VACUOUS = (
    "The paper's theorem on convergence promises nothing about any run: a run that meets its other "
    "hypotheses leaves the set U, in which it would have to stay for ever."
)


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """The numbers of the timer law, and what its theorem assumes."""

    k1: float
    nu: float
    epsilon: float
    t1: Floats  # (N,)
    t2: Floats  # (N,)
    eta_max: float
    lipschitz: Floats  # (N,); may be infinite
    own_start: bool = True  # whether agents start with the velocities of the law
    tied: bool = False  # whether eta_max is no number of its own, but theta k1 whatever k1 is
    scope: Scope = field(default_factory=lambda: {SYNC: (UNSHARED,)})  # why statements do not apply

    def __post_init__(self) -> None:
        for name in ("k1", "nu", "eta_max"):
            if not is_positive(getattr(self, name)):
                raise _refused(name, getattr(self, name), "a positive number")
        epsilon = finite_number(self.epsilon)
        if epsilon is None or not 0.0 <= epsilon < 1.0:
            raise _refused("epsilon", self.epsilon, "a number from 0 to below 1")
        for name, least in (("t1", "above 0"), ("t2", "above 0"), ("lipschitz", "from 0 on")):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            small = values <= 0.0 if least == "above 0" else values < 0.0
            if values.shape != (self.agents,) or np.isnan(values).any() or small.any():
                raise _refused(name, values.tolist(), f"one number {least} per agent")

    @property
    def agents(self) -> int:
        """How many there are."""
        return len(self.t2)

    @property
    def reach(self) -> float:
        """nu~ = (1 - epsilon) nu."""
        return (1.0 - self.epsilon) * self.nu

    @property
    def theta(self) -> float:
        """eta_max / k1, which must be below 1."""
        return self.eta_max / self.k1

    @property
    def spreads(self) -> Floats:
        """L_p sqrt(N) + 1, (N,)."""
        with np.errstate(over="ignore"):  # infinite is right
            return self.lipschitz * math.sqrt(self.agents) + 1.0

    @cached_property
    def max_dwell_times(self) -> Floats:
        """The paper's largest T2 of each agent."""
        return self.dwell_times_for(self.spreads)

    @cached_property
    def max_gains(self) -> Floats:
        """The paper's largest k1, by each agent's own T2 and L; see `admissible_k1`."""
        if self.tied:
            in_theta = self.max_gains_in_theta
            return np.zeros(self.agents) if in_theta is None else in_theta
        with np.errstate(over="ignore"):
            return np.sqrt(self.eta_max * self.reach / (self.t2 * self.spreads))

    @cached_property
    def max_gains_in_theta(self) -> Floats | None:
        """The largest k1 of each agent if eta_max = theta k1 changes along with k1.

        None where theta is not below 1: no k1, however small, is then above its eta_max.
        """
        if self.theta >= 1.0:
            return None
        return self.theta * self.reach / (self.t2 * self.spreads)

    @cached_property
    def max_lipschitz(self) -> Floats:
        """The largest L for which each agent's T2 is admissible; below 0 if none is."""
        return (self.dwell_times_for(self.t2) - 1.0) / math.sqrt(self.agents)

    @property
    def tightest(self) -> int:
        """The agent whose T2 is the largest part of what it may be."""
        return int(np.argmax(self.t2 * self.spreads))

    @property
    def admissible_k1(self) -> tuple[float, float] | None:
        """k1 must be above the first and at most the second; None if there is no such k1."""
        least, most = 0.0 if self.tied else self.eta_max, float(self.max_gains.min())
        return (least, most) if most > least else None

    @property
    def feasible(self) -> bool:
        """Whether the paper's condition holds: every T2 short enough, and theta < 1."""
        return self.eta_max < self.k1 and bool((self.t2 <= self.max_dwell_times).all())

    @cached_property
    def sharper(self) -> tuple[Sharper, Sharper]:
        """Conditions that need no Lipschitz constant."""
        once = self.reach / self.k1
        longest = float(self.t2.max())
        return (
            Sharper(
                SYNC, 2.0 * once, longest, "proved", not self.why_not(SYNC),
                "from one sample to the next the cost never rises, and it falls unless all agents "
                "whose cells weigh something are at their centroids; limit points without "
                "coincident agents are centroidal (not on a grid of points); from any start, "
                "without any L",
                "all agents sample at the same times in a world that does not change; waits longer "
                "than the limit without overshoot may lead out of the workspace",
                without_overshoot=once, own_start=self.own_start,
                reasons=self.why_not(SYNC), reasons_within=self.why_not(INSIDE),
            ),
            Sharper(
                LOCAL, once, longest, "local", False if self.why_not(LOCAL) else None,
                "agents near a minimum of the cost approach it, each on its own clock; for any "
                "number of agents, without any L",
                "errors at most (1 - epsilon) nu, near a minimum whose Hessian is positive "
                "definite; shown for the linearized motion, not from far away",
                own_start=self.own_start, reasons=self.why_not(LOCAL),
            ),
        )  # fmt: skip

    def why_not(self, statement: str) -> tuple[str, ...]:
        """Why a statement does not apply; empty if it does."""
        return self.scope.get(statement, ())

    @property
    def margins(self) -> dict[str, Floats | float | None]:
        """Limit over value used: at least 1 where a condition holds."""
        sync, local = self.sharper
        found: dict[str, Floats | float | None] = {
            "dwell_time": self.max_dwell_times / self.t2,
            "gain": self.max_gains / self.k1,
            "eta_max": self.k1 / self.eta_max,
            "lipschitz": _ratio(np.maximum(self.max_lipschitz, 0.0), self.lipschitz),
        }
        return {**found, sync.name: sync.margin, local.name: local.margin}

    def with_gain(self, k1: float) -> Setting:
        """This setting with another k1, and with the eta_max of that k1 if it is tied to it."""
        return replace(self, k1=k1, eta_max=self.theta * k1 if self.tied else self.eta_max)

    def dwell_times_for(self, rates: Floats) -> Floats:
        """The largest T2 of each agent if its error changes no faster than k1 `rates`."""
        with np.errstate(divide="ignore", over="ignore"):
            return self.eta_max * self.reach / (self.k1 * self.k1 * rates)

    def dwell_times_with(self, neighbors: Ints) -> Floats:
        """The paper's limits with sqrt(neighbours + 1) for sqrt(N): others do not matter."""
        with np.errstate(over="ignore"):
            return self.dwell_times_for(self.lipschitz * np.sqrt(neighbors + 1.0) + 1.0)


@final
@dataclass(frozen=True, slots=True)
class Sharper:
    """A sufficient condition on T2 that needs no Lipschitz constant: T2 below a limit."""

    name: str
    limit: float
    longest: float  # T2 that is used
    status: str  # "proved" or "local"
    applies: bool | None  # False: see `reasons`; None: it applies, however the timers are set
    guarantees: str
    assumes: str
    without_overshoot: float | None = None
    own_start: bool = True  # whether the first velocities are the law's own
    reasons: tuple[str, ...] = ()  # why it does not apply, as clauses
    reasons_within: tuple[str, ...] = ()  # why nothing is known of overshoot

    @property
    def since(self) -> str:
        """From when on it applies: a prescribed velocity obeys no law until the first sample."""
        return "start" if self.own_start else "first look"

    @property
    def within(self) -> bool | None:
        """Whether no agent can pass its centroid; None where prescribed velocities may lead out."""
        if self.without_overshoot is None:
            return None
        others = [why for why in self.reasons_within if why != FIRST_HOLD]
        if self.longest > self.without_overshoot or others:
            return False
        return True if self.own_start else None

    @property
    def holds(self) -> bool:
        """Whether it applies, and T2 is below the limit."""
        return self.fulfilled and self.applies is not False

    @property
    def fulfilled(self) -> bool:
        """Whether T2 is below the limit."""
        return self.longest < self.limit

    @property
    def margin(self) -> float:
        """Limit over T2."""
        return self.limit / self.longest

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        keys = ("limit", "margin", "status", "applies", "since", "guarantees", "assumes")
        found = {"met": self.fulfilled, **{key: getattr(self, key) for key in keys}}
        found["reasons"] = list(self.reasons)
        if self.without_overshoot is not None:
            found["limit_without_overshoot"] = self.without_overshoot
            found["met_without_overshoot"] = self.within
            found["reasons_without_overshoot"] = list(self.reasons_within)
        return found


def setting_of(
    system: CoverageSystem,
    eta_max: float,
    lipschitz: object,
    *,
    tied: bool = False,
    scope: Scope | None = None,
) -> Setting:
    """The setting of a system under the timer law; `lipschitz` is one number, or one per agent.

    `scope` is that of the scenario, where the system is the scenario's world of one time.
    """
    law, program = system.traits.timer, timer_program(system)
    if law is None or program is None:
        raise InputError(
            f"the conditions are about the timer law, not {system.traits.name}; a dwell.Timer "
            "with k1, nu, t1 and t2 is needed",
            code="design.law",
        )
    given, shape = as_numbers(lipschitz), (system.agents,)
    if given is None or given.shape not in ((), (1,), shape):
        need = f"one number from 0 on, or {system.agents} of them,"
        raise _refused("lipschitz", lipschitz, need)
    constants = np.broadcast_to(given, shape)
    return Setting(
        law.k1, law.nu, law.epsilon, program.t1, program.t2, eta_max, constants,
        own_start=law.initial_hold is None, tied=tied,
        scope=scope_of(system) if scope is None else scope,
    )  # fmt: skip


# Why the paper's conditions do not hold.


def _ratio(most: Floats, used: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(used > 0.0, most / used, np.inf)


def void_reasons(s: Setting, seen: Attained | None = None) -> Iterator[str]:
    """Why the paper's conditions do not hold; `seen` is what was measured, if anything."""
    if s.eta_max >= s.k1:
        says = "The theorem needs eta_max < k1, but eta_max = {} and k1 = {}."
        yield says.format(*apart(s.eta_max, s.k1, 6))
    limits, p = s.max_dwell_times, s.tightest
    if (s.t2 > limits).any():
        t2, most = apart(s.t2[p], limits[p], 6)
        yield (
            f"T2 = {t2} of agent {p} exceeds the maximum dwell time {most}, "
            f"{times_over(float(_ratio(s.t2, limits)[p]))}."
        )
        if s.admissible_k1 is None:
            yield (
                "No k1 is admissible for these T2 and this eta_max: it would have to be at most "
                "{} and above eta_max = {}.".format(*apart(float(s.max_gains.min()), s.eta_max, 6))
            )
    if seen is not None and (seen.values > s.lipschitz).any():
        yield _exceeded(s, seen)


def _exceeded(s: Setting, seen: Attained) -> str:
    """Whose constant is farthest above the assumed one, and where."""
    beyond = seen.values > s.lipschitz
    p = seen.agent if beyond[seen.agent] else int(np.argmax(seen.values - s.lipschitz))
    time = seen.time_of(p)
    where = "at the start" if time in (None, 0.0) else f"at t = {time:.6g}"
    value = float(seen.values[p])
    size, assumed = apart(value, float(s.lipschitz[p]), 6)
    size = size if math.isfinite(value) else "infinite"
    many = int(beyond.sum())
    others = f" ({many} of {s.agents} agents exceed theirs)" if many > 1 else ""
    return (
        f"The Lipschitz constant of agent {p} is {size} {where}, above the assumed "
        f"{assumed}{others}."
    )


def times_over(ratio: float) -> str:
    """By how much a limit is exceeded."""
    if math.isinf(ratio):
        return "infinitely"
    return f"{ratio:.3g}-fold" if ratio >= 1.1 else f"by {100.0 * (ratio - 1.0):.2g} %"


def _refused(name: str, value: object, need: str) -> InputError:
    place = "certificate" if name in ("eta_max", "lipschitz") else "controller"
    return InputError(
        f"{name} is {in_short(value)}; {need} is needed",
        code=f"design.{name}",
        key=f"{place}.{name}",
    )
