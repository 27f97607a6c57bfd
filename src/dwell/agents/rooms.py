"""Which folder of kernels has the engine of a dimension."""

from __future__ import annotations

from importlib import import_module
from typing import Any

ROOMS = {1: "line.", 2: "", 3: "space."}


def kernel(dimension: int, name: str = "engine") -> Any:
    """The module of kernels of that name for a dimension."""
    return import_module(f"dwell._kernels.{ROOMS[dimension]}{name}")
