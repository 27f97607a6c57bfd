"""Settings of a live fleet, and the law and the intervals that follow from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, final

import numpy as np

from dwell._compatibility import Need
from dwell._parameters import (
    LENGTH,
    NOT_NEGATIVE,
    POSITIVE,
    SPEED,
    TIME,
    Whole,
    Word,
    param,
    parametric,
)
from dwell._types import Floats, in_short
from dwell.agents import AgentsState, CoverageSystem
from dwell.agents.interfaces import Controller, answer
from dwell.errors import ControllerError, InputError
from dwell.live.record import BEGIN, STALE

MOST_COPIES = 20
MOST_AGENTS = 65_536  # in one fleet; messages hold two bytes for the number of an agent
MOST_ECHOES = 8000  # agents with a keep-away: what a datagram of UDP holds
HELLO = 0.1  # seconds between announcements of agents that have not begun
HELLOS = 3  # of them that may be late
LEAST_SILENCE = 1.0  # seconds, unless the scenario has another one
ROUNDING = 1e-9  # relative, of an interval between times


@final
@parametric("fleet", "the fleet", InputError, code="fleet", slots=True)
class LiveSettings:
    """How a live fleet executes the law; a simulation does not use it."""

    margin: float = param(
        "how much earlier than T2 the timer law samples at the latest, so that a late sample is "
        "still in time",
        NOT_NEGATIVE, default=0.02, unit=TIME, in_file=POSITIVE,
    )  # fmt: skip
    silence: float | None = param(
        "how long an agent may be silent before it is taken to be gone", POSITIVE, default=None,
        unit=TIME, absent="five times the longest interval of the law and at least a second",
    )  # fmt: skip
    quorum: int | None = param(
        "how many agents must be known, the own one included", Whole(1), default=None,
        absent="more than half of those present",
    )  # fmt: skip
    partition: str = param(
        "what an agent does while it knows fewer than `quorum` agents",
        Word({"stand": "", "go on": ""}), default="stand",
    )  # fmt: skip
    patience: float = param(
        "how long agents wait for all others before they begin with a quorum", NOT_NEGATIVE,
        default=10.0, unit=TIME,
    )  # fmt: skip
    copies: int = param(
        "how often each message is sent, spread over T1, for networks that lose many",
        Whole(1, MOST_COPIES), default=1,
    )  # fmt: skip
    clearance: float = param(
        "radius of a robot, for the keep-away; 0 for none", NOT_NEGATIVE, default=0.0, unit=LENGTH
    )
    top_speed: float | None = param(
        "largest speed of a robot", POSITIVE, default=None, unit=SPEED, absent="no limit"
    )

    @property
    def speed_limit(self) -> float:
        """The largest speed of a robot; inf for no limit."""
        return math.inf if self.top_speed is None else self.top_speed

    def table(self) -> dict[str, Any]:
        """The settings as plain values, for a file."""
        return {name: value for name, value in asdict(self).items() if value is not None}

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
        next_at = float(self.spaced(agent, k, now, due, after.segments.next_at[agent]))
        limit = float(self.limit[agent])
        cruise = min(float(after.segments.cruise[agent]), limit)
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
    traits, n = system.traits, system.agents
    name = traits.name
    system.refuse(Need.LIVE)
    if n > MOST_AGENTS or max(system.streams) >= MOST_AGENTS:
        says = f"{n} agents with ids up to {max(system.streams)} came"
        raise _refused(f"{says}; a fleet has at most {MOST_AGENTS}, ids below that", "agents")
    shortest, longest = _intervals(system)
    margin, silence = settings.margin, settings.silence
    if margin > 0.0 and "earlier" in traits.methods:
        if (shortest > longest - margin).any():
            says = f"fleet.margin is {margin:g}, which leaves no interval between T1 and T2"
            raise _refused(f"{says}; use less, or a longer T2", "fleet.margin")
        system = replace(system, controller=_earlier(system.controller, margin))
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
    top = min(traits.top_speed or math.inf, settings.speed_limit)
    timed = (shortest > 0.0).all() and np.isfinite(longest).all()
    if settings.clearance > 0.0 and not (math.isfinite(top) and timed):
        says = f"fleet.clearance needs bounds on intervals and speed, which {name} has not"
        lacks = [] if math.isfinite(top) else ["set fleet.top_speed"]
        names = "shortest_interval and longest_interval"
        lacks += [] if timed else [f"state {names} in its traits"]
        raise _refused(f"{says}; {', '.join(lacks)}, or use the timer law", "fleet.clearance")
    if settings.clearance > 0.0 and n > MOST_ECHOES:
        says = f"fleet.clearance needs an echo of each agent in each message, and {n} agents came"
        raise _refused(f"{says}; use at most {MOST_ECHOES}, or no clearance", "fleet.clearance")
    return LiveLaw(system, settings, shortest, longest, limit, silence, top)


def _earlier(law: Any, margin: float) -> Controller:
    """The law with its longest interval reduced by a margin."""
    found: Controller = answer(law, lambda: law.earlier(margin), "in earlier(margin)")
    if type(found) is not type(law):  # a fleet would run another law than its scenario names
        raise ControllerError(
            f"earlier(margin) of {type(law).__name__} gives {in_short(found)}; a "
            f"{type(law).__name__} with another longest interval is needed",
            code="controller.traits",
        )
    return found


def _intervals(system: CoverageSystem) -> tuple[Floats, Floats]:
    """The shortest and the longest interval of each agent; 0 and inf where the law has none.

    After a late sample, laws with one period catch up in steps of half of it.
    """
    low, high = system.traits.intervals(system.agents)
    program = system.law_program
    if program is None or np.isfinite(high).all():
        return low, high
    return 0.5 * np.array(program.t1), np.array(program.t2)


def _refused(says: str, key: str) -> InputError:
    return InputError(says, code="fleet", key=key)
