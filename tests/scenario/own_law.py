"""A law in Python as text, one that leaves a witness when it is imported, and a scenario."""

LAW = """
from dataclasses import dataclass
from dwell.agents import Command, Traits

@dataclass(frozen=True)
class Law:
    top_speed: float = 0.2
    @property
    def traits(self):
        return Traits(top_speed=self.top_speed)
    def begin(self, view):
        return Command(0.1 * view.measurement.error, view.time + 0.5)
    decide = begin

def ridge(points):
    return 1.0 + points[:, 0]
"""
WITNESS = f"import os\nopen(os.environ['WITNESS'], 'w').close()\n{LAW}"
TABLES = {
    "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [4.0, 4.0]},
    "agents": {"start": [[1.0, 1.0], [2.0, 2.0], [3.0, 3.5]]},
    "controller": {"kind": "python", "class": "near:Law"},
    "run": {"horizon": 1.0, "seed": 1, "record": {"sample_every": "off"}},
}
