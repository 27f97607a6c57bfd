"""One example of every law, for tests that hold for all of them."""

from __future__ import annotations

from dwell.controllers import (
    DiscreteLloyd,
    EventTriggered,
    Lloyd,
    SelfTriggered,
    SelfTriggeredCentroid,
    Timer,
)

LAWS = {
    "timer": Timer(k1=0.5, nu=0.4, t1=0.2, t2=0.5),
    "timer-adaptive": Timer(k1=0.5, nu=0.4, t1=0.02, t2=0.6, reset="adaptive", eta_max=0.2),
    "lloyd": Lloyd(dt=0.1),
    "lloyd-ode": Lloyd(mode="ode"),
    "discrete-lloyd": DiscreteLloyd(step=0.5),
    "discrete-lloyd-slow": DiscreteLloyd(step=0.5, speed=0.3, relaxation=1.4),
    "discrete-lloyd-round": DiscreteLloyd(step=0.1, schedule="round-robin"),
    "discrete-lloyd-random": DiscreteLloyd(step=0.1, schedule="random"),
    "discrete-lloyd-poisson": DiscreteLloyd(step=0.5, schedule="poisson", rate=1.5),
    "self-triggered": SelfTriggered(v=0.3, tau_max=0.5, scan=0.05, tau_min=0.05),
    "self-triggered-paper": SelfTriggered(
        v=0.3, tau_max=0.5, scan=0.05, tau_min=0.05, preset="paper-like"
    ),
    "self-triggered-sampled": SelfTriggered(
        v=0.3, tau_max=0.5, scan=0.05, tau_min=0.05, second="sampled", bound="circumradius"
    ),
    "self-triggered-centroid": SelfTriggeredCentroid(v_max=0.3, dt=0.05, epsilon=0.05),
    "self-triggered-centroid-one": SelfTriggeredCentroid(
        v_max=0.3, dt=0.05, epsilon=0.05, decision="one-step", bound="diameter"
    ),
    "event-triggered": EventTriggered(s_max=0.3, dt=0.05),
}
# Under these the cost may rise from event to event.
MAY_RISE = {
    "timer", "timer-adaptive", "discrete-lloyd-poisson",
    "self-triggered", "self-triggered-paper", "self-triggered-sampled",
}  # fmt: skip
