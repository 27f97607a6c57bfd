"""Studies: laws side by side, and the paper's simulations again. Several runs, one answer."""

from dwell.studies.compare import Comparison, LawFigures, compare
from dwell.studies.deployment import Deployment
from dwell.studies.design import Design, design
from dwell.studies.optimize import optimize, optimize_scenario
from dwell.studies.outcome import Match, match, settled_at
from dwell.studies.paper.claims import Claim
from dwell.studies.paper.report import Reproduction
from dwell.studies.paper.reproduce import reproduce

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
