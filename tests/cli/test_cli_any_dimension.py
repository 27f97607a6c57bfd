"""Every command in every dimension: it works, or refuses by name."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import dwell

WORLDS = {  # a workspace, and where agents start
    "line": ({"kind": "interval", "bounds": [0, 4]}, [0.5, 1.0, 3.0]),
    "disc": ({"kind": "ball", "center": [2, 2], "radius": 2}, [[1.5, 2], [2.5, 2.2], [2, 1]]),
    "space": (
        {"kind": "box", "lower": [0, 0, 0], "upper": [2, 1, 1]},
        [[0.5, 0.5, 0.5], [1.2, 0.4, 0.6]],
    ),
    "four": (
        {"kind": "box", "lower": [0] * 4, "upper": [1] * 4},
        [[0.2, 0.5, 0.5, 0.5], [0.8, 0.4, 0.6, 0.5]],
    ),
}


def write(folder, world):
    workspace, start = WORLDS[world]
    scenario = {
        "workspace": workspace,
        "agents": {"start": start},
        "controller": {"kind": "timer", "k1": 0.5, "nu": 0.2, "t1": 0.1, "t2": 0.3},
        "run": {"horizon": 1.0, "seed": 1, "record": {"sample_every": 0.5}},
    }
    path = folder / f"{world}.json"
    path.write_text(json.dumps(scenario))
    return path


@pytest.fixture(params=WORLDS)
def scenario(request, tmp_path):
    return write(tmp_path, request.param)


def test_run_check_design_and_rates(scenario, tmp_path):
    out = tmp_path / "run.nc"
    ran = dwell("run", scenario, "--json", "--out", out)
    assert ran.code == 0, ran.err
    assert ran.json["stop"]["ok"] is True
    assert dwell("check", out, "--json").json["ok"] is True
    for command, *options in (("design", "--samples", 5), ("rates",)):
        answer = dwell(command, scenario, "--json", *options)
        assert answer.code in (0, 1), answer.err
        assert answer.json


def test_optimize_says_how_far_it_goes(scenario):
    out = scenario.parent / "best"
    answer = dwell("optimize", scenario, "--starts", 2, "--json", "--out", out, "--format", "svg")
    if scenario.stem == "four":
        assert answer.code == 2
        assert not out.exists()
        assert "4 dimensions" in answer.err
    else:
        assert answer.code == 0, answer.err
        assert answer.json["gradient_norm"] < 1e-12


@pytest.mark.exhaustive
def test_every_command_prints_tables_too(scenario, tmp_path):
    """Without --json, and with figures."""
    run, out = tmp_path / "run.nc", tmp_path / "out"
    commands = {
        "run": (scenario, "--out", run),
        "check": (run,),
        "plot": (run, "--out", out / "plot"),
        "animate": (run, "--out", tmp_path / "film.gif", "--seconds", 1, "--fps", 2),
        "optimize": (scenario, "--starts", 2, "--out", out / "optimize"),
        "compare": (
            scenario, "--laws", "timer,discrete-lloyd", "--out", out / "compare", "--workers", 1
        ),
        "design": (scenario, "--samples", 2),
        "rates": (scenario,),
    }  # fmt: skip
    for command, words in commands.items():
        answer = dwell(command, *words)
        assert "Traceback" not in answer.err, answer.err
        if scenario.stem == "four" and command in ("optimize", "animate"):
            assert answer.code == 2
            assert "4" in answer.err
        else:
            assert answer.code in (0, 1), (command, answer.err)
            assert answer.out


def test_positions_are_listed(tmp_path):
    for world, expected in (("line", "0.666667  2  3.33333"), ("space", "(1.5, 0.5, 0.5)")):
        assert expected in dwell("optimize", write(tmp_path, world), "--starts", "2").out
