"""What the routes use: worker pools, jobs, and the bodies of requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar, final

from fastapi import Depends
from starlette.requests import ClientDisconnect, HTTPConnection, Request

from dwell.web.errors import RequestError
from dwell.web.jobs.film_cache import FilmCache
from dwell.web.jobs.registry import JobRegistry
from dwell.web.jobs.task_client import task_result
from dwell.web.limits import Limits
from dwell.web.work.jobs import work_on
from dwell.workers.pool import Pool

SENDING = 30.0  # seconds that a client may take to send a request
QUICK = 2.0  # seconds after which a short task no longer delays others
GRACE = 2.0  # seconds that a short task may still take when no request waits for it
T = TypeVar("T")


@final
class Backend:
    """Worker pools and the jobs that they carry out."""

    def __init__(
        self,
        limits: Limits,
        folder: Path,
        recordings: Sequence[bytes] = (),
        fleet: dict[str, Any] | None = None,
    ) -> None:
        self.limits, self.folder, self.recordings, self.fleet = limits, folder, recordings, fleet
        self.runs = Pool(work_on(limits, runs=True), "runs", limits.workers)
        # Short tasks have a pool of their own, so that they need not wait for runs.
        self._tasks = Pool(work_on(limits, runs=False), "tasks", 1, grace=GRACE, quick=QUICK)
        self.registry = JobRegistry(limits, self.runs, folder)
        self.films = FilmCache(limits, self.runs, self.registry, folder)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Run worker processes inside this context; beside a fleet only when they are needed."""
        if self.fleet is None:
            self._tasks.open()
            self.runs.open()
        expiring = asyncio.create_task(self.registry.expire_live_jobs())
        try:
            yield
        finally:
            expiring.cancel()
            await asyncio.gather(self.runs.close(), self._tasks.close())

    async def result(
        self,
        request: Request,
        task: str,
        media: str = "application/json",
        given: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return the result of a short task on the body of a request, and options `given`."""
        raw = await self.read(request, media)
        result = task_result(self._tasks, task, raw, self.limits.queued, given)
        return await while_connected(request, result)

    async def read(self, request: Request, media: str) -> bytes:
        """Return the body of a request, if it is short and of the right media type."""
        kind = request.headers.get("content-type", media).partition(";")[0].strip().lower()
        if kind != media:
            says = f"the request is sent as {kind[:60]!r}; {media} is needed"
            raise RequestError(415, "web.media", says)
        length = request.headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self.limits.body:
            raise self._too_long()  # at once, not when all of it has come
        try:
            async with asyncio.timeout(SENDING):
                return await self._body(request)
        except TimeoutError:
            says = f"the request did not arrive within {SENDING:g} s; send it again"
            raise RequestError(408, "web.slow", says) from None
        except ClientDisconnect:
            raise disconnected() from None

    async def _body(self, request: Request) -> bytes:
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self.limits.body:
                raise self._too_long()
            parts.append(part)
        return b"".join(parts)

    def _too_long(self) -> RequestError:
        says = f"a request may have at most {self.limits.body} bytes, got more"
        return RequestError(413, "web.too-large", says)


def backend_of(connection: HTTPConnection) -> Backend:
    """Return the backend of the application that received a request."""
    backend: Backend = connection.app.state.backend
    return backend


WithBackend = Annotated[Backend, Depends(backend_of)]


async def while_connected(request: Request, answer: Coroutine[Any, Any, T]) -> T:
    """Return the result of `answer`, which is cancelled when the client disconnects."""
    working = asyncio.create_task(answer)
    leaving = asyncio.create_task(_until_disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise disconnected()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _until_disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def disconnected() -> RequestError:
    """Return the error for a client that disconnected."""
    return RequestError(408, "web.gone", "the client disconnected before the response was ready")
