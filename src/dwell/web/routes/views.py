"""What the API answers, as types: they are its documentation."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class Problem(BaseModel):
    """What is wrong, for programs and for people."""

    code: str = Field(description="a short stable name")
    key: str | None = Field(description="the key of the scenario that it is about")
    message: str = Field(description="what came, what is needed, what to do")


class Refused(BaseModel):
    """Any answer that is not a success."""

    error: Problem


class Health(BaseModel):
    """Whether the server is well."""

    ok: bool
    version: str
    running: int = Field(description="jobs that run")
    queued: int = Field(description="jobs that wait")
    workers: int = Field(description="worker processes that are ready")
    draining: bool = Field(description="whether the server is about to end")
    films: list[str] = Field(description="formats of films that this server can make")


class Template(BaseModel):
    """A scenario to begin from."""

    name: str
    title: str
    about: str
    scenario: dict[str, Any]


class Templates(BaseModel):
    """All of them."""

    templates: list[Template]


class Validated(BaseModel):
    """A scenario that can be run."""

    ok: Literal[True]
    scenario: dict[str, Any] = Field(description="as it is understood, defaults written out")
    repairs: list[str]
    start: list[list[float]] = Field(description="where the agents start, also if scattered")
    workspace: dict[str, Any] = Field(
        description="kind, dimension, box; bounds, or vertices (and faces), or center and axes"
    )


class Parsed(BaseModel):
    """The scenario in a text."""

    scenario: dict[str, Any]


class JobView(BaseModel):
    """A run that was asked for."""

    id: str
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    position: int = Field(description="place in the queue from 1; 0 if it does not wait")
    progress: float = Field(description="how much is done, 0 to 1")
    doing: str
    law: str
    agents: int
    dimension: int
    horizon: float
    name: str | None
    events: int = Field(description="made so far")
    live: bool = Field(description="whether it ends when nobody listens")
    created: str
    error: Problem | None


class RunView(JobView):
    """The same with its numbers."""

    summary: dict[str, Any] | None = Field(description="what dwell run --json prints, when done")


class Runs(BaseModel):
    """All of them, newest first."""

    runs: list[JobView]
