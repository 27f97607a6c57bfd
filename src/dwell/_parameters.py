"""Parameters of laws and settings: each is declared once, in the class that has it.

A declaration is a sentence, what the value must be, its unit, and what it goes with. The class
checks itself by it. Tables of files with their JSON Schema, docs, units of plots, the page, and
what comparisons match follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from inspect import cleandoc
from typing import Any, NamedTuple, Protocol, TypeVar, dataclass_transform

import numpy as np

from dwell._types import (
    as_numbers,
    counted,
    finite_number,
    in_short,
    is_masked,
    is_one_of,
    is_whole,
    listed,
)
from dwell.errors import InputError

T = TypeVar("T")
Where = tuple[str | int, ...]

# Lengths, times and speeds: fourth powers stay within doubles.
SMALLEST, LARGEST = 1e-70, 1e70

# Units, as powers of length and of time.
PLAIN, LENGTH, TIME, SPEED, RATE = (0, 0), (1, 0), (0, 1), (1, -1), (0, -1)


class Kind(Protocol):
    """What a parameter may be.

    A kind that `scenario/declared.py` has no type for also has `schema`, its JSON Schema.
    """

    @property
    def need(self) -> str:
        """What is needed, in words."""
        ...

    def taken(self, value: object) -> Any:
        """The value as it is kept; ValueError, with what is needed, for one that will not do."""
        ...


@dataclass(frozen=True)
class Number:
    """A finite number within limits; `above` and `below` are not among the numbers allowed.

    A number that is `sized` must be one that doubles can square twice.
    """

    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None
    sized: bool = False

    @property
    def limits(self) -> str:
        """The numbers allowed, in words."""
        low = self.least if self.above is None else self.above
        high = self.most if self.below is None else self.below
        if low is None:
            return "finite"
        if high is None:
            return f"above {low:g}" if self.least is None else f"{low:g} or more"
        begin, end = "(" if self.least is None else "[", ")" if self.most is None else "]"
        return f"{begin}{low:g}, {high:g}{end}"

    @property
    def need(self) -> str:
        """What is needed, in words."""
        known = {"above 0": "a positive number", "0 or more": "a number from 0 on"}
        if self.limits == "finite":
            return "a finite number"
        return known.get(self.limits, f"a number in {self.limits}")

    def taken(self, value: object) -> float:
        """The value as a float."""
        number = finite_number(value)
        if number is None or not self.allows(number):
            raise ValueError(self.need)
        if self.sized and not SMALLEST <= number <= LARGEST:
            raise ValueError(f"a number between {SMALLEST:g} and {LARGEST:g}")
        return number

    def allows(self, number: float) -> bool:
        """Whether a number is within the limits."""
        return (
            (self.above is None or number > self.above)
            and (self.least is None or number >= self.least)
            and (self.below is None or number < self.below)
            and (self.most is None or number <= self.most)
        )


POSITIVE, NOT_NEGATIVE = Number(above=0.0, sized=True), Number(least=0.0)
OF_ANY_SIZE = Number(above=0.0)
CHANCE = Number(least=0.0, below=1.0)


@dataclass(frozen=True)
class Word:
    """One of a few words or whole numbers, each with a sentence if it needs one."""

    choices: Mapping[Any, str]

    @property
    def need(self) -> str:
        """What is needed, in words."""
        return f"one of {', '.join(map(str, self.choices))}"

    def taken(self, value: object) -> Any:
        """The choice itself."""
        if isinstance(value, bool) or not is_one_of(value, self.choices):
            raise ValueError(self.need)
        return next(choice for choice in self.choices if choice == value)


@dataclass(frozen=True)
class WordOrWhole:
    """A word, or a whole number from 0 to `most`."""

    word: str
    most: int

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema."""
        whole = {"type": "integer", "minimum": 0, "maximum": self.most}
        return {"anyOf": [{"const": self.word}, whole]}

    @property
    def need(self) -> str:
        """What is needed, in words."""
        return f'"{self.word}", or a whole number from 0 to {self.most}'

    def taken(self, value: object) -> str | int:
        """The word, or the number."""
        if is_one_of(value, (self.word,)):
            return self.word
        if not is_whole(value) or not 0 <= value <= self.most:
            raise ValueError(self.need)
        return int(value)


@dataclass(frozen=True)
class Whole:
    """A whole number from `least` on, up to `most`."""

    least: int
    most: int | None = None

    @property
    def limits(self) -> str:
        """The values allowed, in words."""
        return f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"

    @property
    def need(self) -> str:
        """What is needed, in words."""
        end = "on" if self.most is None else f"to {self.most}"
        return f"a whole number from {self.least} {end}"

    def taken(self, value: object) -> int:
        """The number."""
        if not is_whole(value) or value < self.least or (self.most and value > self.most):
            raise ValueError(self.need)
        return int(value)


@dataclass(frozen=True)
class Wholes:
    """A list of numbers of agents."""

    need: str = "a list of agents' numbers"
    limits: str = "numbers of agents"

    def taken(self, value: object) -> tuple[int, ...]:
        """A tuple of whole numbers."""
        return tuple(map(Whole(0).taken, listed(value)))


@dataclass(frozen=True)
class Range:
    """Two numbers from 0 on, the shortest and the longest."""

    need: str = "two numbers from 0 on"
    limits: str = "0 or more"

    def taken(self, value: object) -> tuple[float, float]:
        """Two floats."""
        ends = listed(value)
        if len(ends) != 2:
            raise ValueError(self.need)
        return NOT_NEGATIVE.taken(ends[0]), NOT_NEGATIVE.taken(ends[1])


@dataclass(frozen=True)
class Tables:
    """A list of objects of a class with declared parameters."""

    of: Any
    limits: str = "tables"

    @property
    def need(self) -> str:
        """What is needed, in words."""
        return f"a list of {self.of.__name__}(...)"

    def taken(self, value: object) -> tuple[Any, ...]:
        """A tuple of the objects."""
        objects = listed(value)
        if not all(isinstance(one, self.of) for one in objects):
            raise ValueError(self.need)
        return objects


@dataclass(frozen=True)
class Each:
    """A positive number for all agents, or one for each."""

    need: str = "a number, or one per agent, each positive,"
    limits: str = "above 0"

    def taken(self, value: object) -> float | tuple[float, ...]:
        """A float, or a tuple of them."""
        array = as_numbers(value)
        if array is None or array.ndim > 1 or array.size == 0:
            raise ValueError(self.need)
        each = tuple(map(POSITIVE.taken, array.ravel().tolist()))
        return each[0] if array.ndim == 0 else each


EACH = Each()


@dataclass(frozen=True)
class Times:
    """A list of positive numbers for all agents, or one such list for each."""

    need: str = "a list of numbers, or one such list per agent, each positive,"
    limits: str = "above 0"

    def taken(self, value: object) -> tuple[Any, ...]:
        """A tuple of floats, or of such tuples."""
        rows = listed(value)
        if not rows or rows[0] is value:
            raise ValueError(self.need)
        if all(finite_number(row) is not None for row in rows):
            return tuple(map(POSITIVE.taken, rows))
        return tuple(map(self._row, rows))

    def _row(self, value: object) -> tuple[float, ...]:
        row = as_numbers(value)
        if row is None or row.ndim != 1 or row.size == 0:
            raise ValueError(self.need)
        return tuple(map(POSITIVE.taken, row.tolist()))


@dataclass(frozen=True)
class Vectors:
    """A vector for each agent."""

    need: str = "one velocity per agent"

    def taken(self, value: object) -> tuple[tuple[float, ...], ...]:
        """A tuple of tuples of floats."""
        rows = as_numbers(value)
        if rows is None or rows.ndim != 2 or rows.size == 0 or not np.isfinite(rows).all():
            raise ValueError(self.need)
        return tuple(map(tuple, rows.tolist()))


@dataclass(frozen=True)
class Point:
    """A point, with a coordinate for each dimension; on the line a number will do."""

    need: str = "a list of finite numbers, one per dimension,"
    limits: str = "one number per dimension"

    def taken(self, value: object) -> tuple[float, ...]:
        """A tuple of floats."""
        numbers = np.atleast_1d(_finite(value, self.need))
        if numbers.ndim != 1 or numbers.size == 0:
            raise ValueError(self.need)
        return tuple(numbers.tolist())


@dataclass(frozen=True)
class Matrix:
    """A square matrix, with a row for each dimension; on the line a number will do."""

    need: str = "a square matrix of finite numbers"
    limits: str = "n by n"

    def taken(self, value: object) -> tuple[tuple[float, ...], ...]:
        """A tuple of rows."""
        rows = np.atleast_2d(_finite(value, self.need))
        if rows.ndim != 2 or rows.size == 0 or rows.shape[0] != rows.shape[1]:
            raise ValueError(self.need)
        return tuple(map(tuple, rows.tolist()))


@dataclass(frozen=True)
class Terms:
    """Terms of a polynomial: whole powers, one per dimension, and a coefficient, in rows."""

    degree: int

    @property
    def limits(self) -> str:
        """The values allowed, in words."""
        return f"powers in sum at most {self.degree}"

    @property
    def need(self) -> str:
        """What is needed, in words."""
        return (
            "a list of terms, each one power per dimension and a coefficient, with whole powers "
            f"from 0, in sum at most {self.degree},"
        )

    def taken(self, value: object) -> tuple[tuple[float, ...], ...]:
        """A tuple of rows, all of one length."""
        rows = tuple(map(self._row, listed(value)))
        if not rows:
            raise ValueError(self.need)
        if len(set(map(len, rows))) > 1:
            powers = f"{counted(len(rows[0]) - 1, 'power')} and a coefficient"
            raise ValueError(f"for each term {powers}, like the first, {list(rows[0])},")
        return rows

    def _row(self, row: object) -> tuple[float, ...]:
        numbers = [finite_number(value) for value in listed(row)]
        *powers, coefficient = [number for number in numbers if number is not None] or [0.0]
        whole = all(power.is_integer() and power >= 0.0 for power in powers)
        if None in numbers or not powers or not whole or sum(powers) > self.degree:
            raise ValueError(self.need)
        return (*map(int, powers), coefficient)


def _finite(value: object, need: str) -> np.ndarray:
    """An array of finite numbers: no text, no truth values, nothing complex or masked."""
    if is_masked(value):
        raise ValueError(need)
    try:
        array = np.array(value, dtype=object)
    except (TypeError, ValueError):
        raise ValueError(need) from None
    numbers = [finite_number(entry) for entry in array.ravel()]
    if None in numbers:
        raise ValueError(need)
    return np.array(numbers, dtype=np.float64).reshape(array.shape)


@dataclass(frozen=True)
class Levels:
    """A list of at least two numbers from 0 to 1."""

    need: str = "a list of ascending numbers from 0 to 1"

    def taken(self, value: object) -> tuple[float, ...]:
        """A tuple of floats."""
        numbers = tuple(finite_number(one) for one in listed(value))
        if len(numbers) < 2 or any(one is None or not 0.0 <= one <= 1.0 for one in numbers):
            raise ValueError(self.need)
        return tuple(one for one in numbers if one is not None)


@dataclass(frozen=True)
class Parameter:
    """What is declared of one parameter.

    Attributes
    ----------
    sentence : what it means.
    kind : what it may be.
    default : its value unless given; MISSING if it must be given.
    unit : powers of length and of time.
    role : "speed", the largest speed; "gain", the speed per distance near the centroid (of a
        length: speed over it); "clock", a time by which the clock advances, or the rate of such
        times; "period", such a time of a law under which all agents sample together; nothing for
        others.
    decays : whether it sets how fast errors decay near rest.
    belongs : another parameter and its choice that this one goes with.
    needed : whether that choice needs it.
    absent : what stands for it where it is not given: a value, or words.
    moves : whether it may change over time.
    in_file : what a file may say, where that is less.
    key : its name in a file, if that is another one.
    limits : the values allowed in words, where they are fewer than the kind says.
    label, sign : its name in plots, and its letter in LaTeX.
    """

    sentence: str
    kind: Any
    default: Any = MISSING
    unit: tuple[int, int] = PLAIN
    role: str = ""
    decays: bool = False
    belongs: tuple[str, str] | None = None
    needed: bool = False
    absent: Any = None
    moves: bool = False
    in_file: Any = None
    key: str = ""
    limits: str = ""
    label: str = ""
    sign: str = ""

    @property
    def is_needed(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING

    @property
    def per_agent(self) -> bool:
        """Whether a list has an entry for each agent."""
        return isinstance(self.kind, Each | Times | Vectors)

    @property
    def advances_clock(self) -> bool:
        """Whether the clock advances by it, or at its rate."""
        return self.role in ("clock", "period")

    @property
    def description(self) -> str:
        """The sentence, with the unit, and with what stands for it where it is not given."""
        words = {SPEED: ", length per time", LENGTH: ", a length", RATE: ", per time"}
        text = self.sentence + words.get(self.unit, "")
        if self.absent is None:
            return text
        absent = self.absent if isinstance(self.absent, str) else f"{self.absent:g}"
        return f"{text}; {absent} if absent"


def in_words(unit: tuple[int, int]) -> str:
    """A unit in words, such as "length / time"; nothing for a number without unit."""
    above = [_power(name, power) for name, power in zip(("length", "time"), unit, strict=True)]
    below = [_power(name, -power) for name, power in zip(("length", "time"), unit, strict=True)]
    top, bottom = " ".join(filter(None, above)), " ".join(filter(None, below))
    return f"{top or 1} / {bottom}" if bottom else top


def _power(name: str, power: int) -> str:
    return "" if power < 1 else name if power == 1 else f"{name}$^{power}$"


def param(sentence: str, kind: Any, *, default: Any = MISSING, **about: Any) -> Any:
    """A field of a class whose parameters are declared; the other names are those of Parameter."""
    metadata = {"parameter": Parameter(sentence, kind, default, **about)}
    return (
        field(metadata=metadata)
        if default is MISSING
        else field(default=default, metadata=metadata)
    )


class Fault(NamedTuple):
    """A rule that does not hold: the key and perhaps an index, a code, and what follows the key.

    Other keys are named with their table, as in ``controller.t2``.
    """

    where: Where
    code: str
    text: str


@dataclass(frozen=True)
class Declaration:
    """What a class says of itself.

    table : the table of a file with its parameters; `kind` chooses it among those of one table.
    whose : its name in sentences, such as "the timer law".
    code : of what it refuses; that of the key if empty.
    title, about : its name on the page, and what it does in a few words.
    """

    table: str
    whose: str
    error: type[InputError]
    kind: str
    title: str
    about: str
    code: str


@dataclass_transform(frozen_default=True, field_specifiers=(param, field))
def parametric(
    table: str,
    whose: str,
    error: type[InputError],
    *,
    kind: str = "",
    title: str = "",
    about: str = "",
    code: str = "",
    slots: bool = False,
) -> Callable[[type[T]], type[T]]:
    """Make a frozen dataclass of a class whose parameters are declared by `param`.

    Its objects check themselves: kinds, what goes with what, and its static method `rules`, a
    generator of faults from an object or from the table of one. Its docstring gets a section of
    its parameters.
    """

    def made(cls: type[T]) -> type[T]:
        settle = cls.__dict__.get("__post_init__", lambda of: None)

        def check_and_settle(of: Any) -> None:
            _check(of)
            settle(of)

        cls.__post_init__ = check_and_settle  # type: ignore[attr-defined]
        cls.declaration = Declaration(table, whose, error, kind, title, about, code)  # type: ignore[attr-defined]
        done = dataclass(frozen=True, slots=slots)(cls)
        done.__doc__ = _documented(done)
        return done

    return made


def declaration_of(cls: Any) -> Declaration:
    """What a class with declared parameters says of itself."""
    declaration: Declaration = cls.declaration
    return declaration


def parameters_of(cls: Any) -> dict[str, Parameter]:
    """The declared parameters of a class, by their names; none of a class without declarations."""
    return _declared(cls if isinstance(cls, type) else type(cls))


@cache
def _declared(cls: type) -> dict[str, Parameter]:
    if not is_dataclass(cls):
        return {}
    return {f.name: f.metadata["parameter"] for f in fields(cls) if "parameter" in f.metadata}


def values_of(of: Any) -> dict[str, tuple[Parameter, Any]]:
    """The declared parameters of an object, each with its value."""
    return {name: (one, getattr(of, name)) for name, one in parameters_of(type(of)).items()}


def faults(cls: Any, values: Any) -> Iterator[Fault]:
    """The rules between parameters that do not hold in `values`: an object, or its table."""
    kind = declaration_of(cls).kind
    for name, one in parameters_of(cls).items():
        if one.belongs is None:
            continue
        key, choice = one.belongs
        given, chosen = getattr(values, name), getattr(values, key)
        if given not in (None, one.default) and chosen != choice:
            text = f'belongs to {key} = "{choice}", got {key} = "{chosen}"'
            yield Fault((name,), f"{kind}.{key}", text)
        if given is None and chosen == choice and one.needed:
            text = f'is missing; {key} = "{choice}" needs it'
            yield Fault((name,), "scenario.missing-key", text)
    if hasattr(cls, "rules"):
        yield from cls.rules(values)


def refused(of: Any, name: str, value: object, need: str) -> InputError:
    """The error for a parameter of an object, or of its class, that will not do."""
    about = declaration_of(of)
    key = f"{about.table}.{parameters_of(of)[name].key or name}"
    text = f"{about.whose}'s {name} is {in_short(value, 200)}; {need} is needed"
    return about.error(text, code=about.code or key, key=key)


def _check(of: Any) -> None:
    """Bring all parameters into the form in which they are kept; refuse what will not do."""
    about = declaration_of(of)
    for name, one in parameters_of(type(of)).items():
        value = getattr(of, name)
        if value is one.default:
            continue
        try:
            object.__setattr__(of, name, one.kind.taken(value))
        except ValueError as bad:
            raise refused(of, name, value, str(bad)) from None
    for where, code, text in faults(type(of), of):
        place = "".join(f"[{part}]" if isinstance(part, int) else part for part in where)
        text = text.replace(f"{about.table}.", "")
        raise about.error(
            f"{about.whose}'s {place} {text}", code=code, key=f"{about.table}.{place}"
        )


def _documented(cls: Any) -> str | None:
    """The docstring of a class with a section of its parameters, before its examples."""
    if cls.__doc__ is None:
        return None
    lines = ["Parameters", "----------"]
    for name, one in parameters_of(cls).items():
        lines += [f"{name} : {one.description}."]
        if isinstance(one.kind, Word) and any(one.kind.choices.values()):
            choices = (f'"{word}": {text}' for word, text in one.kind.choices.items())
            lines += [f"    {choice}." for choice in choices]
    head, examples, tail = cleandoc(cls.__doc__).partition("Examples\n--------")
    return f"{head.rstrip()}\n\n" + "\n".join(lines) + "\n\n" + examples + tail


def each_of(of: Any, name: str, agents: int) -> np.ndarray:
    """The values of a parameter for each agent; a list of another length is refused."""
    values = np.atleast_1d(np.array(getattr(of, name), dtype=np.float64))
    if len(values) not in (1, agents):
        need = f"one value, or one for each of {agents} agents,"
        raise refused(of, name, f"a list of {len(values)}", need)
    return np.ascontiguousarray(np.broadcast_to(values, (agents,)))


def frames_of(value: Any, where: Where) -> Iterator[tuple[Where, Any]]:
    """The values that a parameter has, each with its place: one, or one for each keyframe."""
    if value is None:
        return
    if isinstance(value, tuple | float | int):
        yield where, value
    elif hasattr(value, "values"):
        for k, frame in enumerate(value.values):
            yield (*where, "values", k), frame


def nth(values: float | tuple[float, ...], agent: int) -> float:
    """The value of one agent, of a value for all or of one for each."""
    return values[agent] if isinstance(values, tuple) else values


def common_length(*values: Any) -> int | None:
    """How many agents the lists have entries for; 1 without lists, None if the lists disagree."""
    sizes = {len(one) for one in values if isinstance(one, tuple)}
    if len(sizes) > 1:
        return None
    return sizes.pop() if sizes else 1
