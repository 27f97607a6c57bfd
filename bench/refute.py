"""Runs that try to refute what `dwell design` says of random scenarios of all kinds.

python -m bench.refute FIRST COUNT: each scenario follows from its number alone. Every statement
that design makes of it is tested by a run: one that contradicts it is printed with the number.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import dwell
from dwell.errors import DwellError
from dwell.measure.metrics import measure_configurations
from dwell.results import Run
from dwell.scenario import Scenario, parse_scenario
from dwell.studies.design import VALID, Design
from dwell.theory.lipschitz import lipschitz_along
from dwell.theory.rates import rates_near

EVERY = 1.7  # waits between samples
JUDGED = 5  # the certificate of one run in so many is compared, too
OF_ADAPTIVE_TIMERS = ("hold-limit", "adaptive-limit")  # which are judged without the theorem
WAITS = 80  # of each agent in a run
ROUNDING = 1e-11  # of costs and lengths, relative
NEAR = 1e-3  # of a cell's radius: how far from a minimum agents begin
SHRUNK = 0.9  # of their distance, at the end
STIFF = 0.02  # smaller gaps would need runs that are too long
TIMES = 150  # at which constants are measured
BOX = {"kind": "box", "lower": [0.0, 0.0], "upper": [4.0, 3.0]}
SLANTED = [[0.0, 0.2], [3.6, 0.0], [4.4, 2.0], [2.2, 3.4], [0.3, 2.8]]
ELL = [[0.0, 0.0], [4.0, 0.0], [4.0, 1.4], [1.6, 1.4], [1.6, 3.0], [0.0, 3.0]]
YOU = [[0, 0], [4, 0], [4, 3], [3, 3], [3, 1], [1, 1], [1, 3], [0, 3]]


@dataclass
class Tried:
    """How many statements were made and tested, and what contradicted them."""

    made: Counter[str] = field(default_factory=Counter)
    tested: Counter[str] = field(default_factory=Counter)
    refuted: list[str] = field(default_factory=list)


def scenario_of(number: int, folder: Path) -> dict[str, Any]:
    """A random scenario of the timer law; rasters are written to a folder."""
    rng = np.random.default_rng([number, 33])
    agents = int(rng.integers(1, 7))
    site, density, switches = _world(rng, folder, number)
    longest = float(rng.choice([0.3, 0.9, 0.999, 1.3, 1.9, 1.999, 2.4]))
    k1, nu = float(rng.uniform(0.2, 1.5)), float(rng.uniform(0.1, 0.8))
    t2 = longest * (1.0 - 1e-8) * nu / k1
    law: dict[str, Any] = {"kind": "timer", "k1": k1, "nu": nu, "t2": t2, "t1": t2}
    _timers(rng, law, agents)
    if rng.random() < 0.1:
        law["initial_hold"] = (0.5 * k1 * rng.uniform(-1, 1, (agents, 2))).tolist()
    if rng.random() < 0.08 and law["reset"] != "adaptive":
        law["feedforward"] = "own"
    start = np.array([[0.4, 0.4], [0.9, 0.35], [0.45, 1.1], [2.9, 0.7], [0.55, 2.2], [0.8, 0.9]])[
        :agents
    ] + rng.uniform(-0.04, 0.04, (agents, 2))
    assumed = _certificate(rng, law, agents)  # may shorten the waits
    t2 = law["t2"]
    data: dict[str, Any] = {
        "workspace": site, "density": density, "agents": {"start": start.tolist()},
        "controller": law, "certificate": assumed,
        "run": {
            "horizon": WAITS * t2, "seed": number % 1000, "record": {"sample_every": EVERY * t2},
        },
    }  # fmt: skip
    if switches is not None:
        data["world"] = [{"from": 0.5 * WAITS * t2, **switches}]
    if rng.random() < 0.1:
        data["network"] = {"loss": 0.2} if rng.random() < 0.5 else {"delay": 0.3 * t2}
    plain = density["kind"] in ("uniform", "gaussian") and not _moves(density)
    if rng.random() < 0.1 and site["kind"] != "region" and switches is None and plain:
        data["run"]["integration"] = {"kind": "grid", "spacing": 0.15}
    return data


def _world(
    rng: np.random.Generator, folder: Path, number: int
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any] | None]:
    """A workspace, a density, and what a switch changes."""
    center = rng.uniform([0.5, 0.5], [3.5, 2.5]).tolist()
    hill: dict[str, Any] = {"kind": "gaussian", "center": center}
    hill["rate"] = float(rng.uniform(0.05, 3.0))
    kind = rng.choice(
        ["box", "polygon", "ell", "you", "stay", "moving"], p=[0.3, 0.3, 0.1, 0.1, 0.1, 0.1]
    )
    site: dict[str, Any] = {
        "box": BOX,
        "polygon": {"kind": "polygon", "vertices": SLANTED},
        "ell": {"kind": "region", "parts": [{"outer": ELL}]},
        "you": {"kind": "region", "parts": [{"outer": YOU}]},
        "stay": {"kind": "region", "parts": [{"outer": YOU}], "stay": True},
        "moving": {"kind": "polygon", "vertices": {
            "times": [0.0, 1000.0], "values": [SLANTED, (1.5 * np.array(SLANTED)).tolist()],
        }},
    }[str(kind)]  # fmt: skip
    choices = ["uniform", "gaussian", "zero", "raster", "bilinear", "moving"]
    what = str(rng.choice(choices, p=[0.3, 0.35, 0.1, 0.08, 0.09, 0.08]))
    density = {"kind": "uniform"} if what == "uniform" else hill
    if what == "zero":
        density = {"kind": "polynomial", "terms": [[2, 0, 1.0]]}
    if what in ("raster", "bilinear"):
        path = folder / f"{number}.npy"
        np.save(path, rng.uniform(0.0, 1.0, (10, 12)) * (rng.random((10, 12)) < 0.7))
        density = {
            "kind": "raster", "file": str(path), "origin": [-0.5, -0.5], "pixel": 0.5,
            "rows": "south first", "values": "density",
            "interpolation": "constant" if what == "raster" else "bilinear",
        }  # fmt: skip
        site = BOX if kind == "moving" else site
    if what == "moving":
        other = rng.uniform([0.5, 0.5], [3.5, 2.5]).tolist()
        track = {"times": [0.0, float(rng.uniform(2, 20))], "values": [center, other]}
        density = {**hill, "center": {**track, "after": "hold"}}
    switches: dict[str, Any] | None = None
    still = kind in ("box", "polygon") and what in ("uniform", "gaussian")
    if still and rng.random() < 0.2:
        switches = [
            {"density": {"kind": "uniform"}},
            {"workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [5.0, 4.0]}},
            {"leave": [0]},
        ][int(rng.integers(3))]
    return site, density, switches


def _moves(density: dict[str, Any]) -> bool:
    return isinstance(density.get("center"), dict)


def _timers(rng: np.random.Generator, law: dict[str, Any], agents: int) -> None:
    """How the timers are reset."""
    rule = str(rng.choice(["latest", "uniform", "sequence", "dropout", "adaptive", "periodic"]))
    rule = "latest" if rng.random() < 0.4 else rule
    law["reset"] = rule
    t2 = law["t2"]
    law["t1"] = t2 if rng.random() < 0.2 else float(rng.uniform(0.1, 1.0)) * t2
    if rule == "sequence":
        law["intervals"] = rng.uniform(law["t1"], t2, 3).tolist()
    if rule == "dropout":
        law["loss"] = 0.4
    if rule == "adaptive":
        law["eta_max"] = 0.5 * law["k1"]
    if rule == "periodic":
        law["period"] = float(rng.uniform(law["t1"], t2))
    if rng.random() < 0.15 and rule != "adaptive":
        law["initial_timer"] = rng.uniform(law["t1"], t2, agents).tolist()


def _certificate(rng: np.random.Generator, law: dict[str, Any], agents: int) -> dict[str, Any]:
    """Sometimes with waits so short that the paper's conditions can be met."""
    if rng.random() < 0.35:
        share, constant = float(rng.uniform(0.5, 0.99)), float(rng.uniform(0.5, 6.0))
        most = share * law["nu"] / law["k1"] / (constant * agents**0.5 + 1.0)
        scale = 0.999 * most / law["t2"]
        for key in ("t1", "t2", "period", "intervals", "initial_timer"):
            if key in law:
                law[key] = (scale * np.array(law[key])).tolist()
        return {"eta_max": share * law["k1"], "lipschitz": constant}
    return {"eta_max": 0.6 * law["k1"], "lipschitz": 3.0}


def refute(number: int, tried: Tried, folder: Path) -> None:
    """Test all that design says of one scenario."""
    data = scenario_of(number, folder)
    try:
        scenario = parse_scenario(data)
        found = dwell.design(scenario, samples=0, run=False, progress=False)
    except DwellError as refusal:
        tried.made[f"refused: {refusal.code}"] += 1
        return
    run = dwell.run_scenario(scenario, progress=False)
    sync, local = found.setting.sharper
    claims = {
        "sync_global": (sync.holds, lambda: cost_rises(run, found)),
        "no_overshoot": (sync.within is True, lambda: outside(run)),
        "async_local": (local.holds, lambda: stays_away(scenario, found)),
        "hold errors": (found.verdict == VALID, lambda: beyond(run, found)),
    }
    for name, (claimed, test) in claims.items():
        if not claimed:
            continue
        tried.made[name] += 1
        outcome = test()
        if outcome is None:
            continue
        tried.tested[name] += 1
        if outcome:
            tried.refuted.append(f"{number}: {name}: {outcome}")
    if number % JUDGED:
        return
    judged = (f for f in run.certificate if f.name not in OF_ADAPTIVE_TIMERS)
    silent = {f.status for f in judged} == {"not applicable"}
    if silent != bool(found.setting.why_not("theorem")):
        tried.refuted.append(f"{number}: design and certificate differ in what applies")


def cost_rises(run: Run, found: Design) -> str | None:
    """From one common sample to the next the cost falls at least by the bound that is proved."""
    times = np.unique(run.events.time)
    if found.setting.own_start:
        times = np.append(0.0, times)
    if len(times) < 2:
        return None
    law, system = run.system.controller, run.system
    costs = np.asarray(run.cost(times))
    places = run.positions(times)
    seen = measure_configurations(system, places, times)
    shape = places.shape[:2]
    masses = (seen.mass * np.exp(seen.log_scale)).reshape(shape)
    sizes = np.hypot(*seen.error.T).reshape(shape)
    waits = np.diff(times)[:, None]
    full = np.minimum(1.0, sizes / law.reach)[:-1]
    step = law.k1 * waits * full
    least = (masses[:-1] * step * (2.0 * sizes[:-1] - step)).sum(axis=1)
    rise = np.diff(costs) + np.maximum(least, 0.0) - ROUNDING * costs[:-1]
    begins = np.array(system.timeline.begins[1:])
    whole = np.array([not ((begins > a) & (begins <= b)).any() for a, b in pairwise(times)])
    worst = int(np.argmax(np.where(whole, rise, -np.inf)))
    return (
        f"rises by {rise[worst]:.3g} at t = {times[worst]:.6g}"
        if whole[worst] and rise[worst] > 0
        else ""
    )


def outside(run: Run) -> str | None:
    """No agent is outside the workspace, at events, at samples or at the end."""
    times = np.unique(np.concatenate([run.events.time, np.linspace(0.0, run.horizon, 200)]))
    site = run.workspace
    places = run.positions(times)
    if site.outside_by(places[0]).max() > 0.0:
        return None
    beyond = max(float(site.outside_by(one).max()) for one in places)
    return f"{beyond:.3g} outside" if beyond > ROUNDING * site.diameter else ""


def stays_away(scenario: Scenario, found: Design) -> str | None:
    """Agents that begin near a strict minimum come nearer."""
    if scenario.world is not None or scenario.controller.initial_hold is not None:
        return None
    run = dwell.run_scenario(scenario, progress=False)
    system = run.system
    try:
        rest = rates_near(system.workspace, system.density, run.positions(run.horizon))
    except DwellError:
        return None
    if rest.kind != "minimum" or rest.gap < STIFF:
        return None
    rng = np.random.default_rng(len(rest.positions))
    push = rng.standard_normal(rest.positions.shape)
    begin = rest.positions + NEAR * rest.radii[:, None] * push
    law, s = system.controller, found.setting
    until = max(20.0 * float(s.t2.max()), 1.5 / (law.k1 / law.reach * rest.gap))
    near = dwell.simulate(
        system.workspace, system.density, begin, law, until=until, seed=1, sample_every="off",
        progress=False,
    )  # fmt: skip
    weights = rest.shares[:, None]
    before, after = (
        float(np.sqrt((weights * (near.positions(t) - rest.positions) ** 2).sum()))
        for t in (0.0, until)
    )
    return f"{after / before:.3g} of the distance is left" if after > SHRUNK * before else ""


def beyond(run: Run, found: Design) -> str | None:
    """Hold errors are within eta_max while the constants are those assumed."""
    s = found.setting
    try:
        seen = lipschitz_along(
            run.system, run.start, run.events, run.metrics, run.horizon, most=TIMES
        )
    except DwellError:
        return None
    if (seen.values > s.lipschitz).any() or not s.own_start:
        return None
    inside = [
        size
        for t, sizes in zip(run.metrics.times, run.metrics.hold_errors, strict=True)
        for p, size in enumerate(sizes)
        if _has_sampled(run, p, t, within=True)
    ]
    held = [
        size
        for t, p, size in zip(run.events.time, run.events.agent, run.events.hold_error, strict=True)
        if _has_sampled(run, p, t, within=False)
    ]
    most = max([0.0, *inside, *held])
    return f"hold error {most:.6g} above {s.eta_max:.6g}" if most > s.eta_max else ""


def _has_sampled(run: Run, agent: int, time: float, *, within: bool) -> bool:
    """Whether an agent has sampled in the world of a time; before that time, if not `within`."""
    begins = [begin for begin in run.system.timeline.begins[1:] if begin <= time]
    times = run.events.time[run.events.agent == agent]
    since = times[(times <= time) if within else (times < time)]
    return not begins or (len(since) > 0 and since[-1] >= begins[-1])


def report(tried: Tried) -> Iterator[str]:
    """One line for each statement."""
    for name in sorted(tried.made):
        yield f"{name}: {tried.made[name]} made, {tried.tested[name]} tested"
    yield f"{len(tried.refuted)} refuted"
    yield from tried.refuted


def main() -> None:
    """Scenarios FIRST to FIRST + COUNT - 1."""
    first, count = map(int, sys.argv[1:3])
    tried = Tried()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            refute(number, tried, Path(folder))
    print("\n".join(report(tried)))


if __name__ == "__main__":
    main()
