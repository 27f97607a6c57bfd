"""Constant responses: the templates of `dwell init`, and the schema of scenarios."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dwell.scenario import (
    TEMPLATES,
    parse_scenario,
    scenario_schema,
    template_text,
    text_to_mapping,
)


@lru_cache(maxsize=1)
def templates() -> list[dict[str, Any]]:
    """Return name, title, description and scenario of each template."""
    found = []
    for name, about in TEMPLATES.items():
        scenario = parse_scenario(text_to_mapping(template_text(name)))
        data = scenario.model_dump(mode="json", exclude_none=True)
        title = scenario.name or name.replace("-", " ")
        found.append({"name": name, "title": title, "about": about, "scenario": data})
    return found


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenarios."""
    return scenario_schema()
