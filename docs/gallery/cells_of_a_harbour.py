"""The cells of twelve boats in a harbour with an island; land has no weight."""

import numpy as np

import dwell

shore = [(0, 0), (900, -50), (1000, 300), (700, 350), (720, 600), (380, 640), (300, 400), (0, 420)]
island = [(420, 180), (560, 150), (600, 240), (500, 290), (430, 260)]
harbour = dwell.Region([{"outer": shore, "holes": [island]}])
boats = np.random.default_rng(4).uniform((0, 0), (900, 400), (40, 2))
boats = boats[harbour.covers(boats)][:12]
dwell.tessellate(harbour, boats).plot().savefig("cells_of_a_harbour.png", dpi=110)
