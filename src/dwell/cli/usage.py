"""Sentences for words on the command line that cannot be used, whatever the library says."""

from __future__ import annotations

import json
import re
from typing import Any

_KIND = re.compile(r"is not a valid (\w+)")
_CHOICES = re.compile(r"is not one of (.+?)\.?$")


def usage_sentence(fault: Any) -> str:
    """What came and what is needed; the library's own words where these are not known."""
    words = " ".join(str(fault.format_message()).split())
    name = _name(getattr(fault, "param", None))
    details = _details(fault)
    need = _need(details, words)
    if name is None or need is None:
        return words
    got = f", got {json.dumps(str(details['input']))}" if details else _quoted(words)
    return f"{name} needs {need}{got}"


def _details(fault: Any) -> dict[str, Any]:
    """The problem that a validator of the command-line library found."""
    errors = getattr(fault.__cause__, "errors", None)
    found = errors() if callable(errors) else []
    return dict(found[0]) if found else {}


def _name(param: Any) -> str | None:
    """The option as it is written, or the argument as the help has it."""
    if param is None:
        return None
    option = max(getattr(param, "opts", None) or [""], key=len)
    return option if option.startswith("-") else str(getattr(param, "metavar", None) or option)


def _need(details: dict[str, Any], words: str) -> str | None:
    from dwell.scenario.problems import needed

    choices, kind = _CHOICES.search(words), _KIND.search(words)
    if choices:
        return f"one of {choices[1]}".replace("'", "")
    name = str(details.get("type", kind[1] if kind else ""))
    return needed(name, details.get("ctx", {}))


def _quoted(words: str) -> str:
    """The value that older versions of the library repeat in quotes."""
    found = re.search(r": '(.*)' is not", words)
    return f", got {json.dumps(found[1])}" if found else ""
