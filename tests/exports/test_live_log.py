"""The samples and the log of a live run, in MCAP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dwell
from dwell.exports.live_log import lines_of_live, samples_of_live
from dwell.live.record import BEGIN, FENCE, STALE, LiveRecord
from tests.exports.recorded_topics import topics_of


@pytest.fixture(scope="module")
def fleet(two_hills: dwell.Run) -> dwell.Run:
    """The scenario of a simulation as a fleet in virtual time."""
    assert two_hills.scenario is not None
    return dwell.run_fleet(two_hills.scenario, transport="memory")


@pytest.fixture(scope="module")
def live(fleet: dwell.Run) -> LiveRecord:
    assert fleet.details.live is not None
    return fleet.details.live


def test_the_file_of_a_live_run_has_its_record(fleet: dwell.Run, tmp_path: Path) -> None:
    found = topics_of(dwell.export_mcap(fleet, tmp_path / "a.mcap"))
    assert fleet.details.live is not None
    samples = [one.content for one in found["/agents/sample"]]
    assert [one["error"] for one in samples] == fleet.details.live.samples["error"].tolist()
    assert [one["k"] for one in samples] == fleet.details.live.samples["k"].tolist()
    ages = [belief["age"] for one in samples for belief in one["beliefs"]]
    assert ages == fleet.details.live.beliefs["age"].tolist()
    assert found["/log"][0].content.message == "agent 0 starts"


def test_samples_have_everything_that_was_recorded(two_hills: dwell.Run, live: LiveRecord) -> None:
    found = [one for _, one in samples_of_live(live)][two_hills.agents :]
    table = two_hills.events
    assert [one["time"] for one in found] == table.time.tolist()
    assert [one["position"] for one in found] == table.positions.tolist()
    assert [one["hold"] for one in found] == table.holds.tolist()
    for row, one in zip(live.samples[two_hills.agents :], found, strict=True):
        assert set(one) == {*live.samples.dtype.names, "shift", "beliefs"}
        assert len(one["beliefs"]) >= int(row["neighbors"])
        assert one["agent"] not in [belief["agent"] for belief in one["beliefs"]]


def test_all_start_and_nothing_else_happens(live: LiveRecord) -> None:
    assert sorted(lines_of_live(live, 5.0, 5.0)) == [
        (0.0, f"agent {p} starts", "Info") for p in range(8)
    ]


def test_an_agent_whose_clock_is_fast_has_not_died(live: LiveRecord) -> None:
    """It ends at the horizon of its own clock, before that of the others."""
    fast = live.samples["agent"] == 3
    early = replace(live, shifts=np.where(fast, -0.5, 0.0))
    assert not [one for one in lines_of_live(early, 5.0, 5.0) if one[2] == "Error"]


def test_deaths_returns_and_interventions_are_told(live: LiveRecord) -> None:
    mine = np.flatnonzero(live.samples["agent"] == 3)
    kept = np.ones(len(live.samples), dtype=bool)
    kept[mine[5:8]] = False  # it dies after its fifth sample, and comes back
    samples = live.samples.copy()
    samples["boot"][mine[8:]] = 1
    samples["flags"][mine[8]] = BEGIN
    samples["flags"][mine[9]] = FENCE | STALE
    samples["hold"][mine[9]] = 0.0
    changed = replace(live, samples=samples[kept], shifts=live.shifts[kept] + 10.0)
    lines = [one for one in lines_of_live(changed, 15.0, 15.0) if one[0] > 10.0]
    dead, back, silent, fence = sorted(lines)
    assert dead[0] == live.samples["next_at"][mine[4]] + 10.0
    assert (dead[1].split(" since")[0], dead[2]) == ("agent 3 has not sampled", "Error")
    assert back[1:] == ("agent 3 starts again, start number 2", "Info")
    assert silent[1].startswith("agent 3: a neighbour is silent")
    assert fence[1].startswith("agent 3: geofence: velocity [0. 0.] in place of [")
    assert back[0] == live.samples["time"][mine[8]] + 10.0
