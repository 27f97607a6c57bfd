"""One JSON object as text."""

from __future__ import annotations

import json
from typing import Any

LONG = 10_000  # entries of a list from which writing it by Python takes noticeable time


def json_text(value: dict[str, Any]) -> str:
    """`value` as JSON, whole before anything is printed; a ValueError for numbers that JSON lacks.

    Long lists, such as the places of a million agents, are written by compiled code: the same
    numbers to the last bit, without blanks between them.
    """
    parts = (f"{json.dumps(str(key))}: {_text(item)}" for key, item in value.items())
    return "{" + ", ".join(parts) + "}"


def _text(item: Any) -> str:
    if not isinstance(item, list) or len(item) < LONG:
        return json.dumps(item, allow_nan=False)
    import pydantic_core

    text = pydantic_core.to_json(item, inf_nan_mode="constants").decode()
    if any(sign in text for sign in ('"', "N", "I")):  # text, NaN or Infinity
        return json.dumps(item, allow_nan=False)
    return text
