"""Self-triggered coverage, after Rodríguez-Seda, Xu, Olm, Dòria-Cerezo and Diaz-Mercado (2023).

At an event an agent samples its Voronoi neighbours and approaches the centroid of its cell at the
saturated speed kappa sat(c - x), knowing its own position all along. It computes when to look next
from how far everybody may have moved: from guaranteed and dual guaranteed cells.

The trigger function (equation 8 of that paper) is a reconstruction: the simplest one with the named
ingredients (diameter of the dual guaranteed cell, distance of the guaranteed cell's centroid from
its boundary) that implies the guarantees that are known of it. See the page of this law.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._kernels.marks import FLOOR
from dwell._types import Floats, Points
from dwell.agents.interfaces import Ground, Information, Order, Sample, View
from dwell.controllers.parameters import Parameters
from dwell.geometry.voronoi import columns

if TYPE_CHECKING:
    from dwell._kernels.self_trigger import Trigger

PRESETS: dict[str, dict[str, Any]] = {
    "default": {
        "factor": 1,
        "own": "exact",
        "second": "gv-centroid",
        "bound": "diameter",
        "stop": "before",
    },
    "paper-like": {
        "factor": 2,
        "own": "ball",
        "second": "gv-centroid",
        "bound": "diameter",
        "stop": "after",
    },
}


@final
@dataclass(frozen=True)
class SelfTriggered:
    """Each agent computes when it must look again.

    Parameters
    ----------
    kappa : gain of the approach, per time.
    v : top speed of every agent.
    tau_min, tau_max : shortest and longest interval between two looks.
    delta : how far the centroid may move between two looks.
    scan : time between two evaluations of the trigger.
    preset : "default", the tightest trigger, or "paper-like", whose intervals are closer to those
        that the timer paper reports (factor 2, own ball).
    factor, own, second, bound, stop : instead of the preset's. factor: 1 or 2, times the bound on the
        centroid's motion. own: "exact" or "ball" (the own motion counts as uncertainty too).
        second: "gv-centroid" or "sampled" (which point must stay in the guaranteed cell). bound:
        "diameter" or "circumradius" (how cells are measured). stop: "before", look at the last
        scanned time at which the trigger was met, which keeps the guarantees, or "after", at the
        first at which it was not, as the timer paper does.
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
        check.one_of("preset", tuple(PRESETS))
        check.one_of("factor", (None, 1, 2))
        if self.factor is not None:
            object.__setattr__(self, "factor", int(self.factor))
        check.one_of("own", (None, "exact", "ball"))
        check.one_of("second", (None, "gv-centroid", "sampled"))
        check.one_of("bound", (None, "diameter", "circumradius"))
        check.one_of("stop", (None, "before", "after"))

    @property
    def top_speed(self) -> float:
        """Nobody is ever faster."""
        return self.v

    @property
    def fade(self) -> float:
        """Rate at which the speed decays once the input is no longer saturated."""
        return self.kappa

    def option(self, name: str) -> Any:
        """factor, own, second, bound or stop: as given, or the preset's."""
        given = getattr(self, name)
        return PRESETS[self.preset][name] if given is None else given

    def begin(self, view: View) -> Order:
        """Set off at once."""
        return self.decide(view)

    def decide(self, view: View) -> Order:
        """Approach the centroid, and find out how long that is good."""
        assert view.look is not None
        assert view.sample is not None
        assert view.ground is not None
        leg = self.approach(view.look.error)
        interval, steps, limit = self._scan(view, view.look.error, leg, view.sample, view.ground)
        return replace(
            leg,
            next_at=view.time + interval,
            memory=view.position + view.look.error,
            guaranteed=steps,
            dual_guaranteed=steps,
            mark=limit,
        )

    def miss(self, view: View) -> Order:
        """Without a look: go on to the old centroid, and look again as soon as allowed."""
        target: Any = view.memory
        leg = self.approach(target - view.position)
        return replace(leg, next_at=view.time + self.tau_min, memory=target, mark=FLOOR)

    def approach(self, error: Points) -> Order:
        """The leg towards the centroid: straight at speed v, then slower and slower."""
        from dwell._kernels.hold import saturated

        reach = self.v / self.kappa
        distance = math.sqrt(float(error[0] * error[0] + error[1] * error[1]))
        hold = np.array(saturated(float(error[0]), float(error[1]), self.v, reach))
        cruise = (distance - reach) / self.v if distance > reach else 0.0
        return Order(hold, math.inf, cruise)

    def trigger(self) -> Trigger:
        """The trigger in numbers."""
        from dwell._kernels.self_trigger import Trigger

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
        self, view: View, error: Points, leg: Order, sample: Sample, ground: Ground
    ) -> tuple[float, int, int]:
        age = view.time - sample.time
        if ground.terms is None:
            return scan_by_quadrature(self, view.position, error, leg, sample, age, ground)
        from dwell._kernels.self_trigger import scan_trigger

        count = len(sample.agents)
        others, radius, envelope = _memory(count, len(ground.workspace.vertices))
        others[:, :count] = sample.positions.T
        interval, steps, limit = scan_trigger(
            *map(float, (*view.position, *error, *leg.hold, leg.cruise, age)),
            count, others[0], others[1], radius, self.trigger(), *_walls(ground), ground.terms,
            envelope,
        )  # fmt: skip
        return float(interval), int(steps), int(limit)


_LOCAL = threading.local()  # working memory, one for each thread that simulates


def _memory(others: int, vertices: int) -> tuple[Floats, Floats, Any]:
    from dwell._kernels.guaranteed import make_envelope

    kept = getattr(_LOCAL, "memory", None)
    if kept is None or kept[0].shape[1] < others or _LOCAL.vertices != vertices:
        room = max(others, 16)
        kept = (np.empty((2, room)), np.empty(room), make_envelope(room, vertices))
        _LOCAL.memory, _LOCAL.vertices = kept, vertices
    return kept


@lru_cache(maxsize=8)
def _walls(ground: Ground) -> tuple[Floats, Floats]:
    return columns(ground.workspace.vertices)
