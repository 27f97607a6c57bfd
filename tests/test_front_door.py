"""The front door: what it offers, and what it does not drag in."""

import subprocess
import sys

import pytest

import dwell
from dwell.scenario import scenario_schema
from dwell.studies import Comparison

HEAVY = ("numba", "matplotlib", "xarray", "h5netcdf", "scipy", "shapely", "pydantic", "numpy")


def test_every_name_is_there():
    promised = {
        "Box", "Gaussian", "Mixture", "Polygon", "Polynomial", "Timer", "Uniform",
        "check", "load_scenario", "run_scenario", "simulate", "tessellate",
    }  # fmt: skip
    assert promised <= set(dwell.__all__) <= set(dir(dwell))
    for name in dwell.__all__:
        assert getattr(dwell, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Teleport'"):
        _ = dwell.Teleport


def loaded_after(code: str) -> set[str]:
    """Which heavy packages a fresh interpreter has loaded after `code`."""
    found = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(found.stdout.split()) & set(HEAVY)


HELP = """
import contextlib, io, sys
from dwell.cli import main
sys.argv = ['dwell', '--help']
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main()
"""
SCHEMA = "from dwell.scenario import scenario_schema; scenario_schema()"


@pytest.mark.parametrize(
    ("code", "allowed"), [("import dwell", ()), (HELP, ()), (SCHEMA, set(HEAVY) - {"numba"})]
)
def test_what_is_not_needed_is_not_loaded(code, allowed):
    assert loaded_after(code) <= set(allowed)


def test_numbers_are_called_numbers():
    """A figure is a picture to some and a number to others."""
    said = [dwell.simulate.__doc__, dwell.Run.summary.__doc__, Comparison.figures.__doc__]
    said += [str(scenario_schema()["$defs"]["RecordSpec"]["description"])]
    law = dwell.Timer(k1=0.3, nu=0.2, t1=0.1, t2=0.3)
    start = [(0.2, 0.2), (0.7, 0.6)]
    run = dwell.simulate(dwell.Box((0, 0), (1, 1)), None, start, law, until=0.5, record="summary")
    with pytest.raises(dwell.InputError, match="keeps numbers and its final state") as refused:
        _ = run.events
    said += [str(refused.value)]
    assert not [text for text in said if "figure" in str(text)]
