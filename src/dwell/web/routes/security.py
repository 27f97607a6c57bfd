"""Middleware for all requests: checks of Host and Origin, and security headers.

A page of another site must not use this server through the visitor's browser: neither by a name
that resolves to this address (Host is checked) nor by requests of its own (Origin is checked).
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dwell.web.errors import problem

POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",  # pictures that the page itself draws, to be saved
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
LINGER, MOST_UNREAD = 3.0, 16_000_000  # seconds and bytes of a body that no route reads
BODY: Final = "http.response.body"
PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


@final
class SecurityMiddleware:
    """Rejects foreign hosts and origins; adds headers to all responses."""

    def __init__(self, app: ASGIApp, names: Iterable[str] = ()) -> None:
        self._app = app
        self._names = {"localhost", *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        error = self._error(scope)
        unread = _Unread(scope, receive)
        sending = _with_headers(send, scope, unread)
        if error is None:
            await self._app(scope, unread.receive, sending)
        elif scope["type"] == "websocket":
            await receive()  # the handshake, before which nothing may be sent
            await send({"type": "websocket.close", "code": 1008, "reason": error["code"]})
        else:
            await JSONResponse({"error": error}, status_code=403)(scope, receive, sending)

    def _error(self, scope: Scope) -> dict[str, object] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own(host):
            return problem(
                "web.host",
                f"the request is for {host[:100]!r}, which is no name of this server; use its "
                "address or localhost, or start it with --name",
            )
        writes = scope["type"] == "websocket" or scope["method"] not in READING
        if writes and not _same_site(headers, host):
            return problem(
                "web.origin",
                f"the request comes from a page of {headers.get('origin', 'elsewhere')[:100]!r}; "
                "only pages of this server itself may do this",
            )
        return None

    def _is_own(self, host: str) -> bool:
        name, _ = _name_and_port(f"//{host}")
        if name is None:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return True  # other sites have names, which an address is not


def _same_site(headers: Headers, host: str) -> bool:
    """Whether a page of this server, or no page at all, sent the request."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    name, port = _name_and_port(origin)
    scheme = origin.partition(":")[0]
    return name is not None and (name, port) == _name_and_port(f"{scheme}://{host}")


def _name_and_port(url: str) -> tuple[str | None, int | None]:
    """Return name and port of an origin; no name if it is not one."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None, None
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        return None, None
    return parts.hostname, port


@final
class _Unread:
    """Whether a request has a body that was not read."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        headers = Headers(scope=scope)
        self._receive, self._bytes = receive, 0
        self.more = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"

    async def receive(self) -> Message:
        """Return the next part."""
        message = await self._receive()
        self.more = bool(message.get("more_body", False))
        self._bytes += len(message.get("body", b""))
        return message

    async def discard(self) -> None:
        """Read the rest of the body, within bounds.

        A connection that is closed before is reset, and the response may be lost.
        """
        most = self._bytes + MOST_UNREAD
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                while self.more and self._bytes < most:
                    await self.receive()


def _with_headers(send: Send, scope: Scope, unread: _Unread) -> Send:
    extra = HEADERS | ({"cache-control": "no-store"} if scope["path"].startswith("/api/") else {})

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(extra)
            if unread.more:  # the rest is not read, and may have no end
                headers["connection"] = "close"
        elif unread.more and message["type"] == BODY and not message.get("more_body", False):
            await send({**message, "more_body": True})
            await unread.discard()
            message = {"type": BODY, "body": b""}
        await send(message)

    return sending
