"""The timers of six agents: each falls to zero, the agent samples, and a new wait is drawn."""

import dwell
from dwell.plotting import FIGURES

start = [(1, 1), (2, 1), (1, 2), (2, 3), (3, 2), (4, 1)]
law = dwell.Timer(k1=0.4, nu=0.2, t1=0.2, t2=0.65)
run = dwell.simulate(dwell.Box((0, 0), (10, 6)), None, start, law, until=6.0, seed=3)
FIGURES["timers"](run).savefig("timers.png", dpi=110)
