"""The HTTP server of `dwell serve`: address, browser, signals, temporary files."""

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, final

import uvicorn

from dwell.errors import InputError
from dwell.web.app import create_app
from dwell.web.backend import Backend
from dwell.web.limits import Limits

BACKLOG = 512
CONNECTIONS = 400  # at a time; more receive status 503
IDLE = 30.0  # seconds after which a connection without requests is closed
STUCK = 60.0  # seconds after which a connection is closed whose client reads nothing
ANOTHER_PORT = "choose another --port, or --port 0 for any that is free"
ANOTHER_HOST = "give an address or a name of this machine with --host"
NEW = 1.0  # seconds in which a server that has just started takes its lock
PREFIX, LOCK = "dwell-serve-", "lock"


def serve(
    host: str, port: int, limits: Limits, *, names: Iterable[str] = (), browser: bool = False,
    recordings: Sequence[bytes] = (), fragment: str = "",
) -> None:  # fmt: skip
    """Serve until a signal ends it. All files lie in a folder that is deleted at the end.

    The page begins with `recordings`, or with what the `fragment` of its address holds.
    """
    fragment = f"#r={len(recordings)}" if recordings else fragment
    with prepared(host, port, limits, fragment, names, browser, recordings) as (server, listening):
        server.run([listening])


@contextmanager
def prepared(
    host: str, port: int, limits: Limits, fragment: str, names: Iterable[str] = (),
    browser: bool = False, recordings: Sequence[bytes] = (), fleet: dict[str, Any] | None = None,
) -> Iterator[tuple[DrainingServer, socket.socket]]:  # fmt: skip
    """A server that has its address and its folder, and the socket at which it will listen."""
    listening = _listen(host, port)
    address = _address(listening) + fragment
    with listening, own_folder() as folder:
        app = create_app(limits, folder, [*names, host], recordings, fleet)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="on",
            ws_max_size=4096, ws_per_message_deflate=False, ws_ping_interval=5.0,
            ws_ping_timeout=10.0, timeout_graceful_shutdown=3, limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=65536,
        )  # fmt: skip
        server = DrainingServer(config, app.state.backend, address, browser)
        if not ipaddress.ip_address(listening.getsockname()[0]).is_loopback:
            print("dwell: every machine that reaches this address can use this server", flush=True)
        yield server, listening


@contextmanager
def own_folder() -> Iterator[Path]:
    """A temporary folder that is deleted at the end, or by the next server if this one is killed.

    It is in use as long as its lock is held, which ends with the process.
    """
    base = Path(tempfile.gettempdir())
    for old in base.glob(f"{PREFIX}*"):
        _delete_if_unused(old)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with (folder / LOCK).open("wb") as lock:
            _take_lock(lock.fileno())
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _delete_if_unused(folder: Path) -> None:
    """Delete the folder of a killed server of this user."""
    try:
        about = folder.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
            return
        with (folder / LOCK).open("rb") as lock:
            age = time.time() - os.fstat(lock.fileno()).st_mtime
            if age > NEW and _take_lock(lock.fileno()):
                shutil.rmtree(folder, ignore_errors=True)
    except (OSError, AttributeError):  # not readable, or a system without owners
        return


def _take_lock(descriptor: int) -> bool:
    """Take the lock; return whether it was free."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


@final
class DrainingServer(uvicorn.Server):
    """A uvicorn server that lets jobs end before it does."""

    def __init__(
        self, config: uvicorn.Config, backend: Backend, address: str, browser: bool
    ) -> None:
        super().__init__(config)
        self.registry, self.folder = backend.registry, backend.folder
        self.address, self._browser = address, browser
        self.silent = False  # whether it does not print its address
        self._loop: asyncio.AbstractEventLoop | None = None
        self._draining: asyncio.Task[None] | None = None
        self._ending = False
        self._idle: dict[Any, float] = {}  # connections without a request, and since when

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Print the address once requests are served, and open a browser there."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if not self.silent:
            print(f"dwell: serving at {self.address} (Ctrl-C ends it)", flush=True)
        if self._browser:
            threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True).start()

    def later(self, call: Callable[..., object], *given: Any) -> None:
        """Call a function in the thread of the server, unless it has ended."""
        assert self._loop is not None
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, *given)

    async def on_tick(self, counter: int) -> bool:
        """Close idle connections once a second."""
        if counter % 10 == 0:
            self._close_idle(time.monotonic())
        return await super().on_tick(counter)

    def _close_idle(self, now: float) -> None:
        """Close connections without requests: they count towards CONNECTIONS."""
        idle = [one for one in self.server_state.connections if _is_idle(one)]
        self._idle = {one: self._idle.get(one, now) for one in idle}
        for one, since in self._idle.items():
            if now - since > IDLE:
                one.transport.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let jobs end after the first signal; end at once after the second."""
        if self._ending or self._loop is None:
            self.should_exit = self.force_exit = True
            return
        self._ending = True
        self.later(self._begin_draining)

    def _begin_draining(self) -> None:
        self._draining = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        if self.registry.busy and not self.silent:
            print("dwell: ending when the runs have; once more to end at once", flush=True)
        await self.registry.drain()
        self.should_exit = True


def _is_idle(connection: Any) -> bool:
    """Whether no request is under way; never true of websockets, which have no requests."""
    if not hasattr(connection, "cycle"):
        return False
    return connection.cycle is None or bool(connection.cycle.response_complete)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket at that address; raise InputError if it is not available."""
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
        # Connections, which inherit it, are closed if their clients stop reading: they would keep
        # their live runs.
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * STUCK))
        listening.bind(address)
        listening.listen(BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown and shown[0] != '[' else shown}:{port}/"
