"""Columns of a table of measured cells, one row for each; the same for every kernel.

STATUS is 0, COINCIDENT or NO_MASS; E0, E1, E2 the error, centroid minus position. POLAR is the
second moment about the position, SECOND the one about the centroid: these and MASS come divided by
exp(LOG_SCALE). NEAREST is the squared distance of the nearest agent, -1 without others. MASS_ERROR
bounds the relative error of the mass; it is 0 where that is rounding alone.

Without mass the error leads to the nearest point of the workspace. Kernels of curved cells leave
that, and POLAR, to `dwell.cells`. A planar table ends after PLANAR columns, which fill one line of
the cache; further columns of other kernels begin at WIDTH.
"""

STATUS, E0, E1, LOG_SCALE, MASS, POLAR, NEIGHBORS, NEAREST, E2, SECOND, MASS_ERROR = range(11)
PLANAR, WIDTH = 8, 11
