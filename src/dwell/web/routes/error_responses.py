"""Error responses, all in one form, and their descriptions for OpenAPI."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from dwell.scenario.problems import needed, shown
from dwell.web.errors import RequestError, problem
from dwell.web.routes import response_models as models

WORDS = {
    403: "The request is for another host, or comes from a page of another site.",
    404: "There is no such run.",
    408: "The request took too long to arrive.",
    409: "The run is not done.",
    413: "The request is too long.",
    415: "The request has another media type.",
    422: "The input is not valid; the message says why.",
    503: "The server cannot do it now; the message says why.",
}
WITH_BODY = (403, 408, 413, 415, 422, 503)  # errors of a request with a body


def error_responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of a route's error responses."""
    return {code: {"model": models.Refused, "description": WORDS[code]} for code in codes}


def handle_errors(app: FastAPI) -> None:
    """Give the errors of FastAPI, Starlette and dwell one form."""
    app.add_exception_handler(RequestError, _request_error)
    app.add_exception_handler(RequestValidationError, _invalid_query)
    app.add_exception_handler(HTTPException, _http_error)


async def _request_error(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, RequestError)
    return JSONResponse({"error": fault.as_json()}, status_code=fault.status)


async def _invalid_query(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, RequestValidationError)
    first = fault.errors()[0]
    key = ".".join(str(part) for part in first["loc"][1:])
    need = needed(first["type"], first.get("ctx", {}))
    says = f"{key}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    if need is not None:
        says = f"{key} needs {need}, got {shown(first['input'])}"
    return JSONResponse({"error": problem("web.query", says, key)}, status_code=422)


async def _http_error(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, HTTPException)
    says = f"{request.method} {request.url.path[:100]}: {str(fault.detail).lower()}"
    error = problem(f"web.{fault.status_code}", f"{says}; /openapi.json lists all routes")
    headers = dict(fault.headers or {})  # such as Allow
    return JSONResponse({"error": error}, status_code=fault.status_code, headers=headers)
