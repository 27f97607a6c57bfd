"""Routes about scenarios: schema, templates, validation, text, design."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from dwell.scenario import (
    TEMPLATES,
    parse_scenario,
    scenario_schema,
    template_text,
    text_to_mapping,
)
from dwell.web.backend import WithBackend
from dwell.web.routes import response_models as models
from dwell.web.routes.error_responses import WITH_BODY, error_responses
from dwell.web.routes.openapi import SCENARIO, body

SCENARIO_BODY = body("application/json", SCENARIO, "A scenario.")
TEXT_BODY = body("text/plain", {"type": "string"}, "A scenario file, TOML or JSON.")

Measure = Annotated[
    bool, Query(description="whether to measure along a run and at random places, as dwell design")
]

Name = Annotated[str, Query(max_length=300, description="the name of the file, for messages")]

OUTLINE_BODY = body("text/plain", {"type": "string"}, "An outline in GeoJSON.")

routes = APIRouter()
schema = lru_cache(maxsize=1)(scenario_schema)


@lru_cache(maxsize=1)
def templates() -> list[dict[str, Any]]:
    """Return name, title, description and scenario of each template."""
    found = []
    for name, about in TEMPLATES.items():
        scenario = parse_scenario(text_to_mapping(template_text(name)))
        data = scenario.model_dump(mode="json", exclude_none=True)
        title = scenario.name or name.replace("-", " ")
        found.append({"name": name, "title": title, "about": about, "scenario": data})
    return found


@routes.get("/api/schema", responses=error_responses(403))
async def scenario_format() -> dict[str, Any]:
    """The format of scenarios, as a JSON Schema."""
    return schema()


@routes.get("/api/templates", response_model=models.Templates, responses=error_responses(403))
async def list_templates() -> dict[str, Any]:
    """Scenario templates."""
    return {"templates": templates()}


@routes.post(
    "/api/validate",
    responses={200: {"model": models.Validated}, **error_responses(*WITH_BODY)},
    openapi_extra=SCENARIO_BODY,
)
async def validate(request: Request, backend: WithBackend) -> JSONResponse:
    """Check a scenario; return it with its defaults, and the initial positions of its agents."""
    return JSONResponse(await backend.result(request, "validate"))


@routes.post(
    "/api/scenario/parse",
    responses={200: {"model": models.Parsed}, **error_responses(*WITH_BODY)},
    openapi_extra=TEXT_BODY,
)
async def parse(request: Request, backend: WithBackend) -> JSONResponse:
    """The scenario in the text of a file."""
    return JSONResponse(await backend.result(request, "parse", "text/plain"))


@routes.post(
    "/api/scenario/text",
    response_class=PlainTextResponse,
    responses=error_responses(*WITH_BODY),
    openapi_extra=SCENARIO_BODY,
)
async def text(request: Request, backend: WithBackend) -> PlainTextResponse:
    """A scenario as the text of a TOML file."""
    return PlainTextResponse((await backend.result(request, "write"))["text"])


@routes.post(
    "/api/site",
    responses={200: {"model": models.Outline}, **error_responses(*WITH_BODY)},
    openapi_extra=OUTLINE_BODY,
)
async def site(request: Request, backend: WithBackend, name: Name = "") -> JSONResponse:
    """The workspace in metres of the polygons in a GeoJSON, and its place on the Earth."""
    given = {"name": name} if name else {}
    return JSONResponse(await backend.result(request, "outline", "text/plain", given))


@routes.post("/api/design", responses=error_responses(*WITH_BODY), openapi_extra=SCENARIO_BODY)
async def design(
    request: Request, backend: WithBackend, measure: Measure = False
) -> dict[str, Any]:
    """Evaluate the theorem's conditions for a scenario of the timer law."""
    return await backend.result(request, "design_measured" if measure else "design")
