"""Coverage control with mobile sensors that sample and act only at discrete events.

The public names; each is loaded when it is first used, so that ``import dwell`` and
``dwell --help`` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dwell.agents import Command, Information, Network, Observation, Sensor, Switch, Traits
    from dwell.cells import Tessellation, power_weights, tessellate
    from dwell.cells.moments import moments
    from dwell.controllers import (
        TVD,
        DiscreteLloyd,
        EventTriggered,
        Lloyd,
        MinimumEnergy,
        SelfTriggered,
        SelfTriggeredCentroid,
        Timer,
    )
    from dwell.density import (
        Function,
        Gaussian,
        Mixture,
        Moving,
        MovingRaster,
        Polynomial,
        Raster,
        Uniform,
    )
    from dwell.errors import DwellError, InputError, Interrupted
    from dwell.exports import export_gis, export_html, export_mcap, player
    from dwell.fleet.run import merge_journals, run_fleet
    from dwell.geometry import (
        Ball,
        Box,
        Ellipsoid,
        Interval,
        MovingPolygon,
        Polygon,
        Polytope,
        Region,
    )
    from dwell.motion import Circle, Keyframes
    from dwell.plotting import animate
    from dwell.results import Run, load_run
    from dwell.runner import check, resume_run, run_scenario, simulate
    from dwell.scenario import Scenario, load_scenario
    from dwell.sites import Frame, Site
    from dwell.studies.batch import simulate_many
    from dwell.studies.compare import compare
    from dwell.studies.design import design
    from dwell.studies.optimize import optimize
    from dwell.sweep import load_sweep, run_sweep

__all__ = [
    "TVD", "Ball", "Box", "Circle", "Command", "DiscreteLloyd", "DwellError", "Ellipsoid",
    "EventTriggered", "Frame", "Function", "Gaussian", "Information", "InputError", "Interrupted",
    "Interval", "Keyframes", "Lloyd", "MinimumEnergy", "Mixture", "Moving", "MovingPolygon",
    "MovingRaster", "Network", "Observation", "Polygon", "Polynomial", "Polytope", "Raster",
    "Region", "Run", "Scenario", "SelfTriggered", "SelfTriggeredCentroid", "Sensor", "Site",
    "Switch", "Tessellation", "Timer", "Traits", "Uniform", "animate", "check", "compare",
    "design", "export_gis", "export_html", "export_mcap", "load_run", "load_scenario",
    "load_sweep", "merge_journals", "moments", "optimize", "player", "power_weights", "resume_run",
    "run_fleet", "run_scenario", "run_sweep", "simulate", "simulate_many", "tessellate",
]  # fmt: skip

_MODULES = {
    "agents": (
        "Command", "Information", "Network", "Observation", "Sensor", "Switch", "Traits",
    ),
    "cells": ("Tessellation", "moments", "power_weights", "tessellate"),
    "controllers": (
        "DiscreteLloyd", "EventTriggered", "Lloyd", "MinimumEnergy", "SelfTriggered",
        "SelfTriggeredCentroid", "TVD", "Timer",
    ),
    "density": (
        "Function", "Gaussian", "Mixture", "Moving", "MovingRaster", "Polynomial", "Raster",
        "Uniform",
    ),
    "errors": ("DwellError", "InputError", "Interrupted"),
    "exports": ("export_gis", "export_html", "export_mcap", "player"),
    "fleet.run": ("merge_journals", "run_fleet"),
    "geometry": (
        "Ball", "Box", "Ellipsoid", "Interval", "MovingPolygon", "Polygon", "Polytope", "Region",
    ),
    "motion": ("Circle", "Keyframes"),
    "plotting": ("animate",),
    "results": ("Run", "load_run"),
    "runner": ("check", "resume_run", "run_scenario", "simulate"),
    "scenario": ("Scenario", "load_scenario"),
    "sites": ("Frame", "Site"),
    "studies": ("compare", "design", "optimize"),
    "studies.batch": ("simulate_many",),
    "sweep": ("load_sweep", "run_sweep"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'dwell' has no attribute {name!r}")
    value = getattr(import_module(f"dwell.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
