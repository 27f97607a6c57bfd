"""Messages of a fleet as datagrams: 92 bytes for a segment in the plane.

With a keep-away each also holds an echo of 8 bytes for every agent: the last message of it that the
sender has received, and how long ago that arrived.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from collections import Counter
from typing import NamedTuple, final

import numpy as np

from dwell.live.beliefs import READY, SEGMENT, STOPPED, Announcement
from dwell.live.echoes import ECHO, no_echoes

VERSION = 2
DIGEST = 16  # bytes of what tells a run with its scenario from all others
START, STOP = 8, 9  # kinds of messages to all agents: the common time 0; the emergency stop
KINDS = (SEGMENT, READY, STOPPED, START, STOP)
_HEAD = struct.Struct(f"<{DIGEST}sBBBxHHIIQddf")  # as packed below
SENDER = struct.Struct(f"<{DIGEST + 4}xHHI")  # agent, boot and k in a datagram
SEAL = 16  # bytes of an HMAC-SHA256
HUGE = 1e100  # coordinates and times below this have squares
OBSERVER = 0xFFFF  # the sender of messages that come from no agent


def new_incarnation() -> int:
    """A number of 64 random bits that tells one start of an agent from all others."""
    return secrets.randbits(64)


class Control(NamedTuple):
    """A message to all agents: the time at which a run begins, or the emergency stop."""

    kind: int
    stamp: float


@final
class Codec:
    """Writes and reads the datagrams of one run; refused ones are counted by reason.

    run : its name.
    scenario : its digest; announcements of agents with another scenario are refused.
    echoes : whether messages hold an echo for every agent.
    """

    def __init__(
        self,
        run: str,
        agents: int,
        dimension: int,
        key: bytes | None = None,
        scenario: str = "",
        *,
        echoes: bool = False,
    ) -> None:
        self.run, self.agents, self.dimension, self._key = run, agents, dimension, key
        self.scenario, self.echoes = scenario, echoes
        self._of_run, self._of_agents = (
            hashlib.blake2b(text.encode(), digest_size=DIGEST).digest()
            for text in (run, f"{run}\0{scenario}")
        )
        self._vectors = struct.Struct(f"<{2 * dimension}d")
        self._begin = _HEAD.size + self._vectors.size  # of the echoes
        self.size = self._begin + (agents * ECHO.itemsize if echoes else 0)
        self.size += 0 if key is None else SEAL
        self.refused: Counter[str] = Counter()
        self.reason = ""  # why the last one was

    def pack(self, one: Announcement) -> bytes:
        """The datagram of an announcement."""
        head = (
            one.agent, one.boot, one.k, one.serial, one.incarnation, one.stamp, one.cruise,
            one.pose_age,
        )  # fmt: skip
        return self._packed(one.kind, head, (*one.position, *one.velocity), one.echoes)

    def control(self, kind: int, stamp: float) -> bytes:
        """The datagram of a message to all agents."""
        head = (OBSERVER, 0, 0, 0, 0, stamp, 0.0, 0.0)
        return self._packed(kind, head, (0.0,) * (2 * self.dimension), None)

    def _packed(
        self,
        kind: int,
        head: tuple[int, int, int, int, int, float, float, float],
        numbers: tuple[float, ...],
        echoes: np.ndarray | None,
    ) -> bytes:
        datagram = _HEAD.pack(self._tag(kind), VERSION, kind, self.dimension, *head)
        datagram += self._vectors.pack(*numbers)
        if self.echoes:
            datagram += (no_echoes(self.agents) if echoes is None else echoes).tobytes()
        return datagram if self._key is None else datagram + self._seal(datagram)

    def _tag(self, kind: int) -> bytes:
        """What tells messages of this run from others; the emergency stop needs its name alone."""
        return self._of_agents if kind in (SEGMENT, READY) else self._of_run

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
        run, version, kind, dimension, agent, boot, k, serial, incarnation = head[:9]
        stamp, cruise, age = head[9:]
        if version != VERSION or dimension != self.dimension or kind not in KINDS:
            return self._refused("version")
        if run != self._tag(kind):
            return self._refused("run or scenario")
        vectors = np.array(self._vectors.unpack_from(datagram, _HEAD.size))
        times = abs(stamp) < HUGE and cruise >= 0.0 and 0.0 <= age < HUGE
        if not ((np.abs(vectors) < HUGE).all() and times):
            return self._refused("numbers")
        if kind >= START:
            return Control(kind, stamp) if agent == OBSERVER else self._refused("agent")
        if agent >= self.agents:
            return self._refused("agent")
        place, velocity = vectors[:dimension], vectors[dimension:]
        echoes = np.frombuffer(datagram, ECHO, offset=self._begin) if self.echoes else None
        return Announcement(
            agent, boot, k, stamp, cruise, place, velocity, kind, serial, incarnation, age, echoes
        )

    def refuse(self, reason: str) -> None:
        """Count a datagram that is refused."""
        self.refused[reason] += 1
        self.reason = reason

    def _refused(self, reason: str) -> Announcement | None:
        self.refuse(reason)
        return None
