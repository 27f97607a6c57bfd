"""Sweep files: the scenario, what is varied, how often, and what is stored."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from dwell.errors import ScenarioError
from dwell.scenario import Scenario, load_scenario
from dwell.scenario.guards import as_path, read_text
from dwell.scenario.load import parse_scenario_in, text_to_mapping
from dwell.scenario.problems import shown
from dwell.scenario.trust import code_allowed, is_seal, refuse_far_names, sealed
from dwell.studies.laws import beside_if_named
from dwell.sweep.axes import KIND, Group, Range, latin_hypercube
from dwell.sweep.plan import plan_of
from dwell.sweep.schema import SweepTable, table_of


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
            says = f"the plan in {shown(name)} holds no sweep; give the sweep file instead."
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
    table = table_of(mapping)
    groups = groups_of(table)
    kinds = [g.columns[g.keys.index(KIND)] for g in groups if KIND in g.keys]
    names = [*table.laws, *(str(kind) for column in kinds for kind in column)]
    base = _scenario(table.scenario, Path(folder), names)
    return Sweep(
        base=base,
        groups=groups,
        repeats=table.repeats,
        seed=table.seed,
        starts=table.starts or ("random" if table.repeats > 1 else "scenario"),
        record=table.record,
        final=table.final,
        keep_runs=table.keep_runs,
        match=table.match,
        laws=table.laws,
        source={**mapping, "scenario": base.model_dump(mode="json", exclude_none=True)},
    )


def _scenario(given: str | Mapping[str, Any], folder: Path, laws: Sequence[str]) -> Scenario:
    if isinstance(given, str):
        path = folder / given
        return beside_if_named(load_scenario(path), laws, path.parent)
    return beside_if_named(parse_scenario_in(given, folder), laws, folder)


def groups_of(table: SweepTable) -> tuple[Group, ...]:
    """What varies: each key of the grid, the rows of the zip, the points of the sample."""
    groups = [Group((key,), (column,)) for key, column in table.grid.items()]
    if table.zip:
        groups.append(Group(tuple(table.zip), tuple(table.zip.values())))
    if table.sample is not None:
        ranges = {
            key: Range(one.low, one.high, one.scale == "log", one.whole)
            for key, one in table.sample.ranges.items()
        }
        groups.append(latin_hypercube(ranges, table.sample.count, table.seed))
    return tuple(groups)
