"""Coverage control with mobile sensors that look and act only now and then.

The names below are the front door; each is loaded when first used, so that ``import dwell`` and
``dwell --help`` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dwell.agents import Command as Command
    from dwell.agents import Network as Network
    from dwell.agents import Observation as Observation
    from dwell.cells import Tessellation as Tessellation
    from dwell.cells import moments as moments
    from dwell.cells import tessellate as tessellate
    from dwell.controllers import DiscreteLloyd as DiscreteLloyd
    from dwell.controllers import EventTriggered as EventTriggered
    from dwell.controllers import Lloyd as Lloyd
    from dwell.controllers import SelfTriggered as SelfTriggered
    from dwell.controllers import SelfTriggeredCentroid as SelfTriggeredCentroid
    from dwell.controllers import Timer as Timer
    from dwell.density import Function as Function
    from dwell.density import Gaussian as Gaussian
    from dwell.density import Mixture as Mixture
    from dwell.density import Polynomial as Polynomial
    from dwell.density import Uniform as Uniform
    from dwell.errors import DwellError as DwellError
    from dwell.errors import InputError as InputError
    from dwell.errors import Interrupted as Interrupted
    from dwell.geometry import Ball as Ball
    from dwell.geometry import Box as Box
    from dwell.geometry import Ellipsoid as Ellipsoid
    from dwell.geometry import Interval as Interval
    from dwell.geometry import Polygon as Polygon
    from dwell.geometry import Polytope as Polytope
    from dwell.plotting import animate as animate
    from dwell.results import Run as Run
    from dwell.results import load_run as load_run
    from dwell.runner import check as check
    from dwell.runner import resume_run as resume_run
    from dwell.runner import run_scenario as run_scenario
    from dwell.runner import simulate as simulate
    from dwell.scenario import Scenario as Scenario
    from dwell.scenario import load_scenario as load_scenario
    from dwell.studies.batch import simulate_many as simulate_many
    from dwell.studies.compare import compare as compare
    from dwell.studies.design import design as design
    from dwell.studies.optimize import optimize as optimize
    from dwell.sweep import load_sweep as load_sweep
    from dwell.sweep import run_sweep as run_sweep

_ROOMS = {
    "Ball": "geometry",
    "Box": "geometry",
    "DiscreteLloyd": "controllers",
    "DwellError": "errors",
    "Ellipsoid": "geometry",
    "EventTriggered": "controllers",
    "Function": "density",
    "Gaussian": "density",
    "InputError": "errors",
    "Interrupted": "errors",
    "Interval": "geometry",
    "Lloyd": "controllers",
    "Mixture": "density",
    "Network": "agents",
    "Command": "agents",
    "Polygon": "geometry",
    "Polynomial": "density",
    "Polytope": "geometry",
    "Run": "results",
    "Scenario": "scenario",
    "SelfTriggered": "controllers",
    "SelfTriggeredCentroid": "controllers",
    "Tessellation": "cells",
    "Timer": "controllers",
    "Uniform": "density",
    "Observation": "agents",
    "animate": "plotting",
    "check": "runner",
    "compare": "studies",
    "design": "studies",
    "load_run": "results",
    "load_scenario": "scenario",
    "load_sweep": "sweep",
    "moments": "cells",
    "optimize": "studies",
    "resume_run": "runner",
    "run_scenario": "runner",
    "run_sweep": "sweep",
    "simulate": "runner",
    "simulate_many": "studies.batch",
    "tessellate": "cells",
}

__all__ = sorted(_ROOMS)


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'dwell' has no attribute {name!r}")
    value = getattr(import_module(f"dwell.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
