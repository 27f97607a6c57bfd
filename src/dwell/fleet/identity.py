"""What tells the scenario of a fleet from all others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dwell.fleet.wire import DIGEST
from dwell.scenario import Scenario
from dwell.scenario.modules import sources_of
from dwell.scenario.rasters import pinned

OWN = ("name", "modules", "certificate")  # tables and keys that do not change what agents do


def scenario_digest(scenario: Scenario) -> str:
    """A digest (32 hexadecimal digits) of everything that all agents of a fleet have in common.

    Equal digests mean equal workspaces, densities (rasters by their values and place), starts,
    laws (those in Python by their source), settings, faults, horizons and seeds. Names of files
    and network addresses may differ: those of one machine lie elsewhere than those of another.
    """
    common = common_tables(pinned(scenario).model_dump(mode="json"))
    modules = {name: one for name, one in sources_of(scenario).items() if name[:7] == "module "}
    text = json.dumps([common, modules], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=DIGEST).hexdigest()


def common_tables(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a scenario as they are for all agents, without names of files and addresses."""
    common = {name: value for name, value in tables.items() if name not in OWN}
    if common.get("site") is not None:  # the workspace is what its file gave
        common["site"] = {"crs": common["site"].get("crs")}
    if common.get("fleet") is not None:
        common["fleet"] = {**common["fleet"], "peers": None}
    plain: dict[str, Any] = _without_files(common)
    return plain


def _without_files(value: Any) -> Any:
    """Tables in which the digests of rasters stand for the names of their files."""
    if isinstance(value, list):
        return [_without_files(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: _without_files(one) for name, one in value.items()}
    if found.get("sha256") is not None:
        file = found.pop("file", None)
        found["times"] = file.get("times") if isinstance(file, dict) else None
    return found
