"""What a stored run states besides its events, compared with what follows from them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._netcdf import NUMBERS, json_table
from dwell.hybrid import StopReason
from dwell.results.dataset import law_attributes

if TYPE_CHECKING:
    from dwell.results.run import Run

APART = frozenset({"wall_seconds", "repairs"})  # which no event tells
OF_THE_FILE = frozenset({"altered", "checkpoint-failed", "without-code"})  # flags likewise
WORDS = frozenset({"flags", "certificate", "says", "detail"})  # which versions may word anew
LATER = frozenset({"samples"})  # figures that earlier files of the same version lack
ROUNDING = 1e-12  # relative: NumPy's linear algebra has other last bits on other processors
OTHER_VERSION = 1e-9  # by how much numbers may differ if another version computed them
SILENT = (StopReason.HORIZON, StopReason.JUMP_LIMIT)  # reasons that need no detail


@final
@dataclass(frozen=True, eq=False)
class Stated:
    """Derived data of a file: nothing of it is needed to read the run."""

    numbers: Mapping[str, Any] | None  # the stored summary
    without_code: Mapping[str, Any] | None  # and its copy for readers without the law's code
    law: Mapping[str, Any] | None  # what that keeps of the law
    attributes: Mapping[str, Any]
    labels: np.ndarray | None  # of the agents

    @classmethod
    def of(cls, variables: Mapping[str, Any], attributes: Mapping[str, Any]) -> Stated:
        """What the variables and attributes of a file state."""
        kept, numbers = kept_without_code(attributes), variables.get(NUMBERS)
        return cls(
            numbers=None if numbers is None else json_table(numbers[1].tobytes(), NUMBERS),
            without_code=kept and kept["summary"],
            law=kept and kept["law"],
            attributes=attributes,
            labels=variables["agent"][1] if "agent" in variables else None,
        )


def kept_without_code(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a file keeps for readers without its Python code: its law, and the summary if it ended.

    None where it names no code.
    """
    if "without_code" not in attributes:
        return None
    kept = json_table(attributes["without_code"], "without_code")
    summary = kept["summary"]
    known = summary is None or (isinstance(summary, dict) and isinstance(summary["flags"], list))
    if not known or not isinstance(kept["law"], dict):
        raise ValueError("without_code is no law and summary")
    return kept


def misstated(run: Run, same_version: bool) -> list[str]:
    """What the file of a run states wrongly; `same_version` wrote it as this one would."""
    stated = run.details.stated
    return [] if stated is None else list(_misstated(run, stated, same_version))


def _misstated(run: Run, stated: Stated, same_version: bool) -> Iterator[str]:
    stop, attributes = run.stop, stated.attributes
    ends = {"stop_reason": stop.reason.value, "stop_time": stop.time, "until": stop.time}
    # With a journal the file is that of the start, and the journal has the end.
    for name, value in ends.items() if run.details.journal is None else ():
        if name in attributes and attributes[name] != value:
            yield name
    if stop.reason in SILENT and stop.detail:
        yield "stop"
    labels = stated.labels
    if labels is not None and not np.array_equal(labels, np.arange(run.agents)):
        yield "agent"
    if run.details.absent is not None:
        return
    now = law_attributes(run.system.traits)
    for name, value in (stated.law or {}).items():
        if now.get(name, value) != value:
            yield f"without_code.law.{name}"
    derived: Any = None
    for where, numbers in (("summary", stated.numbers), ("without_code", stated.without_code)):
        if numbers is not None:
            derived = json.loads(json.dumps(_plain(run.summary()))) if derived is None else derived
            yield from _differences(_plain(numbers), derived, same_version, where)


def _plain(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers without what events do not tell."""
    found = {key: value for key, value in numbers.items() if key not in APART}
    flags = found.get("flags")
    if isinstance(flags, list):
        found["flags"] = [f for f in flags if not _of_the_file(f)]
    return found


def _of_the_file(flag: Any) -> bool:
    return isinstance(flag, dict) and flag.get("code") in OF_THE_FILE


def _differences(stated: Any, derived: Any, exact: bool, where: str) -> Iterator[str]:
    """Where two JSON values differ; keys and words of another version are left out."""
    if isinstance(stated, dict) and isinstance(derived, dict):
        for key in sorted(set(stated) | set(derived)):
            if not exact and (key in WORDS or key not in stated or key not in derived):
                continue
            if key not in stated and key in LATER:
                continue
            if key not in stated or key not in derived:
                yield f"{where}.{key}"
                continue
            yield from _differences(stated[key], derived[key], exact, f"{where}.{key}")
    elif isinstance(stated, list) and isinstance(derived, list) and len(stated) == len(derived):
        for k, (a, b) in enumerate(zip(stated, derived, strict=True)):
            yield from _differences(a, b, exact, f"{where}[{k}]")
    elif not _equal(stated, derived, exact):
        yield where


def _equal(a: Any, b: Any, exact: bool) -> bool:
    if a == b and type(a) is type(b):
        return True
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (a, b))
    if numbers and math.isnan(a) and math.isnan(b):
        return True
    limit = ROUNDING if exact else OTHER_VERSION
    return numbers and (a == b or math.isclose(a, b, rel_tol=limit))
