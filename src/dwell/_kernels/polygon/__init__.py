"""Kernels of the plane: Voronoi, power and guaranteed cells in polygons and regions, rasters."""
