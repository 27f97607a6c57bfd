"""Every command in every dimension: it works, or refuses by name."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import dwell

LAW = """
[controller]
kind = "timer"
k1 = 0.5
nu = 0.2
t1 = 0.1
t2 = 0.3

[run]
horizon = 1.0
seed = 1
record = { sample_every = 0.5 }
"""
WORLDS = {
    "line": """[workspace]
kind = "interval"
bounds = [0, 4]
[agents]
start = [0.5, 1.0, 3.0]
""",
    "disc": """[workspace]
kind = "ball"
center = [2, 2]
radius = 2
[agents]
start = [[1.5, 2], [2.5, 2.2], [2, 1]]
""",
    "space": """[workspace]
kind = "box"
lower = [0, 0, 0]
upper = [2, 1, 1]
[agents]
start = [[0.5, 0.5, 0.5], [1.2, 0.4, 0.6]]
""",
    "four": """[workspace]
kind = "box"
lower = [0, 0, 0, 0]
upper = [1, 1, 1, 1]
[agents]
start = [[0.2, 0.5, 0.5, 0.5], [0.8, 0.4, 0.6, 0.5]]
""",
}


@pytest.fixture(params=WORLDS)
def scenario(request, tmp_path):
    path = tmp_path / f"{request.param}.toml"
    path.write_text(WORLDS[request.param] + LAW)
    return path


def test_run_check_design_and_rates(scenario, tmp_path):
    out = str(tmp_path / "run.nc")
    ran = dwell("run", str(scenario), "--json", "--out", out)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["stop"]["ok"] is True
    assert json.loads(dwell("check", out, "--json").out)["ok"] is True
    for command in ("design", "rates"):
        told = dwell(
            command, str(scenario), "--json", *(("--samples", 5) if command == "design" else ())
        )
        assert told.code in (0, 1), told.err
        assert json.loads(told.out)


def test_optimize_says_how_far_it_goes(scenario):
    out = scenario.parent / "best"
    told = dwell("optimize", scenario, "--starts", 2, "--json", "--out", out, "--format", "svg")
    if scenario.stem == "four":
        assert told.code == 2
        assert not out.exists()
        assert "4 dimensions" in told.err
    else:
        assert told.code == 0, told.err
        assert json.loads(told.out)["gradient_norm"] < 1e-12


@pytest.mark.exhaustive
def test_every_command_speaks_to_people_too(scenario, tmp_path):
    """Not only to programs: without --json, and with figures."""
    run, out = str(tmp_path / "run.nc"), tmp_path / "out"
    commands = {
        "run": (str(scenario), "--out", run),
        "check": (run,),
        "plot": (run, "--out", str(out / "plot")),
        "animate": (run, "--out", str(tmp_path / "film.gif"), "--seconds", "1", "--fps", "2"),
        "optimize": (str(scenario), "--starts", "2", "--out", str(out / "optimize")),
        "compare": (
            str(scenario), "--laws", "timer,discrete-lloyd", "--out", str(out / "compare"),
            "--workers", "1",
        ),
        "design": (str(scenario), "--samples", "2"),
        "rates": (str(scenario),),
    }  # fmt: skip
    for command, words in commands.items():
        told = dwell(command, *words)
        assert "Traceback" not in told.err, told.err
        if scenario.stem == "four" and command in ("optimize", "animate"):
            assert told.code == 2
            assert "4" in told.err
        else:
            assert told.code in (0, 1), (command, told.err)
            assert told.out


def test_places_are_listed_as_people_write_them(tmp_path):
    for world, expected in (("line", "0.666667  2  3.33333"), ("space", "(1.5, 0.5, 0.5)")):
        path = tmp_path / f"{world}.toml"
        path.write_text(WORLDS[world] + LAW)
        assert expected in dwell("optimize", str(path), "--starts", "2").out
