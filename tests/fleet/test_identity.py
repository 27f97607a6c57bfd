"""The digest by which the agents of a fleet compare their scenarios."""

import re

import numpy as np
import pytest

from dwell.fleet.identity import scenario_digest
from dwell.fleet.wire import new_incarnation
from dwell.scenario import load_scenario, parse_scenario
from tests.fleet.fleets import START, scenario

LAW = {"kind": "timer", "k1": 0.4, "nu": 0.3, "t1": 0.2, "t2": 0.6}


def box(width):
    return {"kind": "polygon", "vertices": [[0, 0], [width, 0], [width, 3], [0, 3]]}


CHANGES = {
    "workspace": {"workspace": box(4.001)},
    "density": {"density": {"kind": "gaussian", "center": [2.5, 2.0], "rate": 0.4000000001}},
    "start": {"agents": {"start": [*START[:5], [0.7, 2.3000001]]}},
    "number of agents": {"agents": {"start": START[:5]}},
    "law": {"controller": {**LAW, "k1": 0.41}},
    "fleet": {"fleet": {"clearance": 0.05}},
    "faults": {"fleet": {"faults": {"loss": 0.1}}},
    "seed": {"seed": 2},
    "horizon": {"horizon": 5.0},
    "world": {"world": [{"from": 2.0, "leave": [0]}]},
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_changes_what_agents_do_changes_the_digest(name):
    one, other = scenario(), scenario(**CHANGES[name])
    assert scenario_digest(one) != scenario_digest(other)
    assert scenario_digest(one) == scenario_digest(scenario())
    assert re.fullmatch("[0-9a-f]{32}", scenario_digest(one))


def test_names_and_addresses_do_not_change_it():
    peers = [f"192.168.1.{k}:7400" for k in range(len(START))]
    plain = scenario(fleet={"margin": 0.03})
    named = scenario(fleet={"margin": 0.03, "peers": peers}, name="another")
    assert scenario_digest(plain) == scenario_digest(named)


def raster_in(folder, peak):
    folder.mkdir()
    values = np.ones((4, 5))
    values[1, 2] = peak
    np.save(folder / "map.npy", values)
    tables = scenario(fleet={}).model_dump(mode="json", exclude_unset=True)
    density = {
        "kind": "raster",
        "file": "map.npy",
        "origin": [0, 0],
        "pixel": [1.0],
        "rows": "south first",
    }
    return parse_scenario({**tables, "density": density, "modules": str(folder)})


def test_rasters_count_by_their_values_and_not_by_their_files(tmp_path):
    one, same, other = (
        scenario_digest(raster_in(tmp_path / name, peak))
        for name, peak in (("a", 3.0), ("b", 3.0), ("c", 4.0))
    )
    assert one == same != other


OWN_LAW = """
class Still:
    def begin(self, seen):
        return self.decide(seen)
    def decide(self, seen):
        import dwell
        return dwell.Command(0.0 * seen.measurement.error, seen.time + {wait})
"""


def test_laws_in_python_count_by_their_source(tmp_path):
    digests = []
    for name, wait in (("one", 0.5), ("other", 0.6)):
        (tmp_path / f"still_{name}").mkdir()
        (tmp_path / f"still_{name}" / "still_law.py").write_text(OWN_LAW.format(wait=wait))
        tables = scenario().model_dump(mode="json", exclude_unset=True)
        tables["controller"] = {"kind": "python", "class": "still_law:Still"}
        case = parse_scenario({**tables, "modules": str(tmp_path / f"still_{name}")})
        digests.append(scenario_digest(case))
    assert digests[0] != digests[1]


def test_every_template_has_a_digest_of_its_own():
    digests = {
        scenario_digest(load_scenario(f"src/dwell/scenario/templates/{name}.toml"))
        for name in ("two-hills", "paper-12", "paper-30", "line-8", "disc-9", "switching-site")
    }
    assert len(digests) == 6


def test_each_start_of_an_agent_has_another_number():
    found = {new_incarnation() for _ in range(100)}
    assert len(found) == 100
    assert max(found) < 2**64
