"""A law and a density for own-law.toml."""

from dataclasses import dataclass

import numpy as np

from dwell import Command, Observation, Traits


@dataclass(frozen=True)
class Quantised:
    """Go towards the centroid, in one of a few directions."""

    top_speed: float  # the largest speed, which comparisons match
    wait: float = 0.25  # the time between two samples, on average
    directions: int = 8

    @property
    def traits(self) -> Traits:
        """What the law states of itself."""
        return Traits(top_speed=self.top_speed)

    def begin(self, observation: Observation) -> Command:
        """The order to start with."""
        return self.decide(observation)

    def decide(self, observation: Observation) -> Command:
        """A velocity to hold, and the time of the next sample."""
        x, y = observation.measurement.error  # from the agent to the centroid of its cell
        turn = 2.0 * np.pi / self.directions
        angle = turn * np.round(np.arctan2(y, x) / turn)
        speed = min(self.top_speed, np.hypot(x, y) / self.wait)
        hold = speed * np.array([np.cos(angle), np.sin(angle)])
        return Command(hold, observation.time + self.wait * (0.5 + observation.draw))


def ridge(points: np.ndarray) -> np.ndarray:
    """A band of importance along y = 3: one number for each point."""
    return 0.2 + np.exp(-((points[:, 1] - 3.0) ** 2))
