"""Voronoi cells and their moments."""
