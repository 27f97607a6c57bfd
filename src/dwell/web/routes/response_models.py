"""Models of the API's responses; they become its OpenAPI schemas."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class ErrorDetail(BaseModel):
    """An error: a code for programs, a message for people."""

    code: str = Field(description="a short stable name")
    key: str | None = Field(description="the key of the scenario in question")
    message: str = Field(description="what came, what is needed, what to do")


class Refused(BaseModel):
    """Any response that is not a success."""

    error: ErrorDetail


class Health(BaseModel):
    """State of the server."""

    ok: bool
    version: str
    running: int = Field(description="jobs that run")
    queued: int = Field(description="jobs that wait")
    workers: int = Field(description="worker processes that are ready")
    warming: bool = Field(description="whether runs wait until code is compiled")
    draining: bool = Field(description="whether the server is about to end")
    films: list[str] = Field(description="formats of films that this server can make")


class Template(BaseModel):
    """A scenario template."""

    name: str
    title: str
    about: str
    scenario: dict[str, Any]


class Templates(BaseModel):
    """List of scenario templates."""

    templates: list[Template]


class Validated(BaseModel):
    """A scenario that can be run."""

    ok: Literal[True]
    scenario: dict[str, Any] = Field(description="the scenario with its defaults")
    repairs: list[str]
    start: list[list[float]] = Field(description="initial positions, also if drawn at random")
    workspace: dict[str, Any] = Field(
        description="kind, dimension, box; bounds, or vertices (and faces), or center and axes"
    )


class Parsed(BaseModel):
    """The scenario in a text."""

    scenario: dict[str, Any]


class Outline(BaseModel):
    """The workspace of an outline."""

    workspace: dict[str, Any] = Field(description="the table of a scenario, in metres")
    repairs: list[str] = Field(description="what was repaired, and inaccuracies")
    site: dict[str, str] | None = Field(
        description="name of the file, and its system in metres; null where a run cannot keep it"
    )


class FleetShown(BaseModel):
    """A live fleet that the server follows."""

    run: str = Field(description="the id of the run to listen to")
    scenario: dict[str, Any]
    start: list[list[float]] = Field(description="initial positions")


class JobView(BaseModel):
    """A run and its state."""

    id: str
    status: Literal["queued", "warming", "running", "done", "failed", "cancelled"]
    position: int = Field(description="place in the queue from 1; 0 if it does not wait")
    progress: float = Field(description="share that is done, 0 to 1")
    doing: str
    law: str
    agents: int
    dimension: int
    horizon: float
    name: str | None
    events: int = Field(description="number of events so far")
    live: bool = Field(description="whether it ends when no client listens")
    created: str
    error: ErrorDetail | None


class RunView(JobView):
    """A run and its summary."""

    summary: dict[str, Any] | None = Field(description="what dwell run --json prints, when done")


class Runs(BaseModel):
    """All runs, most recent first."""

    runs: list[JobView]
