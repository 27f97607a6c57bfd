"""Voronoi cells in balls and ellipsoids, integrated by cones over their facets."""
