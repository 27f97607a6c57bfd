"""Every refusal of a call in Python, once: one sentence, with a code; the calls are in a table."""

from __future__ import annotations

import datetime
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import agents, density, geometry, plotting
from dwell.density.support import check_density
from dwell.plotting import film
from dwell.scenario import parse_scenario
from dwell.studies import laws
from dwell.sweep import plan_of
from dwell.theory import consensus
from tests.catalogue import kit
from tests.sweep import worlds

TABLE = Path(__file__).with_name("refused_calls.txt").read_text("utf-8")
ROWS = [
    [part.strip() for part in line.split(" |", 2)]
    for line in TABLE.splitlines()
    if line and line[0] not in "#["
]

SQUARE, CUBE, LINE = dwell.Box((0, 0), (1, 1)), dwell.Box((0,) * 3, (1,) * 3), dwell.Interval(0, 1)
DISC = dwell.Ball((0, 0), 1)
PLACES = [(0.25, 0.5), (0.75, 0.5), (0.5, 0.9)]
SCENARIO = {
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [1, 1]},
    "agents": {"start": [[0.2, 0.2], [0.7, 0.6]]},
    "controller": {"kind": "timer", "k1": 0.4, "nu": 0.2, "t1": 0.1, "t2": 0.3},
    "certificate": {"eta_max": 0.3, "lipschitz": 5.0},
    "run": {"horizon": 1.0, "seed": 5, "record": {"sample_every": 0.25}},
}


def timer(**changes: Any) -> dwell.Timer:
    return dwell.Timer(**{"k1": 0.4, "nu": 0.2, "t1": 0.1, "t2": 0.3, **changes})


def started(law: Any = None, **options: Any) -> dwell.Run:
    return dwell.simulate(SQUARE, None, PLACES, law or timer(), **{"until": 0.1, **options})


def in_dimensions(n: int) -> tuple[dwell.Box, list[list[float]]]:
    return dwell.Box((0,) * n, (1,) * n), [[0.25] * n, [0.75] * n]


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the expressions of the table are made of."""
    own = {
        "r": dwell.simulate(SQUARE, None, PLACES[:2], timer(), until=1.0, sample_every=0.25),
        "t": dwell.tessellate(SQUARE, PLACES),
        "weighed": lambda density: check_density(density, dwell.Box((0, 0), (4, 4))),
        "cube": lambda n: np.array(list(itertools.product((0.0, 1.0), repeat=n))),
        "cross": lambda n: np.vstack([np.eye(n), -np.eye(n)]),
        "star": lambda points, step: [
            (math.cos(a), math.sin(a)) for a in 2 * np.pi * step / points * np.arange(points)
        ],
        "tessellate_in": lambda n: dwell.tessellate(*in_dimensions(n)),
        "simulate_in": lambda n: dwell.simulate(
            in_dimensions(n)[0], None, in_dimensions(n)[1], timer(), until=1.0
        ),
        "kit": kit,
        "datetime": datetime,
        "swept": lambda **changes: plan_of(worlds.small(**changes)),
        "site": parse_scenario(SCENARIO),
        "HUGE": {f"run.k{k}": list(range(1000)) for k in range(7)},
        "HILL": dwell.Gaussian(center=(0.1, 0.2, 0.3), rate=1.0),
        "FLAT_WALLS": [[1, 0], [-1, 0], [0, 1], [0, -1]],
        "LONGER": {**SCENARIO, "run": {**SCENARIO["run"], "horizon": 7.0}},
        "SCATTERED": {**SCENARIO, "agents": {"start": {"count": 6, "seed": 3}}},
    }
    rooms = (agents, density, geometry, plotting, film, consensus, laws)
    known = {name: value for room in rooms for name, value in vars(room).items()}
    front = {name: getattr(dwell, name) for name in dwell.__all__}
    return {**known, **front, **globals(), **own}


@pytest.mark.parametrize(("call", "code", "words"), ROWS, ids=[row[0] for row in ROWS])
def test_refused(
    call: str,
    code: str,
    words: str,
    names: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dwell.InputError) as caught:
        eval(call, names)
    assert isinstance(caught.value, ValueError)
    assert caught.value.code.startswith(code or "")
    assert words in str(caught.value)
    assert str(caught.value).strip()
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
