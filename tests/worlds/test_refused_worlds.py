"""Worlds that are refused: the key, and what is needed."""

from __future__ import annotations

from typing import Any

import pytest

import dwell
from dwell.errors import InputError
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from tests.worlds.test_runs import scenario

RING = [[0, 0], [4, 0], [4, 4], [0, 4]]
NOTCHED = {"kind": "region", "parts": [{"outer": [[0, 0], [4, 0], [4, 4], [2, 2], [0, 4]]}]}
POWERS = dwell.Keyframes([0, 1], [[(0, 0, 1.0)], [(1, 0, 1.0)]])
WIDE = [1e10, 1]
FOLDED = [[0, 0], [4, 0], [1, 1], [0, 4]]
HALF_TURN = [[4, 4], [0, 4], [0, 0], [4, 0]]


def hill(**changes: Any) -> dict[str, Any]:
    return {"density": {"kind": "gaussian", "center": [1, 1], "rate": 1.0, **changes}}


def frames(times: list[float], values: list[Any], **more: Any) -> dict[str, Any]:
    return {"times": times, "values": values, **more}


def walls(*rings: Any) -> dict[str, Any]:
    times = [4.0 * k / (len(rings) - 1) for k in range(len(rings))]
    return {"workspace": {"kind": "polygon", "vertices": frames(times, list(rings))}}


REFUSED = {
    "out of order": (
        hill(center=frames([0, 5, 2], [[1, 1], [2, 2], [3, 3]])),
        "density.center.times[2]",
        "greater than times[1] = 5.0, got 2.0",
    ),
    "before 0": (
        hill(center=frames([-1, 5], [[1, 1], [2, 2]])), "density.center.times[0]", "at least 0"
    ),
    "too short": (
        hill(center=frames([0, 2], [[1, 1], [2, 2]])), "density.center.times", 'after = "hold"'
    ),
    "too short for a later world": (
        {**hill(center=frames([0, 2], [[1, 1], [2, 2]])), "world": [{"from": 1.0, "leave": [0]}]},
        "density.center.times",
        "up to t = 4",
    ),
    "sensor too short": (
        {
            "density": {"kind": "uniform"},
            "agents": {"start": [[1, 1], [2, 2]], "sensors": [["a"], ["a"]]},
            "sensor": [
                {"name": "a", **hill(center=frames([0, 2], [[1, 1], [2, 2]]))},
            ],
        },
        "sensor[0].density.center.times",
        "up to t = 4",
    ),
    "too late": (
        hill(center=frames([1, 5], [[1, 1], [2, 2]])), "density.center.times", "first keyframe"
    ),
    "uneven": (
        hill(center=frames([0, 5], [[1, 1]])), "density.center.values", "one value for each"
    ),
    "weight 0": (
        hill(weight=frames([0, 5], [1.0, 0.0])), "density.weight.values[1]", "greater than 0"
    ),
    "rate below 0": (
        hill(rate=frames([0, 5], [1.0, -1.0])), "density.rate.values[1]", "greater than 0"
    ),
    "three coordinates": (
        hill(center=frames([0, 5], [[1, 1, 1], [2, 2, 2]])), "density.center.values[0]", "two"
    ),
    "singular": (
        {
            "density": {
                "kind": "gaussian",
                "center": [1, 1],
                "covariance": frames([0, 5], [[[1, 0], [0, 1]], [[1, 1], [1, 1]]]),
            }
        },
        "density.covariance.values[1]",
        "positive definite",
    ),
    "period 0": (
        hill(center={"center": [1, 1], "radius": 1, "period": 0}), "density.center.period", "0"
    ),
    "unknown word": (
        hill(center=frames([0, 5], [[1, 1], [2, 2]], between="smooth")),
        "density.center.between",
        "linear or step",
    ),
    "negative polynomial": (
        {
            "density": {
                "kind": "polynomial",
                "terms": frames([0, 5], [[[0, 0, 1], [1, 0, 0]], [[0, 0, 1], [1, 0, -1]]]),
            }
        },
        "density",
        "not be negative",
    ),
    "other powers": (
        {
            "density": {
                "kind": "polynomial",
                "terms": frames([0, 5], [[[0, 0, 1]], [[1, 0, 1]]]),
            }
        },
        "density.terms.values[1]",
        "powers",
    ),
    "fold": (walls(RING, FOLDED), "workspace.vertices", "convex"),
    "fold on the way": (walls(RING, HALF_TURN), "workspace.vertices", "at t = 2"),
    "corners": (walls(RING, RING[:3]), "workspace.vertices.values[1]", "as many corners"),
    "world at 0": ({"world": [{"from": 0.0}]}, "world[0].from", "greater than 0"),
    "worlds out of order": (
        {"world": [{"from": 2.0}, {"from": 1.0}]}, "world[1].from", "greater than 2.0"
    ),
    "leaves twice": (
        {"world": [{"from": 1.0, "leave": [1]}, {"from": 2.0, "leave": [1]}]},
        "world[1].leave",
        "present before t = 2",
    ),
    "nobody": (
        {"world": [{"from": 1.0, "leave": [0, 1, 2, 3, 4, 5]}]}, "world[0].leave", "at least one"
    ),
    "arrives outside": (
        {"world": [{"from": 1.0, "arrive": [[9.0, 9.0]]}]}, "world[0].arrive[0]", "outside"
    ),
    "interval": (
        {"world": [{"from": 1.0, "workspace": {"kind": "interval", "bounds": [0, 1]}}]},
        "world[0].workspace",
        "2 dimensions",
    ),
    "grid": (
        {
            "world": [{"from": 1.0, "density": {"kind": "uniform"}}],
            "run": {"horizon": 4.0, "integration": {"kind": "grid", "spacing": 0.1}},
        },
        "run.integration",
        "does not change",
    ),
    "ode": (
        {
            "world": [{"from": 1.0, "density": {"kind": "uniform"}}],
            "controller": {"kind": "lloyd", "mode": "ode"},
        },
        "controller.mode",
        "does not change",
    ),
    "guaranteed cells": (
        {
            **walls(RING, [[0, 0], [5, 0], [5, 4], [0, 4]]),
            "controller": {"kind": "self-triggered", "v": 0.5},
        },
        "controller.kind",
        "boundary moves",
    ),
    "range in a later disc": (
        {
            "agents": {"start": {"count": 6, "seed": 2}, "radius": 1.0},
            "world": [{"from": 1.0, "workspace": {"kind": "ball", "center": [2, 2], "radius": 2}}],
        },
        "agents.radius",
        "Ball",
    ),
    "range in a later, far larger box": (
        {
            "density": {"kind": "uniform"},
            "agents": {"start": {"count": 6, "seed": 2}, "radius": 1.0},
            "world": [{"from": 1.0, "workspace": {"kind": "box", "lower": [0, 0], "upper": WIDE}}],
        },
        "agents.radius",
        "a length from 10 to",
    ),
    "range on a grid": (
        {
            "agents": {"start": {"count": 6, "seed": 2}, "radius": 1.0},
            "run": {"horizon": 4.0, "integration": {"kind": "grid", "spacing": 0.1}},
        },
        "agents.radius",
        "grid integration",
    ),
    "guaranteed cells in a later region": (
        {
            "world": [{"from": 1.0, "workspace": NOTCHED}],
            "controller": {"kind": "self-triggered", "v": 0.5},
        },
        "workspace",
        "guaranteed cells",
    ),
    "negative later": (
        {"world": [{"from": 1.0, "density": {"kind": "polynomial", "terms": [[1, 0, -1]]}}]},
        "world[0].density",
        "at t = 1 the density is -4",
    ),
    "leaves twice at once": (
        {"world": [{"from": 1.0, "leave": [1, 1]}]}, "world[0].leave[1]", "got 1 again"
    ),
    "unknown key": ({"world": [{"from": 1.0, "densty": {}}]}, "world[0].densty", "density"),
    "unknown key of a circle": (
        hill(center={"center": [1, 1], "radius": 1, "perod": 3}), "density.center.perod", "period"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    changes, key, says = REFUSED[name]
    with pytest.raises(InputError) as refused:
        build(parse_scenario(scenario(**changes)))  # as dwell validate does
    assert refused.value.key == key, str(refused.value)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dwell.Keyframes([0, 0], [1, 2]), "after times[0]"),
        (lambda: dwell.Keyframes([0, float("nan")], [1, 2]), "from 0 on"),
        (lambda: dwell.Keyframes([0, 1], [1, "a"]), "finite values"),
        (lambda: dwell.Keyframes([0, 1], [1, 2], between="cubic"), "linear"),
        (lambda: dwell.Keyframes([0, 1], [1, 2], after="stop"), "hold"),
        (lambda: dwell.Keyframes([0], 1), "one for each of the times"),
        (lambda: dwell.Switch(at=1.0, network=0.1), "dwell.Network"),
        (lambda: dwell.Moving(dwell.Polynomial, coefficients=POWERS), "powers"),
        (lambda: dwell.Circle((0, 0), 0.0, 1.0), "above 0"),
        (lambda: dwell.Circle((0, 0, 0), 1.0, 1.0), "two finite"),
        (lambda: dwell.Moving(dwell.Mixture, parts=()), "Gaussian"),
        (lambda: dwell.Moving(dwell.Gaussian, center=dwell.Keyframes([0], [(0, 0)])), "rate"),
        (lambda: dwell.Switch(at=0.0), "above 0"),
        (lambda: dwell.Switch(at=1.0, leave=[0, 0]), "different"),
        (lambda: dwell.Sensor("a", dwell.Uniform(), ()), "at least one"),
    ],
)
def test_refused_in_python(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says.replace("[", r"\[")):
        make()


def test_corners_that_stay_are_no_moving_polygon() -> None:
    corners: Any = RING
    with pytest.raises(InputError, match=r"dwell\.Keyframes\(times, values\) is needed") as fault:
        dwell.MovingPolygon(corners)
    assert fault.value.key == "workspace.vertices"
    assert fault.value.code == "workspace.keyframes"
