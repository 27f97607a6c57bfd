"""Messages for what the validator found, in the order of the file, with the nearest known key."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import reduce
from typing import Any, Literal, TypeAlias, get_args, get_origin

from pydantic import BaseModel, ValidationError

from dwell.errors import ScenarioError

from .problems import (
    BOUNDS,
    NEEDS,
    PROBLEMS,
    Problem,
    Where,
    dotted,
    listing,
    scenario_error,
    shown,
)
from .schema import Scenario

Ranks: TypeAlias = dict[int, dict[str | int, int]]
Model: TypeAlias = type[BaseModel]

MOST_EXPLAINED = 100
_AT_ITSELF = ("missing", "extra_forbidden")
_KIND_CODES = ("scenario.kind", "scenario.missing-key")


def error_of(error: ValidationError, data: dict[str, Any], root: Model = Scenario) -> ScenarioError:
    """The exception for what the validator of `root` found, first in the file first."""
    return scenario_error(*problems_of(error, data, root))


def problems_of(
    error: ValidationError, data: dict[str, Any], root: Model
) -> tuple[list[Problem], int]:
    """What the validator found, first in the file first, and how many more there are."""
    details = [dict(detail) for detail in error.errors(include_url=False)]
    ranks: Ranks = {}
    details.sort(key=lambda detail: _position(data, _place(detail, data), ranks))
    found = _explain_all(details[:MOST_EXPLAINED], data, root)
    newer = [p for p in found if p.code == "scenario.version"]
    if newer:
        return newer, 0
    found = _without_echoes(found)
    found.sort(key=lambda p: _position(data, p.where, ranks))
    return found, max(len(details) - MOST_EXPLAINED, 0)


def _explain_all(details: list[dict[str, Any]], data: dict[str, Any], root: Model) -> list[Problem]:
    """One problem or more for each detail; keys that belong to one other kind are one problem."""
    found: list[Problem] = []
    strangers: dict[tuple[Where, tuple[str, ...]], list[Where]] = {}
    for detail in details:
        where = _place(detail, data)
        owners = owners_of(data, where, root) if detail["type"] == "extra_forbidden" else ()
        if owners:
            strangers.setdefault((where[:-1], owners), []).append(where)
        else:
            found += _explain(detail, data, root)
    return found + [_strangers(keys, owners, data, root) for (_, owners), keys in strangers.items()]


def _strangers(
    keys: list[Where], owners: tuple[str, ...], data: dict[str, Any], root: Model
) -> Problem:
    """Keys of one table that other kinds of the table have, and its own kind has not."""
    table = keys[0][:-1]
    kinds = listing([f'"{owner}"' for owner in owners], "or")
    others = [str(key[-1]) for key in keys[1:]]
    also = f", and so {'do' if others[1:] else 'does'} {listing(others)}" if others else ""
    mine = shown(reduce(item_at, (*table, "kind"), data))
    known = [key for key in fields_of(table_at(data, table, root)[0]) if key != "kind"]
    have = f"whose key{'s are' if known[1:] else ' is'} {listing(known)}"
    have = have if known else "which has no keys of its own"
    says = f"belongs to kind = {kinds}{also}, got kind = {mine}, {have}"
    return Problem(keys[0], "scenario.unknown-key", says)


def _explain(detail: dict[str, Any], data: dict[str, Any], root: Model) -> list[Problem]:
    kind, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    where, got = _place(detail, data), shown(value)
    code, says = "scenario.value", f"holds a value that cannot be used, got {got}"
    if kind == PROBLEMS:
        return [problem.inside(where) for problem in context["problems"]]
    if kind == NEEDS:
        code, says = context["code"], f"needs {context['what']}, got {got}"
    elif kind in ("union_tag_invalid", "union_tag_not_found"):
        return [_kind_problem((*where, "kind"), value, data, root)]
    elif kind == "literal_error":
        return [_choice_problem(where, value, data, root)]
    elif kind == "extra_forbidden":
        return [_unknown_key(where, data, root)]
    elif kind == "missing" and where[-1] == "kind":
        return [_kind_problem(where, {}, data, root)]
    elif kind == "missing":
        field = fields_of(table_at(data, where[:-1], root)[0]).get(str(where[-1]))
        code = "scenario.missing-key"
        says = f"is missing; it is {field.description if field else ''}"
    elif kind in BOUNDS:
        words, name = BOUNDS[kind]
        code, says = "scenario.range", f"must be {words} {context[name]:.12g}, got {got}"
    elif kind == "too_short":
        least = context["min_length"]
        if len(value) >= least:
            return []  # Long enough, but for entries that are reported themselves.
        code = "agents.empty" if where[-1] == "start" else "scenario.length"
        entries = "entry" if least == 1 else "entries"
        says = f"needs at least {least} {entries}, got {context['actual_length']}"
    elif kind == "bool_type":
        code, says = "scenario.type", f"must be true or false, without quotes, got {got}"
    elif kind in ("model_type", "model_attributes_type"):
        code, says = "scenario.type", f"needs a table, got {got}"
    return [Problem(where, code, says)]


def _kind_problem(where: Where, table: object, data: dict[str, Any], root: Model) -> Problem:
    value = item_at(table, "kind")
    if value is None:
        says = f"is missing; it must be {listing(choices_at(data, where, root), 'or')}"
        return Problem(where, "scenario.missing-key", says)
    return _choice_problem(where, value, data, root)


def _choice_problem(where: Where, value: object, data: dict[str, Any], root: Model) -> Problem:
    choices = choices_at(data, where, root)
    names = tuple(part for part in where if isinstance(part, str))
    says = f"must be {listing(choices, 'or')}, got {shown(value)}"
    if names[-2:] == ("start", "region"):
        says = f'must be "workspace" or a table with lower and upper, got {shown(value)}'
    close = nearest(value, choices) if isinstance(value, str) else None
    if close and len(choices) > 1:
        says += f'; did you mean "{close}"?'
    return Problem(where, "scenario.kind", says)


def _unknown_key(where: Where, data: dict[str, Any], root: Model) -> Problem:
    table, key = where[:-1], str(where[-1])
    known = list(fields_of(table_at(data, table, root)[0]))
    settled = reduce(item_at, (*table, "kind"), data) is not None
    close = nearest(key, [k for k in known if k != "kind" or not settled])
    meant = (*table, close) if close else elsewhere(key, root)
    says = f"is not a known key; known here are {listing(known)}"
    if meant is not None:
        here = "" if close else " here"
        says = f"is not a known key{here}; did you mean {dotted(meant)}?"
    return Problem(where, "scenario.unknown-key", says, meant)


def _place(detail: dict[str, Any], data: object) -> Where:
    """A validator's place without the names of union members, which are not in the file."""
    loc, at_itself = detail["loc"], detail["type"] in _AT_ITSELF
    where: list[str | int] = []
    tag_may_follow = True
    for step, part in enumerate(loc):
        is_key = at_itself and step == len(loc) - 1
        if isinstance(part, str) and part.startswith("~") and not is_key:
            continue
        is_tag = isinstance(data, dict) and data.get("kind") == part
        if tag_may_follow and is_tag and not is_key:
            tag_may_follow = False
            continue
        where.append(part)
        data = item_at(data, part)
        tag_may_follow = True
    return tuple(where)


def _without_echoes(found: list[Problem]) -> list[Problem]:
    """Without what another problem explains.

    In a table whose kind is wrong the other keys may fit the right kind, a key that was misspelt
    is missing for that reason only, and a list with wrong entries may be short for that reason.
    """
    within = {p.where[:k] for p in found for k in range(len(p.where))}
    found = [p for p in found if p.code != "scenario.length" or p.where not in within]
    meant = {p.meant for p in found if p.meant}
    found = [p for p in found if p.code != "scenario.missing-key" or p.where not in meant]
    heads = {p.where[:-1] for p in found if p.where[-1:] == ("kind",) and p.code in _KIND_CODES}
    return [
        p
        for p in found
        if p.where[-1:] == ("kind",) or not any(p.where[: len(h)] == h for h in heads)
    ]


def _position(data: object, where: Where, ranks: Ranks) -> tuple[int, ...]:
    """Where a place lies in the file, to sort by; a key that is not there comes last."""
    if where == ("schema_version",):
        return (-1,)  # A newer format explains everything else.
    position = []
    for part in where:
        if isinstance(data, dict):
            if id(data) not in ranks:
                ranks[id(data)] = {key: index for index, key in enumerate(data)}
            rank = ranks[id(data)]
            position.append(rank.get(part, len(rank)))
        else:
            position.append(part if isinstance(part, int) else 0)
        data = item_at(data, part)
    return tuple(position)


# Keys and choices that are known at a place of a scenario.


def table_at(
    data: object, where: Where, root: Model = Scenario
) -> tuple[Model | None, list[Model]]:
    """The model of the table at a place of `root`, chosen by its kind, and all that it may have.

    The model is None where there is no table in the format.
    """
    model: Model | None = root
    options: list[Model] = [root]
    for part in where:
        data = item_at(data, part)
        if isinstance(part, str):
            field = fields_of(model).get(part)
            options = list(_models_in(field.annotation if field else _open_keys(model)))
        model = _pick(options, data)
    return model, options


def _open_keys(model: Model | None) -> Any:
    """What a table holds under keys that it does not declare; None if it takes no others."""
    return getattr(model, "others", None)


def fields_of(model: Model | None) -> dict[str, Any]:
    """The fields of a table by their keys in a file."""
    fields = {} if model is None else model.model_fields
    return {field.alias or name: field for name, field in fields.items()}


def choices_at(data: object, where: Where, root: Model) -> list[str]:
    """The words that a key may hold: the literals of a field, or the kinds of a union."""
    model, options = table_at(data, where[:-1], root)
    field = fields_of(model).get(str(where[-1]))
    if field is not None:
        return list(_words_in(field.annotation))
    return [word for option in options for word in _kinds_of(option)]


def owners_of(data: object, where: Where, root: Model) -> tuple[str, ...]:
    """The kinds of a table that have a key; none if no kind of it does."""
    options = table_at(data, where[:-1], root)[1]
    return tuple(kind for m in options if where[-1] in fields_of(m) for kind in _kinds_of(m))


def nearest(word: str, known: list[str]) -> str | None:
    """The known word most like this one, in any case; None if nothing is like it."""
    folded = {k.casefold().replace("-", "_"): k for k in known}
    close = get_close_matches(word[:80].casefold().replace("-", "_"), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def elsewhere(key: str, root: Model) -> Where | None:
    """The one other place of the format that has a key of this name, in the outermost tables.

    What lists of tables hold has no one place.
    """
    places = {where for where in _all_keys(root, ()) if where[-1] == key}
    least = min(map(len, places), default=0)
    outermost = [where for where in places if len(where) == least]
    return outermost[0] if len(outermost) == 1 and key != "kind" else None


def _all_keys(model: Model, where: Where) -> Iterator[Where]:
    for key, field in fields_of(model).items():
        yield (*where, key)
        for inner in _models_in(field.annotation, in_lists=False):
            yield from _all_keys(inner, (*where, key))


def item_at(data: Any, part: str | int) -> Any:
    """The entry of a table or list, or None if there is none."""
    if isinstance(data, dict):
        return data.get(part)
    if isinstance(data, list) and isinstance(part, int) and part < len(data):
        return data[part]
    return None


def _pick(options: list[Model], data: object) -> Model | None:
    if len(options) == 1:
        return options[0]
    kind = item_at(data, "kind")
    found = next((model for model in options if kind in _kinds_of(model)), None)
    if found is None and isinstance(data, dict) and not any(map(_kinds_of, options)):
        found = max(options, key=lambda model: len(data.keys() & fields_of(model)), default=None)
    return found


def _kinds_of(model: Model) -> list[str]:
    field = model.model_fields.get("kind")
    return list(_words_in(field.annotation)) if field else []


def _models_in(annotation: Any, in_lists: bool = True) -> Iterator[Model]:
    """The tables that a field may hold, also in lists of tables or not."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    if in_lists or get_origin(annotation) is not tuple:
        for inner in get_args(annotation):
            yield from _models_in(inner, in_lists)


def _words_in(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from map(str, get_args(annotation))
    else:
        for inner in get_args(annotation):
            yield from _words_in(inner)
