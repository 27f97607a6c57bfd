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
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._kernels.common.status import CEILING, FLOOR, IN_TIME
from dwell._parameters import LENGTH, POSITIVE, RATE, SPEED, TIME, Fault, Word, param
from dwell._types import Points, lengths
from dwell.agents.interfaces import Command, Information, Observation
from dwell.agents.traits import Traits
from dwell.cells.backend import backend_for, pair_of
from dwell.cells.guaranteed import Scanned
from dwell.cells.weighted_region import WeightedRegion
from dwell.controllers.centroid_bounds import SIZE, nearest_first
from dwell.controllers.declared import law
from dwell.controllers.saturation import saturated
from dwell.geometry import guaranteed_cell

if TYPE_CHECKING:
    from dwell._kernels.polygon.self_trigger import Trigger

MISSED = 3  # a mark like those of the kernel: the interval was set by the loss of a sample
MOST_SCANS = 1e6  # evaluations of the trigger at one decision

OPTIONS: dict[str, tuple[str, dict[Any, str]]] = {
    "factor": ("times the bound on the motion of the centroid", {1: "", 2: ""}),
    "own": (
        "how an agent knows its own place",
        {"exact": "exactly", "ball": "only as it knows the others', in a ball"},
    ),
    "second": (
        "the point that must stay in the guaranteed cell",
        {"gv-centroid": "that cell's centroid", "sampled": "the centroid at the last sample"},
    ),
    "bound": (SIZE, {"diameter": "its diameter", "circumradius": "twice its circumradius"}),
    "stop": (
        "when the next sample is taken",
        {
            "before": "at the last scanned time at which the trigger allows waiting, which keeps "
            "the guarantees",
            "after": "at the first scanned time at which it does not",
        },
    ),
}
DEFAULT = {name: next(iter(choices)) for name, (_, choices) in OPTIONS.items()}
PRESETS: dict[str, dict[str, Any]] = {
    "default": DEFAULT,
    "paper-like": DEFAULT | {"factor": 2, "own": "ball", "stop": "after"},
}


def _option(name: str) -> Any:
    """A part of the trigger that is chosen by the preset, unless it is given."""
    sentence, choices = OPTIONS[name]
    return param(sentence, Word(choices), default=None, absent="as preset says")


@final
@law("self-triggered", "Self-triggered", "computes how long it can go without a sample")
class SelfTriggered:
    """Each agent computes the time of its next sample.

    Examples
    --------
    >>> import dwell
    >>> law = dwell.SelfTriggered(v=0.2)
    >>> dwell.simulate(dwell.Interval(0, 1), None, [0.1, 0.2], law, until=1.0).stop.reason.value
    'horizon'
    """

    kappa: float = param(
        "the gain near the centroid", POSITIVE, default=1.0, unit=RATE, role="gain",
        decays=True, label="gain", sign=r"\kappa",
    )  # fmt: skip
    v: float = param(
        "the largest speed", POSITIVE, default=0.35, unit=SPEED, role="speed",
        label="top speed", sign="v",
    )  # fmt: skip
    tau_min: float = param(
        "the shortest time between two samples", POSITIVE, default=0.01, unit=TIME, role="clock",
        label="shortest wait", sign=r"\tau_{\min}",
    )  # fmt: skip
    tau_max: float = param(
        "the longest time between two samples", POSITIVE, default=0.75, limits="`tau_min` or more",
        unit=TIME, label="longest wait", sign=r"\tau_{\max}",
    )  # fmt: skip
    delta: float = param(
        "how far the centroid may have moved before a new sample", POSITIVE,
        default=3.0, unit=LENGTH, label="accepted drift", sign=r"\delta",
    )  # fmt: skip
    scan: float = param(
        "the time between two evaluations of the trigger", POSITIVE, default=0.01,
        limits="above 0, up to `tau_max`",
        unit=TIME, role="clock",
    )  # fmt: skip
    preset: str = param(
        "the form of the trigger, which `factor`, `own`, `second`, `bound` and `stop` change",
        Word({
            "default": "the tightest trigger",
            "paper-like": "intervals closer to those that the timer paper reports",
        }), default="default",
    )  # fmt: skip
    factor: int | None = _option("factor")
    own: str | None = _option("own")
    second: str | None = _option("second")
    bound: str | None = _option("bound")
    stop: str | None = _option("stop")

    @staticmethod
    def rules(law: Any) -> Iterator[Fault]:
        """What ties parameters together."""
        code, most = "self-triggered.order", f"controller.tau_max = {law.tau_max!r}"
        for key in ("tau_min", "scan"):
            given = getattr(law, key)
            if given > law.tau_max:
                yield Fault((key,), code, f"must be at most {most}, got {given!r}")
        if law.tau_max / law.scan > MOST_SCANS:
            text = f"must be at least 1 / {MOST_SCANS:g} of {most}, got {law.scan!r}"
            yield Fault(("scan",), code, text)

    @property
    def traits(self) -> Traits:
        """What the law states of itself.

        Agents move towards a point of a convex workspace and never past it; the speed decays once
        the input is no longer saturated.
        """
        return Traits(
            information=Information(own="always", others="samples"),
            top_speed=self.v,
            gain=self.kappa,
            fade=self.kappa,
            stays_inside=True,
            guaranteed=True,
            scans=self,
        )

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

    def _scan(self, observation: Observation, error: Points, segment: Command) -> Scanned:
        """Interval until the next sample, evaluations of the trigger, and which limit set it."""
        sample, ground = observation.sample, observation.ground
        assert sample is not None
        assert ground is not None
        age = observation.time - sample.time
        order = nearest_first(observation.position, sample.positions, np.zeros(len(sample.agents)))
        places = sample.positions[order]
        scan = backend_for(ground).scan
        if scan is None:
            return self._scan_in_python(observation.position, error, segment, places, age, ground)
        motion = (*observation.position, *error, *segment.hold, segment.cruise, age)
        return scan(ground, self.trigger(), motion, places)

    def _scan_in_python(
        self,
        position: Points,
        error: Points,
        segment: Command,
        places: Points,
        age: float,
        ground: WeightedRegion,
    ) -> Scanned:
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
