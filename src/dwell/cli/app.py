"""The command line with all its commands; `dwell --help` lists them in this order.

A module of commands adds them when it is imported, which is all that it is imported for here.
"""

from __future__ import annotations

from dwell.cli.root import app

# isort: split
from dwell.cli.commands import runs  # noqa: F401

# isort: split
from dwell.cli.commands import studies  # noqa: F401

# isort: split
from dwell.cli.commands import files  # noqa: F401

# isort: split
from dwell.cli.commands import page  # noqa: F401

__all__ = ["app"]
