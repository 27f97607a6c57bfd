"""What axe-core finds in the states of the page: nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dwell
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from tests.page.conftest import PATIENCE, ROOT, Watched
from tests.page.person import APP
from tests.page.states import (
    SCREENS,
    finished,
    help_open,
    home,
    menu,
    panel,
    side_by_side,
    still,
    template,
    told,
    tool,
)
from tests.web.servers import Server

AXE = ROOT / "page" / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"label-content-name-mismatch": {"enabled": True}}  # beyond those that are on anyway
FIND = """rules => axe.run(document, { resultTypes: ["violations"], rules }).then((found) =>
    found.violations.map((v) => `${v.id} (${v.impact}): ${v.help}: `
        + v.nodes.map((n) => n.html.slice(0, 160)).join(" | ")))"""

Reach = Callable[[Any], None]


def nothing(page: Any) -> None:
    """As the page opens."""


# A run that is finished stays for the states after it.
STATES: tuple[tuple[str, str, Reach], ...] = (
    ("light", "opened", nothing),
    ("light", "guide", panel("guide")),
    ("light", "story", told),
    ("light", "scenario", panel("scenario")),
    ("light", "design", panel("design")),
    ("light", "compare", panel("compare")),
    ("light", "peaks", tool("peaks")),
    ("light", "workspace", tool("workspace")),
    ("light", "paint", tool("paint")),
    ("light", "run", finished),
    ("light", "layers", menu("Show")),
    ("light", "export", menu("Export")),
    ("light", "side by side", side_by_side),
    ("light", "line", template("line-8")),
    ("light", "space", template("space-12")),
    ("light", "help", help_open),
    ("dark", "opened", nothing),
    ("dark", "story", told),
    ("dark", "run", finished),
    ("dark", "scenario", panel("scenario")),
    ("dark", "design", panel("design")),
    ("dark", "side by side", side_by_side),
    ("dark", "help", help_open),
    ("phone", "opened", nothing),
    ("phone", "guide", panel("guide")),
    ("phone", "story", told),
    ("phone", "run", finished),
    ("phone", "design", panel("design")),
    ("phone", "side by side", side_by_side),
    ("dark phone", "side by side", side_by_side),
)


@pytest.fixture(scope="module")
def axe() -> str:
    """The checks, which come with what builds the page."""
    if not AXE.exists():
        pytest.fail(f"{AXE} is not there; `scripts/page --check` fetches it.")
    return AXE.read_text()


@pytest.fixture(scope="module")
def pages(browser: Any, server: Server, axe: str) -> Iterator[Callable[[str], Any]]:
    """One page per screen, kept from state to state."""
    known: dict[str, Any] = {}
    watched = Watched()

    def page_on(screen: str) -> Any:
        if screen not in known:
            page = browser.new_context(reduced_motion="reduce", **SCREENS[screen]).new_page()
            page.set_default_timeout(PATIENCE)
            watched.watch(page)
            page.goto(server.url)
            page.wait_for_function(f"() => {APP}.start.length > 0")
            page.evaluate(axe)
            known[screen] = page
        return known[screen]

    yield page_on
    for page in known.values():
        page.context.close()
    assert not watched.errors, watched.errors


@pytest.mark.parametrize(
    ("screen", "reach"),
    [pytest.param(screen, reach, id=f"{screen}, {name}") for screen, name, reach in STATES],
)
def test_axe_finds_nothing(pages: Callable[[str], Any], screen: str, reach: Reach) -> None:
    page = pages(screen)
    home(page)
    reach(page)
    still(page)
    assert page.evaluate(FIND, RULES) == []


@pytest.mark.parametrize("screen", ["light", "dark", "phone"])
def test_axe_finds_nothing_in_an_exported_file(
    browser: Any, axe: str, tmp_path: Path, screen: str
) -> None:
    table = text_to_mapping(template_text("two-hills"))
    table["run"]["horizon"] = 3.0
    run = dwell.run_scenario(parse_scenario(table))
    file = dwell.export_html([run, run], tmp_path / "run.html")
    context = browser.new_context(reduced_motion="reduce", **SCREENS[screen])
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(file.as_uri())
    page.wait_for_function(f"() => {APP}.lanes.some((lane) => lane.summary)")
    page.evaluate(axe)
    still(page)
    found = page.evaluate(FIND, RULES)
    context.close()
    assert found == []
