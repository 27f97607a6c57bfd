"""Cameras and gas sensors: each kind has a density and cells of its own."""

import dwell

sensors = [
    dwell.Sensor("camera", dwell.Gaussian(center=(2, 3), rate=0.2), owners=(0, 1, 2, 3)),
    dwell.Sensor("gas", dwell.Gaussian(center=(8, 3), rate=0.2), owners=(2, 3, 4, 5)),
]
start = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]
law = dwell.Timer(k1=0.4, nu=0.2, t1=0.1, t2=0.3)
site = dwell.Box((0, 0), (10, 6))
run = dwell.simulate(site, None, start, law, until=40.0, sensors=sensors)
run.plot().savefig("team_with_two_sensors.png", dpi=110)
