"""Requests that could hurt, refused before anything is made of them."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace

import pytest

from dwell.errors import InputError
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from dwell.studies.design import design as study
from dwell.web.limits import Limits
from dwell.web.work.scenario_tasks import TASKS, admit, design, parse, validate, write
from tests.web.servers import CHANGING, scenario

LIMITS = Limits(body=50_000, numbers=500, agents=50, horizon=1000.0, events=1e4)


def refused(task, body, limits=LIMITS):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(InputError) as found:
        task(raw, limits)
    assert str(found.value).rstrip(".")
    return found.value.code, found.value.key


def changed(**keys):
    return {**scenario(), **keys}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{" + b" " * 50_000 + b"}", "web.too-large"),
        (b'{"a":' * 21 + b"1" + b"}" * 21, "web.too-deep"),
        (b"[" * 40_000, "web.too-deep"),
        (b'{"a": [' + b"1," * 600 + b"1]}", "web.too-many-numbers"),
        (b"[1, 2]", "scenario.type"),
        (b"", "scenario.type"),
        (b"null", "scenario.type"),
        (b"{", "scenario.syntax"),
        (b'{"run": NaN}', "scenario.not-finite"),
        (b"\xff\xfe{}", "scenario.encoding"),
    ],
)
@pytest.mark.parametrize("task", ["validate", "admit", "write", "design"])
def test_bodies(task, body, code):
    assert refused(TASKS[task], body)[0] == code


def test_brackets_and_numbers_within_strings_count_for_nothing():
    name = "[" * 60 + "1 " * 20 + '\\"' + "{" * 60
    assert validate(json.dumps(changed(name=name[:150])).encode(), LIMITS)["ok"]


@pytest.mark.parametrize("task", [name for name in TASKS if name != "outline"])
def test_code_and_files_are_refused_before_they_are_opened(task, tmp_path, monkeypatch):
    (tmp_path / "wicked.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    code = {"kind": "callable", "function": "wicked:weight"}
    files = {"kind": "raster", "path": "/etc/passwd", "file": "/etc/passwd"}
    beside = {"kind": "raster", "inline": [[1.0]], "file": "/etc/passwd"}
    known = {"kind": "raster", "inline": [[1.0]], "sha256": "0" * 64}
    for bad in (code, files, beside, known):
        found = refused(TASKS[task], changed(density=bad))
        assert found == ("web.density", "density.kind")
        mixture = {"kind": "mixture", "parts": [{"kind": "uniform"}, bad]}
        found = refused(TASKS[task], changed(density=mixture))
        assert found == ("web.density", "density.parts[1].kind")
        world = [{"from": 1.0, "leave": [0]}, {"from": 2.0, "density": mixture}]
        found = refused(TASKS[task], changed(world=world))
        assert found == ("web.density", "world[1].density.parts[1].kind")
        sensors = [{"name": "a", "density": bad}]
        found = refused(TASKS[task], changed(sensor=sensors))
        assert found == ("web.density", "sensor[0].density.kind")
        assert (
            refused(TASKS[task], changed(world={"from": 1.0, "density": bad}))[0] == "web.density"
        )
    law = {"kind": "python", "class": "wicked:Law", "k": 1.0}
    for more in ({}, {"modules": str(tmp_path)}, {"network": {"loss": 0.5}}):
        found = refused(TASKS[task], changed(controller=law, **more))
        assert found == ("web.controller", "controller.kind")
    nested = changed(controller={"kind": ["python"], "class": "wicked:Law"})
    assert refused(TASKS[task], nested)[0].startswith("scenario.")
    assert refused(TASKS[task], changed(modules=str(tmp_path))) == ("web.modules", "modules")
    assert "wicked" not in sys.modules


FACES = {
    "workspace": {
        "kind": "polytope",
        "vertices": [[math.cos(k * j) for j in range(1, 9)] for k in range(40)],
    },
    "density": {"kind": "uniform"},
    "agents": {"start": {"count": 3}},
}
LINE = {"kind": "polygon", "vertices": [[0, 0], [1, 1], [2, 2]]}
HILL = {
    "kind": "gaussian",
    "center": {"times": list(range(60)), "values": [[3, 3]] * 60, "after": "hold"},
    "rate": {"times": [0, 1], "values": [0.4, 0.5], "after": "hold"},
}
FEW = replace(LIMITS, keyframes=62, worlds=2, sensors=2)
LAW = scenario()["controller"]


@pytest.mark.parametrize(
    ("task", "body", "code", "key"),
    [
        (validate, changed(contoller={}), "scenario.unknown-key", "contoller"),
        (validate, changed(controller={**LAW, "t3": 1.0}), "scenario.unknown-key", "controller.t3"),
        (admit, changed(agents={"start": {"count": 51}}), "web.agents", "agents.start"),
        (validate, changed(agents={"start": {"count": 51}}), "web.agents", "agents.start"),
        (admit, scenario(horizon=1001.0), "web.horizon", "run.horizon"),
        # Eight agents that wait 0.2 on average make 40 events in a unit of time.
        (admit, scenario(horizon=260.0), "web.events", "run.horizon"),
        (
            admit,
            changed(agents={"start": [[1.0, 1.0], [99.0, 1.0]]}),
            "agents.outside",
            "agents.start[1]",
        ),
        (validate, changed(workspace=LINE), "workspace.degenerate", "workspace.vertices"),
        (validate, changed(**FACES), "web.workspace", "workspace.vertices"),
        (design, scenario("paper-12-lloyd"), "design.law", "controller.kind"),
    ],
)
def test_scenarios_that_are_refused(task, body, code, key):
    assert refused(task, body) == (code, key)


def test_scenarios_just_within_the_limits():
    assert admit(json.dumps(scenario(horizon=240.0)).encode(), LIMITS)["agents"] == 8
    fewer = scenario(horizon=1000.0, max_jumps=5000)
    assert admit(json.dumps(fewer).encode(), LIMITS)["horizon"] == 1000.0


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"world": [{"from": 1.0, "density": {**HILL, "weight": HILL["rate"]}}]}, "times"),
        ({"world": [{"from": k, "leave": []} for k in (1.0, 2.0, 3.0)]}, "world"),
        ({"sensor": [{"name": n, "density": {"kind": "uniform"}} for n in "abc"]}, "sensor"),
    ],
)
def test_worlds_that_change_are_limited(more, key):
    assert refused(validate, changed(**more), FEW) == ("web.world", key)
    assert validate(json.dumps(changed(density=HILL)).encode(), FEW)["ok"]


def test_faces_of_a_later_workspace_are_limited():
    box = {"kind": "box", "lower": [-2] * 8, "upper": [2] * 8}
    later = [{"from": 1.0, "workspace": FACES["workspace"]}]
    found = refused(validate, changed(**{**FACES, "workspace": box}, world=later))
    assert found == ("web.workspace", "world[0].workspace.vertices")


def test_worlds_that_change_there_and_back_again():
    found = validate(json.dumps(CHANGING).encode(), LIMITS)
    assert found["start"] == CHANGING["agents"]["start"]  # not those that arrive
    assert found["scenario"]["world"] == CHANGING["world"]
    text = write(json.dumps(found["scenario"]).encode(), LIMITS)["text"]
    assert parse(text.encode(), LIMITS)["scenario"] == found["scenario"]
    assert admit(json.dumps(CHANGING).encode(), LIMITS)["agents"] == 5


def test_a_long_horizon_is_refused_with_one_that_would_do():
    often = {**scenario()["run"], "record": {"kind": "events", "sample_every": 1e-6}}
    body = json.dumps(changed(run={**often, "horizon": 1e9})).encode()
    with pytest.raises(InputError, match="at most 1000") as refusal:  # not about samples
        validate(body, LIMITS)
    assert refusal.value.key == "run.horizon"
    body = json.dumps(changed(run={**often, "horizon": 900.0})).encode()
    with pytest.raises(InputError, match=r"or take a run\.horizon of at most 10\b"):
        validate(body, LIMITS)
    body = json.dumps(changed(run={**scenario()["run"], "horizon": 900.0})).encode()
    few = Limits(events=100.0)
    with pytest.raises(InputError, match="take a horizon of about") as refusal:
        admit(body, few)
    horizon = float(str(refusal.value).split("horizon of about ")[1].split(",")[0])
    shorter = json.dumps(changed(run={**scenario()["run"], "horizon": 0.9 * horizon})).encode()
    assert admit(shorter, few)["horizon"] < 900.0


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b'scenario = "a.toml"\nrepeats = 3\n[grid]\n"run.seed" = [1, 2]\n', "dwell sweep"),
        (b"\x89HDF\r\n\x1a\n\0\0", "dwell show"),
        (b"CDF\x05\0\0", "dwell show"),
    ],
)
def test_files_that_are_something_else_are_named(raw, says):
    with pytest.raises(InputError, match=says):
        parse(raw, LIMITS)


def test_limits_of_jumps_that_no_float_can_hold():
    body = scenario(horizon=1.0, max_jumps=10**400)
    assert admit(json.dumps(body).encode(), LIMITS)["agents"] == 8
    assert admit(json.dumps({**body, "network": {"loss": 0.1}}).encode(), LIMITS)["agents"] == 8
    assert run_scenario(parse_scenario(body)).summary()["stop"]["ok"]


def test_there_and_back_again():
    body = json.dumps(scenario("paper-12")).encode()
    found = validate(body, Limits())
    text = write(json.dumps(found["scenario"]).encode(), Limits())["text"]
    assert parse(text.encode(), Limits())["scenario"] == found["scenario"]
    assert validate(json.dumps(found["scenario"]).encode(), Limits()) == found


@pytest.mark.parametrize("name", ["line-8", "two-hills", "disc-9", "space-12"])
def test_places_and_shape_of_scattered_agents(name):
    body = scenario(name)
    found = validate(json.dumps(body).encode(), Limits())
    system, places, _ = build(parse_scenario(body))
    assert found["start"] == places.tolist()
    shape = found["workspace"]
    lower, upper = system.workspace.bounds
    assert shape["box"] == [lower.tolist(), upper.tolist()]
    wanted = {1: "bounds", 3: "faces"}.get(system.dimension, "vertices")
    assert ("center" if name == "disc-9" else wanted) in shape
    if "faces" in shape:  # of a box: six, with four corners each
        assert sorted(len(face) for face in shape["faces"]) == [4] * 6
    json.dumps(found, allow_nan=False)


def test_the_region_agrees_with_the_condition_itself():
    body = scenario("paper-30")
    found = design(json.dumps(body).encode(), Limits())
    region = found["region"]
    setting = study(parse_scenario(body), samples=0, run=False).setting
    for i in range(0, 64, 7):
        for j in range(0, 64, 5):
            t2, k1 = region["t2"][i], region["k1"][j]
            each = setting.t2 * 0.0 + t2
            other = replace(setting, k1=k1, t2=each, t1=each / 2.0)
            sync, local = other.sharper
            assert region["admissible"]["paper"][i][j] == other.feasible
            assert region["admissible"]["sync_global"][i][j] == sync.fulfilled
            assert region["admissible"]["async_local"][i][j] == local.fulfilled
    rows = region["admissible"]["paper"]
    assert {0, 1} == {cell for row in rows for cell in row}
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("eta_max", [5e-324, 1e-70, 1e70, 1e300])
@pytest.mark.parametrize("lipschitz", [5e-324, 1e300])
def test_the_region_of_odd_numbers_is_numbers(eta_max, lipschitz):
    body = {**scenario("paper-30"), "certificate": {"eta_max": eta_max, "lipschitz": lipschitz}}
    found = design(json.dumps(body).encode(), Limits())
    json.dumps(found, allow_nan=False)


@pytest.mark.timeout(60)  # before, some kilobytes took minutes: the square of their length
@pytest.mark.parametrize("quote", ['"\\', "'", '"""\\', "'''\n", '"\n', "'''\""])
def test_quotes_without_end_take_no_time(quote):
    text = (quote * 200_000)[:200_000]
    for task, body in ((validate, "{" + text), (parse, "a = " + text), (parse, text)):
        refused(task, body.encode(), Limits())
