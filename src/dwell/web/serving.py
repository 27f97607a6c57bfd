"""A server from its start to its end: address, browser, signals, temporary files."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import shutil
import socket
import stat
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, final

import uvicorn

from dwell.errors import InputError
from dwell.web.api import create_app
from dwell.web.jobs.book import Book
from dwell.web.limits import Limits

BACKLOG = 512
CONNECTIONS = 400  # at a time; more are told to come back later
SILENCE = 30.0  # seconds after which a connection is closed on which no request comes
STUCK = 60.0  # seconds after which one is given up whose other end takes nothing
ANOTHER_PORT = "choose another --port, or --port 0 for any that is free"
ANOTHER_HOST = "give an address or a name of this machine with --host"
NEW = 1.0  # seconds in which a server that has just started takes its lock
PREFIX, LOCK = "dwell-serve-", "lock"


def serve(
    host: str, port: int, limits: Limits, *, names: Iterable[str] = (), browser: bool = False
) -> None:
    """Serve until told to end. Everything is kept in a folder that is deleted at the end."""
    listening = _listen(host, port)
    address = _address(listening)
    with listening, own_folder() as folder:
        app = create_app(limits, folder, [*names, host])
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="on",
            ws_max_size=4096, ws_per_message_deflate=False, ws_ping_interval=5.0,
            ws_ping_timeout=10.0, timeout_graceful_shutdown=3, limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=65536,
        )  # fmt: skip
        server = Serving(config, app.state.server.book, address, browser)
        if not ipaddress.ip_address(listening.getsockname()[0]).is_loopback:
            print("dwell: whoever can reach this address can use this server", flush=True)
        server.run([listening])


@contextmanager
def own_folder() -> Iterator[Path]:
    """A temporary folder that is deleted at the end, or by the next server if this one is killed.

    A lock of the operating system's, which ends with its process, says that it is in use.
    """
    base = Path(tempfile.gettempdir())
    for old in base.glob(f"{PREFIX}*"):
        _sweep(old)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with (folder / LOCK).open("wb") as lock:
            _is_free(lock.fileno())
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Delete what a server left behind that was killed; others and theirs are let be."""
    try:
        about = folder.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
            return
        with (folder / LOCK).open("rb") as lock:
            age = time.time() - os.fstat(lock.fileno()).st_mtime
            if age > NEW and _is_free(lock.fileno()):
                shutil.rmtree(folder, ignore_errors=True)
    except (OSError, AttributeError):  # not ours to look at, or a system without such owners
        return


def _is_free(descriptor: int) -> bool:
    """Take the lock, if nobody has it."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


@final
class Serving(uvicorn.Server):
    """uvicorn, which lets jobs come to their end when it is told to."""

    def __init__(self, config: uvicorn.Config, book: Book, address: str, browser: bool) -> None:
        super().__init__(config)
        self._book, self._address, self._browser = book, address, browser
        self._loop: asyncio.AbstractEventLoop | None = None
        self._draining: asyncio.Task[None] | None = None
        self._told = False
        self._silent: dict[Any, float] = {}  # connections without a request, and since when

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say where, once there is something to be seen."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        print(f"dwell: serving at {self._address} (Ctrl-C ends it)", flush=True)
        if self._browser:
            threading.Thread(target=webbrowser.open, args=(self._address,), daemon=True).start()

    async def on_tick(self, counter: int) -> bool:
        """Now and then."""
        if counter % 10 == 0:
            self._hang_up(time.monotonic())
        return await super().on_tick(counter)

    def _hang_up(self, now: float) -> None:
        """Close connections that say nothing: they would keep others out, see CONNECTIONS."""
        silent = [one for one in self.server_state.connections if _says_nothing(one)]
        self._silent = {one: self._silent.get(one, now) for one in silent}
        for one, since in self._silent.items():
            if now - since > SILENCE:
                one.transport.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal drains, the second ends at once."""
        if self._told or self._loop is None:
            self.should_exit = self.force_exit = True
            return
        self._told = True
        self._loop.call_soon_threadsafe(self._begin_draining)

    def _begin_draining(self) -> None:
        self._draining = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        if self._book.busy:
            print("dwell: ending when the runs have; once more to end at once", flush=True)
        await self._book.drain()
        self.should_exit = True


def _says_nothing(connection: Any) -> bool:
    """Whether no request is under way; websockets have no such thing as requests."""
    if not hasattr(connection, "cycle"):
        return False
    return connection.cycle is None or bool(connection.cycle.response_complete)


def _listen(host: str, port: int) -> socket.socket:
    """A socket at that address; a sentence if there is none to be had."""
    try:
        found: Any = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return _bound(socket.socket(found[0], found[1]), found[4])
    except (OSError, OverflowError) as fault:
        why = getattr(fault, "strerror", None) or fault
        foreign = getattr(fault, "errno", None) == errno.EADDRNOTAVAIL
        elsewhere = foreign or isinstance(fault, socket.gaierror)
        advice = ANOTHER_HOST if elsewhere else ANOTHER_PORT
        raise InputError(
            f"nothing can be served at {host}:{port}: {why}; {advice}", code="web.address"
        ) from fault


def _bound(listening: socket.socket, address: Any) -> socket.socket:
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _give_up_when_stuck(listening)
        listening.bind(address)
        listening.listen(BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening


def _give_up_when_stuck(listening: socket.socket) -> None:
    """Otherwise who stops reading, or is cut off, keeps a connection and its run for long."""
    option = getattr(socket, "TCP_USER_TIMEOUT", None)  # connections inherit it
    if option is not None:
        listening.setsockopt(socket.IPPROTO_TCP, option, int(1000 * STUCK))


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown and shown[0] != '[' else shown}:{port}/"
