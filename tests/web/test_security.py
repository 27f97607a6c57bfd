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


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8000", "localhost", "LocalHost:1", "[::1]:8000", "10.0.0.7", "site.example:80"],
)
def test_own_names(host):
    assert ask(host=host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.nip.example", "",
        "localhost:x", "127.0.0.1@evil.example", "evil.example/127.0.0.1", "evil.example#localhost",
        "[::1", "0x7f.1", "127.1", "localhost:99999",
    ],
)  # fmt: skip
def test_names_that_were_made_to_point_here(host):
    answer = ask(host=host)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "web.host"


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),  # no browser
        ({"origin": "http://localhost:8000"}, 200),
        ({"origin": "https://localhost:8000"}, 200),  # behind a proxy that speaks TLS
        ({"origin": "http://localhost:8000", "sec_fetch_site": "same-origin"}, 200),
        ({"origin": "http://localhost:8001"}, 403),  # another server of this machine
        ({"origin": "http://localhost"}, 403),
        ({"origin": "http://127.0.0.1:8000"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:8000.evil.example"}, 403),
        ({"origin": "http://localhost:8000@evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "file://"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
    ],
)
def test_writes_are_for_pages_of_this_server(method, headers, status):
    answer = ask(method, host="localhost:8000", **headers)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["error"]["code"] == "web.origin"


def test_reading_needs_no_origin_and_gives_nothing_away():
    answer = ask(host="localhost", origin="http://evil.example")
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_default_ports_count_as_given():
    assert ask("POST", host="localhost", origin="http://localhost:80").status_code == 200
    assert ask("POST", host="localhost:443", origin="https://localhost").status_code == 200


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
