"""Runs that take long: how long is said before, and what would shorten one that takes too long."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dwell.web.jobs.task_client import LESS, problem_of
from dwell.web.limits import Limits
from dwell.web.work.run_stream import SLOW, estimated_seconds, length_in_words
from dwell.web.work.scenario_tasks import admit
from dwell.workers.child import Ending, TaskOutcome

LIMITS = Limits(seconds=120.0)


def scenario(parts: int = 1, dimension: int = 2) -> dict[str, Any]:
    """A scenario with so many peaks in so many dimensions."""
    n = dimension
    peaks = [{"kind": "gaussian", "center": [0.1 * k] * n, "rate": 0.5} for k in range(parts)]
    return {
        "workspace": {"kind": "box", "lower": [0.0] * n, "upper": [6.0] * n},
        "density": {"kind": "mixture", "parts": peaks} if parts > 1 else peaks[0],
        "agents": {"start": [[1.0] * n, [4.0] * n]},
        "controller": {"kind": "timer", "k1": 0.5, "nu": 0.4, "t1": 0.3, "t2": 0.6},
        "run": {"horizon": 30.0, "seed": 1},
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parts": 60}, "its density has 60 parts, each of which takes time in every cell"),
        ({"dimension": 3}, "cells take long in 3 dimensions"),
        ({}, LESS),
    ],
)
def test_the_advice_names_the_cause(changes: dict[str, int], words: str) -> None:
    advice = admit(json.dumps(scenario(**changes)).encode(), LIMITS)["advice"]
    assert words in advice
    problem = problem_of(TaskOutcome(Ending.LATE, "120 s"), advice)
    assert problem is not None
    assert words in problem["message"]
    assert problem["code"] == "web.time"
    assert problem["message"].endswith("or use dwell run")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.5 * SLOW, ""),
        (37.4, "about 37 s in all"),
        (141.0, "about 140 s in all, and this server gives 120 s"),
    ],
)
def test_the_length_is_said_in_words(seconds: float, words: str) -> None:
    assert length_in_words(seconds, LIMITS) == words


def test_the_estimate_counts_events_and_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    from dwell.engine.memory import need_of
    from dwell.runner import run_scenario
    from dwell.scenario import parse_scenario

    clock = iter(range(100))  # a second passes between any two looks
    monkeypatch.setattr("dwell.web.work.run_stream.time.process_time", lambda: float(next(clock)))
    found: list[float] = []
    checked = parse_scenario(scenario())

    def watch(recorder: Any, piece: Any) -> None:
        if piece is None:
            need = need_of(recorder, 30.0, checked.run.max_jumps, saved=True)
            counted = (need.events or 0.0) + 2 * need.samples
            found.append(estimated_seconds(recorder, checked) / (0.5 * counted))

    run_scenario(checked, progress=False, watch=watch)
    assert found == pytest.approx([1.0])
