"""Draws line.png and space.png, the pictures of docs/pictures.md: python docs/images/dimensions.py

The runs are those of the page's own examples.
"""

from pathlib import Path

import dwell
from dwell.plotting import FIGURES

LAW = dwell.Timer(k1=1.0, nu=0.05, t1=0.1, t2=0.3)
START = [[0.5, 0.4, 0.3], [0.9, 1.2, 0.8], [1.4, 0.5, 1.2], [0.4, 1.0, 1.5], [1.2, 0.9, 0.4]]


def main() -> None:
    """Simulate both, and write the files beside this one."""
    hill = dwell.Gaussian(center=(4.0,), rate=1.0, weight=2.0)
    weight = dwell.Mixture((dwell.Uniform(0.1), hill))
    places = [[0.2], [0.5], [0.9], [1.6]]
    line = dwell.simulate(dwell.Interval(0, 6), weight, places, LAW, until=6.0)
    room = dwell.Box((0, 0, 0), (4, 3, 2.5))
    space = dwell.simulate(room, None, START, LAW, until=6.0, seed=1, sample_every=0.1)
    for name, run in (("line", line), ("space", space)):
        target = Path(__file__).with_name(f"{name}.png")
        FIGURES["trajectories"](run).savefig(target, dpi=160)


if __name__ == "__main__":
    main()
