"""From a sweep to its cases: which scenarios, with which values, in which order."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from dwell._types import is_whole
from dwell.errors import InputError, ScenarioError
from dwell.scenario import Scenario
from dwell.scenario.modules import sources_of
from dwell.scenario.problems import listing
from dwell.studies.laws import (
    ANY_KEY,
    check_law_names,
    keys_of_law,
    mismatches,
    parts_of,
    scenario_of_law,
    traits_in,
)
from dwell.sweep.axes import KIND, MOST_CASES, Group, Value, product_row, product_size
from dwell.sweep.template import (
    SOURCES,
    START,
    CaseSpec,
    CaseTemplate,
    SweepCase,
    at_point,
    json_text,
)

if TYPE_CHECKING:
    from dwell.sweep.spec import Sweep

MOST_CHECKED = 10_000  # points whose scenarios a dry run checks
SEEDS = ("run.seed", "agents.start.seed")


@final
@dataclass(frozen=True)
class Block:
    """The points of one law; only its own keys are varied."""

    scenario: Scenario
    fixed: Mapping[str, Value]  # what is said together with the law
    groups: tuple[Group, ...]
    first: int  # the number of its first point

    @property
    def size(self) -> int:
        """Number of points; not `len`, whose values are limited."""
        return product_size(self.groups)


@final
@dataclass(frozen=True)
class Impossible:
    """Points of a sweep that cannot be run."""

    points: int  # how many
    checked: int  # of how many
    first: str | None  # what is wrong with the first


@final
@dataclass(frozen=True)
class Plan:
    """All cases of a sweep by number, each computed when it is needed."""

    sweep: Sweep
    blocks: tuple[Block, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Varied keys."""
        return tuple(key for group in self.sweep.groups for key in group.keys)

    @property
    def points(self) -> int:
        """Number of combinations."""
        return sum(block.size for block in self.blocks)

    def __len__(self) -> int:
        return self.points * self.sweep.repeats

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Return sentences about speeds and gains of varied laws that are not matched."""
        own = self.sweep.base
        named = {str(b.fixed.get(KIND)): b.scenario for b in self.blocks}
        kind = own.controller.kind
        others = {name: one for name, one in named.items() if one.controller.kind != kind}
        return tuple(mismatches(own, others))

    @cached_property
    def impossible(self) -> Impossible:
        """Return the points whose scenarios would be refused; no system is built."""
        checked, count, first = min(self.points, MOST_CHECKED), 0, None
        for point in range(checked):
            try:
                self.case(point * self.sweep.repeats).checked()
            except ScenarioError as fault:
                count, first = count + 1, first or " ".join(str(fault).split())
        return Impossible(count, checked, first)

    def scenario(self, case: int) -> Scenario:
        """Return the scenario of one case; run alone, it gives the numbers of its row.

        It keeps what the sweep's scenario keeps, events by default, and not a summary alone.
        """
        if not (is_whole(case) and 0 <= case < len(self)):
            raise InputError(
                f"case is {case!r}; the sweep has cases 0 to {len(self) - 1:,}", code="sweep.case"
            )
        found = self.case(case).scenario()
        if self.sweep.record != "summary" or "run.record.kind" in self.keys:
            return found
        kind = {"kind": self.sweep.base.run.record.kind}
        run = found.run.model_copy(update={"record": found.run.record.model_copy(update=kind)})
        return found.model_copy(update={"run": run})

    def spec(self, case: int) -> CaseSpec:
        """Return what distinguishes a case from the others; None for keys that its law lacks."""
        point, repeat = divmod(case, self.sweep.repeats)
        base = bisect(self.blocks, point, key=lambda block: block.first) - 1
        block = self.blocks[base]
        row = {**block.fixed, **product_row(block.groups, point - block.first)}
        return CaseSpec(case, point, repeat, base, [row.get(key) for key in self.keys])

    def case(self, number: int) -> SweepCase:
        """Return one case."""
        return self.template.case(self.spec(number))

    @cached_property
    def template(self) -> CaseTemplate:
        """What cases have in common."""
        sweep = self.sweep
        return CaseTemplate(
            bases=[_base(block.scenario, sweep) for block in self.blocks],
            keys=list(self.keys),
            words=[key for key in self.keys if self._unlike(key)],
            seed=sweep.seed,
            starts=sweep.starts,
            final=sweep.final,
            keep_runs=sweep.keep_runs,
        )

    def _unlike(self, key: str) -> bool:
        """Return whether a key has values of several types."""
        column = next(g.columns[g.keys.index(key)] for g in self.sweep.groups if key in g.keys)
        return len({_sort(value) for value in column}) > 1

    @cached_property
    def digest(self) -> str:
        """Digest that is equal for sweeps with equal cases."""
        digest = hashlib.blake2b(json_text(asdict(self.template)).encode(), digest_size=16)
        digest.update(json_text([self.sweep.repeats, self.points]).encode())
        for block in self.blocks:
            columns = {
                key: c for g in block.groups for key, c in zip(g.keys, g.columns, strict=True)
            }
            sizes = [len(group) for group in block.groups]
            digest.update(json_text([block.fixed, sizes, columns]).encode())
        return digest.hexdigest()


def plan_of(sweep: Sweep) -> Plan:
    """Return the cases of `sweep`; refuse sweeps of which no case can be run."""
    heads = _heads(sweep)
    blocks: list[Block] = []
    for fixed in heads:
        first = blocks[-1].first + blocks[-1].size if blocks else 0
        blocks.append(_block(sweep, fixed, first))
    plan = Plan(sweep, tuple(blocks))
    _refuse_idle(plan)
    _refuse_seeds(plan)
    _refuse_whole_tables(plan)
    cases = plan.points * sweep.repeats  # perhaps beyond what `len` can say
    if cases > MOST_CASES:
        raise InputError(
            f"the sweep has {cases:,} cases; at most {MOST_CASES:,} are taken: vary less, or "
            "draw points with [sample]",
            code="sweep.size",
        )
    for block in blocks:  # a mistake that all points share is no matter for each of them
        plan.case(block.first * sweep.repeats).scenario()
    return plan


def _heads(sweep: Sweep) -> list[dict[str, Value]]:
    """Return the values given together with each law; one empty row if none is varied."""
    for group in sweep.groups:
        if KIND in group.keys:
            rows = [group.row(k) for k in range(len(group))]
            for row in rows:
                check_law_names([str(row[KIND])])
            return rows
    return [{}]


def _block(sweep: Sweep, fixed: Mapping[str, Value], first: int) -> Block:
    name = str(fixed.get(KIND, sweep.base.controller.kind))
    kind = parts_of(name)[0]
    others = [group for group in sweep.groups if KIND not in group.keys]
    known = keys_of_law(sweep.base, name, sweep.laws.get(kind, {}))
    varied = [key for group in others for key in group.keys]
    groups = _only(others, [key for key in varied if _applies(key, known)])
    law = {**sweep.laws.get(kind, {})}
    samples = {**product_row(groups, 0), **fixed}
    for key, value in samples.items():  # a law may need a key that only the axes give
        name_in_law = key.removeprefix("controller.")
        if name_in_law != key and key != KIND and name_in_law == _head(name_in_law):
            law.setdefault(name_in_law, value)
    try:
        scenario = scenario_of_law(sweep.base, name, law, match=sweep.match)
    except ScenarioError as fault:
        raise at_point(fault, first, samples) from None
    certified = _certified(scenario, [*varied, *fixed])
    own = [key for key in varied if _applies(key, known, certified)]
    kept = {k: v for k, v in fixed.items() if k == KIND or _applies(k, known, certified)}
    return Block(scenario, kept, _only(others, own), first)


def _only(groups: Sequence[Group], keys: Sequence[str]) -> tuple[Group, ...]:
    """Return the groups with some of their keys alone."""
    return tuple(found for group in groups if (found := group.only(keys)) is not None)


def _certified(scenario: Scenario, keys: Sequence[str]) -> bool:
    """Return whether a scenario may have a certificate, if one of the keys is about that."""
    named = any(key.partition(".")[0] == "certificate" for key in keys)
    return named and traits_in(scenario).timer is not None


def _applies(key: str, known: Sequence[str], certified: bool = False) -> bool:
    """Return whether a scenario has the key; `known` are those of its law."""
    table, _, rest = key.partition(".")
    if table == "certificate":
        return certified
    return table != "controller" or _head(rest) in known or ANY_KEY in known


def _head(key: str) -> str:
    """Return a key without its inner parts: intervals of intervals[0]."""
    return re.split(r"[.\[]", key, maxsplit=1)[0]


def _refuse_idle(plan: Plan) -> None:
    """Refuse keys that no law of the sweep has."""
    kinds = [block.scenario.controller.kind for block in plan.blocks]
    each = [keys_of_law(b.scenario, b.scenario.controller.kind, {}) for b in plan.blocks]
    certified = [_certified(block.scenario, plan.keys) for block in plan.blocks]
    for key in plan.keys:
        if key != KIND and not any(map(_applies, [key] * len(kinds), each, certified)):
            known = sorted({f"controller.{name}" for names in each for name in names})
            raise ScenarioError(
                f"{key} is varied, but {listing(kinds)} has no such key; known are "
                f"{listing(known)}.",
                code="sweep.unknown-key",
                key=key,
            )
    strangers = [name for name in plan.sweep.laws if name not in kinds]
    if strangers:
        raise ScenarioError(
            f"laws.{strangers[0]} is given, but that law is not in the sweep, which has "
            f"{listing(kinds)}.",
            code="sweep.laws",
            key=f"laws.{strangers[0]}",
        )


def _refuse_seeds(plan: Plan) -> None:
    for key in SEEDS:
        if key in plan.keys and plan.sweep.repeats > 1:
            raise ScenarioError(
                f"{key} is varied, and repeats = {plan.sweep.repeats} gives each repeat a seed of "
                "its own; do one of the two.",
                code="sweep.seed",
                key=key,
            )


def _refuse_whole_tables(plan: Plan) -> None:
    """Refuse to vary tables as a whole that hold the seeds of a repeat."""
    for key in ("run", "agents"):
        if key in plan.keys:
            says = "is varied as a whole, and would lose the seeds of the sweep; vary its keys."
            raise ScenarioError(f"{key} {says}", code="sweep.seed", key=key)
    starts = next(
        (g.columns[g.keys.index(START)] for g in plan.sweep.groups if START in g.keys), ()
    )
    if plan.sweep.starts == "random" and not all(isinstance(start, Mapping) for start in starts):
        says = (
            'is varied over places, which starts = "random" would not keep; say starts = "scenario"'
        )
        raise ScenarioError(f"{START} {says}.", code="sweep.starts", key=START)


def _base(scenario: Scenario, sweep: Sweep) -> dict[str, Any]:
    """Return the scenario as a mapping, with the settings of the sweep."""
    data = json.loads(json_text(scenario.model_dump(exclude_none=True)))
    if sources := sources_of(scenario):
        data[SOURCES] = sources
    if sweep.record == "summary":
        every = data["run"].get("record", {}).get("sample_every")
        data["run"]["record"] = {"kind": "summary", "sample_every": every}
    start = data["agents"]["start"]
    if sweep.starts == "random" and not isinstance(start, dict):
        data["agents"]["start"] = {"count": len(start)}
    return dict(data)


def _sort(value: Value) -> str:
    """Return the type of table cell that holds a value."""
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, (int, float)) else "word"
