"""What people and scripts read: help, notes, advice, plurals, refusals as JSON."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dwell as package
from dwell._types import apart
from dwell.agents.start import MAX_AGENTS
from dwell.cli import running
from dwell.cli.command import COMMANDS
from dwell.errors import UnsavedError
from dwell.hybrid import StopReason
from dwell.studies.paper.claims import Claim, borne_out
from tests.cli.shell import dwell, spawn

SHORT = ("--set", "run.horizon=0.3")
FAR = "density={kind='gaussian', center=[200, 300], rate=1}"


# Help.


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")


def test_lines_of_the_list_are_whole(narrow: None) -> None:
    listed = dwell("--help").out.split("Commands:")[1].split("Start with")[0]
    lines = dict(re.findall(r"^  (\S+) +(.+)$", listed, re.MULTILINE))
    assert sorted(lines) == sorted(COMMANDS)
    assert list(lines)[:3] == ["run", "show", "check"]
    assert all(len(line) <= 65 and line.endswith(".") for line in lines.values()), lines
    assert "..." not in listed


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_no_types(narrow: None, command: str) -> None:
    text = dwell(command, "--help").out
    assert dwell(command, "-h").out == text
    assert f"Example: dwell {command}" in " ".join(text.split())
    assert not re.search(r"<[a-z]|[{}]|range", text), text
    assert max(map(len, text.splitlines())) <= 80
    for word in re.findall(r"^  --(?:out|set|workers|format) (\S+)  ", text, re.MULTILINE):
        assert word in ("FILE", "DIR", "RUN.nc", "KEY=VALUE", "N", "FORMAT"), word


# Refusals as JSON.

REFUSED = {
    "validate": (["--set", "run.horizon=-1"], "run.horizon"),
    "run": (["--set", "controller.k9=1"], "controller.k9"),
    "compare": (["--laws", "timer,fly"], None),
    "design": (["--set", "controller={kind='lloyd'}"], "certificate"),
    "optimize": (["--set", "workspace.lower=[9, 9]"], "workspace.lower[0]"),
    "rates": (["--set", "density={kind='lake'}"], "density.kind"),
    "sweep": (["--out", "x"], None),
    "show": ([], None),
    "check": ([], None),
}


@pytest.mark.parametrize("command", REFUSED)
def test_a_refusal_is_an_object_with_json(scenario: Path, command: str) -> None:
    extra, key = REFUSED[command]
    outcome = dwell(command, scenario, *extra, "--json")
    plain = dwell(command, scenario, *extra)
    assert (outcome.code, outcome.err) == (plain.code, plain.err)
    assert (plain.code, plain.out) == (2, "")
    value = outcome.json
    assert value["schema"] == 1
    error = value["error"]
    assert set(error) == {"code", "key", "message"}
    assert re.fullmatch(r"[a-z][\w.-]+", error["code"])
    assert key is None or error["key"] == key
    assert outcome.sentences[0].endswith(error["message"].splitlines()[0])


def test_usage_and_files_that_are_not_there(tmp_path: Path) -> None:
    for words, code in ((["run", "x.toml", "--fly"], "usage"), (["show"], "usage")):
        assert dwell(*words, "--json").json["error"]["code"] == code
    missing = dwell("validate", tmp_path / "none.toml", "--json").json["error"]
    assert "none.toml" in missing["message"]
    assert dwell("validate", tmp_path / "none.toml").out == ""


def test_there_is_one_object_at_most(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault after the numbers were printed, such as a full disk, adds no second object."""

    made = running.outcome
    unsaved = UnsavedError("the disk is full")
    monkeypatch.setattr(running, "outcome", lambda *given: (*made(*given)[:2], unsaved))
    ended = dwell("run", scenario, *SHORT, "--json")
    assert (ended.code, ended.err) == (3, "dwell: the disk is full\n")
    assert ended.json["stop"]["reason"] == "horizon"


def test_a_run_that_could_not_be_written_is_in_no_file(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    out = tmp_path / "run.nc"
    monkeypatch.setattr("os.fsync", full)
    ended = dwell("run", scenario, *SHORT, "--json", "--out", out)
    assert ended.code == 3
    assert "No space left" in ended.err
    assert ended.json["file"] is None
    assert ended.json["stop"]["reason"] == "horizon"
    assert not out.exists()
    assert "run.nc" not in dwell("run", scenario, *SHORT, "--out", out).out


def test_whose_numbers_they_are(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.nc"
    made = dwell("run", scenario, *SHORT, "--json", "--out", out).json
    shown = dwell("show", out, "--json").json
    for value in (made, shown):
        assert (value["name"], value["file"]) == ("small", str(out))
        assert value["versions"]["dwell"] == package.__version__
    assert made == shown
    assert dwell("run", scenario, *SHORT, "--json").json["file"] is None


# Notes.


@pytest.mark.parametrize(
    ("one", "other", "digits"), [(0.2, 0.199999998, 4), (1.0, 1.0 + 2**-52, 4), (0.3, 0.2, 4)]
)
def test_two_numbers_are_told_apart(one: float, other: float, digits: int) -> None:
    words = apart(one, other, digits)
    assert words[0] != words[1]
    assert (float(words[0]) < float(words[1])) == (one < other)
    assert len(words[0]) <= 5 or one - other < 1e-3
    assert apart(0.25, 0.25) == ("0.25", "0.25")


def notes_of(outcome_json: dict) -> dict[str, str]:
    return {flag["code"]: flag["says"] for flag in outcome_json["flags"]}


def test_units_that_do_not_fit(scenario: Path) -> None:
    wide = ("--set", "controller.nu=1600")
    words = "nu = 1600 is 283 times the workspace's diameter 5.66: are the units the same?"
    for command in (["validate"], ["run", *SHORT], ["design", "--samples", "0"]):
        assert words in dwell(command[0], scenario, *command[1:], *wide).out
    assert notes_of(dwell("validate", scenario, *wide, "--json").json) == {
        "nu-beyond-workspace": words
    }
    assert "are the units" not in dwell("validate", scenario, "--set", "controller.nu=5").out


def test_the_error_that_counts_as_covered_is_a_length_of_the_workspace() -> None:
    """`run.nu` as much as a law's own; a law may leave its own open."""
    site, start = package.Box((0, 0), (1, 1)), [(0.2, 0.2), (0.7, 0.6)]
    run = package.simulate(site, None, start, package.Lloyd(), until=0.1, nu=50.0)
    assert [flag.code for flag in run.flags] == ["nu-beyond-workspace"]


def test_a_density_that_weighs_nothing_in_doubles(scenario: Path) -> None:
    value = dwell("run", scenario, *SHORT, "--set", FAR, "--json").json
    assert value["cost"] == {"initial": 0.0, "final": 0.0}
    low = value["log_cost"]
    assert -2e5 < low["final"] < low["initial"] < -1e5
    assert f"exp({low['initial']:.6g})" in notes_of(value)["underflow"]
    shown = dwell("run", scenario, *SHORT, "--set", FAR).out
    assert f"exp({low['initial']:.6g}) at the start, exp({low['final']:.6g}) at the end" in shown
    assert "underflow" in notes_of(dwell("validate", scenario, "--set", FAR, "--json").json)


def test_one_agent_is_not_plural(scenario: Path) -> None:
    alone = ("--set", "agents.start=[[1, 1]]")
    assert dwell("validate", scenario, *alone).out.startswith(f"{scenario}: ok, 1 agent\n")
    assert "1 agent," in dwell("run", scenario, *alone, *SHORT).out
    edge = "agents.start=[[1, 1], [2, -1e-15]]"
    assert "moved 1 agent onto" in dwell("validate", scenario, "--set", edge).out
    far = "agents.start=[[1, 1], [2, -1], [2, -3]]"
    assert "(and 1 more agent)" in dwell("validate", scenario, "--set", far).sentences[0]


# Early ends.


@pytest.mark.parametrize("reason", StopReason)
def test_every_early_end_has_advice(reason: StopReason) -> None:
    assert bool(reason.advice) == (not reason.ok)
    assert "FILE" not in reason.advice_about("run.nc")
    assert "resume" not in reason.advice_about(None).replace("can be resumed", "")


def test_a_run_that_used_up_its_jumps(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.nc"
    ended = dwell("run", scenario, "--set", "run.max_jumps=5", "--out", out)
    assert ended.code == 1
    command = f"dwell run --resume {out} --set run.max_jumps=N"
    for text in (ended.out, dwell("show", out).out):
        assert "raise run.max_jumps" in text
        assert command in " ".join(text.split())
    again = dwell(*command.replace("=N", "=9999").split()[1:])
    assert (again.code, "advice" in again.out) == (0, False)
    nowhere = dwell("run", scenario, "--set", "run.max_jumps=5")
    assert nowhere.code == 1
    assert "raise run.max_jumps: --set run.max_jumps=N" in nowhere.out
    assert "--resume" not in nowhere.out


def test_how_a_run_ended_in_its_name() -> None:
    run = package.simulate(
        package.Box((0, 0), (1, 1)), None, [(0.3, 0.4)],
        package.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2), until=0.05,
    )  # fmt: skip
    assert repr(run) == "<Run of Timer: 1 agent, 0 jumps, ended at t = 0.05 (horizon)>"


# Files and tables.


def test_another_ending_than_nc(scenario: Path, tmp_path: Path) -> None:
    odd = dwell("run", scenario, *SHORT, "--out", tmp_path / "x.csv")
    says = "a run is stored as NetCDF-4, whatever the ending; x.nc says so"
    assert (odd.code, odd.err) == (0, f"dwell: {tmp_path / 'x.csv'}: {says}\n")
    for name in ("x.nc", "x", "x.h5"):
        assert dwell("run", scenario, *SHORT, "--out", tmp_path / name).err == ""


@pytest.mark.exhaustive
def test_no_blanks_at_the_ends_of_lines(scenario: Path) -> None:
    for words in (["run", scenario, *SHORT], ["design", scenario, "--samples", 0]):
        lines = spawn(*words).out.splitlines()
        assert len(lines) > 5
        assert all(line == line.rstrip() for line in lines)


def test_a_box_with_a_side_too_short(scenario: Path) -> None:
    for upper in ("[1e6, 1e-6]", "[1e-80, 1e-80]", "[4, 1e-13]"):
        sides = ("--set", f"workspace.upper={upper}", "--set", "agents.start={count=3}")
        error = dwell("validate", scenario, *sides, "--json").json["error"]
        assert error["key"] == "workspace.upper"
        assert "vertices" not in error["message"]


def test_a_controller_that_is_none() -> None:
    with pytest.raises(package.DwellError, match="the controller is of type object; an object"):
        package.simulate(package.Box((0, 0), (1, 1)), None, [(0.3, 0.4)], object(), until=1.0)


# Claims.


def claim(holds: bool, by: str) -> Claim:
    return Claim("x", "says", 1.0, 2.0, 3.0, holds, by, "")


def test_claims_that_hold_on_the_grid_alone() -> None:
    claims = [claim(True, "exact"), claim(True, "grid"), claim(False, "grid")]
    assert [c.as_json()["verdict"] for c in claims] == ["holds", "on the grid", "does not hold"]
    assert borne_out(claims).startswith("2 of 3 statements")
    assert "1 of them only on a grid of points" in borne_out(claims)


# Files of another kind.


@pytest.mark.parametrize("command", ["check", "show", "plot", "animate", "run --resume"])
def test_a_scenario_instead_of_a_run(scenario: Path, tmp_path: Path, command: str) -> None:
    more = {"plot": ["--out", tmp_path / "plots"], "animate": ["--out", tmp_path / "film.gif"]}
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('scenario = "small.toml"\n[grid]\n"run.seed" = [1, 2]\n')
    for path, kind, way in ((scenario, "scenario", "run"), (sweep, "sweep", "sweep")):
        (said,) = dwell(*command.split(), path, *more.get(command, [])).sentences
        assert said == f"{path} is a {kind}, not a stored run (NetCDF); dwell {way} runs it"
    other = tmp_path / "notes.toml"
    other.write_text("a = 1")
    assert "cannot be read as NetCDF-4" in dwell("check", other).sentences[0]


@pytest.mark.parametrize("command", ["show", "check"])
def test_damaged_files_are_named_in_one_plain_sentence(
    scenario: Path, tmp_path: Path, command: str
) -> None:
    run = tmp_path / "run.nc"
    assert dwell("run", scenario, *SHORT, "--out", run).code == 0
    whole = run.read_bytes()
    again = "restore a copy of it, or run its scenario again"
    damaged = f"is damaged: it was cut short, or changed after it was written; {again}"
    for content, says in (
        (b"", f"is empty; {again}"),
        (whole[: len(whole) // 2], damaged),
        (whole[:500] + b"?" * 3000 + whole[3500:], damaged),
        (b"hello", "cannot be read as NetCDF-4; give the .nc file that `dwell run --out` wrote"),
    ):
        run.write_bytes(content)
        outcome = dwell(command, run)
        assert (outcome.code, outcome.sentences) == (2, [f"{run} {says}"])


def test_keys_lead_and_limits_agree(scenario: Path) -> None:
    density = "density={kind='polynomial', terms=[[0, 0, -1.0]]}"
    assert dwell("validate", scenario, "--set", density).sentences[0].startswith("density: ")
    for count in (MAX_AGENTS + 1, 2**31):
        said = dwell("validate", scenario, "--set", f"agents.start={{count={count}}}").sentences[0]
        assert said == f"agents.start.count must be at most {MAX_AGENTS}, got {count}."


# Options that hold something else.


def test_a_dry_run_names_points_that_cannot_be_run(scenario: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.toml"
    text = f'scenario = "{scenario.name}"\n[grid]\n"controller.t1" = [0.1, 0.5]\n'
    sweep.write_text(f'{text}"controller.t2" = [0.2, 0.4]\n')
    said = dwell("sweep", sweep, "--dry-run").out
    first = "at point 2 (controller.t1 = 0.5, controller.t2 = 0.2): controller.t1 must be at most"
    assert f"2 of the 4 points cannot be run; the first is {first}" in said
    found = dwell("sweep", sweep, "--dry-run", "--json").json["impossible"]
    assert (found["points"], found["checked"]) == (2, 4)
    assert found["first"].startswith(first)
    sweep.write_text(text.replace("0.5", "0.15"))
    assert "impossible" not in dwell("sweep", sweep, "--dry-run").out


# Width.


def test_the_width_that_is_asked_for_is_kept(scenario: Path, monkeypatch) -> None:
    def widest(*words: object) -> int:
        return max(map(len, dwell(*words).out.splitlines()))

    monkeypatch.delenv("COLUMNS", raising=False)
    design = ("design", scenario, "--samples", 0, *SHORT)
    assert widest(*design) > 80
    monkeypatch.setenv("COLUMNS", "80")
    assert widest(*design) <= 80
    for odd in ("", "wide", "0"):
        monkeypatch.setenv("COLUMNS", odd)
        assert widest(*design) > 80
