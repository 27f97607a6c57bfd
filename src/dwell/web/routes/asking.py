"""Routes: questions about scenarios."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from dwell.web.routes import views
from dwell.web.routes.answers import SENT, refusals
from dwell.web.routes.openapi import SCENARIO, body
from dwell.web.server import Here
from dwell.web.templates import schema, templates

OF_SCENARIO = body("application/json", SCENARIO, "A scenario.")
OF_TEXT = body("text/plain", {"type": "string"}, "A scenario file, TOML or JSON.")

routes = APIRouter()


@routes.get("/api/schema", responses=refusals(403))
async def scenario_format() -> dict[str, Any]:
    """The format of scenarios, as a JSON Schema."""
    return schema()


@routes.get("/api/templates", response_model=views.Templates, responses=refusals(403))
async def list_templates() -> dict[str, Any]:
    """Scenarios to begin from."""
    return {"templates": templates()}


@routes.post(
    "/api/validate",
    responses={200: {"model": views.Validated}, **refusals(*SENT)},
    openapi_extra=OF_SCENARIO,
)
async def validate(request: Request, server: Here) -> JSONResponse:
    """Whether a scenario can be run; as it is understood, and where its agents start."""
    return JSONResponse(await server.ask(request, "validate"))


@routes.post(
    "/api/scenario/parse",
    responses={200: {"model": views.Parsed}, **refusals(*SENT)},
    openapi_extra=OF_TEXT,
)
async def parse(request: Request, server: Here) -> JSONResponse:
    """The scenario in the text of a file."""
    return JSONResponse(await server.ask(request, "parse", "text/plain"))


@routes.post(
    "/api/scenario/text",
    response_class=PlainTextResponse,
    responses=refusals(*SENT),
    openapi_extra=OF_SCENARIO,
)
async def text(request: Request, server: Here) -> PlainTextResponse:
    """A scenario as the text of a TOML file."""
    return PlainTextResponse((await server.ask(request, "write"))["text"])


@routes.post("/api/design", responses=refusals(*SENT), openapi_extra=OF_SCENARIO)
async def design(request: Request, server: Here) -> dict[str, Any]:
    """What the theorem's conditions say of a scenario of the timer law."""
    return await server.ask(request, "design")
