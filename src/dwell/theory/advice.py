"""Which single change of k1, T2, nu, eta_max or L would make the paper's condition hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import partial
from operator import gt, le
from typing import Any, final

import numpy as np

from dwell._parameters import LARGEST, SMALLEST
from dwell._types import Floats, apart, is_positive
from dwell.theory.clocks import same
from dwell.theory.design import Setting
from dwell.theory.lipschitz_bound import plain
from dwell.theory.scope import UNSHARED

DIGITS = (6, 9, 12, 17)  # of advice; more only where fewer will not do


@final
@dataclass(frozen=True, eq=False)
class Advice:
    """One number that makes the paper's condition hold, the others being left as they are."""

    key: str  # k1, t2, nu, eta_max or lipschitz
    says: str
    value: float | Floats | None = None  # None: no value of this alone will do

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        value = None if self.value is None else each(np.atleast_1d(self.value))
        return {"key": self.key, "possible": self.value is not None, "value": value,
                "says": self.says}  # fmt: skip


def advise(setting: Setting) -> tuple[Advice, ...]:
    """What to change, one thing at a time; nothing if the paper's condition holds."""
    if setting.feasible:
        return ()
    return tuple(_advice(setting))


def advise_for(setting: Setting, measured: Floats) -> tuple[Advice, ...]:
    """What to change where measured constants, (N,), exceed the assumed ones; else nothing.

    First of all to assume so much, then what that makes necessary.
    """
    if not (measured > setting.lipschitz).any():
        return ()
    least = np.maximum(setting.lipschitz, measured)
    worst = int(np.argmax(least))
    if not np.isfinite(least).all():
        says = f"L: no value will do, as that of agent {worst} is infinite on the way"
        return (Advice("lipschitz", says),)
    up = np.array([_inward(v, ROUND_CEILING, partial(le, v)) or v for v in least.tolist()])
    says = f"L at least {float(up[worst]):.12g}"
    if not same(up):
        says += f" for agent {worst}, from {float(up.min()):.12g} on for others"
    first = Advice("lipschitz", f"{says}, as measured on the way", up[0] if same(up) else up)
    return (first, *advise(replace(setting, lipschitz=up)))


def advise_proved(setting: Setting) -> tuple[Advice, ...]:
    """What would make the conditions without a Lipschitz constant hold; none for one that holds."""
    found = []
    for condition in setting.sharper:
        shared = condition.reasons != (UNSHARED,)
        if condition.holds or (condition.reasons and shared):
            continue
        below = partial(gt, condition.limit)
        most = _inward(float(np.nextafter(condition.limit, 0.0)), ROUND_FLOOR, below)
        if most is None:
            continue
        clock = "" if shared else ', with timers that all agents share (reset = "latest", one t2)'
        says = f"T2 at most {most:.12g}{clock}, for {condition.name} ({condition.status})"
        found.append(Advice("t2", says, most))
    return tuple(found)


def _advice(s: Setting) -> Iterator[Advice]:
    need = float((s.t2 * s.spreads).max())  # k1**2 need <= eta_max nu~
    yield _of_k1(s)
    if s.eta_max >= s.k1:
        because = "the theorem needs eta_max < k1, and they are {} and {}"
        because = because.format(*apart(s.eta_max, s.k1, 6))
        yield Advice("t2", f"T2: no value will do; {because}")
        yield Advice("nu", f"nu: no value will do; {because}")
    else:
        yield _of_t2(s)
        least = s.k1 * s.k1 * need / (s.eta_max * (1.0 - s.epsilon))
        nu = _inward(least, ROUND_CEILING, lambda v: replace(s, nu=v).feasible)
        yield _of_nu(nu, least)
    yield _of_eta(s, s.k1 * s.k1 * need / s.reach)


def _of_k1(s: Setting) -> Advice:
    most = float(s.max_gains.min())
    if 0.0 < most < SMALLEST:
        says = f"k1: no value will do; it would have to be at most {most:.6g}, and at least"
        return Advice("k1", f"{says} {SMALLEST:g} is accepted")
    k1 = _inward(most, ROUND_FLOOR, lambda v: s.with_gain(v).feasible)
    if k1 is None and s.tied and s.theta >= 1.0:
        return Advice("k1", f"k1: no value will do; eta_max = {s.theta:g} k1 is never below it")
    if k1 is None:
        says = "k1: no value will do; it would have to be at most {} and above eta_max = {}"
        return Advice("k1", says.format(*apart(most, s.eta_max, 6)))
    if s.tied:
        return Advice("k1", f"k1 at most {k1:.12g}, with eta_max = {s.theta:g} k1", k1)
    ends = (f"at most {k1:.12g}", f"above eta_max = {s.eta_max:g}")
    return Advice("k1", _between("k1", ends, s), k1)


def _of_eta(s: Setting, least: float) -> Advice:
    eta = _inward(least, ROUND_CEILING, lambda v: replace(s, eta_max=v).feasible)
    if eta is None:
        says = "eta_max: no value will do; it would have to be at least {} and below k1 = {}"
        return Advice("eta_max", says.format(*apart(least, s.k1, 6)))
    ends = (f"at least {eta:.12g}", f"below k1 = {s.k1:g}")
    return Advice("eta_max", _between("eta_max", ends, s), eta)


def _between(key: str, ends: tuple[str, str], s: Setting) -> str:
    """Both ends of a range, first the one that is violated now."""
    first, second = ends if s.eta_max < s.k1 else ends[::-1]
    return f"{key} {first} (and {second})"


def _of_t2(s: Setting) -> Advice:
    limits = [_inward(v, ROUND_FLOOR, lambda t: t > 0.0) for v in s.max_dwell_times.tolist()]
    found = np.array([limit for limit in limits if limit is not None])
    if len(found) < s.agents:
        return Advice("t2", "T2: no value will do, as L is infinite")
    tight = float(found.min())
    says = f"T2 at most {tight:.12g}"
    if not same(found):
        says += f" for agent {int(np.argmin(found))}, up to {float(found.max()):.12g} for others"
    early = float(s.t1.max())
    if (s.t1 > found).any():
        says += f"; t1 must come down with it (it is {early:g})"
    return Advice("t2", says, tight if same(found) else found)


def _of_nu(nu: float | None, least: float) -> Advice:
    if not math.isfinite(least) or (nu is None and least <= LARGEST):
        return Advice("nu", "nu: no value will do, as L is infinite")
    if nu is None or nu > LARGEST:
        says = f"nu: no value will do; it would have to be at least {least:.6g}, and at most"
        return Advice("nu", f"{says} {LARGEST:g} is accepted")
    return Advice("nu", f"nu at least {nu:.12g}", nu)


def _inward(value: float, rounding: str, good: Callable[[float], bool]) -> float | None:
    """`value` in few digits, rounded to the side that is `good`; None if none is."""
    if not (math.isfinite(value) and value > 0.0):
        return None
    for digits in DIGITS:
        rounded = Context(prec=digits, rounding=rounding).create_decimal(Decimal(value))
        for candidate in (rounded, _next(rounded, digits, rounding)):
            if is_positive(float(candidate)) and good(float(candidate)):
                return float(candidate)
    return None


def _next(value: Decimal, digits: int, rounding: str) -> Decimal:
    """The next number of so many digits, in the direction of rounding."""
    context = Context(prec=digits)
    return value.next_minus(context) if rounding == ROUND_FLOOR else value.next_plus(context)


def each(values: Floats) -> Any:
    """One number if it is that of all agents, else a list; null for what is not finite."""
    listed = [plain(float(v)) for v in values]
    return listed[0] if len(set(listed)) == 1 else listed
