"""Every case of the catalogue is tested, or listed here with the reason why not."""

from __future__ import annotations

from tests.catalogue import (
    test_catalogue_agents,
    test_catalogue_density,
    test_catalogue_files,
    test_catalogue_parameters,
    test_catalogue_process,
    test_catalogue_resume,
    test_catalogue_workspace,
)
from tests.catalogue.kit import NAMED

MODULES = (
    test_catalogue_agents,
    test_catalogue_density,
    test_catalogue_files,
    test_catalogue_parameters,
    test_catalogue_process,
    test_catalogue_resume,
    test_catalogue_workspace,
)

OUT_OF_SCOPE = {
    "W9": "holes and multi-part regions: there are no map files yet",
    "W14": "degrees: there are no map files yet",
    "W15": "degrees without a reference system: there are no map files yet",
    "W16": "axis order, antimeridian and poles: there are no map files yet",
    "W17": "reference systems that differ: there are no rasters yet",
    "W18": "feet: there are no map files yet; a scenario has one unit of its own",
    "D10": "expressions: a density is named terms or an importable function, never text",
    "D12": "large rasters: there are no rasters yet",
    "D13": "raster without data: there are no rasters yet",
    "D14": "raster beside the workspace: there are no rasters yet",
    "D15": "kinds of raster numbers: there are no rasters yet",
    "D16": "raster formats: there are no rasters yet",
    "D17": "compressed and damaged rasters: there are no rasters yet",
    "D19": "densities that change with time: there are none yet",
}

CATALOGUE = [
    f"{letter}{number}"
    for letter, last in (("A", 27), ("W", 19), ("D", 19), ("P", 30))
    for number in range(1, last + 1)
]


def test_every_case_is_tested_or_listed() -> None:
    assert MODULES
    tested = {name.partition("-")[0] for name in NAMED}
    assert len(CATALOGUE) == 95
    assert tested | set(OUT_OF_SCOPE) == set(CATALOGUE)
    assert tested & set(OUT_OF_SCOPE) == set()
