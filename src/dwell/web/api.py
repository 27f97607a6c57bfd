"""The server as an application: its routes, and what all requests pass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

import dwell
from dwell.web.limits import Limits
from dwell.web.routes import asking, pages, running
from dwell.web.routes.answers import say_errors_alike
from dwell.web.routes.gate import Gate
from dwell.web.routes.openapi import describe
from dwell.web.server import Server


def create_app(limits: Limits, folder: Path, names: Iterable[str] = ()) -> FastAPI:
    """The server as an ASGI application that keeps its files in `folder`."""
    server = Server(limits, folder)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with server.at_work():
            yield

    app = FastAPI(
        title="dwell", version=dwell.__version__, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.server = server
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]
    for part in (asking, running, pages):
        app.include_router(part.routes)
    if pages.STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=pages.STATIC), name="static")
    say_errors_alike(app)
    app.add_middleware(Gate, names=tuple(names))
    return app
