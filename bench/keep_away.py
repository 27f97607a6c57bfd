"""python -m bench.keep_away: random fleets with everything that can go wrong, in virtual time.

Agents, beliefs, leases and datagrams are those of a live fleet; the true motion of each robot is
known exactly. Counted are fleets in which two robots came closer than two clearances, or one left
the workspace, and how far robots went compared with the same fleet without faults.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict

import numpy as np

from tests.fleet.chaos import Chaos, scattered, yard

UNTIL = 12.0
ROUNDING = 1e-9
SPAN = 0.03  # the margin of a fleet fits between T1 and T2


def _perfect(chance):
    return {}


def _cut(chance, out=True, into=True):
    """The radio of some robots fails, in one direction or both, for good or for a while."""
    begin = chance.uniform(0.5, 5.0)
    end = begin + chance.choice([math.inf, chance.uniform(0.3, 4.0)])
    silent = set(chance.sample(range(3), chance.choice([1, 1, 2])))
    quick = chance.uniform(0.001, 0.02)

    def link(a, b, t, draw):
        cut = begin <= t < end and ((out and a in silent) or (into and b in silent))
        return [] if cut else [quick]

    return {"link": link}


def _partition(chance):
    begin = chance.uniform(0.5, 4.0)
    end = begin + chance.choice([math.inf, chance.uniform(0.3, 4.0)])
    group = set(chance.sample(range(3), 2))

    def link(a, b, t, draw):
        return [] if begin <= t < end and (a in group) != (b in group) else [0.005]

    return {"link": link}


def _deaf_pair(chance):
    """No message comes from one robot to another, in one direction or in both."""
    begin, both = chance.choice([-1.0, chance.uniform(0.0, 4.0)]), chance.random() < 0.5
    pairs = {(0, 1), (1, 0)} if both else {(0, 1)}

    def link(a, b, t, draw):
        return [] if begin <= t and (a, b) in pairs and t > 0.0 else [0.003]

    return {"link": link}


def _lossy(chance):
    loss, most = chance.uniform(0.1, 0.9), chance.uniform(0.0, 0.2)

    def link(a, b, t, draw):
        if t > 0.0 and draw.random() < loss:
            return []
        return [draw.uniform(0.0, most)] + ([draw.uniform(0.0, 0.5)] if draw.random() < 0.1 else [])

    return {"link": link}


def _latency(chance, jitter=0.0):
    there = {(a, b): chance.uniform(0.0, 0.3) for a in range(8) for b in range(8)}
    steady = chance.choice([None, chance.uniform(0.05, 0.3)])

    def link(a, b, t, draw):
        least = there[a, b] if steady is None else steady
        return [least * (1.0 - jitter * draw.random())]

    return {"link": link}


def _kills(chance, back=True):
    times = sorted(chance.uniform(0.3, 8.0) for _ in range(chance.choice([1, 2, 3])))
    down = [chance.uniform(0.05, 2.0) if back else math.inf for _ in times]
    loss = chance.choice([0.0, 0.3])
    kills = [(t, chance.randrange(3), d) for t, d in zip(times, down, strict=True)]
    some, free = [], [-1.0] * 3
    for t, p, d in kills:
        if t > free[p]:
            some.append((t, p, d))
            free[p] = t + d + 1.0

    def link(a, b, t, draw):
        return [] if draw.random() < loss and t > 0.0 else [0.004]

    return {"kills": tuple(some), "link": link}


def _late(chance):
    most = chance.uniform(0.0, 0.6)
    return {"late": lambda draw: draw.uniform(0.0, most) if draw.random() < 0.3 else 0.0}


def _leaving(chance):
    world = [{"from": chance.uniform(0.5, 5.0), "leave": [chance.randrange(3)]}]
    return {"world": world}


def _arriving(chance):
    return {"world": [{"from": chance.uniform(0.5, 5.0), "arrive": 1}]}


def _old_poses(chance):
    return {"pose_age": chance.uniform(0.3, 0.95)}  # of T1


def _two(first, second):
    def both(chance):
        one, other = first(chance), second(chance)
        links = [some.pop("link") for some in (one, other) if "link" in some]

        def link(a, b, t, draw):
            delays = [each(a, b, t, draw) for each in links]
            return [] if not all(delays) else [sum(one[0] for one in delays)]

        return {**one, **other, **({"link": link} if links else {})}

    return both


def _out(chance):
    return _cut(chance, into=False)


def _into(chance):
    return _cut(chance, out=False)


CASES = {
    "none": _perfect, "cut both ways": _cut, "transmitter dead": _out, "receiver dead": _into,
    "partition": _partition, "deaf pair": _deaf_pair, "lossy": _lossy, "latency": _latency,
    "jitter": lambda chance: _latency(chance, 1.0), "kills, back": _kills,
    "kills, for good": lambda chance: _kills(chance, back=False), "late": _late,
    "leaving": _leaving, "arriving": _arriving, "old poses": _old_poses,
    "leaving, lossy": _two(_leaving, _lossy), "arriving, lossy": _two(_arriving, _lossy),
    "leaving, cut": _two(_leaving, _cut), "arriving, cut": _two(_arriving, _out),
    "kills, latency": _two(_kills, _latency), "late, lossy": _two(_late, _lossy),
    "transmitter dead, kills": _two(_out, _kills), "latency, cut": _two(_latency, _cut),
    "old poses, lossy": _two(_old_poses, _lossy), "leaving, kills": _two(_leaving, _kills),
}  # fmt: skip


def random_fleet(name: str, seed: int, kind: type[Chaos] = Chaos) -> Chaos:
    """A fleet of 3 to 8 robots with faults of one kind; all a function of the seed."""
    chance = random.Random(f"{name} {seed}")
    count, radius = chance.randint(3, 8), chance.uniform(0.08, 0.2)
    t1 = chance.uniform(0.05, 0.3)
    made = CASES[name](chance)
    world = made.pop("world", [])
    start = scattered(chance, count + 1, 2.0 * radius + chance.uniform(0.01, 0.2))
    arrives = any("arrive" in one for one in world)
    for one in world:
        if "arrive" in one:
            one["arrive"] = [start[-1]]
    case = yard(
        start[:-1] if arrives else start[:count],
        peak=(chance.uniform(-0.5, 4.5), chance.uniform(-0.5, 3.5)),
        rate=chance.choice([1.0, 3.0, 6.0]), k1=chance.uniform(0.3, 1.0), t1=t1,
        t2=max(t1 * chance.uniform(1.3, 4.0), t1 + SPAN), clearance=radius, seed=seed,
        horizon=UNTIL,
        fleet={"silence": chance.choice([None, 3.0, 5.0])}, **({"world": world} if world else {}),
    )  # fmt: skip
    offsets = [chance.uniform(-3.0, 3.0) if "leav" not in name and "arriv" not in name
               else chance.uniform(-0.02, 0.02) for _ in range(count + 1)]  # fmt: skip
    if "pose_age" in made:
        made["pose_age"] *= t1
    n = count + arrives if arrives else count
    return kind(case, offsets=offsets[:n], seed=seed, **made)


def tried(name: str, seed: int) -> dict[str, float]:
    """What one random fleet did."""
    fleet = random_fleet(name, seed).run(UNTIL)
    gap, a, b, when = fleet.closest(UNTIL)
    needed = 2.0 * fleet.law.settings.clearance
    gone = sum(fleet.moved(p, 0.0, UNTIL) for p in range(fleet.n))
    still = sum(fleet.moved(p, UNTIL - 3.0, UNTIL) for p in range(fleet.n))
    return {
        "gap": gap / needed, "needed": needed, "a": a, "b": b, "when": when, "gone": gone,
        "still": still, "outside": fleet.outside(UNTIL), "samples": len(fleet.samples),
    }  # fmt: skip


def main() -> None:
    """Print one line for each kind of fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fleets", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", help="one kind of fault")
    options = parser.parse_args()
    names = [options.only] if options.only else list(CASES)
    each = math.ceil(options.fleets / len(names))
    bad, total = defaultdict(list), 0
    for name in names:
        found = []
        for seed in range(options.first, options.first + each):
            one = tried(name, seed)
            found.append(one)
            if one["gap"] < 1.0 - ROUNDING or one["outside"] > ROUNDING:
                bad[name].append((seed, one))
        total += len(found)
        least = min(one["gap"] for one in found)
        gone = np.median([one["gone"] for one in found])
        out = max(one["outside"] for one in found)
        says = f"least gap {least:8.5f} of 2 r  closer or outside {len(bad[name])}"
        says += f"  outside by {out:.1e}  way {gone:.2f} m"
        print(f"{name:26} {len(found):4} fleets  {says}", flush=True)
        for seed, one in bad[name][:5]:
            print("   ", seed, {k: round(v, 4) for k, v in one.items()}, flush=True)
    print(f"{total} fleets, {sum(map(len, bad.values()))} closer than two clearances or outside")


if __name__ == "__main__":
    main()
