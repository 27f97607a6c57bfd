"""One listener of a run: everything from the beginning, or from where a lost connection ended."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import Any, BinaryIO, final

from starlette.websockets import WebSocket, WebSocketDisconnect

from dwell.web.frames import BEGIN, EVENTS, Entry, without_first
from dwell.web.jobs.book import DONE, Book, Job

BEAT = 5.0  # seconds between two signs of life
OFTEN = 0.1  # seconds between two words about the job itself
UNKNOWN = 4404  # close code where there is no such run


@final
class Listener:
    """A websocket that listens to one job."""

    def __init__(self, socket: WebSocket, book: Book, job: Job, have: dict[str, int]) -> None:
        self._socket, self._book, self._job, self._have = socket, book, job, have
        self._next = 0  # entry to be sent
        self._file: BinaryIO | None = None
        self._told: dict[str, Any] | None = None
        self._told_at = 0.0

    async def serve(self) -> None:
        """Tell everything; ends when the job does, or when the client goes."""
        news = asyncio.Event()
        self._job.listeners.add(news)
        leaving = asyncio.create_task(self._until_gone())
        try:
            telling = asyncio.create_task(self._tell(news))
            await asyncio.wait({leaving, telling}, return_when=asyncio.FIRST_COMPLETED)
            for task in (leaving, telling):
                task.cancel()
                with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError, OSError):
                    await task
        finally:
            self._job.listeners.discard(news)
            self._job.heard_at = time.monotonic()
            if self._file is not None:
                self._file.close()

    async def _until_gone(self) -> None:
        """Clients have nothing to say here; whatever they say is passed over."""
        while (await self._socket.receive())["type"] != "websocket.disconnect":
            pass

    async def _tell(self, news: asyncio.Event) -> None:
        await self._say_job()
        beat = time.monotonic() + BEAT
        while True:
            news.clear()
            over = self._job.over  # before what there is: what comes after it must not be missed
            await self._send_entries()
            if over:
                break
            if time.monotonic() - self._told_at >= OFTEN:
                await self._say_job()
            if time.monotonic() >= beat:
                await self._say({"type": "beat"})
                beat = time.monotonic() + BEAT
            with suppress(TimeoutError):
                behind = self._told != self._book.as_json(self._job)
                rest = OFTEN if behind else beat - time.monotonic()
                await asyncio.wait_for(news.wait(), max(rest, 0.01))
        self._told = None  # how it ended is said in any case, after all there is
        await self._say_job()
        if self._job.status == DONE:
            await self._say({"type": "end", "summary": self._job.summary})
        await self._socket.close(1000)

    async def _say_job(self) -> None:
        told = self._book.as_json(self._job)
        if told != self._told:
            self._told, self._told_at = told, time.monotonic()
            await self._say({"type": "job", "job": told})

    async def _send_entries(self) -> None:
        while self._next < len(self._job.entries):
            entry = self._job.entries[self._next]
            self._next += 1
            await self._send(entry)

    async def _send(self, entry: Entry) -> None:
        if entry.kind == BEGIN:
            await self._socket.send_text(self._read(entry).decode())
            return
        known = self._have["events" if entry.kind == EVENTS else "samples"] - entry.first
        if known >= entry.count:
            return
        message = self._read(entry)
        await self._socket.send_bytes(without_first(message, known) if known > 0 else message)

    def _read(self, entry: Entry) -> bytes:
        if self._file is None:
            self._file = self._job.spool.open("rb")
        self._file.seek(entry.offset)
        return self._file.read(entry.length)

    async def _say(self, message: dict[str, Any]) -> None:
        await self._socket.send_text(json.dumps(message, allow_nan=False))
