"""One case of a sweep: its scenario, its seeds and its key.

A case does not depend on where or when it is run. Its seeds come from the sweep's seed and the
number of the repeat alone, so that all points of a sweep see the same starts and draws, and
differences between them are not chance. Its key is a digest of the scenario it comes to.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

from dwell._types import finite_number
from dwell.errors import InputError, ScenarioError
from dwell.scenario import Scenario, parse_scenario
from dwell.scenario.modules import changed_sources
from dwell.scenario.overrides import put
from dwell.scenario.problems import listing, shown
from dwell.sweep.axes import KIND, Value

SOURCES = "sources"  # of a case: digests of the Python modules that it names
START = "agents.start"
SAMPLES = 1000  # along a run, if its scenario does not say how many


class CaseSpec(NamedTuple):
    """What distinguishes a case of a sweep from the others."""

    number: int
    point: int
    repeat: int
    base: int  # which of the scenarios it is made of
    values: list[Value]  # of the keys that are varied


@final
@dataclass(frozen=True)
class CaseTemplate:
    """What cases have in common: any case follows from it and the spec of the case."""

    bases: list[dict[str, Any]]  # a scenario for each law
    keys: list[str]  # what is varied
    words: list[str]  # keys whose column holds JSON texts
    seed: int
    starts: str  # "random" or "scenario"
    final: bool  # whether final positions, centroids and masses are kept
    keep_runs: bool

    def case(self, spec: CaseSpec) -> SweepCase:
        """Return the case of a spec."""
        mapping = copy.deepcopy(self.bases[spec.base])
        mapping["run"]["seed"] = seed_of(self.seed, spec.repeat, "run")
        scattered = {}
        if self.starts == "random":
            scattered = {"seed": seed_of(self.seed, spec.repeat, "start")}
            mapping["agents"]["start"] |= scattered
        for key, value in zip(self.keys, spec.values, strict=True):
            if value is not None and key != KIND:
                given = {**value, **scattered} if key == START and scattered else value
                put(mapping, key, copy.deepcopy(given))
        _sample_along(mapping["run"])
        return SweepCase(spec.number, spec.point, spec.repeat, self.keys, spec.values, mapping)


def _sample_along(run: dict[str, Any]) -> None:
    """Sample a summary as often as other runs, so that the time of coverage is found."""
    record, horizon = run.get("record"), finite_number(run.get("horizon"))
    if isinstance(record, dict) and record.get("sample_every", "") is None:
        record["sample_every"] = horizon / SAMPLES if horizon else "off"


@final
@dataclass(frozen=True)
class SweepCase:
    """One run of a sweep."""

    number: int
    point: int
    repeat: int
    keys: Sequence[str]  # what is varied
    values: Sequence[Value]  # in the order of `keys`
    mapping: Mapping[str, Any]

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.mapping["run"]["seed"])

    @property
    def start_seed(self) -> int | None:
        """Seed of a random start; None where positions are given."""
        start = self.mapping["agents"]["start"]
        return start.get("seed", 0) if isinstance(start, Mapping) else None

    @cached_property
    def key(self) -> str:
        """Digest of the scenario, equal for equal runs of any sweep."""
        content = {key: value for key, value in self.mapping.items() if key != "modules"}
        return hashlib.blake2b(json_text(content).encode(), digest_size=16).hexdigest()

    def checked(self) -> Scenario:
        """Return the scenario, or raise an error that names the point."""
        data = {key: value for key, value in self.mapping.items() if key != SOURCES}
        try:
            return parse_scenario(data)
        except ScenarioError as fault:
            row = dict(zip(self.keys, self.values, strict=True))
            raise at_point(fault, self.point, row) from None

    def scenario(self) -> Scenario:
        """Return the scenario; refuse it if its Python modules have changed since the start."""
        scenario, began_with = self.checked(), self.mapping.get(SOURCES, {})
        if changed := changed_sources(scenario, began_with):
            raise InputError(
                f"the source of {listing(changed)} is not the one that the sweep began with; begin "
                "it again",
                code="sweep.source",
            )
        return scenario


def at_point(fault: ScenarioError, point: int, row: Mapping[str, Value]) -> ScenarioError:
    """Return an error about a scenario, with the values of its point."""
    given = {key: value for key, value in row.items() if value is not None}
    if not given:
        return fault
    values = ", ".join(f"{key} = {shown(value)}" for key, value in given.items())
    tied = len(given.keys() - {KIND}) > 1
    hint = " Values that depend on each other go together in [zip]." if tied else ""
    text = f"at point {point} ({values}): {fault}{hint}"
    return ScenarioError(text, code=fault.code, key=fault.key)


def seed_of(seed: int, repeat: int, purpose: str) -> int:
    """Return the seed of one repeat, from the sweep's seed."""
    name = f"dwell sweep/{seed}/{repeat}/{purpose}".encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=6).digest(), "big")


def json_text(value: object) -> str:
    """Return JSON that is equal for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
