"""What goes with what: one table of features of a world, and of what cannot take them.

A row is a need: a law of some kind, the compiled loop, a study. A column is a feature of a world,
or several together. A cell that refuses has a sentence, mostly also a code and a key; everything
else goes together. The docs show this table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import final

from dwell.errors import (
    AgentsError,
    ControllerError,
    DensityError,
    InputError,
    WorkspaceError,
)


class Feature(Enum):
    """A feature of a world, or of a law in it."""

    LINE = "on the line"
    PLANE = "in the plane"
    SPACE = "in three dimensions"
    HIGH = "in four dimensions or more"
    CURVED = "curved workspace"
    REGION = "region"
    MASK = "region as a mask"
    STAY = "region with `stay`"
    RASTER = "raster"
    PIXELS = "raster that jumps"
    FUNCTION = "function"
    ZERO = "density that is 0 in places"
    GRID = "integration on a grid"
    RADIUS = "sensing radius"
    SENSORS = "sensors"
    NETWORK = "loss or delay"
    PRESENCE = "agents that come and go"
    CHANGES = "world that switches or moves"
    MOVING = "density or workspace that moves"
    UNTRACKED = "motion that only Python evaluates"
    BOUNDARY = "workspace that moves"
    SITES = "workspace that changes"
    ALONE = "a single agent"
    NO_TIMER = "a law of another kind"
    FOLLOWING = "feed-forward"
    FIRST_HOLD = "first velocities that are prescribed"
    UNSHARED = "timers that are not shared"
    NO_PROGRAM = "a law that decides in Python"
    MESSAGES = "a law that receives messages"
    BEYOND_SAMPLES = "a law that needs more than samples of neighbours"


class Need(Enum):
    """What cannot take every world."""

    COMPILED = "the compiled loop"
    RADIUS = "sensing radii"
    WEIGHTS = "power weights"
    RASTER = "a raster"
    REGION = "a region"
    GRID = "integration on a grid"
    BEYOND_CENTROID = "a law that uses more than the centroid"
    FADING = "a law that slows down between events"
    EQUATION = "a law that is a differential equation"
    GUARANTEED = "a law of guaranteed cells"
    GUARANTEED_CELLS = "guaranteed cells"
    FOLLOWING = "feed-forward, or the rates of centroids"
    THEOREM = "the theorem and its conditions"
    SYNC = "the condition for shared timers"
    INSIDE = "no overshoot"
    LOCAL = "the condition near a minimum"
    CERTIFICATE = "a certificate"
    DESIGN = "`dwell design`"
    RATES = "`dwell rates`"
    ONE_TIME = "studies of one time (`design`, `rates`, `optimize`)"
    OPTIMIZE = "`dwell optimize`"
    LIVE = "a live fleet"
    MAP = "exported maps"


@final
@dataclass(frozen=True)
class Refusal:
    """Why a need cannot take a feature: a sentence, with a code and a key where it is an error.

    The sentence may name {law}, {workspace}, {n} and {density}.
    """

    says: str
    code: str = ""
    key: str = ""
    error: type[InputError] = InputError


_F = Feature
Cells = Mapping[tuple[Feature, ...], Refusal]


def _shape(what: str) -> Cells:
    """Workspaces whose cells no disc cuts."""
    refusal = Refusal(
        f"{what} came with a {{workspace}} in {{n}} dimensions; an interval or a flat-sided "
        "workspace of the plane is needed; leave them out, or describe the workspace by a polygon",
        "agents.radius", "agents.radius", AgentsError,
    )  # fmt: skip
    return {(_F.SPACE,): refusal, (_F.HIGH,): refusal, (_F.CURVED,): refusal}


def _density_of_discs(came: str) -> Refusal:
    return Refusal(
        f"sensing radii or power weights came with {came}; in the plane a uniform, polynomial or "
        "Gaussian density, or a mixture of them, integrated exactly, is needed; leave the radii "
        "out, or replace the density",
        "agents.radius", "agents.radius", AgentsError,
    )  # fmt: skip


_DISCS: Cells = {
    (_F.PLANE, _F.FUNCTION): _density_of_discs("a density that only Python evaluates"),
    (_F.PLANE, _F.GRID): _density_of_discs("grid integration"),
}
_AROUND_CORNERS = Refusal(
    "a region with stay = true came with {law}, which here uses more than the centroid, or moves "
    "without stops; timer without feed-forward and adaptive resets, sampled lloyd or discrete-lloyd"
    " is needed; change the law, or leave out stay",
    "workspace.stay", "workspace.stay", ControllerError,
)  # fmt: skip
_PYTHON = Refusal("the readable loop runs it")
_OTHERS = 'use "timer", "lloyd" or "discrete-lloyd"'


def _guaranteed(why: str, code: str = "world.guaranteed") -> Refusal:
    return Refusal(f"{{law}} works with guaranteed cells, {why}", code, "controller.kind")


def _equation(
    why: str, code: str = "world.ode", key: str = "controller.mode", instead: str = "use"
) -> Refusal:
    sampled = 'a law that samples, such as lloyd with mode = "sampled"'
    return Refusal(f"{{law}} is a differential equation, {why}; {instead} {sampled}", code, key)


_STEEP = Refusal(
    "the workspace is of the kind {workspace} in {n} dimensions; feed-forward in a world that "
    "moves needs an interval or a flat-sided workspace of the plane; use a law without "
    "feed-forward",
    "density.derivatives", "controller.feedforward", DensityError,
)  # fmt: skip


def _in_convex(what: str, instead: str) -> Refusal:
    return Refusal(
        f"{what} came with a region that is not convex, where it is not defined; {instead}",
        "workspace.region", "workspace", WorkspaceError,
    )  # fmt: skip


def _unequal(what: str, key: str) -> Refusal:
    return Refusal(
        f"the scenario has {what}, and this study is for agents that all sense the same, without "
        f"limit; leave {key} out, or run the scenario instead",
        "study.unequal", key,
    )  # fmt: skip


_UNEQUAL: Cells = {
    (_F.SENSORS,): _unequal("[[sensor]] tables", "sensor"),
    (_F.RADIUS,): _unequal("a sensing radius", "agents.radius"),
}
_NO_TIMER = Refusal("the law is {law}, and the statements are about the timer law")
_MOVES = Refusal("the density or the workspace moves")
_GRID_POINTS = Refusal("on a grid of points centroids are piecewise constant")
_CORNERS = Refusal("agents go around corners (stay = true)")
_NOT_CONVEX = Refusal("the workspace is a region that need not be convex")
_COME_AND_GO = Refusal("agents arrive or leave")
_OWN_SENSORS = Refusal("agents have sensors or ranges of their own")
_UNRELIABLE = Refusal("samples are lost or late")
_FEEDS = Refusal("the law has feed-forward")
_PLANAR_MAP = Refusal("a map needs a run in the plane", "export.dimension", "workspace")
_RASTER_CELLS = (
    "a raster came as the density of guaranteed cells, which have curved sides; a uniform, "
    "polynomial or Gaussian density is needed: replace the raster, or use a law that does not need "
    "such cells"
)

TABLE: Mapping[Need, Cells] = {
    Need.COMPILED: {
        (_F.HIGH,): _PYTHON,
        (_F.PLANE, _F.CURVED): _PYTHON,
        (_F.SPACE, _F.CURVED): _PYTHON,
        (_F.NO_PROGRAM,): _PYTHON,
        (_F.FUNCTION,): _PYTHON,
        (_F.UNTRACKED,): _PYTHON,
        (_F.RADIUS, _F.LINE): _PYTHON,
        (_F.NETWORK,): _PYTHON,
        (_F.SENSORS,): _PYTHON,
    },
    Need.RADIUS: {
        (_F.SENSORS,): Refusal(
            "agents.radius limits the range of agents with different sensors; leave one of the two "
            "out",
            "sensor.radius", "agents.radius",
        ),
        **_shape("sensing radii"),
        **_DISCS,
        (_F.PLANE, _F.RASTER): _density_of_discs("a raster"),
    },
    Need.WEIGHTS: {**_shape("power weights"), **_DISCS},
    Need.RASTER: {
        (_F.CURVED,): Refusal(
            "a raster came with a {workspace}, which has curved sides; a flat-sided workspace is "
            "needed: describe it by a polygon",
            "density.raster", "density.kind", DensityError,
        ),
    },
    Need.REGION: {
        (_F.FUNCTION,): Refusal(
            "the density {density}, which only Python evaluates, came with a region that is not "
            "convex; a uniform, polynomial or Gaussian density, a raster or a mixture of them is "
            "needed",
            "density.region", "density", DensityError,
        ),
    },
    Need.GRID: {
        **dict.fromkeys(((_F.LINE,), (_F.SPACE,), (_F.HIGH,), (_F.CURVED,)), Refusal(
            "a {workspace} in {n} dimensions cannot be integrated on a grid of points, only a "
            "polygon; integrate exactly",
            "integration.dimension", "run.integration", DensityError,
        )),
        (_F.SENSORS,): Refusal(
            "run.integration integrates on a grid of points, which needs one density for all "
            "agents, got [[sensor]] tables; use exact",
            "world.grid", "run.integration",
        ),
        (_F.PRESENCE,): Refusal(
            "run.integration integrates on a grid of points, which needs the same agents all the "
            "time; use exact",
            "world.grid", "run.integration",
        ),
        (_F.CHANGES,): Refusal(
            "run.integration integrates on a grid of points, which needs a world that does not "
            "change; use exact",
            "world.grid", "run.integration",
        ),
    },
    Need.BEYOND_CENTROID: {
        (_F.RADIUS,): Refusal(
            "sensing radii came with {law}, which here uses more than the centroid and knows no "
            "radius; timer without feed-forward and adaptive resets, lloyd without feed-forward, "
            "or discrete-lloyd is needed; leave the radii out, or change it",
            "agents.radius", "agents.radius", ControllerError,
        ),
        (_F.SENSORS,): Refusal(
            "{law} uses more than the centroid, which needs one density for all agents, got "
            "[[sensor]] tables; use timer without feed-forward and adaptive resets, or lloyd "
            "without feed-forward",
            "sensor.law", "controller.kind",
        ),
        (_F.STAY,): _AROUND_CORNERS,
    },
    Need.FADING: {(_F.STAY,): _AROUND_CORNERS},
    Need.EQUATION: {
        (_F.STAY,): _AROUND_CORNERS,
        (_F.SENSORS,): _equation(
            "which needs one density for all agents, got [[sensor]] tables"
        ),
        (_F.PRESENCE,): _equation("which needs the same agents all the time"),
        (_F.CHANGES,): _equation("which needs a world that does not change"),
        (_F.NETWORK,): _equation(
            "which samples continuously, so samples cannot be lost or delayed",
            "network.loss", "network", "take a perfect network, or use",
        ),
        (_F.GRID,): _equation(
            "which has no solution on a grid of points, where centroids jump",
            "integration.ode", "run.integration", "integrate exactly, or use",
        ),
    },
    Need.GUARANTEED: {
        (_F.HIGH,): _guaranteed(
            f"which need a workspace of at most 3 dimensions, got {{n}}; {_OTHERS}",
            "controller.dimension",
        ),
        (_F.REGION,): _in_convex(
            "a law of guaranteed cells",
            "take a law that only measures its cell, such as timer, or a convex workspace",
        ),
        (_F.PRESENCE,): _guaranteed(
            "which need the same agents all the time, got worlds in which agents leave or arrive; "
            + _OTHERS
        ),
        (_F.BOUNDARY,): _guaranteed(
            "which bound where other agents may be but not where the boundary moves; " + _OTHERS
        ),
        (_F.RASTER,): _guaranteed(
            f"over which a raster cannot be integrated; {_OTHERS}, or another density",
            "density.raster",
        ),
    },
    Need.GUARANTEED_CELLS: {
        (_F.REGION,): _in_convex(
            "a law of guaranteed cells",
            "take a law that only measures its cell, such as timer, or a convex workspace",
        ),
        (_F.RASTER,): Refusal(_RASTER_CELLS, "density.raster", "density.kind", DensityError),
    },
    Need.FOLLOWING: {
        (_F.REGION,): _in_convex("feed-forward", "take a law without feed-forward"),
        (_F.MOVING, _F.SPACE): _STEEP,
        (_F.MOVING, _F.HIGH): _STEEP,
        (_F.MOVING, _F.CURVED): _STEEP,
    },
    Need.THEOREM: {
        (_F.NO_TIMER,): _NO_TIMER,
        (_F.MOVING,): _MOVES,
        (_F.GRID,): _GRID_POINTS,
        (_F.STAY,): _CORNERS,
        (_F.MASK,): _NOT_CONVEX,
        (_F.PIXELS,): Refusal("the density jumps between the pixels of a raster"),
        (_F.ZERO,): Refusal("the density is 0 in places"),
        (_F.PRESENCE,): _COME_AND_GO,
        (_F.RADIUS,): _OWN_SENSORS,
        (_F.SENSORS,): _OWN_SENSORS,
        (_F.NETWORK,): _UNRELIABLE,
        (_F.FOLLOWING,): _FEEDS,
        (_F.ALONE,): Refusal("the theorem assumes at least two agents"),
    },
    Need.SYNC: {
        (_F.NO_TIMER,): _NO_TIMER,
        (_F.MOVING,): _MOVES,
        (_F.STAY,): _CORNERS,
        (_F.PRESENCE,): _COME_AND_GO,
        (_F.NETWORK,): _UNRELIABLE,
        (_F.FOLLOWING,): _FEEDS,
        (_F.UNSHARED,): Refusal("the timers are not shared"),
    },
    Need.INSIDE: {
        (_F.NO_TIMER,): _NO_TIMER,
        (_F.SITES,): Refusal("the workspace changes"),
        (_F.STAY,): _CORNERS,
        (_F.MASK,): _NOT_CONVEX,
        (_F.FOLLOWING,): _FEEDS,
        (_F.FIRST_HOLD,): Refusal(
            "the velocities that agents start with may lead out of the workspace"
        ),
    },
    Need.LOCAL: {
        (_F.NO_TIMER,): _NO_TIMER,
        (_F.MOVING,): _MOVES,
        (_F.GRID,): _GRID_POINTS,
        (_F.STAY,): _CORNERS,
        (_F.PRESENCE,): _COME_AND_GO,
        (_F.NETWORK,): _UNRELIABLE,
        (_F.FOLLOWING,): _FEEDS,
    },
    Need.CERTIFICATE: {
        (_F.NO_TIMER,): Refusal(
            "a certificate states what the theorem of the timer law assumes, and the law is {law}, "
            "whose traits name no timer; leave it out",
            "certificate.law", "certificate",
        ),
    },
    Need.DESIGN: {
        (_F.NO_TIMER,): Refusal(
            "the law is {law}, but dwell times are a matter of the timer law; a law whose traits "
            'name a timer is needed, such as controller.kind = "timer" with k1, nu, t1 and t2',
            "design.law", "controller.kind",
        ),
        **_UNEQUAL,
    },
    Need.RATES: {
        (_F.GRID,): Refusal(
            "this scenario integrates on a grid of points, where centroids are piecewise constant "
            'and have no derivatives; use run.integration = {{ kind = "exact" }}',
            "density.derivatives", "run.integration", DensityError,
        ),
        **_UNEQUAL,
    },
    Need.ONE_TIME: _UNEQUAL,
    Need.OPTIMIZE: {
        (_F.HIGH,): Refusal(
            "the workspace has {n} dimensions; the best deployment is sought in at most 3",
            "optimize.dimension", "workspace",
        ),
    },
    Need.LIVE: {
        (_F.MESSAGES,): Refusal(
            "{law} receives messages of laws, for which those of a fleet have no room; use a law "
            "that samples",
            "fleet", "controller.kind",
        ),
        (_F.BEYOND_SAMPLES,): Refusal(
            "{law} needs more than samples of neighbours at events; use timer, lloyd in samples, "
            "or discrete-lloyd",
            "fleet", "controller.kind",
        ),
        (_F.NETWORK,): Refusal(
            "the scenario has a [network], but the network of a fleet is real; leave it out, or "
            "inject faults with [fleet.faults]",
            "fleet", "network",
        ),
    },
    Need.MAP: {
        (_F.LINE,): _PLANAR_MAP,
        (_F.SPACE,): _PLANAR_MAP,
        (_F.HIGH,): _PLANAR_MAP,
    },
}  # fmt: skip


BY_DIMENSION = {1: Feature.LINE, 2: Feature.PLANE, 3: Feature.SPACE}


def of_dimension(n: int) -> Feature:
    """The feature of a workspace of n dimensions."""
    return BY_DIMENSION.get(n, Feature.HIGH)


def refusals(need: Need, features: Collection[Feature]) -> Iterator[Refusal]:
    """Why a need cannot take a world with these features; nothing if it can."""
    for together, refusal in TABLE[need].items():
        if all(one in features for one in together):
            yield refusal


def fits(need: Need, features: Collection[Feature]) -> bool:
    """Whether a need can take a world with these features."""
    return next(refusals(need, features), None) is None


def refuse(
    need: Need, features: Collection[Feature], keys: Collection[str] | None = None, **words: object
) -> None:
    """Refuse a world that a need cannot take; `words` fill the sentence.

    keys : of the law, if others cannot be meant; instead of these the refusal names the law.
    """
    for refusal in refusals(need, features):
        says = refusal.says.format(**words)
        table, _, key = refusal.key.partition(".")
        own = table != "controller" or keys is None or key in keys
        raise refusal.error(says, code=refusal.code, key=refusal.key if own else "controller.kind")
