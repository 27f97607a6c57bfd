"""Real maps, read as the messages about them advise, against geodesics.

`python -m bench.maps FOLDER` needs, in FOLDER, what is not part of this repository:

- `countries-10m.json` of the npm package world-atlas (`npm pack world-atlas`);
- `nybb_16a.zip` and the folder `naturalearth_lowres` of the wheel of geopandas 0.14
  (`pip download geopandas==0.14.* --no-deps`).

A file that is refused is read again with the keys that the message names, word for word. What is
read is compared with the ellipsoid: areas of parts, and lengths between random vertices. Both must
be within the range that the note states, or within 1e-4 where there is none. The process ends with
1 where one is not, or where advice leads nowhere.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import dwell
from dwell.errors import DwellError, SiteError
from dwell.sites import features
from dwell.sites.frames import DEGREES, transformed
from dwell.sites.survey import survey

KEY = re.compile(r'(\w+) = (\[[^\]]*\]|"[^"]*"|true|[\d.e+]+)')
RANGE = re.compile(r"lengths in .* are (.*) than on the ground, and areas (.*)")
MOST_STEPS = 6
UNSTATED = 1e-4  # by which lengths may differ without a note
PAIRS = 200
SYSTEMS = {  # with unequal scales, and a place each where they are used or misused
    "EPSG:6933": (23.7, 38.0), "ESRI:54009": (3.4, 6.5), "EPSG:3035": (-16.5, 28.3),
    "EPSG:3577": (147.3, -42.9), "EPSG:2163": (-155.5, 19.5), "EPSG:3857": (-0.1, 51.5),
    "EPSG:2263": (-74.1, 40.6), "ESRI:54030": (18.4, -33.9),
}  # fmt: skip


def followed(path: Path, keys: dict[str, Any]) -> tuple[dwell.Site | None, list[str], str]:
    """A site read as its messages advise, the keys that they name, and the last message."""
    steps: list[str] = []
    for _ in range(MOST_STEPS):
        try:
            return dwell.Site.read(path, **keys), steps, ""
        except SiteError as fault:
            words = dict(KEY.findall(str(fault)))
            advice = {key: json.loads(words[key]) for key in fault.advice}
            if not advice:
                return None, steps, str(fault)
            steps += advice
            keys = keys | advice
    return None, steps, "advice in a circle"


def limits(notes: tuple[str, ...]) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges of ratios of lengths and of areas that the notes state."""
    for note in notes:
        if found := RANGE.search(note):
            return _ratios(found[1]), _ratios(found[2])
    return (1.0 - UNSTATED, 1.0 + UNSTATED), (1.0 - 2.0 * UNSTATED, 1.0 + 2.0 * UNSTATED)


def _ratios(words: str) -> tuple[float, float]:
    """The range of ratios that some words state, such as 0.04 % shorter to 0.1 % longer."""
    numbers = [float(word) / 100.0 for word in re.findall(r"[\d.]+(?:e-?\d+)?", words)]
    less, more = (
        ("shorter" in words or "smaller" in words),
        ("longer" in words or "larger" in words),
    )
    if less and more:
        return 1.0 - numbers[0], 1.0 + numbers[1]
    low = 0.0 if "up to" in words else min(numbers)
    return (1.0 - max(numbers), 1.0 - low) if less else (1.0 + low, 1.0 + max(numbers))


def beyond(site: dwell.Site) -> tuple[float, float]:
    """By how much lengths and areas lie beyond what the notes state."""
    import pyproj

    globe, shape = pyproj.Geod(ellps="WGS84"), site.workspace
    lengths, areas = limits(site.notes)
    parts = getattr(shape, "parts", None)
    rings = [shape.vertices] if parts is None else [part.outer for part in parts]
    fine = [_fine(ring) for ring in rings]
    worst = 0.0
    for ring in fine:
        degrees = transformed(ring, site.frame.system, DEGREES)
        ground = abs(globe.polygon_area_perimeter(*degrees.T)[0])
        plane = 0.5 * abs(_cross(ring - ring[0]))
        worst = max(worst, areas[0] - plane / ground, plane / ground - areas[1])
    points, rng = np.vstack(rings), np.random.default_rng(1)
    begin, other = points[rng.integers(len(points), size=(2, PAIRS))]
    far = np.hypot(*(other - begin).T)
    good = far > 1.0  # metre: shorter ones are rounding where two vertices nearly coincide
    begin, other, far = begin[good], other[good], far[good]
    step = np.minimum(far, 1000.0)
    end = begin + (step / far)[:, None] * (other - begin)
    ends = [transformed(one, site.frame.system, DEGREES) for one in (begin, end)]
    ratio = step / globe.inv(*ends[0].T, *ends[1].T)[2]
    return float(max(lengths[0] - ratio.min(), ratio.max() - lengths[1], 0.0)), max(worst, 0.0)


def _fine(ring: np.ndarray) -> np.ndarray:
    """A ring with points along its sides, so that it is on the ground what it is in the plane."""
    after = np.roll(ring, -1, axis=0)
    counts = np.maximum(np.ceil(np.hypot(*(after - ring).T) / 2000.0), 1).astype(int)
    rows = [
        a + (b - a) * np.arange(count)[:, None] / count
        for a, b, count in zip(ring, after, counts, strict=True)
    ]
    return np.vstack(rows)


def _cross(ring: np.ndarray) -> float:
    after = np.roll(ring, -1, axis=0)
    return float((ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum())


def cases(folder: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """The name, the file and the first keys of each site."""
    for name in ("countries-10m.json", "naturalearth_lowres", "nybb_16a.zip"):
        file = folder / name
        layers = {one["name"]: one for one in survey(file, _layer(name))["layers"]}
        for layer, found in layers.items():
            for row in found["features"]:
                words = row["attributes"].get("name") or row["attributes"].get("BoroName", "")
                keys = {"layer": layer, "feature": row["feature"]}
                yield f"{name} {row['feature']} {words}", file, keys
    yield "five boroughs, dissolved", folder / "nybb_16a.zip", {"feature": "all", "simplify": 5.0}


def _layer(name: str) -> str | None:
    return "countries" if name.startswith("countries") else None


def in_systems(folder: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """An island of 20 km in each of the systems, written as GeoPackage."""
    import pyogrio.raw
    import shapely

    angle = np.linspace(0.0, 2.0 * np.pi, 100)[:-1]
    for crs, (longitude, latitude) in SYSTEMS.items():
        size = 0.1 * (1.0 + 0.3 * np.sin(3.0 * angle + 1.0))
        ring = np.column_stack([
            longitude + size * np.cos(angle) / np.cos(np.radians(latitude)),
            latitude + 0.7 * size * np.sin(angle),
        ])  # fmt: skip
        path = folder / f"{crs.replace(':', '-')}.gpkg"
        shape = shapely.Polygon(transformed(ring, DEGREES, crs))
        pyogrio.raw.write(
            path, np.array([shapely.to_wkb(shape)], dtype=object), [np.array(["x"], dtype=object)],
            ["name"], driver="GPKG", crs=crs, geometry_type="Polygon",
        )  # fmt: skip
        yield crs, path, {}
        path.unlink()


def main(folder: Path) -> int:
    """Read all of them, and say what is not as it should be."""
    features.read_json = lru_cache(features.read_json)  # of 4 MB
    counts: Counter[str] = Counter()
    for name, path, keys in [*cases(folder)]:
        counts.update(verdict(name, path, keys))
    for name, path, keys in in_systems(folder):
        counts.update(verdict(name, path, keys, shown=True))
    print(dict(counts))
    return int(bool(counts["wrong"] or counts["circle"] or counts["crash"]))


def verdict(name: str, path: Path, keys: dict[str, Any], *, shown: bool = False) -> list[str]:
    """What became of one site, in words that are counted."""
    try:
        site, steps, last = followed(path, keys)
    except DwellError as fault:
        print(f"{name}: {fault}")
        return ["crash"]
    if site is None:
        print(f"{name}: after {steps}: {last}")
        return ["circle" if "circle" in last else "refused"]
    far = beyond(site)
    if shown or max(far) > 0.0:
        print(f"{name}: {steps}, lengths and areas beyond what is stated: {far}; {site.notes}")
    kind = "wrong" if max(far) > 1e-6 else "right"
    return [kind, f"{len(steps)} keys advised", *(f"key {step}" for step in steps)]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
