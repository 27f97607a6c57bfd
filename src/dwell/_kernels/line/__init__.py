"""Voronoi cells on the line: intervals between midpoints, in the agent's own frame."""
