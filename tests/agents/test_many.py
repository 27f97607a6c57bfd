"""Many agents that move in the plane: compiled event loop and readable loop give the same arc."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box, DiscreteLloyd, Gaussian, Lloyd, Uniform
from dwell.agents import CoverageSystem, table_of
from dwell.engine import run_compiled
from dwell.engine.compiled import CompiledRun
from dwell.hybrid import StopReason
from tests.agents.test_many_any import LAWS, same_arc
from tests.conftest import differing
from tests.crowds import LAYOUTS, PLACES

SQUARE = Box((0, 0), (1, 1))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", PLACES)
def test_moving_agents(law, name):
    same_arc(PLACES[name][:120], law, density=Gaussian((0.3, 0.7), rate=5.0))


@pytest.mark.parametrize("law", ["timer", "fast", "round-robin"])
@pytest.mark.parametrize(
    "name", ["line", "even-rows", "parabola", "clusters", "far-one", "decades"]
)
def test_agents_that_set_off_on_lines_and_in_clusters(law, name):
    """Neighbours of very long cells are found in a tree, which is rebuilt during the run."""
    same_arc(LAYOUTS[name](260), law, jumps=700)


def test_agents_that_exceed_the_caches():
    agents = 20_005
    places = np.random.default_rng(1).uniform(0, np.sqrt(agents), (agents, 2))
    same_arc(places, "slow", jumps=40, size=np.sqrt(agents))


def test_all_at_once_is_one_after_another(monkeypatch):
    """Synchronous laws of many agents are computed side by side."""
    places = np.random.default_rng(7).uniform(0, 1, (1200, 2))
    name, together = "advance_together", CompiledRun.advance_together
    for law in (Lloyd(k2=1.0, dt=0.1), DiscreteLloyd(schedule="synchronous", step=0.3)):
        system = CoverageSystem(SQUARE, Gaussian((0.3, 0.7), rate=5.0), law, len(places), seed=3)
        steps = []
        monkeypatch.setattr(
            CompiledRun, name, lambda *given, kept=steps: kept.append(1) or together(*given)
        )
        side_by_side = run_compiled(system, system.start(places), until=1.05, max_jumps=3_000)
        assert len(steps) >= 3
        monkeypatch.setattr(CompiledRun, name, lambda *given: None)
        in_turn = run_compiled(system, system.start(places), until=1.05, max_jumps=3_000)
        assert side_by_side.jumps == in_turn.jumps == 3_000
        assert differing(table_of(in_turn), table_of(side_by_side)) == []


def test_agents_that_meet_while_all_look():
    places = np.random.default_rng(7).uniform(0, 0.4, (1200, 2))
    places[:2] = [[0.5, 0.75], [0.75, 0.75]]

    class Straight(Lloyd):
        """The first two set off towards each other."""

        def begin_all(self, errors):
            first = super().begin_all(errors)
            first.hold[:2] = [[1.25, 0], [-1.25, 0]]
            return first

    law = Straight(k2=1.0, dt=0.1)
    system = CoverageSystem(SQUARE, Uniform(), law, len(places), seed=3)
    arc = run_compiled(system, system.start(places), until=1.0)
    assert arc.stop.reason is StopReason.COINCIDENT
    assert "agents 0 and 1" in arc.stop.detail
