"""Units of the keys of laws, which the page takes over: a law scaled by them is the same law."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import _parameters as unit
from dwell._parameters import parameters_of
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario
from dwell.scenario.laws import LAW_KINDS
from tests.docs.test_complete import module_at

UNITS = {
    kind: {key: one.unit for key, one in parameters_of(law).items()}
    for kind, law in LAW_KINDS.items()
}
PAGE = Path(__file__).parents[2] / "page"
LENGTH, TIME = 512.0, 64.0  # powers of two, so that scaling changes no digit
START = [[0.5, 0.7], [1.1, 2.9], [2.3, 0.4], [3.9, 2.2], [5.1, 0.9]]
LAWS: dict[str, dict[str, Any]] = {
    "timer": {"k1": 0.5, "nu": 0.4, "t1": 0.3, "t2": [0.7, 0.8, 0.9, 1.0, 1.1]},
    "timer, periodic": {"k1": 0.5, "nu": 0.4, "t1": 0.3, "t2": 0.7, "reset": "periodic",
                        "period": 0.5, "initial_hold": [[0.1, 0.2]] * 5, "initial_timer": 0.4},
    "timer, sequence": {"k1": 0.5, "nu": 0.4, "t1": 0.3, "t2": 0.7, "reset": "sequence",
                        "intervals": [0.3, 0.6, 0.5]},
    "timer, adaptive": {"k1": 0.5, "nu": 0.4, "t1": 0.1, "t2": 0.7, "reset": "adaptive",
                        "eta_max": 0.2},
    "lloyd": {"dt": 0.1, "speed": 0.5},
    "discrete-lloyd": {"step": 0.4, "speed": 0.5},
    "discrete-lloyd, poisson": {"step": 0.4, "speed": 0.5, "schedule": "poisson", "rate": 3.0},
    "self-triggered": {"v": 0.5},
    "self-triggered-centroid": {"v_max": 0.5, "t_max": 1.0},
    "event-triggered": {"s_max": 0.5, "heartbeat": 0.7},
    "tvd": {"dt": 0.1, "speed": 0.5},
    "minimum-energy": {"dt": 0.1, "speed": 0.5},
}  # fmt: skip


def scenario(law: dict[str, Any], length: float, time: float) -> dict[str, Any]:
    """A scenario with units of length and time that are so much smaller."""
    defaults = parse_scenario(_plain(law, 1.0, 1.0)).controller.model_dump(exclude_none=True)
    powers = UNITS[law["kind"]]
    scaled = {k: _times(v, length, time, powers.get(k, (0, 0))) for k, v in defaults.items()}
    return _plain(scaled, length, time)


def _plain(law: dict[str, Any], length: float, time: float) -> dict[str, Any]:
    return {
        "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [6.0 * length, 4.0 * length]},
        "density": {
            "kind": "gaussian", "center": [4.0 * length, 3.0 * length], "rate": 0.1 / length**2
        },
        "agents": {"start": [[length * x for x in place] for place in START]},
        "controller": law,
        "run": {"horizon": 3.0 * time, "seed": 3},
    }  # fmt: skip


def _times(value: Any, length: float, time: float, powers: tuple[int, int]) -> Any:
    if isinstance(value, list | tuple):
        return [_times(one, length, time, powers) for one in value]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value * length ** powers[0] * time ** powers[1] if number and any(powers) else value


@pytest.mark.parametrize("name", LAWS)
def test_a_scaled_law_is_the_same_law(name: str) -> None:
    law = {"kind": name.partition(",")[0], **LAWS[name]}
    small, large = (
        run_scenario(parse_scenario(scenario(law, *by)), progress=False)
        for by in ((1.0, 1.0), (LENGTH, TIME))
    )
    assert len(large.events) == len(small.events) > 0
    np.testing.assert_allclose(large.events.time / TIME, small.events.time, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        large.positions(3.0 * TIME) / LENGTH, small.positions(3.0), rtol=1e-8, atol=1e-9
    )


ROLES = {
    "speed": (unit.SPEED,), "gain": (unit.RATE, unit.LENGTH),
    "clock": (unit.TIME, unit.RATE), "period": (unit.TIME,),
}  # fmt: skip


def test_every_role_has_a_unit_that_fits() -> None:
    for law in LAW_KINDS.values():
        declared = parameters_of(law)
        for one in declared.values():
            assert not one.role or one.unit in ROLES[one.role]
        roles = [one.role for one in declared.values()]
        assert all(roles.count(role) <= 1 for role in ("speed", "gain", "period"))
        assert roles.count("speed") == 1
        assert "clock" in roles or "period" in roles


def test_keys_described_as_lengths_have_that_unit() -> None:
    schema = dwell.scenario.scenario_schema()["$defs"]
    for spec in schema.values():
        kind = spec.get("properties", {}).get("kind", {}).get("const")
        if kind not in UNITS:
            continue
        for key, about in spec["properties"].items():
            says = about.get("description", "")
            if "a length" in says or "length per time" in says or "largest speed" in says:
                assert UNITS[kind][key][0] == 1, (kind, key)


def test_the_page_has_these_tables() -> None:
    module = module_at(PAGE / "tables.py")
    for file, values in module.tables().items():
        assert file.read_text() == module.written(values), "run page/tables.py"
