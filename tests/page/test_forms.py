"""Forms: what is typed is taken, or marked with the reason; menus say what cannot be done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.page.conftest import Watched
from tests.page.person import APP, frames, run

pytestmark = pytest.mark.exhaustive

LAW = f"{APP}.scenario.controller"


def enter(page: Any, label: str, text: str) -> Any:
    """Type into a field and leave it, without waiting for the server."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    page.keyboard.press("Tab")
    return field


def settled(page: Any) -> None:
    """Wait until everything typed was taken or refused."""
    page.evaluate("dwellPage.session.forms.change(s => s)")


def marked(field: Any) -> bool:
    """Whether a field is shown as wrong."""
    return field.get_attribute("aria-invalid") == "true"


def test_what_is_refused_stays_marked_and_nothing_is_run(page: Any, watched: Watched) -> None:
    watched.may_refuse = True
    page.get_by_role("tab", name="Scenario").click()
    k1 = enter(page, "k1", "0")
    t1 = enter(page, "t1", "5")
    enter(page, "count", "1500")
    horizon = enter(page, "horizon", "soon")
    page.get_by_role("tab", name="Numbers").click()
    page.get_by_role("button", name="Run", exact=True).first.click()
    page.get_by_text("Not run, as k1 is not corrected").wait_for()
    assert page.evaluate(f"{APP}.lanes.length") == 0
    assert [k1.input_value(), t1.input_value(), horizon.input_value()] == ["0", "5", "soon"]
    assert marked(k1)
    assert marked(t1)
    assert marked(horizon)
    assert page.evaluate(f"{APP}.start.length") == 1500  # the only one that was right
    assert page.evaluate(f"{APP}.scenario.run.horizon") == 40
    page.get_by_role("button", name="Back to 0.4").click()
    assert k1.input_value() == "0.4"
    enter(page, "t2", "6")  # with which t1 is right
    page.wait_for_function(f"() => {LAW}.t1 === 5 && {LAW}.t2 === 6")
    assert not marked(t1)
    enter(page, "horizon", "")
    page.get_by_text("horizon needs a number; it is empty.").first.wait_for()
    enter(page, "horizon", "2")
    enter(page, "count", "-3")
    page.get_by_text("must be at least 1").first.wait_for()
    enter(page, "count", "4")
    run(page)
    assert page.evaluate(f"{APP}.lanes[0].summary.agents") == 4
    assert page.locator("[aria-invalid]").count() == 0


def test_what_is_being_typed_stays_while_the_rest_is_drawn_anew(page: Any) -> None:
    page.get_by_role("tab", name="Scenario").click()
    k1 = page.get_by_label("k1", exact=True)
    k1.fill("0.70")
    horizon = "s => ({...s, run: {...s.run, horizon: 7}})"
    page.evaluate(f"dwellPage.session.forms.change({horizon})")
    frames(page)
    assert page.get_by_label("horizon", exact=True).input_value() == "7"
    assert k1.input_value() == "0.70"
    page.keyboard.press("Tab")
    page.wait_for_function(f"() => {LAW}.k1 === 0.7")
    settled(page)
    frames(page)
    assert k1.input_value() == "0.7"
    k1.fill("0.700")  # the same in other words
    page.keyboard.press("Enter")
    settled(page)
    frames(page)
    assert k1.input_value() == "0.7"


def choice(page: Any, name: str) -> Any:
    """The list with that name."""
    named = page.locator(f"label.field:has(span:text-is('{name}'))")
    return named.locator("select")


def values(found: Any) -> list[str]:
    """What can be chosen from a list."""
    return list(found.locator("option").evaluate_all("all => all.map(one => one.value)"))


def test_every_choice_of_every_law_can_be_made(page: Any) -> None:
    page.get_by_role("tab", name="Scenario").click()
    choice(page, "kind").wait_for()
    made = set()
    for kind in values(choice(page, "kind")):
        choice(page, "kind").select_option(kind)
        page.wait_for_function(f"kind => {LAW}.kind === kind", arg=kind)
        frames(page)
        page.wait_for_function("() => document.querySelectorAll('.scenario .field').length > 8")
        spans = page.locator("label.field:has(select) span").all_inner_texts()
        for name in spans[1:]:  # the first is the kind itself
            every = values(choice(page, name))
            for value in [*every, every[0]]:
                choice(page, name).select_option(value)
                settled(page)
                assert page.locator(".said.error").count() == 0, (kind, name, value)
                assert page.evaluate(f"String({LAW}[{name!r}] ?? '')") == value, (kind, name)
                made.add((kind, name, value))
    assert {("timer", "reset", "adaptive"), ("lloyd", "mode", "ode")} <= made
    assert len(made) > 25
    choice(page, "kind").select_option("timer")
    choice(page, "reset").select_option("sequence")
    enter(page, "intervals", "0.2, 0.3 0.25")
    page.wait_for_function(f"() => {LAW}.intervals?.length === 3")


def test_the_design_panel_refuses_in_words(page: Any, watched: Watched) -> None:
    watched.may_refuse = True
    page.get_by_role("tab", name="Design").click()
    for name, text in [
        ("k1, largest speed", "-1"),
        ("T2, longest time between samples", "abc"),
        ("T1, shortest time between samples", "5"),
    ]:
        field = enter(page, f"{name}, as a number", text)
        page.locator(".wrong").wait_for()
        assert field.input_value() == text
        assert marked(field)
        assert page.locator(".said.error").count() == 1
        page.locator(".wrong button").click()
        assert not marked(field)
    assert page.evaluate(f"[{LAW}.k1, {LAW}.t1, {LAW}.t2]") == [0.4, 0.1, 0.3]
    enter(page, "T2, longest time between samples, as a number", "0.05")
    page.wait_for_function(f"() => {LAW}.t1 === 0.05 && {LAW}.t2 === 0.05")
    page.get_by_text("What fails").wait_for()
    would = page.locator("h3:has-text('would do') + ul").all_inner_texts()
    assert "no value" not in " ".join(would)


def test_files_and_exports_that_cannot_be_say_why(
    page: Any, watched: Watched, tmp_path: Path
) -> None:
    watched.may_refuse = True
    page.get_by_text("Export", exact=True).click()
    for name in ["Film as GIF", "Film as MP4", "Run as NetCDF"]:
        assert page.get_by_role("button", name=name).is_disabled()
    run(page)
    page.get_by_text("Export", exact=True).click()
    for name in ["Film as GIF", "Film as MP4", "Run as NetCDF"]:
        assert page.get_by_role("button", name=name).is_enabled()
    page.keyboard.press("Escape")
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(3_000_000_000)
    stored, sweep = tmp_path / "stored.nc", tmp_path / "sweep.toml"
    stored.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(2_000_000))
    sweep.write_text('scenario = "two-hills.toml"\n[grid]\n"run.seed" = [1, 2]\n')
    for path, says in [(large, "at most 1 MB"), (stored, "dwell show"), (sweep, "dwell sweep")]:
        page.get_by_label("Scenario file").set_input_files(path)
        page.locator(".said.error", has_text=says).wait_for()
    assert page.evaluate(f"{APP}.lanes[0].summary !== null")
