"""Journals of a fleet merged into one record in order of time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dwell._types import Floats
from dwell.errors import StoreError
from dwell.fleet.identity import common_tables
from dwell.fleet.journal import FleetJournal, fleet_journals
from dwell.live.record import LiveRecord
from dwell.results.files import shown

NOISE = 1e-9  # seconds: differences of clocks below this are rounding
RATE = 2e-4  # by which the rates of two clocks may differ


class ClockLink(NamedTuple):
    """How one clock differs from another, by the messages of both directions."""

    difference: float
    uncertainty: float


def read_journals(
    folder: Path, *, partial: bool = False, key: bytes | None = None
) -> tuple[list[FleetJournal], str]:
    """All journals of a fleet; refused where there is none, or where they are of several runs.

    With `partial`, those of agents that ran another scenario than most are left out; the second
    value says which.
    """
    found = list(fleet_journals(folder, key=key))
    if not found:
        raise StoreError(f"{shown(folder)} holds no journals of a fleet", code="fleet.journal")
    runs = sorted({str(one.header["run"]) for one in found})
    if len(runs) > 1:
        says = f"{folder} holds journals of {len(runs)} runs: {', '.join(runs)}"
        raise StoreError(f"{says}; put those of one run into a folder", code="fleet.journal")
    others = _of_other_scenarios(found)
    if not others:
        return found, ""
    names = ", ".join(sorted(one.path.name for one in others))
    agents = ", ".join(
        map(str, sorted({p for one in others for p in one.header.get("agents", ())}))
    )
    differ = ", ".join(sorted({key for one in others for key in _differ(found, others, one)}))
    says = f"agents {agents} ran another scenario than the rest ({differ}): {names}"
    if not partial:
        says = f"{folder} holds journals of one run with different scenarios; {says}"
        more = "give all agents the same file and options"
        raise StoreError(
            f"{says}; {more}, or leave those out with --partial (partial=True)",
            code="fleet.journal",
        )
    return [one for one in found if one not in others], says


def _digest(one: FleetJournal) -> str:
    """What tells the scenario of a journal from others: of what it holds, not what it says."""
    common = common_tables(one.header.get("scenario", {}))
    text = json.dumps([common, one.header.get("digest")], sort_keys=True)
    return sha256(text.encode()).hexdigest()


def _of_other_scenarios(found: Sequence[FleetJournal]) -> list[FleetJournal]:
    """Journals of other scenarios than that of most agents; of two equal parts, the later."""
    of_each: dict[str, set[int]] = {}
    for one in found:
        of_each.setdefault(_digest(one), set()).update(one.header.get("agents", ()))
    most = max(of_each, key=lambda digest: len(of_each[digest]))
    return [one for one in found if _digest(one) != most]


def _differ(
    found: Sequence[FleetJournal], others: Sequence[FleetJournal], one: FleetJournal
) -> list[str]:
    """The tables and keys in which the scenario of one journal is another than that of most."""
    first = next(kept for kept in found if kept not in others)
    usual, own = (common_tables(of.header.get("scenario", {})) for of in (first, one))
    names = []
    for name in sorted({*usual, *own}):
        a, b = usual.get(name), own.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            keys = [key for key in sorted({*a, *b}) if a.get(key) != b.get(key)]
            names += [f"{name}.{key}" for key in keys]
        elif a != b:
            names.append(name)
    return names or ["Python modules or files"]


def missing(journals: Sequence[FleetJournal], agents: int) -> str:
    """The journals that a run of so many agents should have besides these, in words; or none."""
    last = {str(one.header["host"]): int(one.header["boot"]) for one in journals}
    folder = journals[0].path.parent
    names = [f"{name}-{k:04d}.journal" for name, boot in last.items() for k in range(boot)]
    lacking = [name for name in names if not (folder / name).exists()]
    there = {p for one in journals for p in one.header.get("agents", ())}
    lacking += [f"any journal of agent {p}" for p in range(agents) if p not in there]
    return ", ".join(lacking)


def merged(journals: Sequence[FleetJournal]) -> LiveRecord:
    """The samples of all journals in order of time, by the clock of the first agent."""
    samples = np.concatenate([one.samples for one in journals])
    beliefs = np.concatenate([one.beliefs for one in journals])
    counts = np.concatenate([one.counts for one in journals])
    by_agent: dict[int, float] = {}
    if all(one.header["shared_clock"] for one in journals):
        shifts, uncertainty = np.zeros(len(samples)), 0.0
    else:
        shifts, uncertainty, by_agent = clock_shifts(
            samples, beliefs, counts, _first_boots(journals)
        )
        shifts += max(NOISE - float((samples["time"] + shifts).min(initial=NOISE)), 0.0)
    order = np.lexsort((samples["k"], samples["agent"], samples["time"] + shifts))
    ends = np.cumsum(counts)
    rows = [beliefs[ends[k] - counts[k] : ends[k]] for k in order]
    dropped: Counter[str] = Counter()
    for one in journals:
        for note in one.notes:
            dropped.update(note.get("dropped", {}))
    exact = all(one.header["exact"] for one in journals)
    return LiveRecord(
        dict(journals[0].header.get("settings", {})), samples[order],
        np.concatenate(rows) if rows else beliefs, counts[order], shifts[order], uncertainty,
        exact, dict(dropped), tuple(sorted(_cut_off(journals))), by_agent,
    )  # fmt: skip


def _cut_off(journals: Sequence[FleetJournal]) -> set[tuple[int, int]]:
    """Agents and boots of processes that were killed: their last records may be missing."""
    broken = [one.header for one in journals if one.ended is None]
    return {(int(p), int(header["boot"])) for header in broken for p in header["agents"]}


def _first_boots(journals: Sequence[FleetJournal]) -> dict[tuple[int, int], int]:
    """By agent and boot, its first boot with the same clock: of one machine, from one origin."""
    clocks: dict[tuple[int, str, float | None], int] = {}
    found = {}
    for one in journals:
        for p in one.header.get("agents", ()):
            boot, clock = int(one.header["boot"]), (p, one.header["machine"], one.started)
            found[(p, boot)] = clocks.setdefault(clock, boot)
    return found


def clock_shifts(
    samples: np.ndarray,
    beliefs: np.ndarray,
    counts: np.ndarray,
    first_boots: Mapping[tuple[int, int], int] | None = None,
) -> tuple[Floats, float, dict[int, float]]:
    """What to add to each time to get that of the first agent's clock, and how unsure that is.

    The last is by agent: how well its clock is known against that other which knows it best.

    A receiver dates a message by the least delay that it has seen, so the difference of two clocks
    is known up to half the sum of the delays in both directions.

    first_boots : by agent and boot, the first one with the same clock; each has its own if absent.
    """
    if not len(samples):
        return np.zeros(0), 0.0, {}
    owner = np.stack([samples["agent"], samples["boot"]], axis=1).astype(np.int64)
    boots = [(int(p), int(boot)) for p, boot in np.unique(owner, axis=0)]
    first = first_boots or {}
    nodes = sorted({(p, first.get((p, boot), boot)) for p, boot in boots})
    number = {(p, boot): nodes.index((p, first.get((p, boot), boot))) for p, boot in boots}
    own = np.array([number[int(p), int(boot)] for p, boot in owner])
    stamps = {(int(s["agent"]), int(s["boot"]), int(s["k"])): float(s["time"]) for s in samples}
    behind: dict[tuple[int, int], list[tuple[float, float, int, int]]] = {}
    receiver = np.repeat(own, counts)
    when, started = (np.repeat(samples[name], counts) for name in ("time", "boot"))
    for to, now, boot, belief in zip(receiver, when, started, beliefs, strict=True):
        key = (int(belief["agent"]), int(belief["boot"]), int(belief["k"]))
        if key in stamps:
            difference = float(now - belief["age"]) - stamps[key]
            found = behind.setdefault((int(to), number[key[:2]]), [])
            found.append((float(now), difference, int(boot), key[1]))
    links = _links(behind)
    shift, unsure, open_ends = {0: 0.0}, {0: 0.0}, [0]
    while open_ends:  # the least uncertain way to each clock
        here = open_ends.pop(0)
        for (a, b), link in links.items():
            if a != here or unsure[here] + link.uncertainty >= unsure.get(b, np.inf):
                continue
            shift[b] = shift[here] + link.difference
            unsure[b] = unsure[here] + link.uncertainty
            open_ends.append(b)
    shifts: Floats = np.array([shift.get(k, 0.0) for k in range(len(nodes))])[own]
    shifts[np.abs(shifts) < NOISE] = 0.0
    ways = [link.uncertainty for link in links.values()]  # those not taken as well
    by_agent: dict[int, float] = {}
    for k, (p, _) in enumerate(nodes):
        others = [link.uncertainty for (a, b), link in links.items() if a == k and nodes[b][0] != p]
        by_agent[p] = max(by_agent.get(p, 0.0), min(others, default=np.inf))
    return shifts, max([unsure.get(k, np.inf) for k in range(len(nodes))] + ways), by_agent


def _links(
    behind: Mapping[tuple[int, int], Sequence[tuple[float, ...]]],
) -> dict[tuple[int, int], ClockLink]:
    """Differences of clocks that have heard each other: that of `a` minus that of `b`."""
    found: dict[tuple[int, int], ClockLink] = {}
    for (a, b), there in behind.items():
        back = behind.get((b, a))
        if back is None:
            continue
        one, other = (float(np.median([seen[1] for seen in way])) for way in (there, back))
        drift = 0.5 * (_spread(np.array(there)) + _spread(np.array(back)))
        found[(a, b)] = ClockLink(0.5 * (one - other), max(0.5 * (one + other), 0.0) + drift)
    return found


def _spread(found: Floats) -> float:
    """How far the differences of two clocks go apart, without those that stand alone.

    A receiver uses the least difference since it has started, so that one which is larger than that
    before, or smaller than that after, is not its own.

    found : rows of time, difference, and the boots of receiver and sender.
    """
    time, difference, *boots = found.T
    before, after = difference[:-1], difference[1:]
    begins = np.diff(boots).any(axis=0)
    most = np.where(begins, after, np.minimum(before, after)).max(initial=difference[0])
    least = np.maximum(before, after).min(initial=np.inf)
    return max(float(most - least), 0.0) + RATE * float(np.diff(time).max(initial=0.0))
