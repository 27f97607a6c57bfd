"""What the `workspace` and `density` tables may say, and what they make: one class per kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, Union, get_args

import numpy as np
from pydantic import Field

from dwell._parameters import declaration_of
from dwell.density import DECLARED
from dwell.geometry import (
    Ball,
    Box,
    Ellipsoid,
    Interval,
    MovingPolygon,
    Polygon,
    Polytope,
    Region,
    Workspace,
)

from . import checks
from .declared import DensityTable, density_table
from .problems import Problem
from .raster_table import RasterSpec
from .tracks import RingKeyframes, RingTrack, described
from .values import (
    Bounds,
    Function,
    HalfSpaces,
    Matrix,
    PlanarPoints,
    Point,
    PointList,
    Positive,
    PositiveList,
    Table,
    doc,
    listed,
)


class WorkspaceTable(Table):
    """The table of a workspace, with the arguments of the class `made_of` as its keys."""

    made_of: ClassVar[Any]
    curved: ClassVar[bool] = False
    kind: str

    if TYPE_CHECKING:

        @property
        def dimension(self) -> int: ...

    def made(self) -> Any:
        """The workspace; absent keys have the defaults of its class."""
        return self.made_of(**self.model_dump(exclude={"kind"}, exclude_none=True))

    @classmethod
    def keys_of(cls, workspace: Any) -> dict[str, Any]:
        """The keys of a workspace of this kind: its attributes of these names."""
        return {key: _listed(getattr(workspace, key)) for key in cls.model_fields if key != "kind"}


def _listed(value: Any) -> Any:
    """An array or a tuple as a list."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


class PolygonSpec(WorkspaceTable):
    """A convex polygon."""

    made_of = Polygon
    dimension: ClassVar[int] = 2
    kind: Literal["polygon"] = doc("which form of workspace this is")
    vertices: RingTrack = doc(
        "corners [x, y] in order, in units of length; or {times, values} for a boundary that moves"
    )

    def made(self) -> Polygon | MovingPolygon:
        """The polygon; one that moves if its corners do."""
        corners = self.vertices
        return (
            MovingPolygon(corners.build())
            if isinstance(corners, RingKeyframes)
            else Polygon(corners)
        )


class BoxSpec(WorkspaceTable):
    """A box along the axes: a rectangle in the plane, an interval on the line."""

    made_of = Box
    kind: Literal["box"] = doc("which form of workspace this is")
    lower: Point = doc("the corner with the smallest coordinates, in units of length")
    upper: Point = doc("the corner with the largest coordinates, in units of length")

    def _problems(self) -> Iterator[Problem]:
        return checks.box(self.lower, self.upper)

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.lower)


class ScatterBoxSpec(Table):
    """A box in which agents are scattered."""

    lower: Point = doc("the corner with the smallest coordinates, in units of length")
    upper: Point = doc("the corner with the largest coordinates, in units of length")

    def _problems(self) -> Iterator[Problem]:
        return checks.box(self.lower, self.upper)

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """Corners that do not have n coordinates; both have as many, so one stands for both."""
        yield from checks.point(("lower",), self.lower, n)


class PartSpec(Table):
    """A part of a region: an outline with holes."""

    outer: PlanarPoints = doc("corners [x, y] of the outline in order, in units of length")
    holes: Annotated[tuple[PlanarPoints, ...], listed("a list of rings")] = doc(
        "corners of each hole in order", ()
    )


class RegionSpec(WorkspaceTable):
    """A region of the plane that need not be convex: outlines with holes."""

    made_of = Region
    dimension: ClassVar[int] = 2
    kind: Literal["region"] = doc("which form of workspace this is")
    parts: Annotated[tuple[PartSpec, ...], Field(min_length=1), listed("a list of parts")] = doc(
        "its parts, each with an outline `outer` and a list of `holes`"
    )
    stay: bool = doc(
        "whether agents keep inside the region and move along shortest paths; otherwise they may "
        "be anywhere in its convex hull",
        False,
    )

    @classmethod
    def keys_of(cls, workspace: Any) -> dict[str, Any]:
        """Its outlines with their holes, and whether agents stay inside."""
        parts = [
            {"outer": outer.tolist(), "holes": [hole.tolist() for hole in holes]}
            for outer, holes in workspace.parts
        ]
        return {"parts": parts, "stay": workspace.stay}


class IntervalSpec(WorkspaceTable):
    """A piece of the line."""

    made_of = Interval
    dimension: ClassVar[int] = 1
    kind: Literal["interval"] = doc("which form of workspace this is")
    bounds: Bounds = doc("both ends [lower, upper], in units of length")

    def _problems(self) -> Iterator[Problem]:
        lower, upper = self.bounds
        if not lower < upper:
            says = f"must be less than bounds[1] = {upper!r}, got {lower!r}"
            yield Problem(("bounds", 0), "scenario.interval", says)

    def made(self) -> Interval:
        """The interval between both ends."""
        return Interval(*self.bounds)

    @classmethod
    def keys_of(cls, workspace: Any) -> dict[str, Any]:
        """Both ends."""
        return {"bounds": [workspace.lower, workspace.upper]}


class PolytopeSpec(WorkspaceTable):
    """A convex polytope: the hull of its vertices, or an intersection of half-spaces."""

    made_of = Polytope
    kind: Literal["polytope"] = doc("which form of workspace this is")
    vertices: PointList | None = doc(
        "corners, in any order, in units of length; or give halfspaces", None
    )
    halfspaces: HalfSpaces | None = doc(
        "rows [a1, ..., an, b], each for all z with a1 z1 + ... + an zn <= b; or give vertices",
        None,
    )

    def _problems(self) -> Iterator[Problem]:
        if self.vertices is not None and self.halfspaces is not None:
            says = "cannot be given beside vertices; keep one of the two"
            yield Problem(("halfspaces",), "workspace.polytope", says)
        elif self.vertices is not None:
            yield from checks.same_length("vertices", self.vertices, "scenario.point", "vertices")
        elif self.halfspaces is not None:
            code = "scenario.halfspace"
            yield from checks.same_length("halfspaces", self.halfspaces, code, "half-spaces")
        else:
            says = "is missing; a polytope needs either vertices or halfspaces"
            yield Problem(("vertices",), "scenario.missing-key", says)

    def made(self) -> Polytope:
        """The hull of its vertices, or what its half-spaces share."""
        if self.halfspaces is None:
            return Polytope(self.vertices)
        rows = [row[:-1] for row in self.halfspaces]
        return Polytope.from_halfspaces(rows, [row[-1] for row in self.halfspaces])

    @classmethod
    def keys_of(cls, workspace: Any) -> dict[str, Any]:
        """Its corners."""
        return {"vertices": workspace.vertices.tolist()}

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        if self.halfspaces is not None:
            return len(self.halfspaces[0]) - 1
        assert self.vertices is not None
        return len(self.vertices[0])


class BallSpec(WorkspaceTable):
    """All points within a distance of a center: a disc in the plane."""

    made_of = Ball
    curved = True
    kind: Literal["ball"] = doc("which form of workspace this is")
    center: Point = doc("the middle, in units of length")
    radius: Positive = doc("the distance from the middle to the boundary, a length")

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.center)


class EllipsoidSpec(WorkspaceTable):
    """A ball stretched along axes at right angles: an ellipse in the plane."""

    made_of = Ellipsoid
    curved = True
    kind: Literal["ellipsoid"] = doc("which form of workspace this is")
    center: Point = doc("the middle, in units of length")
    semi_axes: PositiveList = doc(
        "the distance from the middle to the boundary along each axis, lengths"
    )
    axes: Matrix | None = doc(
        "directions of the axes, one per row, at right angles to each other; those of "
        "the coordinates if absent",
        None,
    )

    def _problems(self) -> Iterator[Problem]:
        n, given = len(self.center), len(self.semi_axes)
        if given != n:
            says = f"needs one length for each of the {n} coordinates of center, got {given}"
            yield Problem(("semi_axes",), "scenario.dimension", says)
        if self.axes is not None and len(self.axes) != n:
            says = f"needs {n} rows of {n} numbers, as center has {n} coordinates, got "
            yield Problem(("axes",), "scenario.dimension", f"{says}{len(self.axes)} rows")

    @classmethod
    def keys_of(cls, workspace: Any) -> dict[str, Any]:
        """Its keys, without axes that are those of the coordinates."""
        keys = super().keys_of(workspace)
        if (workspace.axes == np.eye(workspace.dimension)).all():
            del keys["axes"]
        return keys

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.center)


# In the order in which they are listed.
WORKSPACE_TABLES: tuple[type[WorkspaceTable], ...] = (
    PolygonSpec,
    BoxSpec,
    RegionSpec,
    IntervalSpec,
    PolytopeSpec,
    BallSpec,
    EllipsoidSpec,
)
if TYPE_CHECKING:
    WorkspaceSpec: TypeAlias = WorkspaceTable
else:
    WorkspaceSpec = Annotated[Union[(*WORKSPACE_TABLES,)], Field(discriminator="kind")]


def describe_workspace(workspace: Workspace | MovingPolygon) -> dict[str, Any]:
    """The `workspace` table of a workspace."""
    if isinstance(workspace, MovingPolygon):
        return {"kind": "polygon", "vertices": described(workspace.vertices)}
    table = next(one for one in WORKSPACE_TABLES if isinstance(workspace, one.made_of))
    (kind,) = get_args(table.model_fields["kind"].annotation)
    return {"kind": kind, **table.keys_of(workspace)}


# The densities whose parameters are declared, by their kinds in a file.
DENSITY_TABLES = {declaration_of(one).kind: density_table(one) for one in DECLARED}
if TYPE_CHECKING:
    TermSpec: TypeAlias = DensityTable | RasterSpec
else:
    TermSpec = Annotated[
        Union[(*DENSITY_TABLES.values(), RasterSpec)],
        Field(discriminator="kind"),
    ]


class MixtureSpec(Table):
    """A sum of densities."""

    kind: Literal["mixture"] = doc("which form of density this is")
    parts: Annotated[tuple[TermSpec, ...], Field(min_length=1), listed("a list of densities")] = (
        doc("the densities to add: uniform, polynomial, gaussian or raster tables")
    )

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """What does not have n coordinates in the parts."""
        for index, part in enumerate(self.parts):
            for problem in part.of_dimension(n):
                yield problem.inside(("parts", index))


class CallableSpec(Table):
    """A density computed by a Python function."""

    kind: Literal["callable"] = doc("which form of density this is")
    function: Function = doc('the function, written "module:name"')


if TYPE_CHECKING:
    DensitySpec: TypeAlias = DensityTable | RasterSpec | MixtureSpec | CallableSpec
else:
    DensitySpec = Annotated[
        Union[(*DENSITY_TABLES.values(), RasterSpec, MixtureSpec, CallableSpec)],
        Field(discriminator="kind"),
    ]


def uniform() -> DensityTable:
    """The table of a uniform density."""
    return DENSITY_TABLES["uniform"](kind="uniform")
