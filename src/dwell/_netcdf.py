"""Variables and attributes of a stored run, read without what is needed to simulate one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

HDF5 = b"\x89HDF\r\n\x1a\n"  # how a NetCDF-4 file begins
NUMBERS = "summary"  # the variable that holds the JSON object of the run's numbers, as bytes


def read_netcdf(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables, as name: (dimensions, values), and attributes of a NetCDF-4 file."""
    import h5netcdf
    import h5py

    with h5py.File(path, "r") as plain:
        dict(plain.attrs)  # where this fails, h5netcdf would leave an error of its own on stderr
        for name in plain:
            link = plain.get(name, getlink=True)
            own = isinstance(link, h5py.HardLink) and isinstance(plain[name], h5py.Dataset)
            if not own or plain[name].external or plain[name].is_virtual:
                raise ValueError(f"{name} lies in another file")  # which was not handed over
    with h5netcdf.File(path, "r") as file:
        variables = {str(k): (v.dimensions, v[...]) for k, v in file.variables.items()}
        return variables, {str(k): v for k, v in file.attrs.items()}


def digest_of(variables: dict[str, Any], attributes: dict[str, Any]) -> str:
    """A fingerprint of everything in a file but itself."""
    digest = hashlib.sha256()
    for name in sorted(attributes):
        if name != "digest":
            digest.update(f"{name}={attributes[name]}".encode())
    for name in sorted(variables):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(variables[name][1]).tobytes())
    return digest.hexdigest()


def json_table(text: str | bytes, what: str) -> dict[str, Any]:
    """A table that a file holds as JSON; ValueError for any other value."""
    table = json.loads(text)
    if not isinstance(table, dict):
        raise ValueError(f"{what} is no table")
    return table


def stored_numbers(path: Path) -> dict[str, Any] | None:
    """The numbers of a finished run as they were stored with it.

    None where they must be computed: from a file that is damaged, was changed, belongs to a run
    that has not ended, or names Python code, and from files of many agents, which hold none.
    """
    try:
        variables, attributes = read_netcdf(path)
        if digest_of(variables, attributes) != attributes["digest"]:
            return None
        provenance = json_table(attributes["provenance"], "provenance")
        if "without_code" in attributes or provenance.get("intact") == "false":
            return None
        numbers = json_table(variables[NUMBERS][1].tobytes(), NUMBERS)
        name = json_table(attributes["scenario"], "scenario").get("name")
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return None
    versions = {key: value for key, value in provenance.items() if key != "intact"}
    return {**numbers, "name": name, "file": str(path), "versions": versions}
