"""What a map file has in it, and the keys of `[site]` with which it can be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dwell.errors import InputError, SiteError
from dwell.sites import outlines
from dwell.sites.features import Features, layers_of, polygons_of, read_features
from dwell.sites.frames import DEGREES, Frame, named, system_of, transformed
from dwell.sites.libraries import existing
from dwell.sites.vector import Site

MOST_STEPS = 8  # of advice that are followed
MOST_PARTS = 5  # of a feature, whose size is shown
MOST_SHOWN = 20  # features of a layer


def survey(
    path: Path, layer: str | None = None, feature: int | str | None = None
) -> dict[str, Any]:
    """The layers and features of a map file, and a `[site]` that reads one of them.

    That is the feature that is given, or else the one with the largest area.
    """
    file = existing(path)
    names = layers_of(file)
    chosen = names if layer is None else [layer]
    layers = {name: read_features(file, name) for name in chosen}
    about = [_about_layer(file, found) for found in layers.values()]
    keys: dict[str, object] = {}
    best = _largest(about)
    if len(names) > 1 and best is not None:
        keys["layer"] = layer if layer is not None else best[0]
    if feature is not None:
        keys["feature"] = feature
    elif best is not None and len(layers[best[0]].ids) > 1:
        keys["feature"] = best[1]
    kind = next(iter(layers.values())).format if layers else ""
    found = readable(file, keys)
    return {"file": file.name, "format": kind, "layers": about, **found}


def readable(file: Path, keys: Mapping[str, object]) -> dict[str, Any]:
    """The keys of `[site]` with which a file can be read, by what its refusals advise."""
    found: dict[str, Any] = dict(keys)
    for _ in range(MOST_STEPS):
        try:
            site = Site.read(file, **found)
        except SiteError as fault:
            if not fault.advice:
                return {"keys": None, "why": str(fault)}
            found |= fault.advice
        except InputError as fault:
            return {"keys": None, "why": str(fault)}
        else:
            said = {"repairs": list(site.repairs), "notes": list(site.notes)}
            return {"keys": found, "reads": str(site), **said}
    return {"keys": None, "why": f"{file.name} cannot be read by keys of [site] alone"}


def site_table(file: Path, keys: Mapping[str, object]) -> str:
    """The table `[site]` of a scenario with these keys."""
    rows = {"file": str(file), **keys}
    return "\n".join(["[site]", *(f"{key} = {json.dumps(value)}" for key, value in rows.items())])


def _about_layer(file: Path, features: Features) -> dict[str, Any]:
    system = _system(features)
    rows = [_about_feature(k, features, system) for k in range(len(features.ids))]
    words = None if features.system is None or system is None else named(system)
    return {"name": features.layer, "system": words, "features": rows}


def _system(features: Features) -> Any:
    """The system of a layer; None where none is named, or PROJ does not know it."""
    try:
        return None if features.system is None else system_of(features.system, "crs")
    except SiteError:
        return None


def _about_feature(k: int, features: Features, system: Any) -> dict[str, Any]:
    """The number, size and kind of a feature; no size where it has no area."""
    row: dict[str, Any] = {"feature": k, "id": features.ids[k]}
    row["attributes"] = {key: _plain(column[k]) for key, column in features.fields.items()}
    shape = polygons_of(features.shape_at(k).drawn)
    if shape is None or shape.is_empty or not np.isfinite(shape.bounds).all():
        return row | {"why": "has no area"}
    lib = outlines.shapely()
    parts = lib.get_parts(shape)
    row["parts"], row["holes"] = len(parts), sum(len(part.interiors) for part in parts)
    row["corners"] = sum(len(ring.coords) - 1 for ring in outlines.rings_of(shape))
    reason = lib.is_valid_reason(shape)
    row["valid"], row["why"] = reason == "Valid Geometry", reason.partition("[")[0].lower()
    row["bounds"] = [float(value) for value in shape.bounds]
    row["kilometres"] = _size(shape, system)
    degrees = system is None or bool(system.is_geographic)
    row["largest"] = [_size(part, system) for part in outlines.by_size(shape, degrees)[:MOST_PARTS]]
    west, south, east, north = shape.bounds
    if row["kilometres"] and east > west and north > south:
        row["fill"] = float(lib.area(shape)) / ((east - west) * (north - south))
    return row


def _plain(value: Any) -> Any:
    """An attribute as JSON takes it."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _size(shape: Any, system: Any) -> list[float] | None:
    """Width and height in kilometres on the ground; None where that is not known."""
    west, south, east, north = shape.bounds
    within = max(abs(west), abs(east)) <= 360.0 and max(-south, north) <= 90.0
    if system is None and not within:
        return None
    crs = system_of(DEGREES, "crs") if system is None else system
    x, y = 0.5 * (west + east), 0.5 * (south + north)
    middle = transformed([[x, y]], crs, DEGREES)[0]
    if not np.isfinite(middle).all():
        return None
    frame = Frame.about(float(middle[0]), float(middle[1]))
    ends = transformed([[west, y], [east, y], [x, south], [x, north]], crs, frame.system)
    sides = [float(np.hypot(*(ends[k + 1] - ends[k]))) / 1e3 for k in (0, 2)]
    return sides if np.isfinite(sides).all() else None


def _largest(layers: list[dict[str, Any]]) -> tuple[str, int] | None:
    """The layer and number of the feature with the largest area, roughly; None without any."""
    rows = [
        (
            row["kilometres"][0] * row["kilometres"][1] * row.get("fill", 0.0),
            layer["name"],
            row["feature"],
        )
        for layer in layers
        for row in layer["features"]
        if row.get("kilometres")
    ]
    return max(rows, key=lambda row: row[0])[1:] if rows else None
