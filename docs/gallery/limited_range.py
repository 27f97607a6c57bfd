"""Boats that sense 150 m far: cells end at the discs of their boats."""

import numpy as np

import dwell

bay = dwell.Box((0, 0), (1000, 700))
start = np.random.default_rng(1).uniform((50, 50), (300, 250), (12, 2))
law = dwell.Timer(k1=2.0, nu=4.0, t1=1.0, t2=2.0)
run = dwell.simulate(bay, None, start, law, until=400.0, radius=150.0)
run.plot().savefig("limited_range.png", dpi=110)
