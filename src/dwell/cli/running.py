"""Runs from the command line: messages before, during and after them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dwell.cli.output import complain
from dwell.errors import DwellError, InputError, Interrupted, UnsavedError

if TYPE_CHECKING:
    from dwell.results import Run
    from dwell.scenario import Scenario

ALLOWED = ("run.horizon", "run.max_jumps")  # what may be changed of a run that goes on

ENDINGS = ("", ".nc", ".nc4", ".cdf", ".h5", ".hdf5")  # that a stored run may have

Outcome = tuple["Run", dict[str, Any], DwellError | None]  # run, numbers, what went wrong


class Terminated(KeyboardInterrupt):
    """SIGTERM, taken like an interrupt from the keyboard so that work is kept."""

    seen = False


def simulated(scenario: Scenario, out: Path | None, force: bool, threads: int | None) -> Outcome:
    """A scenario run, and its numbers."""
    from dwell.runner import run_scenario

    if out is not None and out.suffix.lower() not in ENDINGS:
        says = f"a run is stored as NetCDF-4, whatever the ending; {out.stem}.nc says so"
        complain(f"{out}: {says}")
    return outcome(
        lambda: run_scenario(scenario, out=out, force=force, threads=threads, on_signal=on_signal),
        out,
    )


def resumed(
    path: Path,
    scenario: Path | None,
    changes: Sequence[str],
    out: Path | None,
    threads: int | None,
) -> Outcome:
    """A kept run that went on, and its numbers."""
    from dwell.runner import resume_run

    if out is not None and out != path:
        raise InputError(
            f"--resume continues in {path} itself; copy that file to continue under another name",
            code="resume.out",
        )
    limits_given = _allowed(changes)
    if scenario is not None:
        _same_scenario(path, scenario, changes)
    limits = {key.removeprefix("run."): value for key, value in limits_given.items()}
    return outcome(lambda: resume_run(path, **limits, threads=threads, on_signal=on_signal), path)


def outcome(make: Callable[[], Run], out: Path | None) -> Outcome:
    """The run that `make` makes, whole or up to an interrupt, kept or not."""
    failed: DwellError | None = None
    try:
        result = make()
    except Interrupted as stop:
        result = stop.run
    except DwellError as fault:  # of a law in Python, or a full disk
        if fault.run is None:
            raise
        result, failed = fault.run, fault
    kept = None if isinstance(failed, UnsavedError) else out
    return result, identified(result, kept), failed


def identified(run: Run, file: Path | None) -> dict[str, Any]:
    """The numbers of a run, with the scenario's name, the file it is in, and the versions."""
    name = None if run.scenario is None else run.scenario.name
    versions = {key: value for key, value in run.provenance.items() if key != "intact"}
    found = {"name": name, "file": None if file is None else str(file), "versions": versions}
    return run.summary() | found


def on_signal(number: int, what: str = "after this chunk") -> None:
    """The first signal: the run will stop soon."""
    Terminated.seen = Terminated.seen or number == signal.SIGTERM
    if sys.stderr.isatty():
        print(f"\ndwell: stopping {what}; press Ctrl-C again to abort now", file=sys.stderr)


def _allowed(changes: Sequence[str]) -> dict[str, Any]:
    """The changes, by key; others than some would make it another run."""
    from dwell.scenario.overrides import parse_override

    limits_given: dict[str, Any] = {}
    for change in changes:
        key, value = parse_override(change)
        if key not in ALLOWED:
            raise InputError(
                f"--resume can only change {' and '.join(ALLOWED)}, not {key}; start a new run "
                "instead",
                code="resume.key",
                key=key,
            )
        limits_given[key] = value
    return limits_given


def _same_scenario(path: Path, file: Path, changes: Sequence[str]) -> None:
    """A scenario given beside --resume must be the one that the run was made from."""
    from dwell.results import load_run
    from dwell.scenario import load_scenario

    kept, given = load_run(path).scenario, load_scenario(file)
    assert kept is not None
    free = {"horizon", "max_jumps", "checkpoint"} | ({"seed"} if given.run.seed is None else set())
    apart = {"run", "modules"}
    if kept.model_dump(exclude=apart) != given.model_dump(exclude=apart) or (
        kept.run.model_dump(exclude=free) != given.run.model_dump(exclude=free)
    ):
        raise InputError(
            f"{path} was made from another scenario than {file}; leave the scenario out to resume, "
            "or start a new run",
            code="resume.scenario",
        )
