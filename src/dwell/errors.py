"""Everything that can be wrong with an input, as one tree.

DwellError
├── FleetError                       a live fleet that does not start, or lost a process
└── InputError (also a ValueError)   what came in cannot be used
    ├── WorkspaceError               the region
    ├── DensityError                 the weight of places
    ├── AgentsError                  where the agents start
    ├── ControllerError              the parameters of a law, or an order no agent can follow
    ├── ScenarioError                a scenario file or an override
    ├── SiteError                    a map file, or its coordinate reference system
    └── StoreError                   a stored run
        └── UnsavedError             a file that could not be written

Interrupted (a KeyboardInterrupt)    Ctrl-C, with the run up to there
Aborted (a KeyboardInterrupt)        a second Ctrl-C
DwellWarning (a UserWarning)         something worth knowing that stops nothing

A simulation that stops early is not an error: see `dwell.hybrid.StopReason`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class DwellError(Exception):
    """Base class of everything that dwell raises on purpose.

    Attributes
    ----------
    run : Run or None
        The run up to there, if the error ended one: that of a law in Python, or a full disk.

    Examples
    --------
    >>> import dwell
    >>> issubclass(dwell.InputError, dwell.DwellError)
    True
    """

    run: Any = None


class InputError(DwellError, ValueError):
    """Input that cannot be used; the message says what came, what is needed and what to do.

    Parameters
    ----------
    message : str
        The message.
    code : str
        A short stable name for programs, such as ``agents.coincident``.
    key : str, optional
        The place in a scenario that the message is about, such as ``agents.start[3]``.

    Examples
    --------
    >>> import dwell
    >>> try:
    ...     dwell.Box((0, 0), (1, 0))
    ... except dwell.InputError as error:
    ...     print(error.code)
    workspace.degenerate
    """

    def __init__(self, message: str, *, code: str = "input", key: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.key = key


class WorkspaceError(InputError):
    """The region is not a bounded convex set with an inside."""


class DensityError(InputError):
    """The density is negative, zero everywhere, not finite, or could not be integrated."""


class AgentsError(InputError):
    """The start is empty, misshapen, outside the workspace, or two agents coincide."""


class ControllerError(InputError):
    """A parameter of a law is out of range."""


class ScenarioError(InputError):
    """A scenario file cannot be read, or a key in it is unknown or misplaced."""


class SiteError(InputError):
    """A map file cannot be read, or its outline, raster or coordinate system cannot be used.

    Attributes
    ----------
    advice : dict
        Keys of `[site]` that the message names, with which the file can be read; empty without any.
    """

    advice: Mapping[str, object] = MappingProxyType({})


class StoreError(InputError):
    """A stored run cannot be written, read, or trusted."""


class FleetError(DwellError):
    """A live fleet could not be started, or one of its processes failed."""


class UnsavedError(StoreError):
    """A file could not be written; `run` is the run that it was for, None for other files."""

    def __init__(self, message: str, *, run: Any = None) -> None:
        super().__init__(message, code="store")
        self.run = run


class Interrupted(KeyboardInterrupt):
    """A KeyboardInterrupt during a run, with the run up to there.

    Parameters
    ----------
    message : str
        The message.
    run : Run, optional
        The run so far, which can be saved and resumed.

    Examples
    --------
    >>> import dwell
    >>> issubclass(dwell.Interrupted, KeyboardInterrupt)
    True
    """

    def __init__(self, message: str = "", run: Any = None) -> None:
        super().__init__(message)
        self.run = run


class Aborted(KeyboardInterrupt):
    """A second KeyboardInterrupt during a run; the message says what is in its file."""


class DwellWarning(UserWarning):
    """Something that stops nothing, but that the user should know."""


def arriving(later: int) -> str:
    """Words for a message: some of the agents just counted arrive during the run, if any do."""
    if not later:
        return ""
    return f", {later} of which {'arrives' if later == 1 else 'arrive'} later"
