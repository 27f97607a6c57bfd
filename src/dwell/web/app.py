"""The ASGI application: its routes and middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

import dwell
from dwell.web.backend import Backend
from dwell.web.limits import Limits
from dwell.web.routes import page_routes, run_routes, scenario_routes
from dwell.web.routes.error_responses import handle_errors
from dwell.web.routes.openapi import describe
from dwell.web.routes.security import SecurityMiddleware


def create_app(
    limits: Limits,
    folder: Path,
    names: Iterable[str] = (),
    recordings: Sequence[bytes] = (),
    fleet: dict[str, Any] | None = None,
) -> FastAPI:
    """Return the ASGI application; it keeps its files in `folder`.

    It offers `recordings` of runs, and the live fleet that `fleet` describes.
    """
    backend = Backend(limits, folder, recordings, fleet)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with backend.opened():
            await asyncio.to_thread(scenario_routes.templates)  # no request need wait for them
            yield

    app = FastAPI(
        title="dwell", version=dwell.__version__, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.backend = backend
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]
    for part in (scenario_routes, run_routes, page_routes):
        app.include_router(part.routes)
    if page_routes.STATIC.is_dir():
        files = page_routes.PageFiles(directory=page_routes.STATIC)
        app.mount("/static", GZipMiddleware(files, minimum_size=1024, compresslevel=6))
    handle_errors(app)
    app.add_middleware(SecurityMiddleware, names=tuple(names))
    return app
