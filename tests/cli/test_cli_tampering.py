"""`dwell check` finds what was changed in a kept run, also when the fingerprint was renewed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import dwell as dwell_package
from dwell._netcdf import digest_of
from dwell.results import load_run
from tests.cli.shell import Outcome, dwell


def change(path: Path, edit: Callable[[xr.Dataset], xr.Dataset], renew: bool) -> Path:
    """Rewrite a kept run; with `renew` the fingerprint fits again."""
    with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as data:
        data = edit(data.load().copy(deep=True))
    if renew:
        variables = {str(k): (v.dims, v.values) for k, v in data.variables.items()}
        data.attrs["digest"] = digest_of(variables, data.attrs)
    data.to_netcdf(path, engine="h5netcdf")
    return path


def violated(outcome: Outcome) -> set[str]:
    """Names of the checks that failed."""
    assert outcome.code == 1
    report = outcome.json
    assert report["ok"] is False
    return {c["name"] for c in report["checks"] if c["status"] == "violated"}


def nudged(name: str, row: int, by: float | None) -> Callable[[xr.Dataset], xr.Dataset]:
    """One number of one event, changed; without `by`, to the next double."""

    def edit(data: xr.Dataset) -> xr.Dataset:
        values = data[name].values
        values[row] = np.nextafter(values[row], np.inf) if by is None else values[row] + by
        return data

    return edit


def with_key(table: str, key: str, factor: float) -> Callable[[xr.Dataset], xr.Dataset]:
    """One number of the scenario, changed."""

    def edit(data: xr.Dataset) -> xr.Dataset:
        scenario = json.loads(data.attrs["scenario"])
        scenario[table][key] = type(scenario[table][key])(factor * scenario[table][key])
        return data.assign_attrs(scenario=json.dumps(scenario))

    return edit


EDITS = {
    "hold": (nudged("event_hold", 20, 1e-9), {"jump"}),
    "hold-ulp": (nudged("event_hold", 20, None), {"jump"}),
    "time": (nudged("event_time", 20, 1e-12), {"due"}),
    "error": (nudged("event_error", 20, 1e-9), {"centroid"}),
    "error-ulp": (nudged("event_error", 20, None), {"centroid"}),
    "next": (nudged("event_next_at", 20, 1e-9), {"reset"}),
    "position": (nudged("event_position", 20, 1e-9), {"flow"}),
    "agent": (nudged("event_agent", 20, 1), {"due"}),
    "agent-unknown": (nudged("event_agent", 20, 100), {"agents"}),
    "agent-negative": (nudged("event_agent", 20, -100), {"agents"}),
    "dropped": (lambda d: d.isel(jump=np.delete(np.arange(d.sizes["jump"]), 20)), {"due"}),
    "cut-short": (lambda d: d.isel(jump=slice(0, -3)), {"complete"}),
    "swapped": (lambda d: d.isel(jump=[1, 0, *range(2, d.sizes["jump"])]), set()),
    "backwards": (nudged("event_time", 20, -1.0), {"time-domain"}),
    "not-a-number": (nudged("event_hold", 20, np.nan), {"finite"}),
    "start-hold": (nudged("start_hold", 1, 1e-9), {"start-hold"}),
    "start-timer": (nudged("start_next_at", 1, -0.01), {"start-timer"}),
    "seed": (with_key("run", "seed", 2), {"reset"}),
    "density": (with_key("density", "rate", 1.0001), {"centroid"}),
}


@pytest.mark.parametrize(("edit", "names"), EDITS.values(), ids=EDITS)
def test_a_change_is_found_by_what_it_breaks(kept: Path, edit, names: set[str]) -> None:
    change(kept, edit, renew=True)
    outcome = dwell("check", kept, "--json")
    if not names:  # two samples at one instant, in the other order: still the same solution
        assert outcome.code == 0
        return
    assert names <= violated(outcome)


@pytest.mark.parametrize("name", ["hold", "time", "seed", "dropped", "swapped"])
def test_a_change_is_found_by_the_fingerprint(kept: Path, name: str) -> None:
    change(kept, EDITS[name][0], renew=False)
    assert "digest" in violated(dwell("check", kept, "--json"))


def with_note(data: xr.Dataset) -> xr.Dataset:
    return data.assign_attrs(note="mine", wall_seconds=0.5)


@pytest.mark.parametrize("edit", [with_note, EDITS["swapped"][0]])
def test_a_changed_file_whose_events_hold_has_a_verdict_of_its_own(kept: Path, edit) -> None:
    change(kept, edit, renew=False)
    for options in ((), ("--thorough",)):
        outcome = dwell("check", kept, "--json", *options)
        assert violated(outcome) == {"digest"}
        assert outcome.json["verdict"] == "altered"
    shown = dwell("check", kept)
    assert shown.code == 1
    says = "was changed after it was written; its events still solve its scenario; 50 of 1001"
    assert says in shown.out.splitlines()[-1]
    assert "NOT" not in shown.out


def test_only_a_thorough_check_measures_every_sample(kept: Path) -> None:
    """With the digest made anew, nothing else tells that a sample was changed."""
    change(kept, nudged("cost", 7, -0.5), renew=True)
    outcome = dwell("check", kept, "--json")
    assert outcome.code == 0
    assert "50 of 1001 metric samples recomputed: all agree" in {
        c["says"] for c in outcome.json["checks"]
    }
    outcome = dwell("check", kept, "--json", "--thorough")
    assert violated(outcome) == {"samples"}
    (found,) = [c for c in outcome.json["checks"] if c["name"] == "samples"]
    assert found["says"] == "1001 of 1001 metric samples recomputed: 1 differs"
    assert found["where"] == "t = 0.028"


def test_the_verdict_claims_no_more_than_was_measured(kept: Path) -> None:
    some, every = (
        dwell("check", kept, *more).out.splitlines()[-1] for more in ((), ("--thorough",))
    )
    verdict = f"{kept} (104 jumps) is a solution of its scenario"
    part = "50 of 1001 metric samples were recomputed (--thorough recomputes all)"
    assert some == f"{verdict}; {part}."
    assert every == f"{verdict}."
    assert dwell("check", kept, "--json").json["verdict"] == "solution"
    change(kept, EDITS["hold"][0], renew=True)
    assert dwell("check", kept, "--json").json["verdict"] == "not-a-solution"
    shown = dwell("check", kept)
    assert shown.code == 1
    assert shown.out.splitlines()[-1].endswith("is NOT a solution of its scenario.")


@pytest.mark.parametrize(("name", "value"), [("cost", np.nan), ("error", np.inf)])
def test_every_sample_is_a_number(kept: Path, name: str, value: float) -> None:
    change(kept, nudged(name, 7, value), renew=True)
    outcome = dwell("check", kept, "--json")
    assert violated(outcome) == {"finite"}
    where = [c["where"] for c in outcome.json["checks"] if c["name"] == "finite"]
    assert where == [f"samples: {name}s, row 7"]


def test_every_reader_says_that_a_file_was_changed(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "changed after it was written"
    monkeypatch.setattr("dwell.plotting.save_figures", lambda *run, **options: [])
    monkeypatch.setattr("dwell.plotting.film.animate", lambda run, out, **options: out)
    readers = [
        ("plot", kept, "--out", tmp_path / "plots"),
        ("animate", kept, "--out", tmp_path / "film.gif"),
        ("rates", kept),
    ]
    assert load_run(kept).intact is True
    others = [flag["code"] for flag in dwell("show", kept, "--json").json["flags"]]
    assert "altered" not in others
    assert says not in dwell(*readers[0]).err
    change(kept, with_note, renew=False)
    for words in readers:
        outcome = dwell(*words)
        assert outcome.code == 0
        assert outcome.err.count(says) == 1
        assert outcome.err.startswith(f"dwell: {kept}: ")
    shown = dwell("show", kept)
    assert (shown.code, shown.out.count(says), shown.err) == (0, 1, "")
    flags = dwell("show", kept, "--json").json["flags"]
    assert [flag["code"] for flag in flags] == ["altered", *others]


def test_a_changed_run_that_is_saved_again_stays_changed(kept: Path, tmp_path: Path) -> None:
    change(kept, with_note, renew=False)
    run = load_run(kept)
    assert run.intact is False
    assert run.provenance["intact"] == "false"
    run.save(tmp_path / "again.nc")
    assert load_run(tmp_path / "again.nc").intact is False
    assert run.scenario is not None
    assert dwell_package.run_scenario(run.scenario).intact is None


def test_the_theorem_needs_a_certificate(scenario: Path, tmp_path: Path) -> None:
    text = scenario.read_text()
    scenario.write_text(text[: text.index("[certificate]")] + text[text.index("[run]") :])
    assert dwell("run", scenario, "--out", tmp_path / "bare.nc").code == 0
    shown = dwell("check", tmp_path / "bare.nc")
    assert "Theorem: not tested, since the scenario has no [certificate].\n" in shown.out


CUT = {
    "empty": lambda whole: b"",
    "text": lambda whole: b"not a run",
    "half": lambda whole: whole[: len(whole) // 2],
    "tail": lambda whole: whole[:-100],
    "head": lambda whole: b"\0" * 64 + whole[64:],
    "zeros": lambda whole: b"\0" * len(whole),
}
CHANGED = {
    "newer": lambda d: d.assign_attrs(dwell_format=99),
    "no-scenario": lambda d: d.assign_attrs(scenario="{}"),
    "bad-scenario": lambda d: d.assign_attrs(scenario="[1"),
    "bad-stop": lambda d: d.assign_attrs(stop='["tired", 1, ""]'),
    "no-column": lambda d: d.drop_vars("event_hold"),
    "flat": lambda d: d.assign(event_hold=d["event_time"]),
    "fewer": lambda d: d.isel(agent=slice(0, 2)),
}
REPLACED = {
    "other": lambda p: xr.Dataset({"a": ("x", [1.0])}).to_netcdf(p, engine="h5netcdf"),
    "folder": Path.mkdir,
    "missing": Path.resolve,
}


@pytest.mark.parametrize("how", [*CUT, *CHANGED, *REPLACED])
def test_what_is_no_run(kept: Path, how: str) -> None:
    if how in CUT:
        kept.write_bytes(CUT[how](kept.read_bytes()))
    elif how in CHANGED:
        change(kept, CHANGED[how], renew=False)
    else:
        kept.unlink()
        REPLACED[how](kept)
    assert "run.nc" in dwell("check", kept, "--json").sentences[0]


@pytest.mark.exhaustive
def test_random_damage(kept_once: Path, tmp_path: Path) -> None:
    """Any byte may be wrong: the outcome is a verdict or a sentence, never a crash or a yes."""
    whole = bytearray(kept_once.read_bytes())
    random = np.random.default_rng(1)
    path = tmp_path / "run.nc"
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[int(random.integers(len(whole)))] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        outcome = dwell("check", path, "--json")
        assert outcome.code in (0, 1, 2)
        if outcome.code == 2:
            assert outcome.sentences
        else:
            assert outcome.json["ok"] is (outcome.code == 0)
