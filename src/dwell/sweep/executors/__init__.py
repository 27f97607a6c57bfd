"""Where chunks of cases are run: processes of this machine, or a Dask cluster. One interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

from dwell.sweep.cases import Chunk, Result

RunChunk: TypeAlias = Callable[[Chunk], Result]


@final
@dataclass(frozen=True)
class Done:
    """A chunk with its result."""

    chunk: Chunk
    result: Result


@final
@dataclass(frozen=True)
class Lost:
    """A chunk without a result. `suspect`: it may have killed its worker.

    Not `certain`: other chunks were with the worker, and any of them may be the cause.
    """

    chunk: Chunk
    reason: str
    suspect: bool
    certain: bool = True


class Executor(Protocol):
    """Runs chunks, and returns them done or lost, in any order."""

    @property
    def workers(self) -> int:
        """Number of chunks that run at a time, as far as is known now."""
        ...

    @property
    def about(self) -> str:
        """Address of a dashboard; empty if there is none."""
        ...

    def versions(self) -> dict[str, dict[str, str]]:
        """Return the versions of present workers by address; none for processes of this machine."""
        ...

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        ...

    def collect(self, timeout: float) -> list[Done | Lost]:
        """Return finished chunks; wait for the first one, at most `timeout` seconds."""
        ...

    def close(self) -> None:
        """Stop everything that is under way."""
        ...
