"""Sweep files: the scenario, what is varied, how often, and what is stored."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

from dwell._types import finite_number, is_whole
from dwell.errors import ScenarioError
from dwell.scenario import Scenario, load_scenario, parse_scenario
from dwell.scenario.explain import nearest
from dwell.scenario.guards import as_path, read_text
from dwell.scenario.load import text_to_mapping
from dwell.scenario.problems import listing, shown
from dwell.scenario.site import with_site
from dwell.scenario.trust import code_allowed, is_seal, refuse_far_names, sealed
from dwell.studies.laws import beside_if_named
from dwell.sweep.axes import KIND, MOST_CASES, Group, Range, latin_hypercube, value_text
from dwell.sweep.plan import plan_of

STARTS: Final = ("random", "scenario")
RECORDS: Final = ("summary", "scenario")
KNOWN: Final = (
    "scenario", "repeats", "seed", "starts", "record", "final", "keep_runs", "match", "laws",
    "grid", "zip", "sample",
)  # fmt: skip


@final
@dataclass(frozen=True)
class Sweep:
    """A checked sweep file."""

    base: Scenario  # what cases have in common
    groups: tuple[Group, ...]
    repeats: int = 1
    seed: int = 0
    starts: str = "scenario"  # or "random": scattered anew in each repeat
    record: str = "summary"  # or "scenario": as the scenario says
    final: bool = True  # keep final positions, centroids and masses in the table
    keep_runs: bool = False
    match: bool = True  # whether other laws get the largest speed and the gain of the scenario's
    laws: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # The file, with its scenario inside.
    source: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def scenario(self, case: int) -> Scenario:
        """Return the scenario of one case; run alone, it gives the numbers of its row."""
        return plan_of(self).scenario(case)


def load_sweep(path: str | os.PathLike[str], *, allow_code: bool = False) -> Sweep:
    """Read a sweep file, TOML or JSON, or the folder that `run_sweep` made of one.

    Parameters
    ----------
    path : str or path
        The file, beside which its scenario lies, or the folder.
    allow_code : bool
        Whether it may name Python modules that do not lie beside it.

    Returns
    -------
    Sweep
        The checked sweep.

    Examples
    --------
    >>> import dwell
    >>> dwell.load_sweep("sweep.toml").repeats
    2
    """
    name = str(as_path(path))
    if os.path.isdir(name):
        from dwell.sweep.store import read_plan

        plan = read_plan(Path(name))
        kept = plan.get("sweep")
        if not isinstance(kept, Mapping):
            says = f"{shown(name)} was made by an earlier version; give the sweep file instead."
            raise ScenarioError(says, code="sweep.version")
        sweep = parse_sweep(kept)
        if not is_seal(sealed(kept), plan.get("seal")):  # made by another user
            refuse_far_names(kept, sweep.base, Path(name), allow_code)
        return sweep
    if not os.path.lexists(name):
        raise ScenarioError(f"the sweep file {shown(name)} does not exist.", code="sweep.not-found")
    mapping = text_to_mapping(read_text(path), source=name)
    folder = Path(name).parent
    with code_allowed(allow_code):
        sweep = parse_sweep(mapping, folder)
        refuse_far_names(mapping, sweep.base, folder)
    return sweep


def parse_sweep(mapping: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Sweep:
    """Return the sweep of a mapping; `folder` is where its scenario file lies."""
    if "workspace" in mapping and "controller" in mapping:
        raise ScenarioError(
            "this is a scenario, not a sweep: dwell run runs it; dwell init two-hills-sweep shows "
            "the form of a sweep file.",
            code="sweep.scenario",
        )
    for key in mapping:
        if key not in KNOWN:
            close = nearest(key, list(KNOWN))
            hint = f"did you mean {close}?" if close else f"known here are {listing(KNOWN)}."
            raise _wrong(key, f"is not a known key of a sweep; {hint}", "sweep.unknown-key")
    repeats = _whole(mapping, "repeats", 1, 1)
    seed = _whole(mapping, "seed", 0, 0)
    groups = _groups(mapping, seed)
    starts = _word(mapping, "starts", "random" if repeats > 1 else "scenario", STARTS)
    kinds = [g.columns[g.keys.index(KIND)] for g in groups if KIND in g.keys]
    names = [*_laws(mapping), *(str(kind) for column in kinds for kind in column)]
    base = _scenario(mapping, Path(folder), names)
    return Sweep(
        base=base,
        groups=groups,
        repeats=repeats,
        seed=seed,
        starts=starts,
        record=_word(mapping, "record", "summary", RECORDS),
        final=_flag(mapping, "final", True),
        keep_runs=_flag(mapping, "keep_runs", False),
        match=_flag(mapping, "match", True),
        laws=_laws(mapping),
        source={**mapping, "scenario": base.model_dump(mode="json", exclude_none=True)},
    )


def _scenario(mapping: Mapping[str, Any], folder: Path, laws: Sequence[str]) -> Scenario:
    given = mapping.get("scenario")
    if isinstance(given, str):
        path = folder / given
        return beside_if_named(load_scenario(path), laws, path.parent)
    if isinstance(given, Mapping):
        return beside_if_named(
            parse_scenario(with_site(given, folder, parse_scenario)), laws, folder
        )
    needed = 'the name of a scenario file, such as "paper-12.toml", or a table'
    says = "is missing; it is" if given is None else "must be"
    got = "" if given is None else f", got {shown(given)}"
    raise _wrong("scenario", f"{says} {needed}{got}.", "sweep.scenario")


def _groups(mapping: Mapping[str, Any], seed: int) -> tuple[Group, ...]:
    groups = []
    for key, values in _flat(_table(mapping, "grid")).items():
        column = _listed(values, f"grid.{key}")
        _refuse_twins(column, f"grid.{key}")
        groups.append(Group((key,), (column,)))
    tied = _flat(_table(mapping, "zip"))
    if tied:
        columns = tuple(_listed(values, f"zip.{key}") for key, values in tied.items())
        if len({len(column) for column in columns}) > 1:
            sizes = zip(tied, map(len, columns), strict=True)
            counted = listing([f"{key} has {size}" for key, size in sizes])
            raise _wrong("zip", f"needs lists of one length, but {counted}.", "sweep.zip")
        _refuse_twins(list(zip(*columns, strict=True)), "zip")
        groups.append(Group(tuple(tied), columns))
    sample = dict(_table(mapping, "sample"))
    if sample:
        groups.append(_sample(sample, seed))
    keys = [key for group in groups for key in group.keys]
    for k, key in enumerate(keys):
        _refuse_clash(key, keys[:k])
    return tuple(groups)


def _refuse_clash(key: str, earlier: Sequence[str]) -> None:
    """Refuse a key that is given twice, or lies inside another."""
    for other in earlier:
        if key == other:
            raise _wrong(key, "is varied twice; name it in one table only.", "sweep.twice")
        if key.startswith((f"{other}.", f"{other}[")) or other.startswith((f"{key}.", f"{key}[")):
            says = f"and {other} are varied, one inside the other; vary one of them."
            raise _wrong(key, says, "sweep.twice")


def _sample(table: dict[str, Any], seed: int) -> Group:
    count = _whole({"count": table.pop("count", None)}, "count", None, 1, "sample.count")
    if count > MOST_CASES:
        says = f"needs at most {MOST_CASES:,} points, got {shown(count)}."
        raise _wrong("sample.count", says, "sweep.size")
    nested = _flat(table, leaves=("low", "high"))
    ranges = {key: _range(bounds, f"sample.{key}") for key, bounds in nested.items()}
    if not ranges:
        raise _wrong("sample", "has no key to draw; give one a range [low, high].", "sweep.sample")
    return latin_hypercube(ranges, count, seed)


def _range(given: object, key: str) -> Range:
    known = ("low", "high", "scale", "whole")
    table: dict[str, Any] = {}
    if isinstance(given, (list, tuple)) and len(given) == 2:
        table = {"low": given[0], "high": given[1]}
    elif isinstance(given, Mapping) and set(given) <= set(known):
        table = dict(given)
    low, high = finite_number(table.get("low")), finite_number(table.get("high"))
    scale, whole = table.get("scale", "even"), table.get("whole", False)
    needed = "needs [low, high], or { low, high, scale, whole } with numbers low < high"
    if low is None or high is None or low >= high:
        raise _wrong(key, f"{needed}, got {shown(given)}.", "sweep.range")
    if scale not in ("even", "log") or (scale == "log" and low <= 0.0):
        says = 'needs scale = "even", or scale = "log" with low above 0'
        raise _wrong(key, f"{says}, got {shown(scale)}.", "sweep.range")
    if not isinstance(whole, bool) or (whole and not (low.is_integer() and high.is_integer())):
        says = "needs whole = true or false, and whole bounds for whole numbers"
        raise _wrong(key, f"{says}.", "sweep.range")
    return Range(low, high, scale == "log", whole)


def _laws(mapping: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    laws = _table(mapping, "laws")
    for name, table in laws.items():
        if not isinstance(table, Mapping):
            says = f"needs a table with the law's keys, got {shown(table)}."
            raise _wrong(f"laws.{name}", says, "sweep.laws")
    return {name: dict(table) for name, table in laws.items()}


def _flat(table: Mapping[str, Any], leaves: Sequence[str] = ()) -> dict[str, Any]:
    """Return a table with dotted keys, quoted in the file or not.

    A table with one of the keys `leaves` is a value.
    """
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and not any(leaf in value for leaf in leaves):
            flat |= {f"{key}.{rest}": v for rest, v in _flat(value, leaves).items()}
        else:
            flat[key] = value
    return flat


def _listed(values: object, key: str) -> tuple[Any, ...]:
    if not isinstance(values, (list, tuple)) or not values:
        raise _wrong(key, f"needs a list of at least one value, got {shown(values)}.", "sweep.axis")
    for value in values:
        _refuse_odd(value, key)
    return tuple(values)


def _refuse_odd(value: object, key: str) -> None:
    """Refuse values that JSON or a table cannot hold, at any depth."""
    if isinstance(value, (Mapping, list, tuple)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            _refuse_odd(inner, key)
    elif not isinstance(value, (str, bool)):
        needed = ""
        if is_whole(value) and abs(value) >= 2**63:
            needed = "whole numbers below 2**63, which a table can hold"
        elif finite_number(value) is None:
            needed = "finite numbers, words, true or false, lists or tables"
        if needed:
            raise _wrong(key, f"needs {needed}, got {shown(value)}.", "sweep.axis")


def _refuse_twins(rows: Sequence[Any], key: str) -> None:
    """Refuse repeated values, or rows of a zip; 1 and 1.0 are equal."""
    seen: set[str] = set()
    for row in rows:
        text = value_text(row)
        if text in seen:
            says = f"has {shown(row)} twice; the same runs would be made twice."
            raise _wrong(key, says, "sweep.twice")
        seen.add(text)


def _table(mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = mapping.get(key, {})
    if not isinstance(table, Mapping):
        raise _wrong(key, f"needs a table, got {shown(table)}.", "sweep.type")
    return table


def _whole(
    mapping: Mapping[str, Any], key: str, default: int | None, least: int, name: str | None = None
) -> int:
    value = mapping.get(key, default)
    value = default if value is None else value
    most = math.inf if key == "seed" else 2**53
    if not is_whole(value) or not least <= value <= most:
        upto = f"to {most}" if is_whole(value) and value > most else "on"
        says = f"needs a whole number from {least} {upto}, got {shown(value)}."
        raise _wrong(name or key, says, "sweep.range")
    return int(value)


def _word(mapping: Mapping[str, Any], key: str, default: str, known: Sequence[str]) -> str:
    value = mapping.get(key, default)
    if value not in known:
        choices = listing([f'"{word}"' for word in known], "or")
        raise _wrong(key, f"must be {choices}, got {shown(value)}.", "sweep.kind")
    return str(value)


def _flag(mapping: Mapping[str, Any], key: str, default: bool) -> bool:
    value = mapping.get(key, default)
    if not isinstance(value, bool):
        raise _wrong(key, f"must be true or false, got {shown(value)}.", "sweep.type")
    return value


def _wrong(key: str, says: str, code: str) -> ScenarioError:
    return ScenarioError(f"{key} {says}", code=code, key=key)
