"""Five agents follow a peak that moves; feed-forward reduces their lag."""

import dwell

path = dwell.Keyframes(times=(0, 40), values=((2, 2), (8, 4)))
peak = dwell.Moving(dwell.Gaussian, center=path, rate=0.3)
start = [(1, 1), (2, 1), (1, 2), (2, 3), (3, 2)]
law = dwell.Timer(k1=0.5, nu=0.5, t1=0.2, t2=0.65, feedforward="neighbours")
run = dwell.simulate(dwell.Box((0, 0), (10, 6)), peak, start, law, until=40.0)
run.plot().savefig("following_a_peak.png", dpi=110)
