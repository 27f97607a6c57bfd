"""What kernels import: an edit recompiles what it may change, and nothing else."""

from __future__ import annotations

import pytest

from dwell._kernels import _jit

GUARANTEED = (
    "polygon/guaranteed", "polygon/self_trigger", "star/guaranteed", "star/sheets",
    "star/arrangement", "star/sectors", "star/boundary_moments", "star/extent",
)  # fmt: skip
DRAWN = ("polygon/region_cut", "polygon/crossings", "polygon/visibility")
CURVED = ("common/extent", "common/algebra", "star/")
RASTERS = ("polygon/raster", "polygon/region_moments", "polygon/pieces")
# A kernel, and what an edit of which must not recompile it: the beginnings of their names.
FREE_OF = {
    "polygon/engine": (*GUARANTEED, *DRAWN, *CURVED, "polygon/power_cell", "space/", "line/"),
    "polygon/entry_points": (*GUARANTEED, *DRAWN, *CURVED, "common/event_loop", "space/", "line/"),
    "polygon/power_cell": (*GUARANTEED, *DRAWN, *CURVED, "polygon/engine", "space/", "line/"),
    "polygon/guaranteed": (*RASTERS, *DRAWN, "common/event_loop", "polygon/cells", "space/"),
    "polygon/self_trigger": (*RASTERS, *DRAWN, "common/event_loop", "polygon/cells", "space/"),
    "line/engine": ("polygon/", "space/", "star/"),
    "space/engine": ("polygon/", "star/", "line/"),
    "star/voronoi": (*GUARANTEED, *DRAWN, *RASTERS, "line/"),
    "star/guaranteed": ("polygon/", "line/", "star/voronoi"),
}


@pytest.mark.parametrize("name", FREE_OF)
def test_kernels_import_nothing_that_they_do_not_use(name):
    files = _jit.imports_of(_jit.ROOT / f"{name}.py")
    names = sorted(str(file.relative_to(_jit.ROOT).with_suffix("")) for file in files)
    assert [one for one in names if one.startswith(FREE_OF[name])] == []
