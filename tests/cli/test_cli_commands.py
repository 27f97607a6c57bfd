"""What every command does when all is well, what it refuses, what it imports, and exit codes."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

import dwell as package
from dwell.scenario import TEMPLATES, load_scenario, template_text
from tests.cli.shell import REPOSITORY, dwell, environment
from tests.workers.watch import LONG

# The keys that scripts rely on; a leaf is the type it must have (None: also null).
PROMISED = {
    "schema": int, "law": str, "dimension": int, "agents": int, "horizon": float, "seed": int,
    "integration": str, "stop": {"reason": str, "ok": bool},
    "events": {"total": int, "per_agent": {"min": int, "mean": float, "max": int}},
    "cells": {
        "voronoi": int, "guaranteed": int, "dual_guaranteed": int,
        "per_agent": {"min": int, "mean": float, "max": int},
    },
    "measurements": int, "messages": int, "cost": {"initial": float, "final": float},
    "error": {"final_max": float}, "coverage": {"nu": float, "reached_at": (float, type(None))},
    "hold_error": {"max": float, "limit": (float, type(None))}, "separation": {"min": float},
    "final_positions": list, "final_centroids": list, "final_masses": list,
    "wall_seconds": float, "repairs": list, "flags": list,
}  # fmt: skip


def holds_promise(value: dict, promise: dict) -> None:
    for key, kind in promise.items():
        assert key in value
        if isinstance(kind, dict):
            holds_promise(value[key], kind)
        else:
            assert isinstance(value[key], kind), key


@pytest.mark.parametrize("changes", [(), ("run.horizon=0",), ("run.max_jumps=3",)])
def test_json_of_a_run(scenario: Path, changes: tuple[str, ...]) -> None:
    sets = [word for change in changes for word in ("--set", change)]
    outcome = dwell("run", scenario, "--json", *sets)
    assert outcome.err == ""
    figures = outcome.json
    holds_promise(figures, PROMISED)
    assert figures["schema"] == 1
    assert figures["law"] == "timer"
    assert figures["dimension"] == 2
    assert figures["agents"] == len(figures["final_positions"]) == len(figures["final_masses"]) == 4
    total = figures["events"]["total"]
    assert figures["cells"]["voronoi"] == figures["measurements"] == total + 4
    assert figures["hold_error"]["limit"] == 0.9
    assert outcome.code == (0 if figures["stop"]["ok"] else 1)


def test_coverage_that_no_sample_dates_is_not_denied(scenario: Path) -> None:
    record = ["--set", "run.record.kind=summary", "--set", "run.record.sample_every=off"]
    outcome = dwell("run", scenario, "--set", "run.horizon=40", *record)
    assert "within nu = 0.5 at the end; since when is not known" in " ".join(outcome.out.split())


def test_set_changes_keys(scenario: Path) -> None:
    many = ["controller.t2=0.3", "run.seed=9", "agents.start[0]=[1.5, 1.5]", "name=other"]
    sets = [word for change in many for word in ("--set", change)]
    out = scenario.parent / "run.nc"
    figures = dwell("run", scenario, "--json", "--out", out, *sets).json
    assert figures["seed"] == 9
    kept = package.load_run(out).scenario
    assert (kept.controller.t2, kept.name) == (0.3, "other")
    assert kept.agents.start[0] == (1.5, 1.5)


def test_check(kept: Path) -> None:
    shown = dwell("check", kept)
    assert (shown.code, shown.err) == (0, "")
    assert "is a solution" in " ".join(shown.out.split())
    report = dwell("check", kept, "--json").json
    assert report["ok"] is True
    assert report["jumps"] > 50
    assert {c["status"] for c in report["checks"]} <= {"holds", "not applicable"}
    names = {c["name"] for c in report["checks"]}
    assert {"digest", "flow", "due", "reset", "centroid", "jump", "by-hand"} <= names


def test_plot(kept: Path) -> None:
    pytest.importorskip("matplotlib")
    out = kept.parent / "figures"
    outcome = dwell("plot", kept, "--out", out, "--format", "svg")
    assert outcome.code == 0
    paths = [Path(line) for line in outcome.out.split()]
    assert paths
    assert all(path.suffix == ".svg" and path.stat().st_size > 0 for path in paths)
    (kept.parent / "file").write_text("")
    assert "folder" in dwell("plot", kept, "--out", kept.parent / "file").sentences[0]
    assert dwell("plot", kept, "--out", out, "--format", "gif").sentences
    mine = kept.parent / "mine"
    mine.mkdir()
    (mine / "cost.svg").write_text("mine")
    assert "force it" in dwell("plot", kept, "--out", mine, "--format", "svg").sentences[0]
    assert dwell("plot", kept, "--out", mine, "--format", "svg", "--force").code == 0
    assert (mine / "cost.svg").read_text() != "mine"


def test_validate(scenario: Path) -> None:
    sets = ("--set", "certificate.lipschitz=0.1")
    assert dwell("validate", scenario, *sets).out == f"{scenario}: ok, 4 agents\n"
    fine = {"schema": 1, "ok": True, "agents": 4, "repairs": [], "flags": [], "remarks": []}
    assert dwell("validate", scenario, *sets, "--json").json == fine
    wrong = dwell("validate", scenario, "--json", "--set", "run.horizon=-1", "--set", "run.x=1")
    assert len(wrong.sentences) == 2


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        (["controller.nu=0.1"], ["overshoot", "certificate-void"]),
        (["network.loss=0.1", "controller.nu=50"], ["nu-beyond-workspace", "unreliable-network"]),
        (["agents.start=[[1, 1]]"], ["single-agent"]),
        (["certificate.lipschitz=500"], ["certificate-void"]),
    ],
)
def test_validate_shows_the_flags_that_the_run_will_have(
    scenario: Path, changes: list[str], codes: list[str]
) -> None:
    changes = ["certificate.lipschitz=0.1", *changes]
    sets = [word for change in changes for word in ("--set", change)]
    found = dwell("validate", scenario, "--json", *sets).json["flags"]
    assert [flag["code"] for flag in found] == codes
    assert all(f"note: {flag['says']}" in dwell("validate", scenario, *sets).out for flag in found)
    assert set(codes) <= {f["code"] for f in dwell("run", scenario, "--json", *sets).json["flags"]}


def test_schema_fits_the_templates() -> None:
    schema = dwell("schema").json
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in TEMPLATES:
        validator.validate(tomllib.loads(template_text(name)))


@pytest.mark.parametrize("template", TEMPLATES)
def test_init(tmp_path: Path, template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = dwell("init", template)
    assert outcome.code == 0
    assert f"dwell run {template}.toml" in outcome.out
    assert load_scenario(f"{template}.toml").agents.count > 0
    assert "exists already" in dwell("init", template).sentences[0]
    assert dwell("init", template, "--force").code == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{template}.toml"]


@pytest.mark.parametrize(
    ("there", "out", "says"),
    [
        ("own_law.py", "site.toml", "own_law.py exists already"),
        ("site.toml", "site.toml", "site.toml exists already"),
        ("own_law.py", ".", "is a folder"),
        ("other.py", "own_law.py", "name of its Python module"),
    ],
)
def test_init_with_code_writes_both_files_or_none(
    tmp_path: Path, there: str, out: str, says: str
) -> None:
    (tmp_path / there).write_text("mine")
    assert says in dwell("init", "own-law", "--out", tmp_path / out).sentences[0]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(there, "mine")]


def test_init_by_name(tmp_path: Path) -> None:
    listed = dwell("init", "--list")
    assert all(name in listed.out for name in TEMPLATES)
    assert "two-hills" in dwell("init", "two-hill", "--out", tmp_path / "x").sentences[0]
    assert "two-hills-sweep" in dwell("init", "nothing", "--out", tmp_path / "x").sentences[0]
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_is_not_a_sweep(scenario: Path) -> None:
    for options in ([], ["--dry-run"], ["--out", scenario.parent / "out"]):
        said = dwell("sweep", scenario, *options).sentences[0]
        assert "this is a scenario, not a sweep: dwell run runs it" in said
        assert "dwell init two-hills-sweep" in said


def test_version() -> None:
    assert dwell("--version").out == f"dwell {package.__version__}\n"
    module = [sys.executable, "-m", "dwell", "--version"]
    assert subprocess.check_output(module, text=True) == f"dwell {package.__version__}\n"


TABLE = Path(__file__).with_name("refused.txt").read_text("utf-8")
ROWS = [line.rsplit(" | ", 1) for line in TABLE.splitlines() if line and line[0] != "#"]


@pytest.mark.parametrize(("line", "words"), ROWS, ids=[row[0] for row in ROWS])
def test_refused(
    line: str, words: str, scenario: Path, kept_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scenario.parent)
    shutil.copy(kept_once, "run.nc")
    outcome = dwell(*shlex.split(line))
    assert words in " ".join(outcome.sentences).replace("python -m pytest.", "")
    assert {path.name for path in Path().iterdir()} == {"small.toml", "run.nc"}


LOADED = """
import sys
sys.argv = ["dwell", *sys.argv[1:]]
from dwell.cli import main
try:
    main()
finally:
    print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""
HEAVY = {"numba", "scipy", "xarray", "pandas", "matplotlib", "fastapi", "pyarrow"}


@pytest.mark.parametrize("command", ["validate", "show"])
def test_validate_and_show_import_no_compiler(scenario: Path, kept: Path, command: str) -> None:
    file = scenario if command == "validate" else kept
    others = {key: value for key, value in environment().items() if key != "DWELL_JIT"}
    done = subprocess.run(
        [sys.executable, "-c", LOADED, command, str(file), "--json"], capture_output=True,
        text=True, cwd=REPOSITORY, env=others, check=False, timeout=LONG,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "numpy" in done.stderr.split()
    assert not HEAVY & set(done.stderr.split())
    assert done.stdout == dwell(command, file, "--json").out
