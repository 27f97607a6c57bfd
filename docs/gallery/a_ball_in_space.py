"""Eight agents share out a ball."""

import numpy as np

import dwell

start = np.random.default_rng(2).uniform(-0.4, 0.4, (8, 3))
law = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.3)
ball = dwell.Ball((0, 0, 0), 1.0)
run = dwell.simulate(ball, None, start, law, until=8.0, sample_every=0.5)
run.plot().savefig("a_ball_in_space.png", dpi=110)
