"""Routes of the page itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).parents[1] / "static"
NO_PAGE = (
    "<!doctype html><html lang=en><title>dwell</title><p>The page is not part of this "
    'installation; the API is: see <a href="/openapi.json">/openapi.json</a>.</p></html>'
)

FRESH = {"cache-control": "no-cache"}  # names stay the same in other versions: revalidated


@final
class PageFiles(StaticFiles):
    """Files of the page, which a browser revalidates before it uses its copy."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        """Return a file, or that it has not changed."""
        response = super().file_response(*args, **options)
        response.headers.update(FRESH)
        return response


routes = APIRouter(include_in_schema=False)


@routes.api_route("/", methods=["GET", "HEAD"])
async def index() -> Response:
    """The page."""
    built = STATIC / "index.html"
    return FileResponse(built, headers=FRESH) if built.exists() else HTMLResponse(NO_PAGE)


@routes.get("/docs")
async def docs() -> RedirectResponse:
    """The description of the API, which browsers show as it is."""
    return RedirectResponse("/openapi.json")


@routes.get("/favicon.ico")
async def no_icon() -> Response:
    """Requested by browsers where a page names no icon."""
    return Response(status_code=204)
