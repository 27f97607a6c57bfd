"""Whether the agents of a live run stated truly which messages of each other they had received.

A message holds an echo for each agent: the number of the last message of that agent that its sender
has received. By echoes an agent knows whether it is heard, and how long messages take.
"""

from __future__ import annotations

from typing import final

import numpy as np

from dwell._types import Floats, Ints
from dwell.live.echoes import LONG, TICK
from dwell.live.record import DOUBLE
from dwell.verify.finding import Finding, not_applicable, violated, worst_of
from dwell.verify.live_case import LiveCheck

SAYS = "each agent stated truly what it had received: messages sent before, as it believed"
NEVER = 0xFFFF  # the boot of an agent of which nothing has been received
ROUNDING = 1e-9  # seconds


def echoes(check: LiveCheck) -> Finding:
    """Compare what each message stated of its receiver with the records of both agents."""
    if check.law.settings.clearance == 0.0:
        why = "fleet.clearance is 0, without which messages hold no statements"
        return not_applicable("echoes", SAYS, why)
    if not check.live.has_echoes:
        why = "the file is of an earlier version, whose files hold no statements"
        return not_applicable("echoes", SAYS, why)
    untagged = np.flatnonzero(check.live.samples["tag"] == 0)
    if len(untagged):
        first = f"{check.where(int(untagged[0]))}: the number of its start is missing"
        return violated("echoes", SAYS, np.inf, 0.0, first)
    stated = _Stated(check)
    unsent, other, early = stated.unsent(), stated.otherwise(), stated.early()

    def where(k: int) -> str:
        one, row = check.live.beliefs[k], check.live.samples[check.live.owner[k]]
        what = f"message {one['echo_serial']}" if one["echo_tag"] else "no message"
        why = "which its own record contradicts"
        if unsent[k]:
            why = f"which had not been sent by sample {row['k']}"
        elif early[k]:
            why = "longer ago than it believed that to be sent"
        return (
            f"agent {one['agent']}, boot {one['boot']}, sample {one['k']}, stated that it had "
            f"received {what} of agent {row['agent']}, {why}"
        )

    wrong = unsent | other | early
    return worst_of("echoes", SAYS, np.where(wrong, np.inf, 0.0), 0.0, where)


@final
class _Stated:
    """The statements in the messages behind all beliefs, and the records of who made them.

    A statement is about the receiver, the agent that believes. The record of the sample that the
    message announced says what its sender believed of the receiver: `word` is that belief, -1
    where there is none.
    """

    def __init__(self, check: LiveCheck) -> None:
        live, beliefs = check.live, check.live.beliefs
        self.check, self.rows, self.beliefs = check, live.samples, beliefs
        self.tag, self.serial = beliefs["echo_tag"], beliefs["echo_serial"].astype(np.int64)
        self.receiver = self.rows["agent"][live.owner]
        self.after = np.full(len(self.rows), -1)  # the next sample of the same boot
        later = np.flatnonzero(live.previous >= 0)
        self.after[live.previous[later]] = later
        # First decisions may be made some time before their message, which then states more.
        made = np.where(check.senders >= 0, check.senders, 0)
        self.made, known = made, check.senders >= 0
        known &= self.rows["k"][made] > 1
        # Of two processes with one number others may have heard either.
        doubled = np.unique(self.rows["agent"][self.rows["flags"] & DOUBLE > 0])
        self.single: np.ndarray = ~np.isin(self.receiver, doubled)
        self.word: Ints = np.where(known & self.single, self._belief_of(made, self.receiver), -1)

    def _belief_of(self, sample: Ints, agent: np.ndarray) -> Ints:
        """The belief behind each sample that is about an agent; -1 if there is none."""
        keys = (self.check.live.owner << 16) | self.beliefs["agent"]
        wanted = (sample << 16) | agent
        order = np.argsort(keys, kind="stable")
        place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        return np.where(keys[place] == wanted, place, -1)

    def unsent(self) -> np.ndarray:
        """Messages that the receiver had not sent by then, or starts that it never had."""
        row = self.check.live.owner
        same = self.tag == self.rows["tag"][row]
        wrong: np.ndarray = same & (self.serial >= self.rows["serial"][row]) & (self.tag != 0)
        for p in np.unique(self.receiver):
            own = self.rows[self.rows["agent"] == p]
            boots = np.unique(own["boot"])
            if len(boots) == int(boots[-1]) + 1:
                known = np.isin(self.tag, np.append(own["tag"], 0))
                wrong |= (self.receiver == p) & self.single & ~known
        return wrong

    def otherwise(self) -> np.ndarray:
        """Other messages than that which the sender believed."""
        check, rows = self.check, self.rows
        word = np.maximum(self.word, 0)
        never = self.beliefs["boot"][word] == NEVER
        first, stands = check.first[word], check.stands[word]
        source = np.where(stands, first, check.senders[word])
        end = np.where(stands, first, self.after[source])
        least = np.where(stands, 0, rows["serial"][source].astype(np.int64))
        most = np.where(end < 0, np.iinfo(np.int64).max, rows["serial"][end].astype(np.int64))
        other = (self.tag != rows["tag"][source]) | (self.serial < least) | (self.serial >= most)
        other = np.where(never, self.tag != 0, (source >= 0) & other)
        wrong: np.ndarray = (self.word >= 0) & other
        return wrong

    def early(self) -> np.ndarray:
        """Messages that arrived, as stated, before the sender of the statement takes them as sent.

        All by the clock of that sender, up to the time at which its statement was on its way.
        """
        word = np.maximum(self.word, 0)
        after = self.after[self.made]
        sent = np.where(after < 0, np.nan, self.rows["sent_at"][after])
        passed = np.maximum(sent - self.rows["time"][self.made], 0.0)
        hold: Floats = self.beliefs["echo_hold"] * TICK
        wrong: np.ndarray = hold > self.beliefs["age"][word] + passed + TICK + ROUNDING
        wrong &= (self.beliefs["echo_hold"] < LONG) & (self.beliefs["k"][word] > 0)
        return wrong & (self.word >= 0)
