"""One server for many tests: one worker, and live runs that soon end without listeners."""

from __future__ import annotations

import pytest

from tests.web.servers import Server


@pytest.fixture(scope="session")
def only(tmp_path_factory):
    """A server of this session."""
    server = Server("--workers", "1", "--absent", "1", folder=tmp_path_factory.mktemp("serve"))
    yield server
    server.end()


@pytest.fixture
def server(only):
    """The server of this session, without runs of earlier tests."""
    yield only
    for run in only.http.get("/api/runs").json()["runs"]:
        only.http.delete(f"/api/runs/{run['id']}")
