"""Scenario files: what they may say, how they are read, checked, changed and written."""

from .load import (
    ScenarioLike,
    as_scenario,
    dump_toml,
    load_scenario,
    parse_scenario,
    text_to_mapping,
)
from .overrides import apply_overrides
from .schema import Scenario, scenario_schema
from .templates import TEMPLATES, template_text

__all__ = [
    "TEMPLATES",
    "Scenario",
    "ScenarioLike",
    "apply_overrides",
    "as_scenario",
    "dump_toml",
    "load_scenario",
    "parse_scenario",
    "scenario_schema",
    "template_text",
    "text_to_mapping",
]
