"""The front door: what it offers, and what it does not drag in."""

import subprocess
import sys

import pytest

import dwell
from dwell.scenario import scenario_schema
from dwell.studies import Comparison

HEAVY = ("numba", "matplotlib", "xarray", "h5netcdf", "scipy", "shapely", "pydantic", "numpy")


def test_every_name_is_there():
    for name in dwell.__all__:
        assert getattr(dwell, name) is not None
    assert set(dwell.__all__) <= set(dir(dwell))


def test_the_promised_names():
    promised = {
        "Box", "Gaussian", "Mixture", "Polygon", "Polynomial", "Timer", "Uniform",
        "check", "load_scenario", "run_scenario", "simulate", "tessellate",
    }  # fmt: skip
    assert promised <= set(dwell.__all__)


def test_an_unknown_name_is_an_attribute_error():
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


def test_importing_dwell_loads_nothing_heavy():
    assert loaded_after("import dwell") == set()


def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['dwell', '--help']\n"
        "import contextlib, io\n"
        "from dwell.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main()"
    )
    assert loaded_after(code) == set()


def test_validating_the_schema_needs_no_compiler():
    assert "numba" not in loaded_after(
        "from dwell.scenario import scenario_schema; scenario_schema()"
    )


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
