"""Self-triggered coverage, after Rodríguez-Seda, Xu, Olm, Dòria-Cerezo and Diaz-Mercado (2023).

At an event an agent samples its Voronoi neighbours and approaches the centroid of its cell at the
saturated speed kappa sat(c - x), knowing its own position all along. It computes when to sample
next from how far the others may have moved: from guaranteed and dual guaranteed cells.

The trigger function (equation 8 of that paper) is a reconstruction: the simplest one with the named
ingredients (diameter of the dual guaranteed cell, distance of the guaranteed cell's centroid from
its boundary) that implies the guarantees that are known of it. See the page of this law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._kernels.common.status import CEILING, FLOOR, IN_TIME
from dwell._types import Points, lengths
from dwell.agents.interfaces import Command, Information, Observation
from dwell.cells.guaranteed import boundary_of, is_polygonal, pair_of, working_memory
from dwell.cells.weighted_region import WeightedRegion
from dwell.controllers.centroid_bounds import nearest_first
from dwell.controllers.parameters import Parameters
from dwell.controllers.saturation import saturated
from dwell.geometry import guaranteed_cell

if TYPE_CHECKING:
    from dwell._kernels.polygon.self_trigger import Trigger

MISSED = 3  # a mark like those of the kernel: the interval was set by the loss of a sample
MOST_SCANS = 1e6  # evaluations of the trigger at one decision

OPTIONS: dict[str, tuple[Any, ...]] = {
    "factor": (1, 2),
    "own": ("exact", "ball"),
    "second": ("gv-centroid", "sampled"),
    "bound": ("diameter", "circumradius"),
    "stop": ("before", "after"),
}
DEFAULT = {name: choices[0] for name, choices in OPTIONS.items()}
PRESETS: dict[str, dict[str, Any]] = {
    "default": DEFAULT,
    "paper-like": DEFAULT | {"factor": 2, "own": "ball", "stop": "after"},
}


@final
@dataclass(frozen=True)
class SelfTriggered:
    """Each agent computes the time of its next sample.

    Parameters
    ----------
    kappa : gain of the approach, per time.
    v : top speed of every agent.
    tau_min, tau_max : shortest and longest interval between two samples.
    delta : how far the centroid may move between two samples.
    scan : time between two evaluations of the trigger.
    preset : "default", the tightest trigger, or "paper-like", whose intervals are closer to those
        that the timer paper reports (factor 2, own ball).
    factor, own, second, bound, stop : instead of the preset's. factor: 1 or 2, times the bound on
        the centroid's motion. own: "exact" or "ball" (the own motion counts as uncertainty too).
        second: "gv-centroid" or "sampled" (which point must stay in the guaranteed cell). bound:
        "diameter" or "circumradius" (how cells are measured). stop: "before", sample at the last
        scanned time at which the trigger held, which keeps the guarantees, or "after", at the
        first at which it was not, as the timer paper does.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.SelfTriggered(v=0.2)
    >>> dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=1.0).stop.reason.value
    'horizon'
    """

    kappa: float = 1.0
    v: float = 0.35
    tau_min: float = 0.01
    tau_max: float = 0.75
    delta: float = 3.0
    scan: float = 0.01
    preset: str = "default"
    factor: int | None = None
    own: str | None = None
    second: str | None = None
    bound: str | None = None
    stop: str | None = None

    information = Information(own="always", others="samples")
    stays_inside = True  # towards a point of a convex workspace, and never past it

    def __post_init__(self) -> None:
        check = Parameters("self-triggered", self)
        check.positive("kappa", "v", "tau_min", "tau_max", "delta", "scan")
        check.in_order("tau_min", "tau_max")
        check.in_order("scan", "tau_max")
        if self.tau_max / self.scan > MOST_SCANS:
            raise check.refused("scan", f"at least tau_max / {MOST_SCANS:g}")
        check.one_of("preset", tuple(PRESETS))
        for name, choices in OPTIONS.items():
            check.one_of(name, (None, *choices))
        if self.factor is not None:
            object.__setattr__(self, "factor", int(self.factor))

    @property
    def top_speed(self) -> float:
        """The largest speed of an agent."""
        return self.v

    @property
    def fade(self) -> float:
        """Rate at which the speed decays once the input is no longer saturated."""
        return self.kappa

    def option(self, name: str) -> Any:
        """factor, own, second, bound or stop: as given, or the preset's."""
        given = getattr(self, name)
        return PRESETS[self.preset][name] if given is None else given

    def begin(self, observation: Observation) -> Command:
        """Approach the centroid from the first sample."""
        return self.decide(observation)

    def decide(self, observation: Observation) -> Command:
        """Approach the centroid, and compute the time of the next sample."""
        assert observation.measurement is not None
        error = observation.measurement.error
        segment = self.approach(error)
        interval, steps, limit = self._scan(observation, error, segment)
        return replace(
            segment,
            next_at=observation.time + interval,
            memory=observation.position + error,
            guaranteed=steps,
            dual_guaranteed=steps,
            mark=limit,
        )

    def miss(self, observation: Observation) -> Command:
        """Without a sample: move to the last known centroid, and sample again after tau_min."""
        target: Any = observation.memory
        segment = self.approach(target - observation.position)
        return replace(segment, next_at=observation.time + self.tau_min, memory=target, mark=MISSED)

    def approach(self, error: Points) -> Command:
        """The segment towards the centroid: straight at speed v, then decaying."""
        reach = self.v / self.kappa
        distance = float(lengths(error))
        hold = saturated(error, self.v, reach)
        cruise = (distance - reach) / self.v if distance > reach else 0.0
        return Command(hold, math.inf, cruise)

    def trigger(self) -> Trigger:
        """The trigger in numbers."""
        from dwell._kernels.polygon.self_trigger import Trigger

        return Trigger(
            kappa=self.kappa,
            v=self.v,
            tau_min=self.tau_min,
            tau_max=self.tau_max,
            delta=self.delta,
            scan=self.scan,
            factor=float(self.option("factor")),
            own_ball=self.option("own") == "ball",
            sampled=self.option("second") == "sampled",
            by_circumradius=self.option("bound") == "circumradius",
            after=self.option("stop") == "after",
        )

    def _scan(
        self, observation: Observation, error: Points, segment: Command
    ) -> tuple[float, int, int]:
        """Interval until the next sample, evaluations of the trigger, and which limit set it."""
        sample, ground = observation.sample, observation.ground
        assert sample is not None
        assert ground is not None
        age = observation.time - sample.time
        order = nearest_first(observation.position, sample.positions, np.zeros(len(sample.agents)))
        places = sample.positions[order]
        if ground.terms is None or not is_polygonal(ground):
            return self._scan_in_python(observation.position, error, segment, places, age, ground)
        from dwell._kernels.polygon.self_trigger import scan_trigger

        wx, wy = boundary_of(ground)
        x, y, radius, envelope = working_memory(len(places), len(wx))
        x[: len(places)], y[: len(places)] = places.T
        interval, steps, limit = scan_trigger(
            *map(float, (*observation.position, *error, *segment.hold, segment.cruise, age)),
            len(places), x, y, radius, self.trigger(), wx, wy, ground.terms, envelope,
        )  # fmt: skip
        return float(interval), int(steps), int(limit)

    def _scan_in_python(
        self,
        position: Points,
        error: Points,
        segment: Command,
        places: Points,
        age: float,
        ground: WeightedRegion,
    ) -> tuple[float, int, int]:
        """The trigger on the line, in space, and for densities that only Python can evaluate.

        See _kernels/polygon/self_trigger.py.
        """
        from dwell._kernels.common.segments import effective_time

        good, steps, after = 0.0, 0, self.option("stop") == "after"
        while good < self.tau_max:
            steps += 1
            s = min(steps * self.scan, self.tau_max)
            moved = segment.hold * effective_time(s, segment.cruise, self.kappa)
            if not self._trigger_value(position + moved, error - moved, s, age, places, ground) < 0:
                if good < self.tau_min:
                    return max(s, self.tau_min) if after else self.tau_min, steps, FLOOR
                return s if after else good, steps, IN_TIME
            good = s
        return self.tau_max, steps, CEILING

    def _trigger_value(
        self,
        here: Points,
        left: Points,
        s: float,
        age: float,
        places: Points,
        ground: WeightedRegion,
    ) -> float:
        reach = self.v * (s + age) + (self.v * s if self.option("own") == "ball" else 0.0)
        pair = pair_of(ground, here, places, np.full(len(places), reach))
        if pair is None:
            return math.inf
        size = pair.size(self.option("bound"))
        drift = float(self.option("factor")) * size * (1.0 - pair.share)
        if self.option("second") == "sampled":
            cell = guaranteed_cell(ground.workspace, here, places, reach)
            return max(drift - self.delta, -cell.distance_to_boundary(here + left))
        return drift - min(self.delta, pair.clearance)
