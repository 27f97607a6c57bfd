"""Kernels of cells in convex polygons."""
