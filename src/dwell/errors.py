"""Everything that can be wrong with an input, as one tree.

DwellError
└── InputError (also a ValueError)   what came in cannot be used
    ├── WorkspaceError               the region
    ├── DensityError                 the weight of places
    ├── AgentsError                  where the agents start
    ├── ControllerError              the parameters of a law, or an order no agent can follow
    ├── ScenarioError                a scenario file or an override
    └── StoreError                   a stored run

A simulation that stops early is not an error: see `dwell.hybrid.StopReason`.
"""

from __future__ import annotations


class DwellError(Exception):
    """Anything that dwell raises on purpose."""


class InputError(DwellError, ValueError):
    """What came in cannot be used; the sentence says what came, what is needed, what to do.

    `code` is a short stable name for programs, such as ``agents.coincident``; `key` is the place
    in a scenario that the sentence is about, such as ``agents.start[3]``.
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


class StoreError(InputError):
    """A stored run cannot be written, read, or trusted."""
