"""A server, a real browser, and pages that complain about any error in the console."""

from __future__ import annotations

import importlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.person import frames
from tests.web.servers import Server
from tests.workers.watch import LONG

# A browser that is missing proves nothing, so it is a failure; who wants to go on says so.
MAY_LACK = os.environ.get("DWELL_WITHOUT_BROWSER") == "1"

if MAY_LACK:
    playwright = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("fastapi")
else:
    playwright = importlib.import_module("playwright.sync_api")

ROOT = Path(__file__).parents[2]
OPTIONS = ("--drain", "0.1")  # of the server
WITHOUT_RECORDING = """(() => {
    const { session, store } = dwellPage;
    if (store.get().lanes.some((lane) => lane.recorded)) session.reset();
    store.set({ panel: store.get().panel === "guide" ? "numbers" : store.get().panel });
})()"""
# Code for keys loads after the first picture.
KEYS = "() => document.querySelector('[data-keys] .map-canvas[data-keys]') !== null"
PATIENCE = 1000.0 * LONG  # milliseconds


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser."""
    found = subprocess.run([ROOT / "scripts" / "browser"], capture_output=True, text=True)
    if found.returncode:
        why = found.stderr.strip().splitlines()[-1]
        if MAY_LACK:
            pytest.skip(why)
        pytest.fail(f"{why}. DWELL_WITHOUT_BROWSER=1 passes over the tests of the page.")
    return found.stdout.strip()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests that do not end it."""
    with Server(*OPTIONS) as found:
        yield found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """One browser for the tests of a file: while it lives, its event loop runs in this thread."""
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


class Watched:
    """Errors in the console of a page; those of a cut connection may be allowed."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.may_lose = False
        self.may_refuse = False  # the browser itself counts a refusal as an error

    def watch(self, page: Any) -> None:
        """Listen to a page."""
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.errors.append(f"{error}"))

    def _heard(self, message: Any) -> None:
        lost = "ERR_CONNECTION" in message.text or "ERR_EMPTY" in message.text
        lost = lost or "WebSocket connection" in message.text or "ERR_SOCKET" in message.text
        refused = "status of 422" in message.text
        if (self.may_lose and lost) or (self.may_refuse and refused):
            return
        if message.type in ("error", "warning"):
            self.errors.append(message.text)


Open = Callable[..., Any]


@pytest.fixture
def watched() -> Watched:
    """What went wrong in the pages of a test."""
    return Watched()


@pytest.fixture
def open_page(browser: Any, server: Server, watched: Watched) -> Iterator[Open]:
    """Opens pages, each in a profile of its own unless one is given.

    The recorded run that a page opens with is left unless it is `recorded`.
    """
    contexts = []

    def opened(
        address: str | None = None, *, context: Any = None, recorded: bool = False, **options: Any
    ) -> Any:
        if context is None:
            options = {"viewport": {"width": 1200, "height": 780}, **options}
            context = browser.new_context(accept_downloads=True, **options)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        watched.watch(page)
        page.goto(address or server.url)
        page.wait_for_function("() => dwellPage.store.get().start.length > 0")
        page.wait_for_function("() => dwellPage.store.get().templates.length > 0")
        page.wait_for_function(KEYS)
        if not recorded:
            page.evaluate(WITHOUT_RECORDING)
            frames(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not watched.errors, watched.errors


@pytest.fixture
def page(open_page: Open) -> Any:
    """The page as it opens."""
    return open_page()
