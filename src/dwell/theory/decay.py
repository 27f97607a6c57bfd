"""Decay rates of displacements under each law: predicted from the spectrum, and observed in a run.

In the frame of the modes a law without holds does de/dt = -gain gap e. Where all agents sample
together, T apart, a mode is multiplied by a known factor from sample to sample, and the rate is
exact for small displacements. With timers of their own, the mean age of their samples enters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from dwell._types import Floats
from dwell.agents import Controller, CoverageSystem
from dwell.agents.network import PERFECT, Network
from dwell.agents.traits import HoldLaw, ScanLaw, StepLaw, traits_of
from dwell.theory.clocks import common_waits
from dwell.theory.random_decay import by_clocks, by_turns
from dwell.theory.rates import Rates, RunLike
from dwell.theory.spectrum import DENSE

LINEAR = 0.01  # distance from the limit, in radii of cells, up to which decay counts as exponential
FLOOR = 1e-11  # and down to which positions are known
FEWEST = 10  # samples in a fit
LEAST = 1.0  # by how much the logarithm of a fitted curve must change
SAMPLES = 2000
NEGLIGIBLE = 1e-3  # part of the distance below which a mode is not in a run

EXACT = "exact for small displacements"
AVERAGED = "first order: waits enter by their mean"


@final
@dataclass(frozen=True, eq=False)
class Prediction:
    """How fast small displacements die out under a law."""

    rate: float | None  # per time, of the slowest mode; negative: it grows; None: see `says`
    says: str
    by_mode: Floats | None = None  # (K,) the rate of every mode known
    mode: int = 0  # which is the slowest
    step: float | None = None  # time between samples, where all agents sample together
    limit: float | None = None  # the longest such time at which all displacements still shrink
    best: float | None = None  # the relaxation that is quickest
    first: float = 0.0  # when all agents take their first sample after the start, where they do

    @property
    def time_constant(self) -> float | None:
        """In which the slowest mode shrinks by a factor of e; None if it does not."""
        return None if self.rate is None or self.rate <= 0.0 else 1.0 / self.rate


def predict(rates: Rates, law: Controller, network: Network = PERFECT) -> Prediction:
    """The decay of small displacements from a centroidal configuration under `law`."""
    if not rates.centroidal:
        return Prediction(None, "agents are not at their centroids, so nothing decays towards here")
    if not network.perfect:
        return Prediction(None, "samples are lost or late, which the linear model does not cover")
    traits = traits_of(law)
    gain, period = traits.gain, traits.period
    if traits.follows != "none":
        return Prediction(None, "feed-forward is about a moving world, and this one is at rest")
    if traits.is_equation and gain is not None:
        return _slowest(gain * rates.gaps, EXACT)
    if period is not None and gain is not None:
        return _together(rates, gain, (period,), period)
    if traits.steps is not None:
        return _discrete(rates, traits.steps)
    if traits.timer is not None:
        return _timer(rates, law, traits.timer)
    if traits.scans is not None:
        return _self_triggered(rates, law, traits.scans)
    return Prediction(None, traits.nonlinear or f"nothing is known of {traits.name}")


def _slowest(by_mode: Floats, says: str, **more: Any) -> Prediction:
    k = int(np.argmin(by_mode))
    return Prediction(float(by_mode[k]), says, by_mode, k, **more)


def _together(rates: Rates, gain: float, waits: tuple[float, ...], first: float) -> Prediction:
    """The prediction where all agents sample at the same times and hold gain * error in between.

    first : when they sample again after the start.
    """
    factors = np.abs(1.0 - gain * np.multiply.outer(np.array(waits), rates.gaps))
    by_mode = _rate(factors.prod(axis=0), sum(waits))
    step = waits[0] if len(waits) == 1 else None
    return _slowest(by_mode, EXACT, step=step, limit=_limit(rates, gain), first=first)


def _limit(rates: Rates, gain: float) -> float | None:
    """The longest wait common to all at which every mode still shrinks."""
    stiffest = 1.0 - rates.lambda_min
    return 2.0 / (gain * stiffest) if rates.gap > 0.0 else None


def _rate(factor: Any, time: float) -> Any:
    with np.errstate(divide="ignore"):
        return -np.log(factor) / time


def _discrete(rates: Rates, law: StepLaw) -> Prediction:
    if law.schedule == "synchronous":
        best = 2.0 / (rates.gap + 1.0 - rates.lambda_min) if rates.gap > 0.0 else None
        by_mode = _rate(np.abs(1.0 - law.relaxation * rates.gaps), law.step)
        return _slowest(by_mode, EXACT, step=law.step, best=best, first=law.step)
    if rates.agents > DENSE:
        return Prediction(None, f"worked out for at most {DENSE} agents")
    rest = np.eye(rates.modes[0].size) - rates.derivatives.jacobian.toarray()
    return (_round_robin if law.schedule == "round-robin" else _by_chance)(rates, law, rest)


def _by_chance(rates: Rates, law: StepLaw, rest: Floats) -> Prediction:
    """The limit of single runs; the mean over runs would be dominated by the slowest of them."""
    known = (rest, rates.agents, law.relaxation, law.step)
    if law.schedule == "random":
        found = by_turns(*known, rates.gap)
    else:
        often = 1.0 / law.step if law.rate is None else law.rate
        found = by_clocks(*known, often, rates.gap)
    if math.isnan(found.rate) or found.rate == 0.0:
        return Prediction(None, "too slow to be worked out: it would take too many turns")
    error = found.error / abs(found.rate)
    says = f"typical of single runs, which scatter about it; known to {100.0 * error:.1g} %"
    return Prediction(found.rate, says)


def _round_robin(rates: Rates, law: StepLaw, rest: Floats) -> Prediction:
    """Each agent reacts to the moves of those before it: a product of N maps."""
    n, axes = rates.positions.shape
    whole = np.eye(axes * n)
    for p in range(n):
        rows = slice(axes * p, axes * (p + 1))
        whole[rows] = whole[rows] - law.relaxation * rest[rows] @ whole
    factor = float(np.abs(np.linalg.eigvals(whole)).max())
    return Prediction(float(_rate(factor, n * law.step)), EXACT)


def _timer(rates: Rates, law: Controller, timer: HoldLaw) -> Prediction:
    gain = timer.k1 / timer.reach
    waits = common_waits(timer, rates.agents)
    if waits is not None:
        first = timer.t2 if timer.initial_timer is None else timer.initial_timer
        return _together(rates, gain, waits, float(np.max(first)))
    adaptive = timer.reset == "adaptive"
    ages = _ages_at_rest(rates, law) if adaptive else _ages_by_rule(rates, timer)
    by_mode = _averaged(rates, gain, ages)
    says = AVERAGED
    if gain * float(np.max(timer.t2)) >= 1.0:
        says += "; t2 is above nu~ / k1, and stability is not assured"
    return _slowest(by_mode, says, limit=_limit(rates, gain))


def _ages_at_rest(rates: Rates, law: Controller) -> Floats:
    """How old what each agent knows is, for a law whose waits follow from cells, (N,).

    The cells no longer change, so neither do the waits.
    """
    system = CoverageSystem(rates.workspace, rates.density, law, rates.agents)
    ages: Floats = 0.5 * system.start(rates.positions).segments.next_at
    return ages


def _ages_by_rule(rates: Rates, law: HoldLaw) -> Floats:
    """How old what each agent knows is, on average over time, (N,): E[T^2] / 2 E[T]."""
    program = law.numbers(rates.agents)
    t1, t2 = program.t1, program.t2
    if law.reset == "uniform":
        ages: Floats = (t1 * t1 + t1 * t2 + t2 * t2) / (3.0 * (t1 + t2))
    elif law.reset == "sequence":
        ages = 0.5 * (program.intervals**2).sum(axis=1) / program.intervals.sum(axis=1)
    elif law.reset == "dropout":
        rows = zip(t1, t2, strict=True)
        ages = np.array([_dropout_age(*row, program.loss) for row in rows])
    else:
        ages = 0.5 * {"earliest": t1, "latest": t2, "periodic": program.period}[law.reset]
    return ages


def _dropout_age(t1: float, t2: float, loss: float) -> float:
    """Of dwell times t1, 2 t1, ... as samples are lost in a row, but never more than t2."""
    most = math.ceil(t2 / t1)
    tries = np.arange(1, most + 1)
    waits = np.minimum(tries * t1, t2)
    chances = loss ** (tries - 1.0) * np.where(tries < most, 1.0 - loss, 1.0)
    return float(0.5 * (chances * waits**2).sum() / (chances * waits).sum())


def _mean_along(rates: Rates, values: Floats) -> Floats:
    """The mean of a value per agent over each mode, (K,): agents count as they move in it."""
    weights = rates.shares[:, None] * rates.modes**2
    found: Floats = (weights.sum(axis=2) @ values) / weights.sum(axis=(1, 2))
    return found


def _self_triggered(rates: Rates, law: Controller, trigger: ScanLaw) -> Prediction:
    """Between samples an agent covers 1 - exp(-kappa T) of the way to the sampled centroid."""
    ages = _ages_at_rest(rates, law)
    gain = _mean_along(rates, -np.expm1(-2.0 * trigger.kappa * ages) / (2.0 * ages))
    return _slowest(_averaged(rates, gain, ages), AVERAGED)


def _averaged(rates: Rates, gain: Floats | float, ages: Floats) -> Floats:
    """The rate of each mode to first order in the mean age of the samples, (K,)."""
    return gain * rates.gaps * (1.0 + gain * rates.gaps * _mean_along(rates, ages))


# Observed in a run.


@final
@dataclass(frozen=True, eq=False)
class Decay:
    """A mode of a run's distance to its limit, and the exponential that fits its tail."""

    rate: float | None  # per time; None: see `says`
    says: str
    times: Floats  # (S,)
    distances: Floats  # (S,) root mean square distance to the limit, weighed by the masses
    along: Floats  # (S,) the part of it along the mode, without sign
    mode: int = 0
    since: float = math.nan  # the window of the fit
    until: float = math.nan
    level: float = math.nan  # of the fitted exponential at `since`
    samples: int = 0
    goodness: float = math.nan  # part of the logarithm's variance that the fit explains
    predicted: float | None = None  # what the law's linear model says of this mode

    @property
    def deviation(self) -> float | None:
        """Observed over predicted, minus 1."""
        if self.rate is None or not self.predicted or not math.isfinite(self.predicted):
            return None
        return self.rate / self.predicted - 1.0

    def as_json(self) -> dict[str, Any] | None:
        """The fit, plain; None where there is none."""
        if self.rate is None:
            return None
        keys = ("rate", "since", "until", "samples", "goodness", "mode", "predicted", "deviation")
        return {key: getattr(self, key) for key in keys}


def observe(run: RunLike, rates: Rates, prediction: Prediction | None = None) -> Decay:
    """The slowest mode of a run's distance to the configuration that `rates` belong to.

    Only the part along one mode is used, so that quicker ones do not curve the line. The fit
    begins where every agent is within a hundredth of a cell's radius, and ends at the run's end or
    where rounding begins. A mode that is not in the run, for reasons of symmetry, is passed over.
    """
    law = run.system.controller
    found = predict(rates, law, run.system.network) if prediction is None else prediction
    times = _sample_times(run, found)
    displacements = run.positions(times) - rates.positions
    parts = np.abs(rates.coordinates(displacements))
    square = (rates.shares[:, None] * displacements**2).sum(axis=(1, 2))
    size = math.sqrt(float((rates.shares * rates.radii**2).sum()))
    blank = Decay(None, "", times, np.sqrt(square), parts[:, found.mode], found.mode)
    floor = size * max(FLOOR, _blur(run, rates) / size)
    if not rates.centroidal:
        return replace(blank, says="no limit configuration is known")
    close = blank.distances <= LINEAR * size
    near = np.logical_and.accumulate(close[::-1])[::-1]  # from some sample on, until the end
    if not near.any():
        left = blank.distances[-1] / size
        return replace(blank, says=f"the run ends {left:.2g} radii of a cell away from its limit")
    seen = near & (blank.distances > floor)
    if seen.sum() < FEWEST:
        return replace(blank, says="the run reaches its limit within a few samples")
    mode = _mode_in(parts, seen, found.mode, blank.distances)
    return _fitted(replace(blank, mode=mode, along=parts[:, mode]), near, floor, found)


def _fitted(blank: Decay, near: Any, floor: float, found: Prediction) -> Decay:
    good = near & (blank.along > floor)
    good &= np.arange(len(good)) <= _last_before_gap(near, good)
    if good.sum() < FEWEST:
        return replace(blank, says="too few samples lie between the limit's blur and its bend")
    t, log = blank.times[good], np.log(blank.along[good])
    slope, offset = np.polyfit(t - t[0], log, 1)
    if np.ptp(log) < LEAST:
        return replace(blank, says="the run is too short: its distance hardly changes near the end")
    rest = log - offset - slope * (t - t[0])
    predicted = found.rate if found.by_mode is None else float(found.by_mode[blank.mode])
    return replace(
        blank,
        rate=float(-slope),
        says=f"fitted from t = {t[0]:.4g} to {t[-1]:.4g}",
        since=float(t[0]),
        until=float(t[-1]),
        level=float(np.exp(offset)),
        samples=len(t),
        goodness=1.0 - float(rest.var() / log.var()),
        predicted=predicted,
    )


def _last_before_gap(near: Any, good: Any) -> int:
    """The end of the first stretch in which at least half of the samples are good."""
    first = int(np.argmax(near))
    share = np.cumsum(good[first:]) / np.arange(1, len(good) - first + 1)
    late = np.flatnonzero(good[first:] & (share >= 0.5))
    return first + int(late[-1]) if len(late) else first


def _mode_in(parts: Floats, seen: Any, wanted: int, distances: Floats) -> int:
    """The wanted mode, if the run has it at all; else the one that is left in the end."""
    last = int(np.flatnonzero(seen)[-1])
    if parts[last, wanted] > NEGLIGIBLE * distances[last]:
        return wanted
    return int(np.argmax(parts[last]))


def _sample_times(run: RunLike, found: Prediction) -> Floats:
    """Times at which the linear model applies: the common sampling times, or any."""
    if found.step is None or run.horizon < FEWEST * found.step:
        return np.linspace(0.0, run.horizon, SAMPLES + 1)
    samples = np.arange(int(run.horizon / found.step * (1.0 + 1e-12)) + 1)
    stride = max(1, len(samples) // SAMPLES)
    times: Floats = np.append(0.0, found.first + samples[::stride] * found.step)
    return times[times <= run.horizon]


def _blur(run: RunLike, rates: Rates) -> float:
    """How well a run's positions are known: rounding, or the tolerance of an equation's solver."""
    accuracy = run.system.traits.accuracy or 0.0
    rounding = 1e3 * float(np.spacing(np.abs(rates.positions).max()))
    return max(10.0 * accuracy * rates.workspace.diameter, rounding)
