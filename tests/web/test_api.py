"""Every route, as a client sees it, on a real server."""

from __future__ import annotations

import asyncio
import re
import socket
from contextlib import suppress

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import dwell
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario, scenario_schema
from dwell.web.app import create_app
from dwell.web.jobs import film_cache
from dwell.web.limits import Limits
from dwell.web.routes import page_routes
from tests.web.servers import scenario, slow
from tests.workers.watch import LONG

JSON = {"content-type": "application/json"}


def test_health_schema_and_templates(server):
    health = server.http.get("/api/health").json()
    assert health["ok"]
    assert health["version"] == dwell.__version__
    assert server.http.get("/api/schema").json() == scenario_schema()
    found = server.http.get("/api/templates").json()["templates"]
    names = {one["name"] for one in found}
    assert {"paper-12", "paper-30", "line-8", "harbour-20"} <= names
    for one in found:
        parse_scenario(one["scenario"])
        assert one["title"]
        assert one["about"]


def test_a_run_from_beginning_to_end(server, tmp_path):
    body = scenario(horizon=5.0, seed=7)
    run = server.start(body)
    job = server.wait(run)
    assert job["position"] == 0
    assert job["progress"] == 1.0
    own = run_scenario(parse_scenario(body))
    expected = own.summary()
    del expected["wall_seconds"], job["summary"]["wall_seconds"]
    assert job["summary"] == expected
    assert job["events"] == len(own.events)
    listed = server.http.get("/api/runs").json()["runs"]
    assert [one["id"] for one in listed] == [run]
    later = server.start(scenario(horizon=1.0))
    assert [one["id"] for one in server.http.get("/api/runs").json()["runs"]] == [later, run]
    answer = server.http.get(f"/api/runs/{run}/file")
    assert answer.headers["content-type"] == "application/x-netcdf"
    kept = tmp_path / "run.nc"
    kept.write_bytes(answer.content)
    stored = dwell.load_run(kept)
    assert stored.events.time.tobytes() == own.events.time.tobytes()
    assert server.http.delete(f"/api/runs/{run}").status_code == 204
    assert server.http.get(f"/api/runs/{run}").status_code == 404
    assert server.http.get(f"/api/runs/{run}/file").status_code == 404


QUERIES = {
    "format=exe": 'format needs "gif" or "mp4", got "exe"',
    "seconds=0": 'seconds needs a number of at least 1, got "0"',
    "seconds=999": 'seconds needs a number of at most 20, got "999"',
    "seconds=nan": 'seconds needs a whole number, got "nan"',
    "seconds=1.5": 'seconds needs a whole number, got "1.5"',
}


def test_a_film(server):
    run = server.start(scenario(horizon=2.0, seed=7))
    server.wait(run)
    answer = server.http.get(f"/api/runs/{run}/film", params={"seconds": 1})
    assert answer.status_code == 200
    assert answer.content.startswith(b"GIF89a")
    assert server.http.get(f"/api/runs/{run}/film?seconds=1").content == answer.content
    for query, says in QUERIES.items():
        wrong = server.http.get(f"/api/runs/{run}/film?{query}")
        assert wrong.status_code == 422
        assert wrong.json()["error"]["key"] == query.partition("=")[0]
        assert wrong.json()["error"]["message"] == says


def test_what_is_not_done_has_no_file(server):
    run = server.start(slow())
    for what in ("file", "film"):
        answer = server.http.get(f"/api/runs/{run}/{what}")
        assert answer.status_code == 409
        assert answer.json()["error"]["code"] == "web.not-done"


@pytest.mark.parametrize(
    ("path", "content", "headers", "status", "code"),
    [
        ("/api/runs", b"{}", JSON, 422, "scenario.missing-key"),
        ("/api/runs", b'{"run": NaN}', JSON, 422, "scenario.not-finite"),
        ("/api/runs", b"{}", {"content-type": "text/plain"}, 415, "web.media"),
        ("/api/runs?live=perhaps", b"{}", JSON, 422, "web.query"),
        ("/api/validate", b'{"a":' * 30 + b"1" + b"}" * 30, JSON, 422, "web.too-deep"),
        ("/api/validate", b" " * 1_000_001, JSON, 413, "web.too-large"),
        ("/api/scenario/parse", b"= 3", {"content-type": "text/plain"}, 422, "scenario.syntax"),
        ("/api/design", b"[]", JSON, 422, "scenario.type"),
        ("/api/validate", b'{"\\ud800": 1}', JSON, 422, "scenario.value"),
        ("/api/nowhere", b"", JSON, 404, "web.404"),
        ("/api/health", b"", JSON, 405, "web.405"),
    ],
)
def test_errors_have_one_form(server, path, content, headers, status, code):
    answer = server.http.post(path, content=content, headers=headers)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["code"] == code
    assert set(error) == {"code", "key", "message"}
    assert len(error["message"]) > 20
    assert code != "web.query" or error["message"] == 'live needs true or false, got "perhaps"'
    assert "Traceback" not in answer.text


def test_long_bodies(server):
    """Refused at once, without losing the response to a reset connection, and cut off."""
    host, port = server.url.removeprefix("http://").split(":")
    head = f"POST /api/validate HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json"

    def connected():
        return socket.create_connection((host, int(port)), timeout=LONG)

    with connected() as line:
        line.sendall(f"{head}\r\nContent-Length: 99999999999\r\n\r\n{{".encode())
        assert line.recv(1000).startswith(b"HTTP/1.1 413 ")
    size, found = 4_000_000, b""
    with connected() as line:
        line.sendall(f"{head}\r\nContent-Length: {size}\r\n\r\n".encode() + b" " * size)
        while part := line.recv(65536):
            found += part
    assert found.startswith(b"HTTP/1.1 413 ")
    assert b"web.too-large" in found
    sent, most = 0, 1000  # parts: 65 megabytes
    with connected() as line, suppress(ConnectionError):
        line.sendall(f"{head}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        while sent < most:
            line.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
            sent += 1
    assert sent < most


def test_films_are_those_that_can_be_made(server, monkeypatch):
    assert "gif" in server.http.get("/api/health").json()["films"]
    monkeypatch.setattr(film_cache.shutil, "which", lambda name: None)
    assert film_cache.kinds() == ["gif"]


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_foreign_pages_can_neither_write_nor_listen(server, origin):
    run = server.start(scenario(horizon=1.0))
    sent = {"origin": origin}
    assert server.post(scenario(), headers=sent).status_code == 403
    assert server.http.delete(f"/api/runs/{run}", headers=sent).status_code == 403
    address = server.url.replace("http", "ws")
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(f"{address}/api/live?run={run}", additional_headers={"Origin": origin}),
    ):
        pass
    assert refused.value.response.status_code == 403
    with connect(
        f"{address}/api/live?run={run}", additional_headers={"Origin": server.url}
    ) as listener:
        assert '"job"' in listener.recv()


def test_the_page_holds_nothing_that_the_policy_forbids(server):
    answer = server.http.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert not re.search(r"<script(?![^>]*\bsrc=)", answer.text)
    assert "<style" not in answer.text
    assert not re.search(r"\son\w+=|\sstyle=", answer.text)
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", answer.text)
    for found in re.findall(r"(?:src|href)=\"(/[^\"]*)\"", answer.text):
        assert server.http.get(found).status_code == 200, found


def test_files_of_the_page_are_compressed_and_asked_for_again(server):
    plain = server.http.get("/static/page.js", headers={"accept-encoding": "identity"})
    short = server.http.get("/static/page.js")
    assert short.headers["content-encoding"] == "gzip"
    assert short.content == plain.content
    assert "content-encoding" not in plain.headers
    for path in ("/", "/static/page.js"):
        answer = server.http.get(path)
        assert answer.headers["cache-control"] == "no-cache"
        again = server.http.get(path, headers={"if-none-match": answer.headers["etag"]})
        if path != "/":
            assert again.status_code == 304
            assert not again.content


def test_the_api_describes_itself(server):
    assert server.http.get("/docs").headers["location"] == "/openapi.json"
    described = server.http.get("/docs", follow_redirects=True).json()
    assert "/api/runs/{run}" in described["paths"]
    assert "Scenario" in described["components"]["schemas"]


def test_without_its_page_the_server_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(page_routes, "STATIC", tmp_path / "nothing")
    app = create_app(Limits(), tmp_path)

    async def asking(path):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path)

    assert "not part of this installation" in asyncio.run(asking("/")).text
    assert asyncio.run(asking("/static/page.js")).status_code == 404


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/docs/../../x"])
def test_nothing_beside_the_page_is_served(server, path):
    assert server.http.get(path).status_code == 404
