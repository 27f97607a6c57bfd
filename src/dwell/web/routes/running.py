"""Routes: runs, from their start to their files."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, WebSocket
from fastapi.responses import FileResponse, JSONResponse, Response

import dwell
from dwell.web.jobs.book import DONE, Job
from dwell.web.jobs.films import LONGEST, MEDIA, kinds
from dwell.web.refusals import Refusal
from dwell.web.routes import views
from dwell.web.routes.answers import SENT, refusals
from dwell.web.routes.asking import OF_SCENARIO
from dwell.web.routes.live import UNKNOWN, Listener
from dwell.web.server import Here, while_there

Name = Annotated[str, "the id of a run"]
Live = Annotated[bool, Query(description="whether the run ends when nobody listens to it")]
Kind = Annotated[Literal["gif", "mp4"], Query(alias="format")]
Seconds = Annotated[int, Query(ge=1, le=LONGEST)]

routes = APIRouter()


@routes.get("/api/health", response_model=views.Health, responses=refusals(403))
async def health(server: Here) -> dict[str, Any]:
    """Whether the server is well, and how busy."""
    return {
        "ok": True,
        "version": dwell.__version__,
        "running": len(server.crew.running),
        "queued": len(server.crew.waiting),
        "workers": server.crew.ready,
        "draining": server.book.draining,
        "films": kinds(),
    }


@routes.post(
    "/api/runs",
    status_code=202,
    responses={202: {"model": views.JobView}, **refusals(*SENT)},
    openapi_extra=OF_SCENARIO,
)
async def start(request: Request, server: Here, live: Live = False) -> JSONResponse:
    """Run a scenario, when its turn comes."""
    job = server.book.start(await server.ask(request, "admit"), live=live)
    where = {"location": f"/api/runs/{job.id}"}
    return JSONResponse(server.book.as_json(job), status_code=202, headers=where)


@routes.get("/api/runs", response_model=views.Runs, responses=refusals(403))
async def runs(server: Here) -> dict[str, Any]:
    """All runs that are not forgotten, newest first."""
    return {"runs": [server.book.as_json(job) for job in server.book.newest_first()]}


@routes.get("/api/runs/{run}", responses={200: {"model": views.RunView}, **refusals(403, 404)})
async def look(run: Name, server: Here) -> JSONResponse:
    """One run, with its numbers when it is done."""
    return JSONResponse(server.book.as_json(server.book.get(run), whole=True))


@routes.delete("/api/runs/{run}", status_code=204, responses=refusals(403, 404))
async def forget(run: Name, server: Here) -> Response:
    """End a run within a second, and forget it."""
    await server.book.forget(server.book.get(run))
    return Response(status_code=204)


@routes.get(
    "/api/runs/{run}/file",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/x-netcdf": {}}, "description": "The run, as NetCDF."},
        **refusals(403, 404, 409),
    },
)
async def file(run: Name, server: Here) -> FileResponse:
    """The run as a NetCDF file, which `dwell show`, `check` and `plot` read."""
    job = _done(server.book.get(run))
    return FileResponse(job.file, media_type="application/x-netcdf", filename=f"{job.id}.nc")


@routes.get(
    "/api/runs/{run}/film",
    response_class=FileResponse,
    responses={
        200: {"content": {kind: {} for kind in MEDIA.values()}, "description": "The film."},
        **refusals(403, 404, 409, 422, 503),
    },
)
async def film(
    request: Request, run: Name, server: Here, kind: Kind = "gif", seconds: Seconds = 6
) -> FileResponse:
    """A film of the run; it is made when first asked for, which takes a while."""
    job = _done(server.book.get(run))
    path = await while_there(request, server.films.film(job, kind, seconds))
    return FileResponse(path, media_type=MEDIA[kind], filename=f"{run}.{kind}")


@routes.websocket("/api/live")
async def live(socket: WebSocket, server: Here) -> None:
    """The events of a run, as they come; `from` says how many the client has already."""
    await socket.accept()
    asks, book = socket.query_params, server.book
    try:
        have = {"events": _whole(asks.get("from")), "samples": _whole(asks.get("samples"))}
        listener = Listener(socket, book, book.get(asks.get("run", "")), have)
    except Refusal as refusal:
        await socket.send_text(json.dumps({"type": "error", "error": refusal.as_json()}))
        await socket.close(UNKNOWN, refusal.code)
        return
    await listener.serve()


def _done(job: Job) -> Job:
    if job.status != DONE:
        says = f"the run is {job.status}; it has no file, as only runs that are done do"
        raise Refusal(409, "web.not-done", says)
    return job


def _whole(text: str | None) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        says = f"from and samples are whole numbers from 0 on, got {text[:40]!r}"
        raise Refusal(422, "web.query", says)
    return int(text)
