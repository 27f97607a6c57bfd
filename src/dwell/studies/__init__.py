"""Studies: laws side by side, and the paper's simulations again. Several runs, one answer."""

from dwell.studies.claims import Claim
from dwell.studies.compare import Comparison, LawFigures, compare
from dwell.studies.design import Design, design
from dwell.studies.optimize import Deployment, optimize, optimize_scenario
from dwell.studies.outcome import Match, match, settled_at
from dwell.studies.reproduce import Reproduction, reproduce

__all__ = [
    "Claim",
    "Comparison",
    "Deployment",
    "Design",
    "LawFigures",
    "Match",
    "Reproduction",
    "compare",
    "design",
    "match",
    "optimize",
    "optimize_scenario",
    "reproduce",
    "settled_at",
]
