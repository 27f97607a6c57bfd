"""Stored runs that a server was started with, and runs as files that play."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dwell
from dwell.cli.commands.page import _fragment
from dwell.exports.recording import recording_of
from dwell.scenario import parse_scenario
from dwell.web.errors import RequestError
from dwell.web.limits import Limits
from dwell.web.routes import run_routes
from dwell.workers.child import TaskOutcome
from tests.cli.shell import dwell as shell
from tests.web.servers import CHANGING, Server


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored run."""
    path = tmp_path_factory.mktemp("stored") / "run.nc"
    dwell.run_scenario(parse_scenario(CHANGING), out=path)
    return path


def test_stored_runs_are_served_as_recordings(run: Path) -> None:
    with Server("--drain", "0.1", str(run)) as server:
        answer = server.http.get("/api/recorded/0")
        assert answer.status_code == 200
        assert answer.content == recording_of(dwell.load_run(run))
        assert server.http.get("/api/recorded/1").json()["error"]["code"] == "web.unknown-run"
        assert server.http.get("/api/recorded/x").status_code == 422
        mine = server.start(CHANGING)
        server.wait(mine)
        made = server.http.get("/api/html", params={"run": [mine, mine]})
        assert made.status_code == 200
        assert made.headers["content-disposition"].startswith("attachment")
        assert made.text.count('application/x-dwell-run">') == 2
        assert server.http.get("/api/html").status_code == 422
        assert server.http.get("/api/html", params={"run": "none"}).status_code == 404


def test_what_is_no_run_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "text.nc").write_text("no run")
    for words in ([str(tmp_path / "text.nc")], ["missing.nc"], ["a.nc"] * 7):
        done = shell("serve", "--port", "0", "--no-browser", *words)
        assert done.code == 2
        assert len(done.err.strip().splitlines()) == 1


def test_a_link_may_be_given_and_no_other_address() -> None:
    link = "http://127.0.0.1:8911/#s=abc_-1&laws=timer,lloyd&t=3.5&play=1"
    assert _fragment(link) == "#s=abc_-1&laws=timer,lloyd&t=3.5&play=1"
    long = "#s=" + 5000 * "a"
    assert _fragment(f"http://127.0.0.1:8911/{long}") == long
    assert _fragment("run.nc") == ""
    for bad in ("http://127.0.0.1/#x=1", "#s=", "#s=a b", "#s=a&t=<script>"):
        with pytest.raises(dwell.InputError, match="no scenario"):
            _fragment(bad)


def test_a_file_that_plays_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed leaves a draft, and may write one after its request has ended."""
    calls: list[tuple[Path, Any]] = []

    async def lost(pool: Any, order: Any, seconds: float, queued: int, ended: Any) -> None:
        folder = Path(order["html"]).parent
        (folder / ".run.html.draft").write_text("half")
        calls.append((folder, ended))
        raise RequestError(408, "web.gone", "the client disconnected")

    class Client:
        async def receive(self) -> dict[str, str]:
            await asyncio.sleep(60.0)
            return {"type": "http.disconnect"}

    job = SimpleNamespace(status="done", file=tmp_path / "run.nc")
    backend: Any = SimpleNamespace(
        folder=tmp_path, limits=Limits(), runs=None, registry=SimpleNamespace(get=lambda _: job)
    )
    monkeypatch.setattr(run_routes, "result_of", lost)
    client: Any = Client()
    with pytest.raises(RequestError, match="disconnected"):
        asyncio.run(run_routes.html(client, backend, ["a"]))
    assert not list(tmp_path.iterdir())
    [(folder, ended)] = calls
    folder.mkdir()
    (folder / ".run.html.draft").write_text("half")
    ended(TaskOutcome("stopped", None))
    assert not list(tmp_path.iterdir())
