"""Tables of a scenario as the page draws them: without files and folders of this machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from dwell._types import Floats
from dwell.agents import CoverageSystem
from dwell.density import Raster
from dwell.errors import InputError
from dwell.scenario import Scenario
from dwell.scenario.rasters import known_raster

PIXELS = 128  # along the longer side of a raster that is drawn
DIGITS = 5  # of its values


def drawn_scenario(system: CoverageSystem, scenario: Scenario) -> dict[str, Any]:
    """Return the tables of a scenario as the page draws it."""
    named = scenario.model_dump(mode="json", exclude_none=True, exclude={"modules", "site"})
    return drawn_tables(system, named)


def drawn_tables(system: CoverageSystem, tables: dict[str, Any]) -> dict[str, Any]:
    """Return tables with the values of their rasters in place of the files of these."""
    found: dict[str, Any] = _without_files(tables, None if system.changes is not None else system)
    return found


def _without_files(value: Any, system: CoverageSystem | None) -> Any:
    """Return JSON values with every raster in a file as one whose values are in the table.

    The raster is sampled over the workspace of `system`, or over itself where the world changes.
    """
    if isinstance(value, list):
        return [_without_files(one, system) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") != "raster" or "file" not in value:
        return {key: _without_files(one, system) for key, one in value.items()}
    raster = known_raster(value.get("sha256"))
    if raster is None:
        says = "this density is a raster in a file for each of several times, which the page does"
        raise InputError(f"{says} not draw", code="export.density", key="density.file")
    lower, upper = system.workspace.bounds if system is not None else _ends(raster)
    return _sampled(raster, lower, upper)


def _ends(raster: Raster) -> tuple[Floats, Floats]:
    return raster.corners.min(axis=0), raster.corners.max(axis=0)


def _sampled(raster: Raster, lower: Floats, upper: Floats) -> dict[str, Any]:
    """Return the table of a raster with values at the middles of equal pixels."""
    size = upper - lower
    columns, rows = np.maximum(np.ceil(PIXELS * size / size.max()), 2).astype(int).tolist()
    pixel = size / [columns, rows]
    x = lower[0] + (np.arange(columns) + 0.5) * pixel[0]
    y = lower[1] + (np.arange(rows) + 0.5) * pixel[1]
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = raster.at(points).reshape(rows, columns)
    return {
        "kind": "raster",
        "inline": [[float(f"{v:.{DIGITS}g}") for v in row] for row in values.tolist()],
        "origin": lower.tolist(),
        "pixel": pixel.tolist(),
        "rows": "south first",
        "interpolation": "bilinear",
        "outside": 0.0,
    }
