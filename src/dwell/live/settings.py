"""Settings of a live fleet, and the law and the intervals that follow from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, final

import numpy as np

from dwell._types import Floats
from dwell.agents import AgentsState, CoverageSystem
from dwell.agents.continuous import is_continuous
from dwell.agents.interfaces import CompiledController, stated_speed
from dwell.controllers import Timer
from dwell.errors import InputError
from dwell.live.record import BEGIN, STALE

MOST_AGENTS = 65_536  # in one fleet; messages hold two bytes for the number of an agent
MOST_ECHOES = 8000  # agents with a keep-away: what a datagram of UDP holds
HELLO = 0.1  # seconds between announcements of agents that have not begun
HELLOS = 3  # of them that may be late
LEAST_SILENCE = 1.0  # seconds, unless the scenario has another one
ROUNDING = 1e-9  # relative, of an interval between times
KNOWN_OTHERS = ("centroid", "samples", "velocities")  # what beliefs can provide


@final
@dataclass(frozen=True, slots=True)
class LiveSettings:
    """How agents keep time, for how long they believe a message, and what stops them.

    Parameters
    ----------
    margin : the timer law draws intervals from [T1, T2 - margin], so that a late sample is still
        within T2. With 0 (virtual time) samples are never late, and velocities have no time limit.
    silence : seconds after which an agent that sent nothing is taken to be gone; five times the
        longest interval of the law, and at least a second, unless given.
    quorum : agents that must be known, the own one included; more than half of those present
        unless given.
    partition : with fewer than the quorum agents "stand", or "go on".
    patience : seconds that agents wait for all others before they begin with a quorum.
    copies : how often each message is sent, spread over the shortest interval of the law.
    clearance : radius of a robot; 0 turns the keep-away off.
    top_speed : limit of the robot itself.
    """

    margin: float = 0.02
    silence: float | None = None
    quorum: int | None = None
    partition: str = "stand"
    patience: float = 10.0
    copies: int = 1
    clearance: float = 0.0
    top_speed: float = math.inf

    def table(self) -> dict[str, Any]:
        """The settings as plain values, for a file."""
        return {k: v for k, v in asdict(self).items() if v is not None and v != math.inf}

    @classmethod
    def of_table(cls, table: Mapping[str, Any]) -> LiveSettings:
        """The settings in a table that may hold more than these."""
        return cls(**{f.name: table[f.name] for f in fields(cls) if f.name in table})


@final
@dataclass(frozen=True, eq=False)
class LiveLaw:
    """A system as a live fleet executes it, with the bounds that follow from its settings."""

    system: CoverageSystem  # whose law draws intervals with the margin
    settings: LiveSettings
    shortest: Floats  # (N,) an agent samples no sooner than this after a sample that was late
    longest: Floats  # (N,) the longest interval that the law allows
    limit: Floats  # (N,) after which a held velocity ends by itself; inf in virtual time
    silence: float
    speed: float  # the largest speed of an agent

    def timing(
        self, agent: int, k: int, now: float, due: float, after: AgentsState
    ) -> tuple[float, float]:
        """When an agent samples next, and for how long it may hold its velocity.

        after : the state after its decision at sample k.
        """
        next_at = float(self.spaced(agent, k, now, due, after.next_at[agent]))
        limit = float(self.limit[agent])
        cruise = limit if after.cruise is None else min(float(after.cruise[agent]), limit)
        if math.isinf(cruise) and self.settings.margin > 0.0:
            cruise = next_at - now + self.settings.margin
        return next_at, cruise

    def spaced(self, agent: Any, k: Any, now: Any, due: Any, next_at: Any) -> Floats:
        """The next times by the law after samples k, moved where they would come too soon.

        A law with one period is behind after a long pause, also with the samples that follow. After
        its first sample an agent may have any time to the next.
        """
        shortest = self.shortest[agent]
        behind = (now > due) | (k > 1) & (next_at < now + (1.0 - ROUNDING) * shortest)
        found: Floats = np.where(behind, np.maximum(next_at, now + shortest), next_at)
        return found

    def flagged(self, k: int, noted: np.ndarray) -> int:
        """What is special about sample k with these beliefs."""
        counted = noted[noted["age"] <= self.silence]
        stale = STALE if (counted["age"] > self.longest[counted["agent"]]).any() else 0
        return stale | (BEGIN if k == 1 else 0)

    @property
    def lease(self) -> float:
        """For how long after a message that enough others have received an agent may set off.

        In a perfect network others have received a message that is at most two intervals old.
        """
        return max(0.5 * self.silence, 2.5 * float(self.longest.max()))

    @property
    def pause(self) -> float:
        """For how long an agent must have had a lease again before it moves."""
        return 2.0 * float(self.longest.max())

    @property
    def oldest_pose(self) -> Floats:
        """(N,) the age of its own position at which an agent stands: T1, if its law has one."""
        return np.where(self.shortest > 0.0, self.shortest, 0.1 * self.silence)

    def repeats(self, agent: int) -> Floats:
        """How long after a message its copies are sent: before the next sample of the agent."""
        copies = self.settings.copies
        later: Floats = np.arange(1, copies) * (self.shortest[agent] / copies)
        return later

    def quorum(self, present: int) -> int:
        """How many of the agents that are present must be known, the own one included."""
        if present == 1:
            return 1
        wanted = self.settings.quorum or present // 2 + 1
        return 2 if self.settings.partition == "go on" else max(min(wanted, present), 2)


def live_law(system: CoverageSystem, settings: LiveSettings) -> LiveLaw:
    """The system of a live fleet; refused where its law cannot run on beliefs."""
    law: Any = system.controller
    name, n = type(law).__name__, system.agents
    if system.information.others not in KNOWN_OTHERS or is_continuous(system):
        says = f"{name} needs more than samples of neighbours at events"
        raise _refused(f"{says}; use timer, lloyd in samples, or discrete-lloyd", "controller.kind")
    if not system.perfect:
        says = "the scenario has a [network], but the network of a fleet is real"
        raise _refused(f"{says}; leave it out, or inject faults with [fleet.faults]", "network")
    if n > MOST_AGENTS or max(system.streams) >= MOST_AGENTS:
        says = f"{n} agents with ids up to {max(system.streams)} came"
        raise _refused(f"{says}; a fleet has at most {MOST_AGENTS}, ids below that", "agents")
    shortest, longest = _intervals(law, n)
    margin, silence = settings.margin, settings.silence
    if margin > 0.0 and isinstance(law, Timer):
        low, high = np.atleast_1d(law.t1), np.atleast_1d(law.t2) - margin
        if (low > high).any():
            says = f"fleet.margin is {margin:g}, which leaves no interval between T1 and T2"
            raise _refused(f"{says}; use less, or a longer T2", "fleet.margin")
        shorter = tuple(high.tolist()) if np.ndim(law.t2) else float(high[0])
        system = replace(system, controller=replace(law, t2=shorter))
    if silence is None:
        if not np.isfinite(longest).all():
            says = f"{name} has no longest interval, so the silence of a dead agent is not known"
            raise _refused(f"{says}; set fleet.silence in seconds", "fleet.silence")
        silence = max(5.0 * float(longest.max()), LEAST_SILENCE)
    if silence < HELLOS * HELLO:
        says = f"fleet.silence is {silence:g}, but agents that wait send every {HELLO:g} s"
        raise _refused(f"{says}; use at least {HELLOS * HELLO:g}", "fleet.silence")
    if silence <= float(longest[np.isfinite(longest)].max(initial=0.0)):
        says = f"fleet.silence is {silence:g}, in which an agent need not sample at all"
        raise _refused(f"{says}; use more than the longest interval", "fleet.silence")
    limited = margin > 0.0 or settings.clearance > 0.0
    limit = longest if limited else np.full(n, math.inf)
    speed = stated_speed(law)
    top = min(math.inf if speed is None else speed, settings.top_speed)
    timed = (shortest > 0.0).all() and np.isfinite(longest).all()
    if settings.clearance > 0.0 and not (math.isfinite(top) and timed):
        says = f"fleet.clearance needs bounds on intervals and speed, which {name} has not"
        lacks = [] if math.isfinite(top) else ["set fleet.top_speed"]
        names = "shortest_interval and longest_interval"
        lacks += [] if timed else [f"give its class the attributes {names}"]
        raise _refused(f"{says}; {', '.join(lacks)}, or use the timer law", "fleet.clearance")
    if settings.clearance > 0.0 and n > MOST_ECHOES:
        says = f"fleet.clearance needs an echo of each agent in each message, and {n} agents came"
        raise _refused(f"{says}; use at most {MOST_ECHOES}, or no clearance", "fleet.clearance")
    return LiveLaw(system, settings, shortest, longest, limit, silence, top)


def _intervals(law: object, agents: int) -> tuple[Floats, Floats]:
    """The shortest and the longest interval of each agent; 0 and inf where the law has none.

    After a late sample, laws with one period catch up in steps of half of it.
    """
    program = law.program(agents) if isinstance(law, CompiledController) else None
    if program is None and hasattr(law, "numbers"):
        program = law.numbers(agents)
    if program is None:  # a law in Python may state them
        shortest = float(getattr(law, "shortest_interval", 0.0))
        longest = float(getattr(law, "longest_interval", math.inf))
        return np.full(agents, shortest), np.full(agents, longest)
    low, high = (np.broadcast_to(t, (agents,)) for t in (program.t1, program.t2))
    return low if isinstance(law, Timer) else 0.5 * low, np.array(high)


def _refused(says: str, key: str) -> InputError:
    return InputError(says, code="fleet", key=key)
