"""Messages name only programs that an installation of dwell has."""

from __future__ import annotations

import re

from tests.docs.blocks import ROOT

# Of GDAL, NCO, netCDF, PROJ and GMT, as users of maps know them. Nothing that dwell installs reads
# CDF-5, so `nccopy` may be named.
PROGRAMS = re.compile(
    r"\b(ogr2ogr|ogrinfo|ogrmerge|gdalwarp|gdalinfo|gdal_translate|gdal_calc|gdal_edit|gdal_merge|"
    r"gdalbuildvrt|gdal_rasterize|ncks|ncrename|ncpdq|ncgen|ncdump|cdo|cs2cs|projinfo|"
    r"grdconvert|mapshaper|spatialite)\b"
)


def _named(folder: str, ending: str) -> list[str]:
    """Where such programs are named."""
    found = []
    for path in sorted((ROOT / folder).rglob(f"*.{ending}")):
        if "static" in path.parts:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{path.name}:{number} {word}" for word in PROGRAMS.findall(line)]
    return found


def test_messages_name_no_program_that_is_not_installed():
    assert _named("src/dwell", "py") == []
