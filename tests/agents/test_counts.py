"""Samples, cells and messages are counted for every law, also for those that laws compute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import dwell
from dwell.agents import Command, Information, Observation, Traits
from dwell.cells import tessellation
from dwell.errors import ControllerError
from dwell.verify.replay import rederive
from tests.controllers.worlds import BOX, HILL, START


@dataclass(frozen=True)
class Heard:
    """Goes to the centroid of the cell that follows from the broadcasts of all others."""

    dt: float = 0.1
    declared: object = 1

    traits = Traits(information=Information(own="always", others="broadcasts"))

    def begin(self, observation: Observation) -> Command:
        still = np.zeros(len(observation.position))
        return Command(still, observation.time + self.dt, measures=False, promise=1.0)

    def decide(self, observation: Observation) -> Command:
        heard = observation.heard.values()
        places = [observation.position, *(message.position for message in heard)]
        seen = tessellation.tessellate(observation.ground.workspace, places, HILL)
        return Command(
            seen.errors[0], observation.time + self.dt, measures=False, promise=1.0,
            voronoi=self.declared,
        )  # fmt: skip


def run(law: object, **options: object) -> dwell.Run:
    return dwell.simulate(BOX, HILL, START, law, until=1.05, seed=1, **options)


def test_cells_that_a_law_builds_from_messages_are_counted() -> None:
    counters = run(Heard()).counters
    assert (counters.voronoi == 10).all()
    assert (counters.cells == 10).all()
    assert (counters.samples == 0).all()
    assert (counters.sent == 11).all()


@pytest.mark.parametrize("order", ["C", 1])
def test_every_agent_is_charged_with_all_cells_of_tvd(order: object) -> None:
    law = dwell.TVD(dt=0.25, order=order)
    counters = run(law).counters
    assert (counters.samples == 5).all()
    assert (counters.voronoi == 5 * len(START)).all()
    assert (counters.received == 5 * (len(START) - 1)).all()
    switches = [dwell.Switch(at=0.6, leave=[2])]
    left = run(law, switches=switches).counters
    assert left.voronoi.tolist() == [3 * 6 + 2 * 5] * 2 + [3 * 6] + [3 * 6 + 2 * 5] * 3


@pytest.mark.parametrize("law", [dwell.MinimumEnergy(dt=0.25), dwell.Lloyd(dt=0.25)])
def test_a_sample_is_one_cell_and_the_positions_of_the_neighbours(law: object) -> None:
    found = run(law)
    assert (found.counters.voronoi == 5).all()
    assert (found.counters.samples == 5).all()
    neighbours = found.events.neighbors.sum() + sum(one.received for one in found.start.spent)
    assert found.counters.received.sum() == neighbours


def test_counts_of_cells_survive_files_summaries_and_comparisons(tmp_path: Path) -> None:
    law = dwell.TVD(dt=0.25)
    whole = run(law)
    whole.save(tmp_path / "run.nc")
    again = dwell.load_run(tmp_path / "run.nc")
    assert np.array_equal(again.counters.voronoi, whole.counters.voronoi)
    assert dwell.check(again, thorough=True).ok
    for kind in ("samples", "summary"):
        other = run(law, record=kind)
        assert other.summary()["cells"] == whole.summary()["cells"]
        other.save(tmp_path / f"{kind}.nc")
        kept = dwell.load_run(tmp_path / f"{kind}.nc")
        assert np.array_equal(kept.counters.voronoi, whole.counters.voronoi)
    figures = dwell.compare(whole.scenario, {"tvd": dwell.TVD(dt=0.25)}, workers=1).figures
    found = figures["tvd"]
    assert found["samples"]["max"] == 5.0
    assert found["cells.voronoi"]["max"] == 30


def test_wrong_counts_of_cells_are_found() -> None:
    found = run(dwell.TVD(dt=0.25))
    cells = found.events.count("voronoi").copy()
    assert (cells == 5).all()
    cells[7] -= 1
    bad = replace(found.events, voronoi=cells)
    wrong = rederive(found.system, found.start, bad, lambda what, share: None)["counts"]
    assert np.flatnonzero(wrong).tolist() == [7]


@pytest.mark.parametrize("count", [0.5, "1", None])
def test_counts_that_are_no_whole_numbers_are_refused(count: object) -> None:
    with pytest.raises(ControllerError, match="whole numbers"):
        run(Heard(declared=count))
