"""Sweep files to begin from, shipped with the package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

SWEEPS: Mapping[str, str] = MappingProxyType(
    {"two-hills-sweep": "a sweep of two-hills over waits and laws"}
)


def sweep_text(name: str) -> str:
    """The commented TOML of a sweep; `SWEEPS` has the names."""
    return files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
