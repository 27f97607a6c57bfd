"""Voronoi cells in space: convex polyhedra, cut by half-spaces in the agent's own frame."""
