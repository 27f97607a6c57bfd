"""Names of cases, a small scenario to spoil, and the four outcomes an input may have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.shell import Outcome, dwell

NAMED: set[str] = set()  # cases such as "A12-jts" that some test bears the name of


def case(*names: str) -> Callable[..., Any]:
    """Names a test after cases; it receives the name."""
    NAMED.update(names)
    return pytest.mark.parametrize("case", names)


def table(rows: Mapping[str, Any]) -> Callable[..., Any]:
    """Names a test after the keys of `rows`; it receives each value."""
    NAMED.update(rows)
    return pytest.mark.parametrize("row", list(rows.values()), ids=list(rows))


def rows_of(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """The rows of a table in a text file: the section, the name, and the other columns."""
    section = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, *columns = (part.strip() for part in line.split("|"))
            yield section, name, columns


def small() -> dict[str, Any]:
    """Three agents in a square: a scenario with nothing wrong in it."""
    return {
        "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 4]},
        "agents": {"start": [[1, 1], [2, 2], [3, 3.5]]},
        "controller": {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.2},
        "run": {"horizon": 1.0, "seed": 1, "record": {"sample_every": 0.125}},
    }


class Bench:
    """A folder with a scenario file in it, and the command line run on that file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scenario.json"
        self.write(small())

    def write(self, scenario: Mapping[str, Any] | str | bytes, name: str | None = None) -> Path:
        """Put a scenario into the folder, as JSON or as it comes."""
        if name is not None:
            self.file.unlink(missing_ok=True)
            self.file = self.folder / name
        if isinstance(scenario, bytes):
            self.file.write_bytes(scenario)
        else:
            text = scenario if isinstance(scenario, str) else json.dumps(scenario)
            self.file.write_text(text, encoding="utf-8")
        return self.file

    def run(self, *overrides: str, options: Iterable[object] = (), keep: bool = True) -> Outcome:
        """`dwell run --json`, with the run kept in run.nc."""
        sets = [word for override in overrides for word in ("--set", override)]
        out = ["--out", self.folder / "run.nc"] if keep else []
        return dwell("run", self.file, "--json", *sets, *out, *options)

    def refused(self, *overrides: str, options: Iterable[object] = ()) -> str:
        """The sentences of a run that was refused; nothing else may have happened."""
        outcome = self.run(*overrides, options=options)
        text = "\n".join(outcome.sentences)
        assert self.left() == {self.file.name}
        return text

    def accepted(self, *overrides: str, judge: bool = True) -> dict[str, Any]:
        """The figures of a run that went to its end, was kept whole and proves right."""
        outcome = self.run(*overrides)
        assert (outcome.code, outcome.err) == (0, ""), outcome
        assert outcome.json["stop"]["reason"] == "horizon"
        assert self.left() == {self.file.name, "run.nc"}
        if judge:
            judged = dwell("check", self.folder / "run.nc", "--json")
            violated = [c for c in judged.json["checks"] if c["status"] == "violated"]
            assert (judged.code, violated) == (0, [])
        (self.folder / "run.nc").unlink()
        return outcome.json

    def clean(self, *overrides: str) -> dict[str, Any]:
        """Like `accepted`, with nothing repaired and nothing flagged."""
        figures = self.accepted(*overrides)
        assert figures["repairs"] == []
        assert figures["flags"] == []
        return figures

    def repaired(self, *overrides: str) -> dict[str, Any]:
        """The figures of a run whose input was repaired; with --strict it must be refused."""
        figures = self.accepted(*overrides)
        assert figures["repairs"]
        assert "--strict" in self.refused(*overrides, options=["--strict"])
        return figures

    def flagged(self, *overrides: str) -> set[str]:
        """The codes of the flags that the result carries."""
        found = self.accepted(*overrides)["flags"]
        assert all(flag["says"].endswith(".") for flag in found)
        return {flag["code"] for flag in found}

    def left(self) -> set[str]:
        """Names of all files in the folder."""
        return {path.name for path in self.folder.iterdir()}


def holds_words(text: str, words: Iterable[str]) -> bool:
    """Whether every word is in the text."""
    missing = [word for word in words if word not in text]
    assert not missing, f"{missing} not in: {text}"
    return True


# Densities that only Python can evaluate; scenarios name them "tests.catalogue.kit:...".


def broken(points: np.ndarray) -> np.ndarray:
    """A mistake in the user's own code."""
    raise ZeroDivisionError("division by zero\nin two lines")


not_a_function = 7
globals().update(
    one=lambda points: 1.0,  # a plain number for all points
    whole=lambda points: np.full(len(points), 3),
    boolean=lambda points: points[:, 0] > 1,
    complex_values=lambda points: points[:, 0] + 1j,
    zero=lambda points: np.zeros(len(points)),
    negative=lambda points: 3.0 - points[:, 0],
    below_by_rounding=lambda points: np.where(points[:, 0] > 3.9, -1e-18, 1.0),
    minus_zero=lambda points: np.where(points[:, 0] > 2.0, -0.0, 1.0),  # which is zero
    logarithm=lambda points: np.log(points[:, 0]),  # of 0 on the left edge
    root=lambda points: np.sqrt(points[:, 0] - 1.0),  # not a number left of x = 1
    growing=lambda points: np.exp(1000.0 * (points**2).sum(axis=1)),  # too large for a double
    corner=lambda points: np.maximum(2.25 - (points**2).sum(axis=1), 0.0) ** 2,  # zero elsewhere
    step=lambda points: np.where(points[:, 0] < 2.0, 1.0, 3.0),  # a jump in the middle
    ridge=lambda points: 1.0 + np.abs(points[:, 0] - 2.0),  # a kink along x = 2
)
