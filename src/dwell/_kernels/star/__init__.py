"""Two kinds of cells around an agent, by their boundary.

Voronoi cells in balls and ellipsoids are integrated by cones over their facets (cell, cones, ring,
surface, voronoi), guaranteed cells elsewhere than in polygons and on the line by points of their
boundary (arrangement, sheets, sectors, boundary_moments, extent, guaranteed).
"""
