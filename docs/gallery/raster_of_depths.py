"""A density on a grid of pixels, bilinear between their centres, with exact moments."""

import numpy as np

import dwell

x, y = np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 24))
depths = 0.1 + np.abs(np.sin(5 * x) * np.cos(4 * y))  # rows from south to north
density = dwell.Raster(depths, origin=(0, 0), pixel=0.25, interpolation="bilinear")
start = np.random.default_rng(5).uniform((0, 0), (10, 6), (14, 2))
law = dwell.Timer(k1=0.4, nu=0.2, t1=0.1, t2=0.3)
run = dwell.simulate(dwell.Box((0, 0), (10, 6)), density, start, law, until=30.0)
run.plot().savefig("raster_of_depths.png", dpi=110)
