"""Routes about runs: start, state, files, films and live streams."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, WebSocket
from fastapi import Path as Place
from fastapi.responses import FileResponse, JSONResponse, Response

import dwell
from dwell.exports.html import MOST_RUNS
from dwell.web.backend import WithBackend, while_connected
from dwell.web.errors import RequestError
from dwell.web.jobs.film_cache import LONGEST, MEDIA, kinds
from dwell.web.jobs.registry import Job, JobState
from dwell.web.jobs.task_client import result_of
from dwell.web.routes import response_models as models
from dwell.web.routes.error_responses import WITH_BODY, error_responses
from dwell.web.routes.run_listener import UNKNOWN, Listener
from dwell.web.routes.scenario_routes import SCENARIO_BODY
from dwell.workers.child import Ending, TaskOutcome

Name = Annotated[str, "the id of a run"]
Live = Annotated[bool, Query(description="whether the run ends when no client listens to it")]
Kind = Annotated[Literal["gif", "mp4"], Query(alias="format")]
Several = Annotated[list[str], Query(min_length=1, max_length=MOST_RUNS, description="ids of runs")]
Seconds = Annotated[int, Query(ge=1, le=LONGEST)]

routes = APIRouter()


@routes.get("/api/health", response_model=models.Health, responses=error_responses(403))
async def health(backend: WithBackend) -> dict[str, Any]:
    """State of the server: its version, and how many jobs run and wait."""
    return {
        "ok": True,
        "version": dwell.__version__,
        "running": len(backend.runs.running),
        "queued": len(backend.runs.waiting),
        "workers": backend.runs.ready,
        "warming": backend.runs.warming,
        "draining": backend.registry.draining,
        "films": kinds(),
    }


@routes.post(
    "/api/runs",
    status_code=202,
    responses={202: {"model": models.JobView}, **error_responses(*WITH_BODY)},
    openapi_extra=SCENARIO_BODY,
)
async def start(request: Request, backend: WithBackend, live: Live = False) -> JSONResponse:
    """Queue a run of a scenario."""
    job = backend.registry.start(await backend.result(request, "admit"), live=live)
    where = {"location": f"/api/runs/{job.id}"}
    return JSONResponse(backend.registry.as_json(job), status_code=202, headers=where)


@routes.get("/api/runs", response_model=models.Runs, responses=error_responses(403))
async def runs(backend: WithBackend) -> dict[str, Any]:
    """All runs, most recent first."""
    return {"runs": [backend.registry.as_json(job) for job in backend.registry.newest_first()]}


@routes.get(
    "/api/runs/{run}", responses={200: {"model": models.RunView}, **error_responses(403, 404)}
)
async def one_run(run: Name, backend: WithBackend) -> JSONResponse:
    """One run, with its summary when it is done."""
    return JSONResponse(backend.registry.as_json(backend.registry.get(run), whole=True))


@routes.delete("/api/runs/{run}", status_code=204, responses=error_responses(403, 404, 409))
async def delete(run: Name, backend: WithBackend) -> Response:
    """End a run within a second, and delete it."""
    await backend.registry.delete(backend.registry.get(run))
    return Response(status_code=204)


@routes.get(
    "/api/runs/{run}/file",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/x-netcdf": {}}, "description": "The run, as NetCDF."},
        **error_responses(403, 404, 409),
    },
)
async def file(run: Name, backend: WithBackend) -> FileResponse:
    """The run as a NetCDF file, which `dwell show`, `check` and `plot` read."""
    job = _done(backend.registry.get(run))
    return FileResponse(job.file, media_type="application/x-netcdf", filename=f"{job.id}.nc")


@routes.get(
    "/api/runs/{run}/film",
    response_class=FileResponse,
    responses={
        200: {"content": {kind: {} for kind in MEDIA.values()}, "description": "The film."},
        **error_responses(403, 404, 409, 422, 503),
    },
)
async def film(
    request: Request, run: Name, backend: WithBackend, kind: Kind = "gif", seconds: Seconds = 6
) -> FileResponse:
    """A film of the run, made at the first request, which takes a while."""
    job = _done(backend.registry.get(run))
    path = await while_connected(request, backend.films.get(job, kind, seconds))
    return FileResponse(path, media_type=MEDIA[kind], filename=f"{run}.{kind}")


@routes.get(
    "/api/html",
    response_class=Response,
    responses={
        200: {"content": {"text/html": {}}, "description": "A file that plays the runs."},
        **error_responses(403, 404, 409, 422, 503),
    },
)
async def html(request: Request, backend: WithBackend, run: Several) -> Response:
    """One HTML file that plays some runs side by side, without a server."""
    jobs = [_done(backend.registry.get(one)) for one in run]
    folder = Path(tempfile.mkdtemp(dir=backend.folder))
    made, content = folder / "run.html", b""
    order = {"do": "html", "files": [str(job.file) for job in jobs], "html": str(made)}
    limits = backend.limits

    def ended(outcome: TaskOutcome) -> None:
        """Called by the pool, as a stopped process goes on for a moment."""
        nonlocal content
        if outcome.status == Ending.RESULT and made.exists():
            content = made.read_bytes()
        shutil.rmtree(folder, ignore_errors=True)

    result = result_of(backend.runs, order, limits.seconds, limits.queued, ended)
    try:
        await while_connected(request, result)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # also if the queue took no task
    attached = {"content-disposition": 'attachment; filename="run.html"'}
    return Response(content, media_type="text/html", headers=attached)


@routes.get(
    "/api/recorded/{number}",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "The recorded run."},
        **error_responses(403, 404, 422),
    },
)
async def recorded(
    number: Annotated[int, Place(ge=0, lt=MOST_RUNS)], backend: WithBackend
) -> Response:
    """A stored run that the server was started with, as the page plays it."""
    if number >= len(backend.recordings):
        says = f"there is no recorded run {number}; dwell serve RUN.nc offers one"
        raise RequestError(404, "web.unknown-run", says)
    return Response(backend.recordings[number], media_type="application/octet-stream")


@routes.get("/api/fleet", response_model=models.FleetShown, responses=error_responses(403, 404))
async def fleet(backend: WithBackend) -> dict[str, Any]:
    """The live fleet that the server follows: the run to listen to, its scenario and its start."""
    if backend.fleet is None:
        says = "this server follows no fleet; dwell fleet SCENARIO --watch page starts one"
        raise RequestError(404, "web.unknown-run", says)
    return backend.fleet


@routes.websocket("/api/live")
async def live(socket: WebSocket, backend: WithBackend) -> None:
    """Stream the events of a run; `from` is the number that the client already has."""
    await socket.accept()
    query, registry = socket.query_params, backend.registry
    try:
        have = {"events": _whole(query.get("from")), "samples": _whole(query.get("samples"))}
        listener = Listener(socket, registry, registry.get(query.get("run", "")), have)
    except RequestError as error:
        await socket.send_text(json.dumps({"type": "error", "error": error.as_json()}))
        await socket.close(UNKNOWN, error.code)
        return
    await listener.serve()


def _done(job: Job) -> Job:
    if job.status != JobState.DONE:
        says = f"the run is {job.status}; it has no file, as only runs that are done do"
        raise RequestError(409, "web.not-done", says)
    return job


def _whole(text: str | None) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        says = f"from and samples are whole numbers from 0 on, got {text[:40]!r}"
        raise RequestError(422, "web.query", says)
    return int(text)
