"""Messages of a fleet as datagrams: 64 bytes for a segment in the plane."""

from __future__ import annotations

import hmac
import json
import struct
import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, final

import numpy as np

from dwell.live.beliefs import READY, SEGMENT, STOPPED, Announcement

VERSION = 1
START, STOP = 8, 9  # kinds of messages to all agents: the common time 0; the emergency stop
KINDS = (SEGMENT, READY, STOPPED, START, STOP)
_HEAD = struct.Struct("<IBBBBHHIdd")  # as packed below
SENDER = struct.Struct("<8xHHI")  # agent, boot and k in a datagram
SEAL = 16  # bytes of an HMAC-SHA256
HUGE = 1e100  # coordinates and times below this have squares
OBSERVER = 0xFFFF  # the sender of messages that come from no agent


def law_checksum(tables: Mapping[str, Any]) -> int:
    """A checksum of what all agents of a fleet have in common: law, settings, horizon and seed.

    Files of sites and rasters may lie elsewhere on each machine.
    """
    common = {name: tables.get(name) for name in ("controller", "fleet", "run")}
    if common["fleet"] is not None:
        common["fleet"] = {**common["fleet"], "peers": None}
    return zlib.crc32(json.dumps(common, sort_keys=True).encode())


class Control(NamedTuple):
    """A message to all agents: the time at which a run begins, or the emergency stop."""

    kind: int
    stamp: float


@final
class Codec:
    """Writes and reads the datagrams of one run; refused ones are counted by reason.

    law : a checksum of it; announcements of agents with another law are refused.
    """

    def __init__(
        self, run: int, agents: int, dimension: int, key: bytes | None = None, law: int = 0
    ) -> None:
        self.run, self.agents, self.dimension, self._key = run, agents, dimension, key
        self.law = law
        self._vectors = struct.Struct(f"<{2 * dimension}d")
        self.size = _HEAD.size + self._vectors.size + (0 if key is None else SEAL)
        self.refused: Counter[str] = Counter()

    def pack(self, one: Announcement) -> bytes:
        """The datagram of an announcement."""
        return self._packed(
            one.kind, one.agent, one.boot, one.k, one.stamp, one.cruise, *one.position,
            *one.velocity, known=one.known,
        )  # fmt: skip

    def control(self, kind: int, stamp: float) -> bytes:
        """The datagram of a message to all agents."""
        return self._packed(kind, OBSERVER, 0, 0, stamp, 0.0, *(0.0,) * (2 * self.dimension))

    def _packed(
        self, kind: int, agent: int, boot: int, k: int, *numbers: float, known: int = 0
    ) -> bytes:
        head = (
            self._tag(kind), VERSION, kind, self.dimension, known, agent, boot, k, *numbers[:2]
        )  # fmt: skip
        datagram = _HEAD.pack(*head) + self._vectors.pack(*numbers[2:])
        return datagram if self._key is None else datagram + self._seal(datagram)

    def _tag(self, kind: int) -> int:
        """What tells messages of this run from others; the emergency stop needs its name alone."""
        return self.run ^ self.law if kind in (SEGMENT, READY) else self.run

    def _seal(self, datagram: bytes) -> bytes:
        assert self._key is not None
        return hmac.digest(self._key, datagram, "sha256")[:SEAL]

    def unpack(self, datagram: bytes) -> Announcement | Control | None:
        """The message in a datagram; None if it is refused."""
        if len(datagram) != self.size:
            return self._refused("size")
        if self._key is not None:
            datagram, seal = datagram[:-SEAL], datagram[-SEAL:]
            if not hmac.compare_digest(seal, self._seal(datagram)):
                return self._refused("seal")
        head = _HEAD.unpack_from(datagram)
        run, version, kind, dimension, known, agent, boot, k, stamp, cruise = head
        if version != VERSION or dimension != self.dimension or kind not in KINDS:
            return self._refused("version")
        if run != self._tag(kind):
            return self._refused("run or law")
        vectors = np.array(self._vectors.unpack_from(datagram, _HEAD.size))
        if not ((np.abs(vectors) < HUGE).all() and abs(stamp) < HUGE and cruise >= 0.0):
            return self._refused("numbers")
        if kind >= START:
            return Control(kind, stamp) if agent == OBSERVER else self._refused("agent")
        if agent >= self.agents:
            return self._refused("agent")
        place, velocity = vectors[:dimension], vectors[dimension:]
        return Announcement(agent, boot, k, stamp, cruise, place, velocity, kind, known)

    def refuse(self, reason: str) -> None:
        """Count a datagram that is refused."""
        self.refused[reason] += 1

    def _refused(self, reason: str) -> Announcement | None:
        self.refuse(reason)
        return None
