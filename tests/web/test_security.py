"""Whose requests are taken: no names that were made to point here, no pages of other sites."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dwell.web.routes.security import HEADERS, SecurityMiddleware


async def well(request):
    return PlainTextResponse("well")


APP = SecurityMiddleware(
    Starlette(routes=[Route("/api/x", well, methods=["GET", "POST", "DELETE"])]),
    names=["site.example"],
)


def ask(method="GET", **headers):
    async def asking():
        transport = httpx.ASGITransport(app=APP)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:80") as client:
            named = {key.replace("_", "-"): value for key, value in headers.items()}
            return await client.request(method, "/api/x", headers=named)

    return asyncio.run(asking())


OWN = ["127.0.0.1:8000", "localhost", "LocalHost:1", "[::1]:8000", "10.0.0.7", "site.example:80"]
FOREIGN = [
    "evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.nip.example", "",
    "localhost:x", "127.0.0.1@evil.example", "evil.example/127.0.0.1", "evil.example#localhost",
    "[::1", "0x7f.1", "127.1", "localhost:99999",
]  # fmt: skip


@pytest.mark.parametrize("host", OWN + FOREIGN)
def test_hosts(host):
    answer = ask(host=host)
    assert answer.status_code == (200 if host in OWN else 403)
    assert host in OWN or answer.json()["error"]["code"] == "web.host"


ORIGINS = [  # host, origin, sec-fetch-site, whether the request is allowed
    ("localhost:8000", None, None, True),  # no browser
    ("localhost:8000", "http://localhost:8000", None, True),
    ("localhost:8000", "https://localhost:8000", None, True),  # behind a proxy that speaks TLS
    ("localhost:8000", "http://localhost:8000", "same-origin", True),
    ("localhost", "http://localhost:80", None, True),
    ("localhost:443", "https://localhost", None, True),
    ("localhost:8000", "http://localhost:8001", None, False),  # another server of this machine
    ("localhost:8000", "http://localhost", None, False),
    ("localhost:8000", "http://127.0.0.1:8000", None, False),
    ("localhost:8000", "http://evil.example", None, False),
    ("localhost:8000", "http://localhost:8000.evil.example", None, False),
    ("localhost:8000", "http://localhost:8000@evil.example", None, False),
    ("localhost:8000", "null", None, False),
    ("localhost:8000", "", None, False),
    ("localhost:8000", "file://", None, False),
    ("localhost:8000", None, "cross-site", False),
    ("localhost:8000", None, "same-site", False),
]


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(("host", "origin", "site", "allowed"), ORIGINS)
def test_only_pages_of_this_server_write(method, host, origin, site, allowed):
    given = {"origin": origin, "sec_fetch_site": site}
    answer = ask(method, host=host, **{k: v for k, v in given.items() if v is not None})
    assert answer.status_code == (200 if allowed else 403)
    assert allowed or answer.json()["error"]["code"] == "web.origin"


def test_reading_needs_no_origin_and_gives_nothing_away():
    answer = ask(host="localhost", origin="http://evil.example")
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["localhost", "evil.example"])
def test_headers_are_on_every_answer(host):
    answer = ask(host=host)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert answer.headers["cache-control"] == "no-store"
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "http" not in policy
