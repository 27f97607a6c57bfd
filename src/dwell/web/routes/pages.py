"""Routes: what browsers show."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from dwell.web.routes.openapi import describe, page

HERE = Path(__file__).parents[1]
STATIC = HERE / "static"
NO_PAGE = (
    "<!doctype html><html lang=en><title>dwell</title><p>The page is not part of this "
    'installation; the API is: see <a href="/docs">/docs</a>.</p></html>'
)

routes = APIRouter(include_in_schema=False)


@routes.get("/")
async def index() -> Response:
    """The page."""
    built = STATIC / "index.html"
    return FileResponse(built) if built.exists() else HTMLResponse(NO_PAGE)


@routes.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """The API to be read."""
    return HTMLResponse(page(describe(request.app)))


@routes.get("/favicon.ico")
async def no_icon() -> Response:
    """Browsers ask for it where a page names none."""
    return Response(status_code=204)


@routes.get("/docs/style.css")
async def style() -> FileResponse:
    """For /docs."""
    return FileResponse(HERE / "docs" / "style.css")
