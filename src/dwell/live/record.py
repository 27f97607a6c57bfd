"""What an agent records at each sample: the row of the event table, and its beliefs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints
from dwell.live.echoes import ECHO

# Why a sample was special, and what changed the velocity of the law.
BEGIN = 1  # the first sample since the agent was started
STALE = 2  # a neighbour was silent for longer than the law allows
STAND = 4  # fewer agents were known than the quorum
SPEED = 8  # the velocity was above the limit of the robot
FENCE = 16  # the segment would have ended outside the workspace
NEAR = 32  # the segment would have come too close to another robot
POSE = 64  # the own position was measured too long ago
STOP = 128  # the emergency stop
SLOW = 256  # messages of a robot nearby take longer than its shortest interval
UNHEARD = 512  # no message of some agent has ever come
MUTE = 1024  # too few others have lately received a message of this agent
DOUBLE = 2048  # another process has the same number
HEARSAY = SLOW | UNHEARD | MUTE | DOUBLE  # what follows from messages alone
INTERVENTIONS = {
    STAND: "quorum", SPEED: "speed limit", FENCE: "geofence", NEAR: "keep-away",
    POSE: "own position too old", STOP: "emergency stop", MUTE: "not heard by the others",
    DOUBLE: "two agents with one number",
}  # fmt: skip

COUNTS = ("looked", "guaranteed", "dual_guaranteed", "sent", "received", "mark", "voronoi")


@lru_cache
def sample_type(dimension: int) -> np.dtype[Any]:
    """The record of one sample."""
    vector = ("<f8", (dimension,))
    return np.dtype(
        [
            ("agent", "<u2"), ("boot", "<u2"), ("k", "<u4"),  # k counts the samples of a boot
            ("flags", "<u4"), ("known", "<u4"),  # agents known, the own one included
            ("due", "<f8"), ("time", "<f8"),
            ("sent_at", "<f8"),  # when the message of the sample before had been sent; nan: none
            # The start of the agent and the number of the message that announces this sample, as
            # in the echoes of others; 0 where messages hold none.
            ("tag", "<u2"), ("serial", "<u4"),
            ("measured", "<f8"),  # when the own position was measured
            ("position", *vector), ("before", *vector),  # and the velocity before
            ("error", *vector),
            ("commanded", *vector), ("hold", *vector),  # velocity of the law, and as executed
            ("next_at", "<f8"), ("cruise", "<f8"), ("hold_error", "<f8"), ("nearest", "<f8"),
            ("neighbors", "<i4"), ("empty", "<i4"), *((name, "<i4") for name in COUNTS),
        ]
    )  # fmt: skip


@lru_cache
def belief_type(dimension: int) -> np.dtype[Any]:
    """The record of what one agent took another one to do at a sample."""
    vector = ("<f8", (dimension,))
    return np.dtype(
        [
            ("agent", "<u2"), ("boot", "<u2"), ("k", "<u4"),  # of the message
            ("age", "<f8"), ("position", *vector), ("velocity", *vector),
            # For the keep-away: for how long its robot may move otherwise, and how old the
            # position was that it announced.
            ("doubt", "<f8"), ("pose_age", "<f8"),
            # What its message stated to have received of the agent that believes: an ECHO.
            *((f"echo_{name}", ECHO[name].str) for name in ECHO.names or ()),
        ]
    )  # fmt: skip


def records(kind: np.dtype[Any], shape: int | tuple[()] = (), **columns: Any) -> np.ndarray:
    """Records of a type, or one record, with these columns; 0 in the others."""
    made = np.zeros(shape, dtype=kind)
    for name, values in columns.items():
        made[name] = values
    return made


@final
@dataclass(frozen=True, eq=False)
class LiveRecord:
    """The samples of a live run in order of their times, with the beliefs of each."""

    settings: dict[str, Any]  # of the fleet
    samples: np.ndarray  # of sample_type, with times of the clocks of their agents
    beliefs: np.ndarray  # of belief_type, those of one sample after those of the one before
    counts: np.ndarray  # (samples,) beliefs of each
    shifts: np.ndarray  # (samples,) time of the run minus that of the agent's clock
    uncertainty: float  # of these
    exact: bool  # whether positions follow from the segments in closed form
    dropped: dict[str, int]  # datagrams that were refused, by reason
    cut: tuple[tuple[int, int], ...] = ()  # agents and boots whose last record may be missing
    clocks: Mapping[int, float] = field(default_factory=dict)  # how uncertain that of each agent is
    has_echoes: bool = True  # whether it has the columns of echoes, which older files lack

    def columns(self) -> dict[str, dict[str, np.ndarray]]:
        """The columns of samples and beliefs, without `sent_at`, which not every sample has."""
        parts = {"live samples": self.samples, "beliefs": self.beliefs}
        return {
            part: {name: rows[name] for name in rows.dtype.names or () if name != "sent_at"}
            for part, rows in parts.items()
        }

    @cached_property
    def times(self) -> Floats:
        """The times of the samples, on the clock of the run."""
        times: Floats = self.samples["time"] + self.shifts
        return times

    @cached_property
    def previous(self) -> Ints:
        """The sample before each one, of the same agent since the same start; -1 if none."""
        rows = self.samples
        order = np.lexsort((rows["k"], rows["boot"], rows["agent"]))
        one, other = rows[order[:-1]], rows[order[1:]]
        same = (one["agent"] == other["agent"]) & (one["boot"] == other["boot"])
        found = np.full(len(rows), -1)
        found[order[1:][same]] = order[:-1][same]
        return found

    @cached_property
    def skipped(self) -> Ints:
        """How many records are missing before each sample, by its number."""
        k = self.samples["k"].astype(np.int64)
        return np.abs(k - np.where(self.previous < 0, 0, k[self.previous]) - 1)

    @cached_property
    def gaps(self) -> Floats:
        """The time since the sample before, by the agent's clock; nan for the first of a boot."""
        time = self.samples["time"]
        gaps: Floats = np.where(self.previous < 0, np.nan, time - time[self.previous])
        return gaps

    @cached_property
    def owner(self) -> Ints:
        """The sample that each belief belongs to."""
        return np.repeat(np.arange(len(self.samples)), self.counts)
