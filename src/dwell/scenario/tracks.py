"""Tables of parameters that change over time: on keyframes, or on a circle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag

from dwell.motion import Circle, Keyframes, Track

from .problems import Problem, needs
from .values import (
    Matrix,
    NotNegative,
    PlanarPoint,
    PlanarPoints,
    Point,
    PointList,
    Positive,
    PositiveList,
    Table,
    Term,
    Text,
    as_number,
    doc,
    is_table,
    listed,
)


class KeyframesSpec(Table):
    """A value given at some times."""

    times: Annotated[
        tuple[NotNegative, ...], Field(min_length=1), listed("a list of times from 0 on")
    ] = doc("ascending times from 0 on")
    values: Any
    between: Literal["linear", "step"] = doc(
        'how the value gets to the next keyframe: "linear", evenly, or "step", at once', "linear"
    )
    after: Literal["hold"] | None = doc(
        '"hold" keeps the last value after the last keyframe; without it, the horizon must not be '
        "later",
        None,
    )

    def _problems(self) -> Iterator[Problem]:
        for k, (before, then) in enumerate(pairwise(self.times)):
            if not before < then:
                says = f"must be greater than times[{k}] = {before!r}, got {then!r}"
                yield Problem(("times", k + 1), "world.times", says)
                return
        if len(self.values) != len(self.times):
            says = f"needs one value for each of the {len(self.times)} times, got "
            yield Problem(("values",), "scenario.length", f"{says}{len(self.values)}")

    def build(self) -> Keyframes:
        """The track."""
        return Keyframes(self.times, self.values, self.between, self.after)


class NumberKeyframes(KeyframesSpec):
    """A number given at some times."""

    values: PositiveList = doc("the value at each of the times, greater than 0")


class PointKeyframes(KeyframesSpec):
    """A point given at some times."""

    values: PointList = doc("the point at each of the times, in units of length")


class MatrixKeyframes(KeyframesSpec):
    """A matrix given at some times."""

    values: Annotated[tuple[Matrix, ...], listed("a list of matrices")] = doc(
        "the matrix at each of the times"
    )


class RingKeyframes(KeyframesSpec):
    """The vertices of a polygon given at some times."""

    values: Annotated[tuple[PlanarPoints, ...], listed("a list of lists of points [x, y]")] = doc(
        "the corners [x, y] in order, at each of the times"
    )

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        for k, ring in enumerate(self.values):
            if len(ring) != len(self.values[0]):
                says = f"needs as many corners as values[0], {len(self.values[0])}, got {len(ring)}"
                yield Problem(("values", k), "scenario.length", says)
                return


class TermsKeyframes(KeyframesSpec):
    """The terms of a polynomial given at some times, with the same powers at all of them."""

    values: Annotated[
        tuple[Annotated[tuple[Term, ...], listed("a list of terms")], ...],
        listed("a list of lists of terms"),
    ] = doc("the terms [i, j, coefficient] at each of the times; powers do not change")

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        powers = [[term[:-1] for term in terms] for terms in self.values]
        for k, own in enumerate(powers):
            if own != powers[0]:
                says = "needs the powers of values[0]; give a term that is absent a coefficient 0"
                yield Problem(("values", k), "world.powers", says)
                return


class FileKeyframes(KeyframesSpec):
    """A file given at some times."""

    values: Annotated[tuple[Text, ...], listed("a list of names of files")] = doc(
        "the file at each of the times"
    )


def _as_period(value: object) -> float:
    period = as_number(value)
    if period == 0.0:
        raise needs("a number other than 0; negative for clockwise")
    return period


class CircleSpec(Table):
    """A point that moves on a circle at a constant speed."""

    center: PlanarPoint = doc("the middle of the circle, in units of length")
    radius: Positive = doc("its radius, a length")
    period: Annotated[float, BeforeValidator(_as_period)] = doc(
        "the time of one turn; negative for clockwise"
    )
    phase: Annotated[float, BeforeValidator(as_number)] = doc(
        "where the point is at time 0, in turns from the direction of x", 0.0
    )

    def build(self) -> Circle:
        """The track."""
        return Circle(self.center, self.radius, self.period, self.phase)


TrackSpec: TypeAlias = KeyframesSpec | CircleSpec


def _form(value: Any) -> str:
    """Which form a value has that may change over time."""
    if not is_table(value):
        return "~constant"
    keys = value if isinstance(value, dict) else type(value).model_fields
    return "~circle" if "radius" in keys or "period" in keys else "~keyframes"


constant_or_track = Discriminator(_form)


def track_of(constant: Any, keyframes: type[KeyframesSpec]) -> Any:
    """The type of a parameter that is a constant, or given at some times."""
    return Annotated[
        Annotated[constant, Tag("~constant")] | Annotated[keyframes, Tag("~keyframes")],
        constant_or_track,
    ]


PointTrack: TypeAlias = Annotated[
    Annotated[Point, Tag("~constant")]
    | Annotated[PointKeyframes, Tag("~keyframes")]
    | Annotated[CircleSpec, Tag("~circle")],
    constant_or_track,
]
MatrixTrack: Any = track_of(Matrix, MatrixKeyframes)
RingTrack: Any = track_of(PlanarPoints, RingKeyframes)
FileTrack: Any = track_of(Text, FileKeyframes)


def frames_of(value: Any, where: tuple[str | int, ...]) -> Iterator[tuple[Any, Any]]:
    """The values that a parameter has, each with its place: one, or one per keyframe."""
    if isinstance(value, CircleSpec):
        yield (*where, "center"), value.center
    elif isinstance(value, KeyframesSpec):
        for k, frame in enumerate(value.values):
            yield (*where, "values", k), frame
    elif value is not None:
        yield where, value


def built(value: Any) -> Any | Track:
    """A parameter as an object takes it: a constant, or a track."""
    return value.build() if isinstance(value, KeyframesSpec | CircleSpec) else value


def described(value: Any) -> Any:
    """A parameter as a table has it: a constant, or the table of a track."""
    if not isinstance(value, Keyframes | Circle):
        return value
    table = {f.name: getattr(value, f.name) for f in fields(value)}
    return {name: one for name, one in table.items() if one is not None}
