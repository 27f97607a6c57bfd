"""A small run for the tests of exports."""

from __future__ import annotations

import pytest

import dwell
from dwell.scenario import parse_scenario, template_text, text_to_mapping


@pytest.fixture(scope="session")
def two_hills() -> dwell.Run:
    """The template two-hills, up to t = 5."""
    table = text_to_mapping(template_text("two-hills"))
    table["run"]["horizon"] = 5.0
    return dwell.run_scenario(parse_scenario(table))
