"""Four agents on a line: positions to the right, time upward."""

import dwell

peak = dwell.Gaussian(center=(4.0,), rate=1.0, weight=2.0)
weight = dwell.Mixture((dwell.Uniform(0.1), peak))
law = dwell.Timer(k1=1.0, nu=0.05, t1=0.1, t2=0.3)
run = dwell.simulate(dwell.Interval(0, 6), weight, [0.2, 0.5, 0.9, 1.6], law, until=6.0)
run.plot().savefig("agents_on_a_line.png", dpi=110)
