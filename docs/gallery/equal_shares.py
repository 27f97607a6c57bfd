"""Power cells whose weights give every agent the same share of the mass."""

import numpy as np

import dwell

site, weight = dwell.Box((0, 0), (10, 6)), dwell.Gaussian(center=(4, 3), rate=0.05)
places = np.random.default_rng(3).uniform((1, 1), (9, 5), (9, 2))
weights = dwell.power_weights(site, places, weight)
cells = dwell.tessellate(site, places, weight, weights=weights)
assert np.allclose(cells.masses, cells.masses.mean())
cells.plot().savefig("equal_shares.png", dpi=110)
