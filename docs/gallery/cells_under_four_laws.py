"""Four laws from one start, with equal largest speeds: cells computed so far."""

import dwell
from dwell.plotting import COMPARED
from dwell.scenario import parse_scenario, template_text, text_to_mapping

tables = text_to_mapping(template_text("paper-12"))
scenario = parse_scenario(tables | {"run": {"horizon": 30.0, "seed": 1}})
found = dwell.compare(scenario, ["timer", "lloyd", "discrete-lloyd", "self-triggered"])
COMPARED["cells"](found.runs).savefig("cells_under_four_laws.png", dpi=110)
