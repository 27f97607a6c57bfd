"""Samples and messages that are lost or delayed."""

from __future__ import annotations

from typing import final

from dwell._parameters import CHANCE, NOT_NEGATIVE, TIME, param, parametric
from dwell._types import in_short
from dwell.errors import InputError


@final
@parametric("network", "the network", InputError, slots=True)
class Network:
    """Samples and messages that are lost or late.

    Each sample, and each message on its way to one receiver, has its own random draw. A sample
    shows the positions of the others as they were a delay before.

    Examples
    --------
    >>> import dwell
    >>> dwell.Network(loss=0.2).perfect
    False
    """

    loss: float = param(
        "the chance that a sample is lost, or that a message misses one of its receivers",
        CHANCE, default=0.0, label="chance of a loss",
    )  # fmt: skip
    delay: float = param(
        "how old a sample or message is when it arrives", NOT_NEGATIVE, default=0.0,
        unit=TIME, label="delay",
    )  # fmt: skip

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
