"""Sphinx configuration. Built by scripts/docs, with warnings as errors and without the network."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import dwell

project = "dwell"
author = "the dwell contributors"
version = release = dwell.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3

napoleon_use_ivar = True  # attributes are listed, and have entries of their own elsewhere
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("Floats", "Ints", "Points", "Workspace")}

html_theme = "furo"
html_title = f"dwell {release}"
html_copy_source = False

_FIELD = re.compile(r"    (?P<name>[a-z]\w*): [^#]*?(?:  # (?P<says>.+))?")


def tidy_docstring(
    app: Any, what: str, name: str, subject: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings are plain text with `code`; make them safe for reStructuredText."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith(">>>"):
            parts = re.split(r"(``.+?``|`.+?`)", line)
            lines[k] = "".join(map(_safe, parts))
    _list_parameters(lines)
    if isinstance(subject, type) and dataclasses.is_dataclass(subject):
        lines += [*_fields_of(subject), ""]


def tidy_signature(
    app: Any, what: str, name: str, subject: Any, options: Any, signature: Any, gives: Any
) -> tuple[Any, Any]:
    """Short names of types, also where Sphinx writes them out."""
    return _short(signature), _short(gives)


def _short(signature: str | None) -> str | None:
    if signature is None:
        return None
    plain = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature)
    return re.sub(r"~(?:\w+\.)+", "", plain)


def _safe(part: str) -> str:
    if part.startswith("`"):
        return "``" + part.strip("`") + "``"
    return part.replace("\\", "\\\\").replace("*", "\\*").replace("|", "\\|")


def _list_parameters(lines: list[str]) -> None:
    """Turn the rows `name : text` below an underlined heading Parameters into a list."""
    if "Parameters" not in lines:
        return
    head = lines.index("Parameters")
    for k in range(head + 2, len(lines)):
        name, colon, text = lines[k].partition(" : ")
        if colon and not name.startswith(" "):
            names = ", ".join(f"``{part}``" for part in name.split(", "))
            lines[k] = f"- {names}: {text}"
        elif lines[k]:
            lines[k] = f"  {lines[k].strip()}"
    lines[head : head + 2] = ["Parameters:", ""]


def _fields_of(subject: type) -> list[str]:
    """The fields of a dataclass with the comments beside them, as a list."""
    rows = []
    for line in inspect.getsource(subject).splitlines():
        found = _FIELD.fullmatch(line)
        if found and found["says"]:
            rows.append(f"- ``{found['name']}``: {_safe(found['says'])}")
    return ["", "Fields:", "", *rows] if rows else []


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", tidy_docstring)
    app.connect("autodoc-process-signature", tidy_signature)
