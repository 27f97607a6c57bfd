"""Clients that leave, say nothing, or take nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from types import SimpleNamespace

import pytest

from dwell.errors import InputError
from dwell.web import http_server
from dwell.web.backend import while_connected
from dwell.web.errors import RequestError


class Client:
    """Stands for a request whose body has been read."""

    def __init__(self):
        self.left = asyncio.Event()

    async def receive(self):
        await self.left.wait()
        return {"type": "http.disconnect"}


def test_a_request_ends_with_its_result_or_its_client():
    async def requesting():
        client, begun, ended = Client(), asyncio.Event(), []

        async def endless():
            begun.set()
            try:
                await asyncio.sleep(60.0)
            except asyncio.CancelledError:
                ended.append(True)
                raise

        async def failing():
            raise RequestError(422, "x", "words")

        assert await while_connected(Client(), asyncio.sleep(0.0, 3)) == 3
        with pytest.raises(RequestError, match="words"):
            await while_connected(Client(), failing())
        request = asyncio.create_task(while_connected(client, endless()))
        await begun.wait()
        client.left.set()
        with pytest.raises(RequestError) as gone:
            await request
        assert gone.value.code == "web.gone"
        assert ended

    asyncio.run(requesting())


class Line:
    """Stands for a connection."""

    def __init__(self, **state):
        self.closed = 0
        self.transport = SimpleNamespace(close=self._close)
        self.__dict__.update(state)

    def _close(self):
        self.closed += 1


def test_connections_without_a_request_are_closed():
    fresh, between = Line(cycle=None), Line(cycle=SimpleNamespace(response_complete=True))
    busy, stream = Line(cycle=SimpleNamespace(response_complete=False)), Line()
    server = object.__new__(http_server.DrainingServer)
    server._idle = {}
    server.server_state = SimpleNamespace(connections={fresh, between, busy, stream})
    server._close_idle(0.0)
    server._close_idle(http_server.IDLE)
    assert not any(line.closed for line in (fresh, between, busy, stream))
    between.cycle = busy.cycle  # it has begun to ask
    server._close_idle(http_server.IDLE + 1.0)
    assert [line.closed for line in (fresh, between, busy, stream)] == [1, 0, 0, 0]
    server.server_state.connections.remove(fresh)
    server._close_idle(http_server.IDLE + 2.0)
    assert fresh not in server._idle


def test_a_host_that_is_nowhere():
    with pytest.raises(InputError, match="--host") as refused:
        http_server._listen("nowhere.invalid", 0)
    with pytest.raises(InputError, match="--host"):
        http_server._listen("192.0.2.1", 0)  # an address that no machine has
    assert refused.value.code == "web.address"


def test_a_server_that_just_starts_keeps_its_folder(tmp_path, monkeypatch):
    """Between making its lock and taking it, another one must not take it for dead."""
    pytest.importorskip("fcntl")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lock = tmp_path / f"{http_server.PREFIX}new" / http_server.LOCK
    lock.parent.mkdir()
    lock.touch()
    with http_server.own_folder():
        assert lock.exists()
    os.utime(lock, (0.0, 0.0))
    with http_server.own_folder():
        assert not lock.exists()


def test_who_takes_nothing_is_given_up():
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is None:
        pytest.skip("this system knows no such limit")
    with (
        http_server._listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as line,
    ):
        kept = line.getsockopt(socket.IPPROTO_TCP, option)
    assert kept == 1000 * http_server.STUCK
