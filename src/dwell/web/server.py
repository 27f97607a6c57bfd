"""What the routes work with: workers, jobs, and requests that are read and answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar, final

from fastapi import Depends
from starlette.requests import ClientDisconnect, HTTPConnection, Request

from dwell.web.jobs.book import Book
from dwell.web.jobs.crew import Crew
from dwell.web.jobs.desk import QUICK, Desk
from dwell.web.jobs.films import Films
from dwell.web.limits import Limits
from dwell.web.refusals import Refusal
from dwell.web.templates import templates

PATIENCE = 30.0  # seconds that a client may take to send a request
UNHURRIED = 2.0  # seconds that a question may still take when nobody waits for it any more
T = TypeVar("T")


@final
class Server:
    """Workers, and what they are asked to do."""

    def __init__(self, limits: Limits, folder: Path) -> None:
        self.limits = limits
        self.crew = Crew(limits, "runs", limits.workers, limits.queued)
        self.clerks = Crew(limits, "desk", 1, limits.queued, grace=UNHURRIED, quick=QUICK)
        self.desk = Desk(self.clerks)
        self.book = Book(limits, self.crew, folder)
        self.films = Films(limits, self.crew, self.book, folder)

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

    async def ask(
        self, request: Request, question: str, media: str = "application/json"
    ) -> dict[str, Any]:
        """The answer to the question in a request, for as long as somebody waits for it."""
        raw = await self.read(request, media)
        return await while_there(request, self.desk.ask(question, raw))

    async def read(self, request: Request, media: str) -> bytes:
        """The body of a request, if it is short and of the right kind."""
        kind = request.headers.get("content-type", media).partition(";")[0].strip().lower()
        if kind != media:
            says = f"the request is sent as {kind[:60]!r}; {media} is needed"
            raise Refusal(415, "web.media", says)
        length = request.headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self.limits.body:
            raise self._too_long()  # at once, not when all of it has come
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._body(request)
        except TimeoutError:
            says = f"the request did not arrive within {PATIENCE:g} s; send it again"
            raise Refusal(408, "web.slow", says) from None
        except ClientDisconnect:
            raise gone() from None

    async def _body(self, request: Request) -> bytes:
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self.limits.body:
                raise self._too_long()
            parts.append(part)
        return b"".join(parts)

    def _too_long(self) -> Refusal:
        says = f"a request may have at most {self.limits.body} bytes, got more"
        return Refusal(413, "web.too-large", says)


def server_of(connection: HTTPConnection) -> Server:
    """The server that a request came to."""
    server: Server = connection.app.state.server
    return server


Here = Annotated[Server, Depends(server_of)]


async def while_there(request: Request, answer: Coroutine[Any, Any, T]) -> T:
    """What comes of `answer`, which is given up when the client goes."""
    working = asyncio.create_task(answer)
    leaving = asyncio.create_task(_until_gone(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise gone()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def gone() -> Refusal:
    """The answer that nobody hears."""
    return Refusal(408, "web.gone", "the client went before the answer came")
