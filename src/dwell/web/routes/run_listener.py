"""The stream of a run to one client, from its beginning or from where a lost connection ended."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import Any, BinaryIO, final

from starlette.websockets import WebSocket, WebSocketDisconnect

from dwell.results.words import remarks_of
from dwell.web.jobs.registry import Job, JobRegistry, JobState
from dwell.web.wire_format import BEGIN, EVENTS, Entry, drop_rows

BEAT = 5.0  # seconds between two heartbeats
INTERVAL = 0.1  # seconds between two messages about the state of the job
UNKNOWN = 4404  # close code where there is no such run


@final
class Listener:
    """A websocket that listens to one job."""

    def __init__(
        self, socket: WebSocket, registry: JobRegistry, job: Job, have: dict[str, int]
    ) -> None:
        self._socket, self._registry, self._job, self._have = socket, registry, job, have
        self._next = 0  # entry to be sent
        self._file: BinaryIO | None = None
        self._state: dict[str, Any] | None = None  # as last sent
        self._sent_at = 0.0

    async def serve(self) -> None:
        """Send everything; return when the job ends, or the client disconnects."""
        news = asyncio.Event()
        self._job.listeners.add(news)
        disconnecting = asyncio.create_task(self._until_disconnected())
        try:
            sending = asyncio.create_task(self._stream(news))
            await asyncio.wait({disconnecting, sending}, return_when=asyncio.FIRST_COMPLETED)
            for task in (disconnecting, sending):
                task.cancel()
                with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError, OSError):
                    await task
        finally:
            self._job.listeners.discard(news)
            self._job.listened_at = time.monotonic()
            if self._file is not None:
                self._file.close()

    async def _until_disconnected(self) -> None:
        """Wait for the end of the connection; what clients send is ignored."""
        while (await self._socket.receive())["type"] != "websocket.disconnect":
            pass

    async def _stream(self, news: asyncio.Event) -> None:
        await self._send_state()
        beat = time.monotonic() + BEAT
        while True:
            news.clear()
            over = self._job.over  # read first, so that no later entry is missed
            await self._send_entries()
            if over:
                break
            if time.monotonic() - self._sent_at >= INTERVAL:
                await self._send_state()
            if time.monotonic() >= beat:
                await self._send_json({"type": "beat"})
                beat = time.monotonic() + BEAT
            with suppress(TimeoutError):
                behind = self._state != self._registry.as_json(self._job)
                rest = INTERVAL if behind else beat - time.monotonic()
                await asyncio.wait_for(news.wait(), max(rest, 0.01))
        self._state = None  # the final state is sent in any case, after all entries
        await self._send_state()
        if self._job.status == JobState.DONE:
            summary = self._job.summary
            remarks = [] if summary is None else remarks_of(summary)
            await self._send_json({"type": "end", "summary": summary, "remarks": remarks})
        await self._socket.close(1000)

    async def _send_state(self) -> None:
        state = self._registry.as_json(self._job)
        if state != self._state:
            self._state, self._sent_at = state, time.monotonic()
            await self._send_json({"type": "job", "job": state})

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
        await self._socket.send_bytes(drop_rows(message, known) if known > 0 else message)

    def _read(self, entry: Entry) -> bytes:
        if self._file is None:
            self._file = self._job.spool.open("rb")
        self._file.seek(entry.offset)
        return self._file.read(entry.length)

    async def _send_json(self, message: dict[str, Any]) -> None:
        await self._socket.send_text(json.dumps(message, allow_nan=False))
