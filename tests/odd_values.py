"""Values of every odd kind, and of each public callable a good call whose arguments they replace.

`python -m tests.odd_values NAME ...` prints what of these callables is neither accepted nor refused
in one sentence.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import inspect
import pathlib
import re
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import dwell
from dwell.controllers import LAWS
from dwell.errors import ScenarioError
from dwell.sites import Frame

LONGEST = 400  # characters of a message


class _Color(enum.Enum):
    RED = 1


class _Whole(enum.IntEnum):
    ONE = 1


class _Rude:
    """Its methods raise."""

    def __repr__(self) -> str:
        return "<rude>"

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None

    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")


def odd_values() -> dict[str, Any]:
    """About 130 values, by what they are."""
    numbers: dict[str, Any] = {
        "0": 0, "-1": -1, "3": 3, "2**31": 2**31, "2**63": 2**63, "10**400": 10**400,
        "-10**400": -(10**400), "0.0": 0.0, "-0.0": -0.0, "0.5": 0.5, "-0.5": -0.5,
        "5e-324": 5e-324, "1e-300": 1e-300, "1e300": 1e300, "1.8e308": 1.7976931348623157e308,
        "inf": np.inf, "-inf": -np.inf, "nan": np.nan, "True": True, "False": False, "1j": 1j,
        "1+0j": 1 + 0j, "1/3": fractions.Fraction(1, 3), "0.1d": decimal.Decimal("0.1"),
        "NaN d": decimal.Decimal("NaN"), "sNaN d": decimal.Decimal("sNaN"),
        "f32": np.float32(0.5), "f16 inf": np.float16(np.inf), "i8": np.int8(1),
        "u64": np.uint64(2**64 - 1), "bool_": np.bool_(True), "longdouble": np.longdouble(0.5),
        "c128": np.complex128(1.0), "Whole": _Whole.ONE,
    }  # fmt: skip
    words: dict[str, Any] = {
        "empty": "", "blank": " ", "word": "word", "number": "1", "nan text": "nan",
        "newline": "a\nb", "null": "a\0b", "escape": "\x1b[31m", "umlaut": "ü", "emoji": "🐙",
        "surrogate": "\ud800", "long": "x" * 5000, "bytes": b"abc", "bytearray": bytearray(b"x"),
        "memoryview": memoryview(b"ab"), "path": pathlib.Path("x"), "long path": "x/" * 2500,
        "str_": np.str_("word"), "dots": "../..", "tilde": "~", "EPSG": "EPSG:25832",
    }  # fmt: skip
    times: dict[str, Any] = {
        "date": datetime.date(2020, 1, 1), "datetime": datetime.datetime(2020, 1, 1),
        "timedelta": datetime.timedelta(1), "datetime64": np.datetime64("2020-01-01"),
        "timedelta64": np.timedelta64(1, "s"), "NaT": np.datetime64("NaT"),
        "timedelta64s": np.array([1, 2], "timedelta64[s]"),
        "datetime64s": np.array(["2020-01-01"], "datetime64[D]"), "pd.NaT": pd.NaT,
        "Timestamp": pd.Timestamp("2020-01-01"), "Timedelta": pd.Timedelta(1, "s"),
        "list of timedelta64": [np.timedelta64(1, "s"), np.timedelta64(2, "s")],
    }  # fmt: skip
    arrays: dict[str, Any] = {
        "no numbers": np.array([]), "a number": np.array(0.5), "two": np.array([0.5, 0.6]),
        "2x2": np.eye(2), "3x2": np.ones((3, 2)), "2x3x4": np.ones((2, 3, 4)),
        "wide": np.zeros((0, 2)), "nans": np.full((2, 2), np.nan), "ints": np.arange(3),
        "bools": np.array([True, False]), "objects": np.array([None, 1], object),
        "texts": np.array(["a", "b"]), "complexes": np.array([1j, 2.0]),
        "masked": np.ma.masked_all((1, 2)), "part masked": np.ma.masked_equal([[1.0, 2.0]], 2.0),
        "structured": np.zeros(2, [("a", float)]), "array.array": array.array("d", [0.5, 0.6]),
        "matrix 0-d text": np.array("word"), "huge ints": np.array([10**30, 1], object),
    }  # fmt: skip
    tables: dict[str, Any] = {
        "pd.NA": pd.NA, "Series": pd.Series([0.5, 0.6]), "DataFrame": pd.DataFrame({"a": [1.0]}),
        "empty frame": pd.DataFrame(), "Index": pd.Index([1, 2]), "DataArray": xr.DataArray([0.5]),
        "Dataset": xr.Dataset(), "0-d DataArray": xr.DataArray(0.5),
        "Categorical": pd.Categorical(["a"]), "Float64": pd.array([0.5, None], "Float64"),
    }  # fmt: skip
    groups: dict[str, Any] = {
        "()": (), "[]": [], "{}": {}, "set": {1, 2}, "frozenset": frozenset(), "(1,)": (1,),
        "[1, 2]": [1, 2], "pairs": [(0.1, 0.2), (0.3, 0.4)], "ragged": [[1], [1, 2]],
        "nested": [[[[[1.0]]]]], "texts in list": ["1", "2"], "None in list": [None],
        "mixed": [1, "a", None], "dict": {"a": 1}, "numbered": {0: 1.0}, "range": range(3),
        "deque": collections.deque([1, 2]), "Counter": collections.Counter("ab"),
        "mapping": types.MappingProxyType({"a": 1}), "many": list(range(1000)),
        "deep": {"a": {"b": {"c": []}}}, "NA in list": [pd.NA, 1.0], "bools in list": [True, False],
        "namespace": types.SimpleNamespace(a=1), "long in list": ["y" * 3000],
    }  # fmt: skip
    others: dict[str, Any] = {
        "None": None, "...": ..., "NotImplemented": NotImplemented, "object": object(),
        "type": int, "function": len, "lambda": lambda *_: None, "module": sys, "Color": _Color.RED,
        "slice": slice(1, 2), "exception": ValueError("x"), "rude": _Rude(),
        "generator": (k for k in range(2)), "iterator": iter([1, 2]), "dtype": np.dtype(float),
        "Box": dwell.Box((0, 0), (1, 1)), "Uniform": dwell.Uniform(), "Timer class": dwell.Timer,
        "np.nan module": np, "property": property(), "code": compile("1", "x", "eval"),
    }  # fmt: skip
    return numbers | words | times | arrays | tables | groups | others


@cache
def _given() -> dict[str, Any]:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="odd"))
    square, places = dwell.Box((0, 0), (1, 1)), [(0.25, 0.5), (0.75, 0.5)]
    law = dwell.Timer(k1=0.4, nu=0.2, t1=0.1, t2=0.3)
    run = dwell.simulate(square, None, places, law, until=0.2, sample_every=0.1)
    run.save(folder / "run.nc")
    scenario = {
        "workspace": {"kind": "box", "lower": [0, 0], "upper": [1, 1]},
        "agents": {"start": [[0.2, 0.2], [0.7, 0.6]]},
        "controller": {"kind": "timer", "k1": 0.4, "nu": 0.2, "t1": 0.1, "t2": 0.3},
        "run": {"horizon": 0.2, "seed": 5},
    }
    return {
        "folder": folder, "square": square, "places": places, "law": law, "run": run,
        "scenario": scenario, "raster": dwell.Raster(np.ones((2, 2)), origin=(0, 0), pixel=0.5),
    }  # fmt: skip


def good_calls() -> dict[str, dict[str, Any]]:
    """The arguments of one good call of each callable; a parameter left out has its default."""
    g = _given()
    square, places, run, scenario, raster = (
        g[name] for name in ("square", "places", "run", "scenario", "raster")
    )
    frames = dwell.Keyframes([0, 1], [(0, 0), (1, 1)])
    return {
        **{law.__name__: {} for law in LAWS},
        "Ball": {"center": (0, 0), "radius": 1.0},
        "Box": {"lower": (0, 0), "upper": (1, 1)},
        "Circle": {"center": (0, 0), "radius": 1.0, "period": 1.0},
        "Ellipsoid": {"center": (0, 0), "semi_axes": (1, 2)},
        "Frame": {"crs": "EPSG:25832"},
        "Function": {"call": lambda z: np.ones(len(z))},
        "Gaussian": {"center": (0, 0), "rate": 1.0},
        "Interval": {"lower": 0, "upper": 1},
        "Keyframes": {"times": [0, 1], "values": [0.5, 0.6]},
        "Mixture": {"parts": (dwell.Uniform(),)},
        "Moving": {"kind": dwell.Gaussian, "center": frames, "rate": 1.0},
        "MovingPolygon": {"vertices": dwell.Keyframes([0], [[(0, 0), (1, 0), (0, 1)]])},
        "MovingRaster": {"times": [0, 1], "rasters": [raster, raster]},
        "Network": {},
        "Polygon": {"vertices": [(0, 0), (1, 0), (0, 1)]},
        "Polynomial": {"coefficients": [(1, 0, 2.0)]},
        "Polytope": {"vertices": np.vstack([np.zeros(3), np.eye(3)])},
        "Raster": {"values": np.ones((2, 2)), "origin": (0, 0), "pixel": 0.5},
        "Region": {"parts": [(0, 0), (2, 0), (2, 2), (1, 0.5)]},
        "Sensor": {"name": "a", "density": dwell.Uniform(), "owners": (0,)},
        "Switch": {"at": 1.0},
        "Timer": {"k1": 0.4, "nu": 0.2, "t1": 0.1, "t2": 0.3},
        "Uniform": {},
        "animate": {"run": run, "path": "film.gif", "fps": 5, "seconds": 0.2, "size": (160, 160),
            "force": True},
        "check": {"run": run},
        "compare": {"scenario": scenario, "laws": ["timer"], "workers": 1},
        "design": {"scenario": scenario, "samples": 0, "run": False},
        "export_gis": {"run": run, "path": "map.gpkg", "force": True, "frame": Frame("EPSG:25832")},
        "export_html": {"runs": run, "path": "run.html", "force": True},
        "export_mcap": {"run": run, "path": "run.mcap", "force": True},
        "load_run": {"path": g["folder"] / "run.nc"},
        "load_scenario": {"path": g["folder"] / "no.toml"},
        "load_sweep": {"path": g["folder"] / "no.toml"},
        "merge_journals": {"folder": g["folder"]},
        "moments": {"region": square},
        "optimize": {"workspace": square, "agents": 2, "starts": 1, "workers": 1},
        "player": {"runs": run},
        "power_weights": {"workspace": square, "positions": places},
        "resume_run": {"path": g["folder"] / "run.nc"},
        "run_scenario": {"scenario": scenario},
        "simulate": {
            "workspace": square, "density": None, "start": places, "controller": g["law"],
            "until": 0.1,
        },
        "simulate_many": {"scenarios": scenario, "seeds": [1]},
        "tessellate": {"workspace": square, "positions": places},
    }  # fmt: skip


# What is long when it is large and not wrong, or ends only when it is interrupted.
LONG = {
    ("optimize", "agents"), ("animate", "seconds"), ("animate", "fps"),
    ("simulate", "until"), ("simulate", "max_jumps"), ("resume_run", "horizon"),
    ("simulate", "sample_every"), ("animate", "dpi"),
}  # fmt: skip
# What stands for true or false where numbers are needed; in a list, an array takes it for 1 or 0.
TRUTHS: dict[str, Any] = {
    "True": True, "False": False, "bool_": np.bool_(True), "in a list": [True],
    "beside a number": [True, 0.5], "bool_ beside": (0.5, np.bool_(False)),
    "in pairs": [(0.25, True), (0.75, 0.5)], "bools": np.array([True, False]),
    "bools in a list": [np.array([True, False]), (0.75, 0.5)],
    "objects": np.array([np.bool_(True), 0.5], object),
}  # fmt: skip
CALLED = {"progress", "watch", "finished", "on_signal", "call"}  # what they raise is their own
LARGE = {"1e300", "1.8e308", "2**31", "2**63", "10**400", "u64", "many"}


def faults_of(name: str, every: int = 1) -> Iterator[str]:
    """What is neither accepted nor refused in one sentence, of each `every`-th odd value."""
    call: Callable[..., Any] = getattr(dwell, name)
    good = good_calls()[name]
    others = [p for p in inspect.signature(call).parameters if p != "parameters"]
    for k, parameter in enumerate(dict.fromkeys([*good, *others])):
        values = list(odd_values().items())
        for kind, value in values[k % every :: every]:
            if (name, parameter) in LONG and kind in LARGE:
                continue
            if parameter in CALLED and callable(value):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                said = _fault(call, {**good, parameter: value})
            if said:
                yield f"{name}({parameter}={kind}): {said}"


def truths_taken(name: str) -> Iterator[str]:
    """Where true or false is accepted and means a number; all other parameters refuse it.

    A parameter whose type has neither a truth value nor text nor a function is about numbers, or
    about objects that true and false are not.
    """
    call: Callable[..., Any] = getattr(dwell, name)
    for parameter, one in inspect.signature(call).parameters.items():
        plain = {"bool", "str", "Callable", "Progress"}.isdisjoint(
            re.findall(r"\w+", str(one.annotation))
        )
        for kind, value in TRUTHS.items() if plain and parameter != "parameters" else ():
            try:
                call(**{**good_calls()[name], parameter: value})
            except dwell.InputError:
                continue
            yield f"{name}({parameter}={kind})"


def _fault(call: Callable[..., Any], given: dict[str, Any]) -> str:
    try:
        call(**given)
    except dwell.InputError as refusal:
        text = str(refusal)
        several = isinstance(refusal, ScenarioError)  # one line for each problem
        if not text.strip() or ("\n" in text and not several):
            return f"not one line: {text[:80]!r}"
        return f"{len(text)} characters: {text[:120]}" if len(text) > LONGEST else ""
    except Exception as fault:
        return f"{type(fault).__name__}: {' '.join(str(fault).split())[:160]}"
    return ""


if __name__ == "__main__":
    for one in sys.argv[1:] or good_calls():
        for line in faults_of(one):
            print(line, flush=True)
