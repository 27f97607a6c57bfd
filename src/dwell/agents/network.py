"""Samples and messages that are lost or delayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dwell._types import finite_number, in_short
from dwell.errors import InputError


@final
@dataclass(frozen=True, slots=True)
class Network:
    """Loss and delay of samples and messages.

    Parameters
    ----------
    loss : probability that a sample is lost, or that a message does not reach one of its
        receivers; each by its own random draw.
    delay : a sample shows the positions of the others at this time before, and a message arrives
        this time after it was sent.

    Examples
    --------
    >>> import dwell
    >>> dwell.Network(loss=0.2).perfect
    False
    """

    loss: float = 0.0
    delay: float = 0.0

    def __post_init__(self) -> None:
        loss, delay = finite_number(self.loss), finite_number(self.delay)
        if loss is None or not 0.0 <= loss < 1.0:
            raise _refused("loss", self.loss, "a chance from 0 to below 1")
        if delay is None or delay < 0.0:
            raise _refused("delay", self.delay, "a time from 0 on")
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "delay", delay)

    @property
    def perfect(self) -> bool:
        """Whether nothing is lost or delayed."""
        return self.loss == 0.0 and self.delay == 0.0


PERFECT = Network()


def as_network(network: object) -> Network:
    """Return the network, a perfect one for None; refuse anything else."""
    links = PERFECT if network is None else network
    if not isinstance(links, Network):
        need = "a dwell.Network(loss=..., delay=...) is needed"
        raise InputError(f"network is {in_short(links)}; {need}", code="network", key="network")
    return links


def _refused(name: str, value: object, need: str) -> InputError:
    return InputError(
        f"the network's {name} is {in_short(value)}; {need} is needed",
        code=f"network.{name}",
        key=f"network.{name}",
    )
