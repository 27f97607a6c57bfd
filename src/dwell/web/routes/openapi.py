"""The OpenAPI description of the server."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from dwell.scenario import Scenario

SCENARIO = {"$ref": "#/components/schemas/Scenario"}
REFUSED = {"$ref": "#/components/schemas/Refused"}
ABOUT = (
    "Runs of coverage control as jobs. A scenario is what `dwell run` reads, as JSON; every error "
    "is {error: {code, key, message}}. `GET /api/live?run=ID` is a websocket that "
    "streams the events of a run; docs/serving.md describes its messages."
)


def body(media: str, schema: dict[str, Any], about: str) -> dict[str, Any]:
    """Return the description of a request body that a route reads by itself."""
    return {
        "requestBody": {
            "required": True,
            "description": about,
            "content": {media: {"schema": schema}},
        }
    }


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI of `app`, with the schema of scenarios."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, routes=app.routes, description=ABOUT
        )
        schemas = found.setdefault("components", {}).setdefault("schemas", {})
        own = Scenario.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(own.pop("$defs", {}))
        schemas["Scenario"] = own
        _errors_as_json(found)
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = found
    return app.openapi_schema


def _errors_as_json(described: dict[str, Any]) -> None:
    """Describe errors as JSON, also where a success is a text or a file."""
    for methods in described["paths"].values():
        for operation in methods.values():
            for code, answer in operation["responses"].items():
                if int(code) >= 400:
                    answer["content"] = {"application/json": {"schema": REFUSED}}
