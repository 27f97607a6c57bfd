"""The routes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, final

from fastapi import APIRouter, FastAPI, Query, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

import dwell
from dwell.web import views
from dwell.web.crew import Crew
from dwell.web.desk import Desk, asked
from dwell.web.gate import Gate
from dwell.web.jobs import DONE, Book, Job
from dwell.web.limits import Limits
from dwell.web.live import UNKNOWN, Listener
from dwell.web.openapi import SCENARIO, body, describe, page
from dwell.web.refusals import Refusal, problem
from dwell.web.templates import schema, templates

HERE = Path(__file__).parent
STATIC = HERE / "static"
PATIENCE = 30.0  # seconds that a client may take to send a request
FPS, LONGEST = 20.0, 20  # of films
MEDIA = {"gif": "image/gif", "mp4": "video/mp4"}
NO_PAGE = (
    "<!doctype html><html lang=en><title>dwell</title><p>The page is not part of this "
    'installation; the API is: see <a href="/docs">/docs</a>.</p></html>'
)


@final
class Server:
    """What the routes work with."""

    def __init__(self, limits: Limits, folder: Path) -> None:
        self.limits, self.folder = limits, folder
        self.crew = Crew(limits, "runs", limits.workers, limits.queued)
        self.clerks = Crew(limits, "desk", 1, limits.queued)
        self.desk = Desk(self.clerks)
        self.book = Book(limits, self.crew, folder)
        self.films: dict[Path, asyncio.Task[dict[str, Any]]] = {}

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """With its workers."""
        self.clerks.open()
        self.crew.open()
        house = asyncio.create_task(self.book.keep_house())
        await asyncio.to_thread(templates)  # so that the first who asks need not wait
        try:
            yield
        finally:
            house.cancel()
            await asyncio.gather(self.crew.close(), self.clerks.close())

    async def read(self, request: Request, media: str) -> bytes:
        """The body of a request, if it is short and of the right kind."""
        kind = request.headers.get("content-type", media).partition(";")[0].strip().lower()
        if kind != media:
            says = f"the request is sent as {kind[:60]!r}; {media} is needed"
            raise Refusal(415, "web.media", says)
        parts, size = [], 0
        try:
            async with asyncio.timeout(PATIENCE):
                async for part in request.stream():
                    size += len(part)
                    if size > self.limits.body:
                        says = f"a request may have at most {self.limits.body} bytes, got more"
                        raise Refusal(413, "web.too-large", says)
                    parts.append(part)
        except TimeoutError:
            says = f"the request did not arrive within {PATIENCE:g} s; send it again"
            raise Refusal(408, "web.slow", says) from None
        return b"".join(parts)

    async def film(self, job: Job, kind: str, seconds: int) -> Path:
        """The film of a run, made once; those who ask meanwhile wait for the same one."""
        path = self.folder / f"{job.id}.{seconds}.{kind}"
        if not path.exists():
            if path not in self.films:
                self.films[path] = asyncio.create_task(self._make_film(job, path, seconds))
            await asyncio.shield(self.films[path])
        return path

    async def _make_film(self, job: Job, path: Path, seconds: int) -> dict[str, Any]:
        order = {
            "do": "film", "file": str(job.file), "film": str(path), "fps": FPS, "seconds": seconds
        }  # fmt: skip
        try:
            return await asked(self.crew, f"film-{path.name}", order, self.limits.seconds)
        finally:
            self.films.pop(path, None)
            self.book.tidy(job)


def _refusals(*codes: int) -> dict[int | str, dict[str, Any]]:
    words = {
        403: "The request is for another host, or comes from a page of another site.",
        404: "There is no such run.",
        408: "The request took too long to arrive.",
        409: "The run is not done.",
        413: "The request is too long.",
        415: "The request is of another kind.",
        422: "What came cannot be used; the sentence says why.",
        503: "The server cannot do it now; the sentence says why.",
    }
    return {code: {"model": views.Refused, "description": words[code]} for code in codes}


SENT = (403, 408, 413, 415, 422, 503)
OF_SCENARIO = body("application/json", SCENARIO, "A scenario.")
OF_TEXT = body("text/plain", {"type": "string"}, "A scenario file, TOML or JSON.")
Name = Annotated[str, "the id of a run"]


def _asking(server: Server) -> APIRouter:
    """Questions about scenarios."""
    routes = APIRouter()

    @routes.get("/api/schema", responses={**_refusals(403)})
    async def scenario_format() -> dict[str, Any]:
        """The format of scenarios, as a JSON Schema."""
        return schema()

    @routes.get("/api/templates", response_model=views.Templates, responses=_refusals(403))
    async def list_templates() -> dict[str, Any]:
        """Scenarios to begin from."""
        return {"templates": templates()}

    @routes.post(
        "/api/validate",
        responses={200: {"model": views.Validated}, **_refusals(*SENT)},
        openapi_extra=OF_SCENARIO,
    )
    async def validate(request: Request) -> JSONResponse:
        """Whether a scenario can be run; as it is understood, and where its agents start."""
        raw = await server.read(request, "application/json")
        return JSONResponse(await server.desk.ask("validate", raw))

    @routes.post(
        "/api/scenario/parse",
        responses={200: {"model": views.Parsed}, **_refusals(*SENT)},
        openapi_extra=OF_TEXT,
    )
    async def parse(request: Request) -> JSONResponse:
        """The scenario in the text of a file."""
        raw = await server.read(request, "text/plain")
        return JSONResponse(await server.desk.ask("parse", raw))

    @routes.post(
        "/api/scenario/text",
        response_class=PlainTextResponse,
        responses=_refusals(*SENT),
        openapi_extra=OF_SCENARIO,
    )
    async def text(request: Request) -> PlainTextResponse:
        """A scenario as the text of a TOML file."""
        raw = await server.read(request, "application/json")
        return PlainTextResponse((await server.desk.ask("write", raw))["text"])

    @routes.post("/api/design", responses=_refusals(*SENT), openapi_extra=OF_SCENARIO)
    async def design(request: Request) -> dict[str, Any]:
        """What the theorem's conditions say of a scenario of the timer law."""
        raw = await server.read(request, "application/json")
        return await server.desk.ask("design", raw)

    return routes


def _running(server: Server) -> APIRouter:
    """Runs."""
    routes, book = APIRouter(), server.book

    @routes.get("/api/health", response_model=views.Health, responses=_refusals(403))
    async def health() -> dict[str, Any]:
        """Whether the server is well, and how busy."""
        return {
            "ok": True,
            "version": dwell.__version__,
            "running": len(server.crew.running),
            "queued": len(server.crew.waiting),
            "workers": server.crew.ready,
            "draining": book.draining,
        }

    @routes.post(
        "/api/runs",
        status_code=202,
        responses={202: {"model": views.JobView}, **_refusals(*SENT)},
        openapi_extra=OF_SCENARIO,
    )
    async def start(
        request: Request,
        live: Annotated[
            bool, Query(description="whether the run ends when nobody listens to it")
        ] = False,
    ) -> JSONResponse:
        """Run a scenario, when its turn comes."""
        raw = await server.read(request, "application/json")
        job = book.start(await server.desk.ask("admit", raw), live=live)
        where = {"location": f"/api/runs/{job.id}"}
        return JSONResponse(book.as_json(job), status_code=202, headers=where)

    @routes.get("/api/runs", response_model=views.Runs, responses=_refusals(403))
    async def runs() -> dict[str, Any]:
        """All runs that are not forgotten, newest first."""
        return {"runs": [book.as_json(job) for job in book.newest_first()]}

    @routes.get("/api/runs/{run}", responses={200: {"model": views.RunView}, **_refusals(403, 404)})
    async def look(run: Name) -> JSONResponse:
        """One run, with its figures when it is done."""
        return JSONResponse(book.as_json(book.get(run), whole=True))

    @routes.delete("/api/runs/{run}", status_code=204, responses=_refusals(403, 404))
    async def forget(run: Name) -> Response:
        """End a run within a second, and forget it."""
        await book.forget(book.get(run))
        return Response(status_code=204)

    @routes.get(
        "/api/runs/{run}/file",
        response_class=FileResponse,
        responses={
            200: {"content": {"application/x-netcdf": {}}, "description": "The run, as NetCDF."},
            **_refusals(403, 404, 409),
        },
    )
    async def file(run: Name) -> FileResponse:
        """The run as a NetCDF file, which `dwell show`, `check` and `plot` read."""
        job = _done(book.get(run))
        return FileResponse(job.file, media_type="application/x-netcdf", filename=f"{job.id}.nc")

    @routes.get(
        "/api/runs/{run}/film",
        response_class=FileResponse,
        responses={
            200: {"content": {kind: {} for kind in MEDIA.values()}, "description": "The film."},
            **_refusals(403, 404, 409, 422, 503),
        },
    )
    async def film(
        run: Name,
        kind: Annotated[Literal["gif", "mp4"], Query(alias="format")] = "gif",
        seconds: Annotated[int, Query(ge=1, le=LONGEST)] = 6,
    ) -> FileResponse:
        """A film of the run; it is made when first asked for, which takes a while."""
        path = await server.film(_done(book.get(run)), kind, seconds)
        return FileResponse(path, media_type=MEDIA[kind], filename=f"{run}.{kind}")

    @routes.websocket("/api/live")
    async def live(socket: WebSocket) -> None:
        """The events of a run, as they come; `from` says how many the client has already."""
        await socket.accept()
        asks = socket.query_params
        try:
            have = {"events": _whole(asks.get("from")), "samples": _whole(asks.get("samples"))}
            listener = Listener(socket, book, book.get(asks.get("run", "")), have)
        except Refusal as refusal:
            await socket.send_text(json.dumps({"type": "error", "error": refusal.as_json()}))
            await socket.close(UNKNOWN, refusal.code)
            return
        await listener.serve()

    return routes


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


def _pages(app: FastAPI) -> APIRouter:
    """What browsers show."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def index() -> Response:
        built = STATIC / "index.html"
        return FileResponse(built) if built.exists() else HTMLResponse(NO_PAGE)

    @routes.get("/docs")
    async def docs() -> HTMLResponse:
        return HTMLResponse(page(describe(app)))

    @routes.get("/favicon.ico")
    async def no_icon() -> Response:  # browsers ask for it where a page names none
        return Response(status_code=204)

    @routes.get("/docs/style.css")
    async def style() -> FileResponse:
        return FileResponse(HERE / "docs" / "style.css")

    return routes


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
    app.include_router(_asking(server))
    app.include_router(_running(server))
    app.include_router(_pages(app))
    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _say_errors_alike(app)
    app.add_middleware(Gate, names=tuple(names))
    return app


def _say_errors_alike(app: FastAPI) -> None:
    """Every error has the same form, whoever found it."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, fault: Refusal) -> JSONResponse:
        return JSONResponse({"error": fault.as_json()}, status_code=fault.status)

    @app.exception_handler(RequestValidationError)
    async def wrong_query(request: Request, fault: RequestValidationError) -> JSONResponse:
        first = fault.errors()[0]
        key = ".".join(str(part) for part in first["loc"][1:])
        says = f"{key}: {first['msg'][:1].lower()}{first['msg'][1:]}"
        return JSONResponse({"error": problem("web.query", says, key)}, status_code=422)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, fault: HTTPException) -> JSONResponse:
        says = f"{request.method} {request.url.path[:100]}: {str(fault.detail).lower()}"
        error = problem(f"web.{fault.status_code}", f"{says}; /docs lists what there is")
        headers = dict(fault.headers or {})  # such as Allow
        return JSONResponse({"error": error}, status_code=fault.status_code, headers=headers)
