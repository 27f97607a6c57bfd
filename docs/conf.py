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
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_google_docstring = False

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
    if what == "class" and dataclasses.is_dataclass(subject):
        lines += [*_fields_of(subject), ""]


def _safe(part: str) -> str:
    if part.startswith("`"):
        return "``" + part.strip("`") + "``"
    return part.replace("\\", "\\\\").replace("*", "\\*").replace("|", "\\|")


def _fields_of(subject: type) -> list[str]:
    """The fields of a dataclass with the comments beside them, as a list."""
    rows = []
    for line in inspect.getsource(subject).splitlines():
        found = _FIELD.fullmatch(line)
        if found and found["says"]:
            rows.append(f"- ``{found['name']}``: {_safe(found['says'])}")
    return ["", "Fields:", "", *rows] if rows else []


def setup(app: Any) -> None:
    """Before napoleon, which listens to the same event with priority 500."""
    app.connect("autodoc-process-docstring", tidy_docstring, priority=400)
