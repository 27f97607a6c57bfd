"""Formats of map files, known by their content before a library opens them.

A library that reads many formats chooses by content, whatever the name of the file, and some of
these formats name other files and addresses, which it then opens. So nothing is handed to it but
what is one of the formats below, and what names nothing else.
"""

from __future__ import annotations

import re
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from dwell._types import in_short
from dwell.errors import SiteError
from dwell.sites.frames import OUTSIDE
from dwell.sites.libraries import refused

JSON, PACKAGE, SHAPEFILE, FLAT = "JSON", "GPKG", "ESRI Shapefile", "FlatGeobuf"
BEGINNINGS = {b"SQLite format 3\0": PACKAGE, b"\0\0\x27\x0a": SHAPEFILE, b"fgb\x03": FLAT}
NEEDED = "GeoJSON, TopoJSON, GeoPackage, FlatGeobuf or Shapefile is needed"
PACKED = (".shp", ".shx", ".dbf", ".prj", ".cpg", ".geojson", ".json", ".topojson", ".gpkg", ".fgb")
MAPS = (".shp", *PACKED[5:])  # of these, what is a map by itself
MOST_UNPACKED = 2_000_000_000  # bytes
READ = 65536  # bytes of a file from which its format is known
MADE = re.compile(r"\bas\b(.*)", re.IGNORECASE | re.DOTALL)  # what a view is made of
MORE = re.compile(r"[!;?]|\.zip$", re.IGNORECASE)  # in a path, what the library takes for more


class Opened(NamedTuple):
    """A map file that may be read: its format and its files by layer."""

    format: str
    files: dict[str, Path]  # by the name of the layer; one without a name if the file has layers


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """The format of a map file, a folder of Shapefiles or a zip; refused if it is none of these."""
    if path.is_dir():
        yield _folder(path, path)
        return
    if not path.is_file():
        raise refused(path, f"is no file; {NEEDED}", "unreadable")
    with path.open("rb") as file:
        head = file.read(READ)
    if not head.startswith(b"PK\x03\x04"):
        yield _single(path, path, head)
        return
    with TemporaryDirectory(prefix="dwell-map-") as folder:
        yield _unpacked(path, Path(folder))


def _single(path: Path, given: Path, head: bytes | None = None) -> Opened:
    """One file; `given` is what the user named."""
    if head is None:
        with path.open("rb") as file:
            head = file.read(READ)
    if not head:
        raise refused(given, "is empty; a map is needed", "unreadable")
    format = next((kind for word, kind in BEGINNINGS.items() if head.startswith(word)), None)
    if format is None and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        format = JSON
    if format == SHAPEFILE and path.suffix.lower() != ".shp":
        raise refused(given, "is a Shapefile whose name does not end in .shp", "unreadable")
    if format == SHAPEFILE:
        _check_system_file(path.with_suffix(".prj"), given)
    if format == PACKAGE:
        _check_package(path, given)
    if format in BEGINNINGS.values():
        path = _name_for_library(path, given)
    if format is None:
        came = "cannot be read as a map"
        if head.lstrip().startswith(b"<"):
            came += " (it is XML, which could name other files and addresses)"
        raise refused(given, f"{came}; {NEEDED}", "unreadable")
    return Opened(format, {path.stem if format == SHAPEFILE else "": path})


def _name_for_library(path: Path, given: Path) -> Path:
    """The whole path of a file, by which a library opens that file and no other.

    A relative one may begin like an address, and some signs divide archives and their members.
    """
    whole = path.parent.resolve() / path.name
    if (more := MORE.search(str(whole))) is not None:
        says = f"has {in_short(more[0])} in its path {in_short(str(whole))}, by which libraries "
        raise refused(given, f"{says}open another file; rename it", "unreadable")
    return whole


def _folder(folder: Path, given: Path) -> Opened:
    """The Shapefiles of a folder, each a layer."""
    files = sorted(one for one in folder.iterdir() if one.suffix.lower() == ".shp")
    if not files:
        raise refused(given, "is a folder without a Shapefile; name a map file", "unreadable")
    layers: dict[str, Path] = {}
    for file in files:
        one = _single(file, given)
        if one.format != SHAPEFILE:
            says = f"has {file.name}, which is no Shapefile; {NEEDED}"
            raise refused(given, says, "unreadable")
        layers |= one.files
    return Opened(SHAPEFILE, layers)


def _unpacked(path: Path, folder: Path) -> Opened:
    """The maps of a zip, unpacked: Shapefiles, or one other file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                one
                for one in archive.infolist()
                if Path(one.filename).suffix.lower() in PACKED and "__MACOSX" not in one.filename
            ]
            if sum(one.file_size for one in members) > MOST_UNPACKED:
                says = f"unpacks to more than {MOST_UNPACKED / 1e9:.0f} GB; take a part of it"
                raise refused(path, says, "unreadable")
            for one in members:
                Path(folder, Path(one.filename).name).write_bytes(archive.read(one))
    except SiteError:
        raise
    except Exception as fault:  # a damaged archive fails in many ways within the library
        raise refused(path, f"cannot be unpacked ({fault}); pack it again", "unreadable") from None
    maps = sorted(one for one in folder.iterdir() if one.suffix.lower() in MAPS)
    if not maps:
        raise refused(path, f"has no map in it; {NEEDED}", "unreadable")
    if all(one.suffix.lower() == ".shp" for one in maps):
        return _folder(folder, path)
    if len(maps) > 1:
        names = ", ".join(one.name for one in maps)
        raise refused(path, f"has several maps ({names}); unpack it and name one", "unreadable")
    return _single(maps[0], path)


def _check_system_file(file: Path, given: Path) -> None:
    """Refuse the system of a Shapefile that names other files."""
    if file.is_file() and OUTSIDE.search(file.read_bytes()[:READ].decode("utf-8", "replace")):
        raise refused(given, f"has a system in {file.name} that names other files", "unreadable")


def _check_package(file: Path, given: Path) -> None:
    """Refuse a GeoPackage with tables that are computed when they are read, or are elsewhere."""
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as base:
            tables = base.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            names = {name.lower() for kind, name, _ in tables if kind == "table"}
            stored = {"gpkg_contents", "gpkg_geometry_columns", "gpkg_spatial_ref_sys"}
            if not stored <= names:
                says = f"is a database of SQLite, but no GeoPackage; {NEEDED}"
                raise refused(given, says, "unreadable")
            bad = next((name for one in tables if (name := _computed(base, *one))), None)
            if bad is not None:
                says = f"has {in_short(bad)}, which is computed when it is read and could open "
                says += "other files; save the layer in a new GeoPackage"
                raise refused(given, says, "unreadable")
            systems = base.execute("SELECT definition FROM gpkg_spatial_ref_sys").fetchall()
            if any(OUTSIDE.search(str(text)) for (text,) in systems):
                raise refused(given, "has a system that names other files", "unreadable")
    except (sqlite3.Error, UnicodeDecodeError) as fault:
        raise refused(given, f"cannot be read as GeoPackage ({fault})", "unreadable") from None


def _computed(base: sqlite3.Connection, kind: str, name: str, sql: str | None) -> str | None:
    """A view, a virtual table or a computed column with a function; None for what is stored."""
    text = sql or ""
    if kind == "view":
        made = MADE.search(text)
        return f"the view {name}" if made is None or "(" in made[1] else None
    if kind != "table":
        return None
    if re.match(r"\s*CREATE\s+VIRTUAL\b", text, re.IGNORECASE):
        plain = re.search(r"\bUSING\s+rtree\s*\(", text, re.IGNORECASE)
        return None if plain else f"the virtual table {name}"
    hidden = base.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)", (name,))
    return f"the computed column of {name}" if hidden.fetchone() else None
