"""Which keys and choices are known at a place of a scenario, and which is nearest to a word."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from .problems import Where
from .schema import Scenario


def model_at(data: object, where: Where) -> type[BaseModel] | None:
    """The model of the table at a place, or None where there is no table in the format."""
    model: type[BaseModel] | None = Scenario
    options: list[type[BaseModel]] = [Scenario]
    for part in where:
        data = item_at(data, part)
        if isinstance(part, str):
            field = model.model_fields.get(part) if model else None
            options = list(_models_in(field.annotation)) if field else []
        model = _pick(options, data)
    return model


def fields_of(model: type[BaseModel] | None) -> dict[str, Any]:
    """The fields of a table by their keys in a file."""
    fields = {} if model is None else model.model_fields
    return {field.alias or name: field for name, field in fields.items()}


def known_keys(data: object, where: Where) -> list[str]:
    """The keys that the table at a place may have."""
    return list(fields_of(model_at(data, where)))


def choices_at(data: object, where: Where) -> list[str]:
    """The words that a key may hold: the literals of a field, or the kinds of a union."""
    model = model_at(data, where[:-1])
    if model is not None and where[-1] in model.model_fields:
        return list(_words_in(model.model_fields[str(where[-1])].annotation))
    return [word for m in _models_in(_field_annotation(data, where[:-1])) for word in _kinds_of(m)]


def owners_of(data: object, where: Where) -> tuple[str, ...]:
    """The kinds of a table that have a key; none if no kind of it does."""
    models = _models_in(_field_annotation(data, where[:-1]))
    return tuple(kind for m in models if where[-1] in fields_of(m) for kind in _kinds_of(m))


def description_at(data: object, where: Where) -> str:
    """What the format says of a key."""
    field = fields_of(model_at(data, where[:-1])).get(str(where[-1]))
    return (field.description or "") if field else ""


def nearest(word: str, known: list[str]) -> str | None:
    """The known word most like this one, in any case; None if nothing is like it."""
    folded = {k.casefold().replace("-", "_"): k for k in known}
    close = get_close_matches(word[:80].casefold().replace("-", "_"), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def elsewhere(key: str) -> Where | None:
    """The one other place of the format that has a key of this name."""
    places = {where for where in _all_keys(Scenario, ()) if where[-1] == key}
    return places.pop() if len(places) == 1 and key != "kind" else None


def _all_keys(model: type[BaseModel], where: Where) -> Iterator[Where]:
    for key, field in fields_of(model).items():
        yield (*where, key)
        if key == "parts":
            continue
        for inner in _models_in(field.annotation):
            yield from _all_keys(inner, (*where, key))


def _field_annotation(data: object, where: Where) -> Any:
    named = where
    while named and isinstance(named[-1], int):
        named = named[:-1]
    model = model_at(data, named[:-1])
    field = model.model_fields.get(str(named[-1])) if model and named else None
    return field.annotation if field else None


def item_at(data: object, part: str | int) -> object:
    """The entry of a table or list, or None if there is none."""
    if isinstance(data, dict):
        return data.get(part)
    if isinstance(data, list) and isinstance(part, int) and part < len(data):
        return data[part]
    return None


def _pick(options: list[type[BaseModel]], data: object) -> type[BaseModel] | None:
    if len(options) == 1:
        return options[0]
    kind = data.get("kind") if isinstance(data, dict) else None
    for model in options:
        if kind in _kinds_of(model):
            return model
    return None


def _kinds_of(model: type[BaseModel]) -> list[str]:
    field = model.model_fields.get("kind")
    return list(_words_in(field.annotation)) if field else []


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def _words_in(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from map(str, get_args(annotation))
    else:
        for inner in get_args(annotation):
            yield from _words_in(inner)
