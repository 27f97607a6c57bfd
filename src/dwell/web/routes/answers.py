"""What requests are answered if they are not granted: one form, whoever refused them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from dwell.scenario.problems import needed, shown
from dwell.web.refusals import Refusal, problem
from dwell.web.routes import views

WORDS = {
    403: "The request is for another host, or comes from a page of another site.",
    404: "There is no such run.",
    408: "The request took too long to arrive.",
    409: "The run is not done.",
    413: "The request is too long.",
    415: "The request is of another kind.",
    422: "What came cannot be used; the sentence says why.",
    503: "The server cannot do it now; the sentence says why.",
}
SENT = (403, 408, 413, 415, 422, 503)  # what may come of a request with a body


def refusals(*codes: int) -> dict[int | str, dict[str, Any]]:
    """For the description of a route."""
    return {code: {"model": views.Refused, "description": WORDS[code]} for code in codes}


def say_errors_alike(app: FastAPI) -> None:
    """Every error has the same form, whoever found it."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _wrong_query)
    app.add_exception_handler(HTTPException, _plain)


async def _refused(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, Refusal)
    return JSONResponse({"error": fault.as_json()}, status_code=fault.status)


async def _wrong_query(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, RequestValidationError)
    first = fault.errors()[0]
    key = ".".join(str(part) for part in first["loc"][1:])
    need = needed(first["type"], first.get("ctx", {}))
    says = f"{key}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    if need is not None:
        says = f"{key} needs {need}, got {shown(first['input'])}"
    return JSONResponse({"error": problem("web.query", says, key)}, status_code=422)


async def _plain(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, HTTPException)
    says = f"{request.method} {request.url.path[:100]}: {str(fault.detail).lower()}"
    error = problem(f"web.{fault.status_code}", f"{says}; /docs lists what there is")
    headers = dict(fault.headers or {})  # such as Allow
    return JSONResponse({"error": error}, status_code=fault.status_code, headers=headers)
