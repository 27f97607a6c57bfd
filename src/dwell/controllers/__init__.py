"""Coverage laws: each maps the observation of one agent to its next command. One law per file."""

from dwell.controllers.discrete_lloyd import DiscreteLloyd
from dwell.controllers.event_triggered import EventTriggered
from dwell.controllers.lloyd import Lloyd
from dwell.controllers.minimum_energy import MinimumEnergy
from dwell.controllers.self_triggered import SelfTriggered
from dwell.controllers.self_triggered_centroid import SelfTriggeredCentroid
from dwell.controllers.timer import Timer
from dwell.controllers.tvd import TVD

# In the order in which they are listed.
LAWS = (
    Timer,
    Lloyd,
    DiscreteLloyd,
    SelfTriggered,
    SelfTriggeredCentroid,
    EventTriggered,
    TVD,
    MinimumEnergy,
)

__all__ = [
    "TVD",
    "DiscreteLloyd",
    "EventTriggered",
    "Lloyd",
    "MinimumEnergy",
    "SelfTriggered",
    "SelfTriggeredCentroid",
    "Timer",
]
