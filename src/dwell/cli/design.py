"""Designs for people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dwell._types import Floats, apart, counted
from dwell.cli.output import print_table
from dwell.studies.design import SILENT, VALID, VOID, Design
from dwell.theory.advice import advise_proved
from dwell.theory.design import VACUOUS, Setting, Sharper, times_over
from dwell.theory.scope import INSIDE, STATEMENTS, THEOREM

Row = tuple[str, ...]

HOLDS, VIOLATED = "holds", "violated"


def show_design(found: Design, out: Path | None, verbose: bool) -> None:
    """Print the verdict, advice, conditions and constants; `verbose` adds what each guarantees."""
    s, unit, speed = found.setting, found.units.after, "length / time"
    print_table(_conclusions(found, out))
    keys = [unit(f"k1 = {s.k1:g}", speed), unit(f"nu = {s.nu:g}", "length")]
    keys += [unit(f"T1 = {_span(s.t1)}", "time"), unit(f"T2 = {_span(s.t2)}", "time")]
    print(f"timer, {counted(s.agents, 'agent')}: {', '.join(keys)}")
    print(f"assumed: {unit(f'eta_max = {s.eta_max:g}', speed)}, L = {_span(s.lipschitz)}")
    longest = found.units.beside("T2 at most", "time")
    heads, rows = ("condition", longest, "margin", "", "guarantees"), list(_conditions(found))
    most = len(heads) if verbose else len(heads) - 1
    print_table((row[:most] for row in rows), heads[:most])
    for name, reasons in _silent(s):
        print(f"{name} is not applicable: {'; '.join(reasons)}")
    print_table(_constants(found), ("Lipschitz constant", "value", "where"))


def _conditions(found: Design) -> Iterator[Row]:
    s = found.setting
    below = s.eta_max < s.k1
    says = f"hold errors stay within {s.eta_max:g}, if no constant exceeds L"
    if not below:
        says = "eta_max = {} must be below k1 = {}".format(*apart(s.eta_max, s.k1, 6))
    silent = bool(s.why_not(THEOREM))
    yield _limits("paper", s.max_dwell_times, s.t2, says, good=None if silent else s.feasible)
    if found.neighbor_limits is not None and found.rate_limits is not None:
        says = "the same with sqrt(neighbours + 1) for sqrt(N); for information"
        yield _limits("  neighbours", found.neighbor_limits, s.t2, says)
        says = "from the derivatives measured, to first order; for information"
        yield _limits("  derivatives", found.rate_limits, s.t2, says)
    for condition in s.sharper:
        yield from _sharper(condition)


def _silent(s: Setting) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The conditions that do not apply, as they are named in the table, and why."""
    names = {THEOREM: "paper", INSIDE: "no overshoot"}
    for name in STATEMENTS:
        if s.why_not(name):
            yield names.get(name, name), s.why_not(name)


def _limits(name: str, limits: Floats, t2: Floats, says: str, good: bool | None = None) -> Row:
    with np.errstate(over="ignore"):
        margin = float((limits / t2).min())
    verdict = HOLDS if good else VIOLATED
    if good is None:
        verdict = SILENT if name == "paper" else ""
    return (name, _span(limits), f"{margin:.3g}", verdict, says)


def _sharper(condition: Sharper) -> Iterator[Row]:
    verdict = SILENT if condition.reasons else HOLDS if condition.fulfilled else VIOLATED
    says = f"{condition.status}: {condition.guarantees}"
    if not condition.own_start:  # until then a velocity is held that the law did not choose
        says = f"from each agent's first sample on, {says}"
    limit, margin = f"{condition.limit:.6g}", f"{condition.margin:.3g}"
    yield condition.name, limit, margin, verdict, says
    once = condition.without_overshoot
    if once is not None:
        verdict = SILENT if condition.reasons_within else HOLDS if condition.within else VIOLATED
        says = "no agent runs past the centroid that it sampled, so none leaves the workspace"
        yield "  no overshoot", f"{once:.6g}", f"{once / condition.longest:.3g}", verdict, says


def _constants(found: Design) -> Iterator[Row]:
    s, constants = found.setting, found.lipschitz
    limit = float(s.max_lipschitz.min())
    most = f"at most {limit:.6g}" if limit >= 0.0 else "none"
    yield "assumed", _span(s.lipschitz), f"{most} will do for this T2"
    margin = 1.0 if found.lipschitz_margins is None else float(found.lipschitz_margins.min())
    if margin < 1.0:
        beyond = times_over(1.0 / margin) if margin > 0.0 else "infinitely"
        yield "", "", f"exceeded {beyond} by the measured one"
    for name, one in (
        ("at the start", constants.start),
        ("along the run", constants.run),
        ("at its end", constants.end),
        ("at random places", constants.sampled),
    ):
        if one is not None:
            yield name, f"{one.value:.6g}", one.says
    bound = constants.bound
    size = "unknown" if bound.value is None else f"{bound.value:.3g}"
    yield "rigorous bound", size, bound.says


_VERDICTS = {
    VALID: "The paper's conditions are met (conditions met): hold errors stay within eta_max as "
    "long as no constant exceeds L.",
    VOID: "The paper's conditions are not met (certificate void).",
    SILENT: "The paper's conditions do not apply here (not applicable).",
}


def _conclusions(found: Design, out: Path | None) -> Iterator[Row]:
    s = found.setting
    limited = found.between_switches and found.verdict == VALID
    says = "That holds between two switches of the world only, after each from every agent's next"
    when = [f"{says} sample on."] if limited else []
    yield "verdict", " ".join([_VERDICTS[found.verdict], *when, *found.reasons])
    yield "theorem", VACUOUS
    yield "in practice", found.in_practice or "None of the conditions without L is met."
    for k, advice in enumerate(advise_proved(s)):
        yield "advice" if k == 0 else "", advice.says
    if s.why_not(THEOREM):
        yield from _rest(found, out)
        return
    if found.advice:
        yield "for the paper", "To meet the paper's condition, change one of these:"
    for advice in found.advice:
        yield "", advice.says
    for k, advice in enumerate(found.advice_measured):
        yield "for measured L" if k == 0 else "", advice.says
    if s.admissible_k1 is None:
        yield "k1", f"none is admissible for this T2 (it would have to be {_gain(s)})"
    else:
        yield "k1", f"for this T2 it must be {_gain(s)}"
    in_theta = None if s.tied else s.max_gains_in_theta
    if in_theta is not None:
        most = float(in_theta.min())
        yield "", f"at most {most:.6g} if eta_max = {s.theta:.4g} k1 changes along with it"
    yield from _rest(found, out)


def _rest(found: Design, out: Path | None) -> Iterator[Row]:
    if found.agreement is not None:
        yield "agreement", _agreement(found)
    for note in found.notes:
        yield "note", note
    if out is not None:
        yield "plot", str(out)


def _gain(s: Setting) -> str:
    most = float(s.max_gains.min())
    if s.tied:
        return f"at most {most:.6g}, with eta_max = {s.theta:g} k1"
    return "at most {} and above eta_max = {}".format(*apart(most, s.eta_max, 6))


def _agreement(found: Design) -> str:
    agreed = found.agreement
    assert agreed is not None
    text = (
        f"by {agreed.method} on k1 = {agreed.value:.6g} with eta_max = "
        f"{found.setting.theta * agreed.value:.6g}, after {counted(agreed.rounds, 'round')} and "
        f"{counted(agreed.messages, 'message')}"
    )
    if found.messages_on_change is not None:
        text += f" ({found.messages_on_change} if only changes are sent)"
    return text if agreed.agreed else f"{text}; not yet agreed"


def _span(values: Floats) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
