"""The page beside the shell: one scenario gives the same figures, notes, verdicts and defaults."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dwell
from dwell.results.words import remarks_of, rows_of
from dwell.runner import run_scenario
from dwell.scenario import TEMPLATES, Scenario, parse_scenario, text_to_mapping
from dwell.studies.design import design
from dwell.studies.laws import mismatches, scenarios_of_laws
from tests.page.person import APP, change, choose, drag, frames, pause, place_of, run, until_done
from tests.web.servers import Server

HORIZON = 4.0  # of a template: long enough for switches to matter, short enough for a test
LANE = f"{APP}.lanes[0]"
OPEN_OUTCOME = "document.querySelectorAll('.outcome').forEach((one) => (one.open = true))"
NEAR = 5e-4  # relative: the page shows four digits


def scenario_of(page: Any) -> Scenario:
    """The scenario that the page shows, as the shell would read it."""
    return parse_scenario(page.evaluate(f"{APP}.scenario"))


def horizon_of(template: str) -> float:
    """Past the first switch of a template, if it has one."""
    data = text_to_mapping(dwell.scenario.template_text(template))
    switches = [one["from"] for one in data.get("world", ())]
    return min(data["run"]["horizon"], switches[0] + 1.0 if switches else HORIZON)


def short(page: Any, horizon: float) -> None:
    """Take a horizon, and samples as many as the shell takes by default."""
    assert change(page, f"{{...s, run: {{...s.run, horizon: {horizon!r}}}}}")


def plain(text: str) -> str:
    """Words of the page without its signs: thin spaces, true minus signs, powers."""
    text = text.replace("\u2009", "").replace("\u2212", "-")
    signs = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    return re.sub(r" × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: f"e{m[1].translate(signs)}", text)


def numbers(text: str) -> list[float]:
    """The numbers in some words."""
    return [float(one) for one in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?", plain(text))]


def rows(page: Any) -> dict[str, str]:
    """The rows of the outcome."""
    page.evaluate("dwellPage.store.set({ panel: 'numbers' })")
    page.locator(".outcome").first.wait_for()
    page.evaluate(OPEN_OUTCOME)
    found = page.locator(".outcome .rows > div").all()
    return {one.locator("dt").inner_text(): one.locator("dd").inner_text() for one in found}


def remarks(page: Any) -> list[str]:
    """What the outcome says beside its figures, from the top."""
    said = page.locator(".remarks li").all_inner_texts()
    return [" ".join(one.removeprefix("✗ ").split()) for one in said]


def expect_figures(page: Any, summary: dict[str, Any]) -> None:
    """Compare what the page shows at the end of a run with a summary of the shell."""
    shown = page.evaluate(f"{LANE}.summary")
    timed = {**json.loads(json.dumps(summary)), "wall_seconds": shown["wall_seconds"]}
    assert shown == timed
    found = rows(page)
    costs = [summary["cost"]["initial"], summary["cost"]["final"]]
    digits = 5e-3 if max(costs) >= 1e6 else NEAR  # with a power of ten there are three
    assert numbers(found["cost"]) == pytest.approx(costs, rel=digits)
    assert numbers(found["largest error at the end"]) == pytest.approx(
        [summary["error"]["final_max"]], rel=5e-3
    )
    assert numbers(found["Voronoi cells, positions received"]) == [
        summary["cells"]["voronoi"], summary["messages"]
    ]  # fmt: skip
    assert numbers(found["path length per agent"]) == pytest.approx(
        [summary["distance"]["mean"]], rel=NEAR
    )
    assert numbers(found["top speed"]) == pytest.approx([summary["top_speed"]], rel=NEAR)
    covered = summary["coverage"]
    assert ("time of coverage" in found) is (covered["nu"] is not None)
    if covered["reached_at"] is not None:
        assert numbers(found["time of coverage"]) == pytest.approx(
            [covered["reached_at"]], rel=NEAR
        )
    pause(page, 1e9)
    assert (
        page.evaluate("dwellPage.session.jumpOf(dwellPage.store.get().lanes[0])")
        == (summary["events"]["total"])
    )
    counters = numbers(page.locator(".counters").first.inner_text().split("samples")[1])
    assert counters[0] == summary["cells"]["voronoi"]


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_has_the_figures_and_notes_of_the_shell(page: Any, template: str) -> None:
    if template != "two-hills":
        choose(page, template)
    short(page, horizon_of(template))
    run(page)
    pause(page, 1e9)
    summary = run_scenario(scenario_of(page), progress=False).summary()
    wanted = [f"{one['label']} {one['says']}" for one in remarks_of(summary)]
    expect_figures(page, summary)
    assert remarks(page) == [" ".join(one.split()) for one in wanted]
    notes = [says for label, says in rows_of(summary) if label == "note"]
    assert all(any(note in one for one in wanted) for note in notes)


def test_a_guarantee_that_did_not_hold_comes_first(page: Any) -> None:
    choose(page, "paper-12-self-triggered")
    short(page, 12.0)
    assert change(page, "{...s, controller: {...s.controller, tau_min: 0.3}}")
    run(page)
    rows(page)
    assert "its guarantees do not hold there" in remarks(page)[0]
    assert page.locator(".remarks").first.locator("[role=alert]").count() == 1


def test_a_scenario_that_was_edited_and_saved_gives_the_same(page: Any, tmp_path: Path) -> None:
    short(page, HORIZON)
    drag(page, place_of(page, 0), (6.0, 3.0))
    page.wait_for_function(f"() => Array.isArray({APP}.scenario.agents.start)")
    assert change(page, "{...s, controller: {...s.controller, t2: 0.5}}")
    run(page)
    pause(page, 1e9)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save", exact=True).click()
    file = tmp_path / "edited.toml"
    file.write_bytes(saved.value.path().read_bytes())
    expect_figures(page, run_scenario(dwell.load_scenario(file), progress=False).summary())
    assert "anew" not in page.locator(".said").inner_text()


def test_link_and_save_of_a_run_changed_on_the_way_say_that_it_starts_anew(page: Any) -> None:
    short(page, HORIZON)
    run(page)
    pause(page, 1.0)
    assert change(page, "{...s, controller: {...s.controller, k1: 0.2}}")
    until_done(page)
    with page.expect_download():
        page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function("() => document.querySelector('.said').textContent.includes('anew')")
    said = page.locator(".said").inner_text()
    assert "was changed at t = 1.00" in said
    assert "its figures will differ" in said
    page.evaluate("dwellPage.session.quiet()")
    page.get_by_role("button", name="Link", exact=True).click()
    page.wait_for_function("() => document.querySelector('.said').textContent.includes('anew')")
    rows(page)
    assert "since t = 1" in page.locator(".outcome summary").inner_text()


@pytest.mark.parametrize(
    "laws",
    [
        ("timer", "lloyd", "self-triggered"),
        ("timer", "discrete-lloyd", "event-triggered"),
        ("timer", "tvd", "minimum-energy"),
        ("timer", "self-triggered-centroid"),
    ],
)
def test_laws_are_compared_as_by_the_shell(page: Any, laws: tuple[str, ...]) -> None:
    short(page, 2.0)
    page.evaluate("laws => void dwellPage.session.compare(laws)", list(laws))
    page.wait_for_function(f"n => {APP}.lanes.length === n", arg=len(laws))
    until_done(page)
    pause(page, 1.0)
    frames(page)
    assert not page.locator(".race-table .best").count()  # before the end less may only be slower
    pause(page, 1e9)
    page.locator(".end-card").wait_for()
    base = scenario_of(page)
    scenarios = scenarios_of_laws(base, laws)
    tables = page.evaluate(f"{APP}.lanes.map(one => one.timeline.last.scenario.controller)")
    for table, law in zip(tables, laws, strict=True):
        given = parse_scenario({**base.model_dump(exclude_none=True), "controller": table})
        assert given.controller == scenarios[law].controller
    compared = dwell.compare(base, list(laws), workers=1)
    head = [
        one.split("\n")[0].strip() for one in page.locator(".race-table thead th").all_inner_texts()
    ]
    for row, law in zip(page.locator(".race-table tbody tr").all(), laws, strict=True):
        texts = row.locator("td").all_inner_texts()
        cells = [plain(text.replace("best", "")).strip() for text in texts]
        found = dict(zip(head[1:], cells, strict=True))
        figures = compared.figures[law]
        found = {
            re.split(" per| locational| settled| largest| no ", k)[0]: v for k, v in found.items()
        }
        wanted = {
            "Samples": figures["samples"]["mean"],
            "Positions received": figures["messages"]["mean"],
            "Path length": figures["distance"]["mean"],
            "Cost": figures["cost.final"],
            "Top speed": figures["top_speed"],
        }
        if "Cells of all kinds" in found:
            wanted["Cells of all kinds"] = figures["cells.per_agent"]["mean"]
        for name, value in wanted.items():
            assert float(found[name]) == pytest.approx(value, rel=1e-3), (law, name)
    assert ("Cells of all kinds" in str(head)) is any("triggered" in law for law in laws)
    said = page.locator(".race-notes").inner_text() if page.locator(".race-notes").count() else ""
    said = said.lower().replace("self-triggered (centroid)", "self-triggered-centroid")
    said = said.replace("discrete lloyd", "discrete-lloyd").replace(
        "minimum energy", "minimum-energy"
    )
    for note in mismatches(base, scenarios):
        assert note.lower().rstrip(".") in said
    for law, one in compared.runs.items():
        for remark in remarks_of(one.summary()):
            if remark["broken"]:
                assert remark["says"] in page.locator(".end-card").inner_text(), law


@pytest.mark.parametrize("template", ["two-hills", "paper-30", "line-8", "moving-hill"])
def test_the_design_panel_says_what_the_shell_says(page: Any, template: str) -> None:
    if template != "two-hills":
        choose(page, template)
    page.get_by_role("tab", name="Design").click()
    page.wait_for_function(
        "() => document.querySelector('.verdict')?.textContent.includes('Verdict')"
    )
    found = design(scenario_of(page), progress=False).as_json()
    words = page.locator(".design").inner_text()
    assert f"Verdict: {found['verdict']}." in page.locator(".verdict").inner_text()
    said = [*found["reasons"], *found["notes"], found["in_practice"] or ""]
    said += [one["says"] for key in ("advice", "advice_measured") for one in found[key]]
    flat = " ".join(words.split())
    assert all(" ".join(one.split()) in flat for one in said)
    limit = found["max_dwell_time"]
    least = min(limit) if isinstance(limit, list) else limit
    if not found.get("not_applicable", {}).get("theorem"):
        assert f"{least:.6g}" in words
    eta = page.get_by_label("η̃max, assumed limit of the hold error, as a number").input_value()
    assert float(eta) == pytest.approx(found["eta_max"], rel=1e-5)


def test_advice_that_is_followed_changes_the_verdict_as_the_shell_has_it(page: Any) -> None:
    page.get_by_role("tab", name="Design").click()
    ready = "() => document.querySelector('.verdict')?.textContent.includes('Verdict')"
    page.wait_for_function(ready)
    advice = design(scenario_of(page), progress=False).advice
    t2 = next(one.value for one in advice if one.key == "t2" and one.value is not None)
    least = float(min(t2)) if hasattr(t2, "__len__") else float(t2)
    assert change(
        page, f"{{...s, controller: {{...s.controller, t1: {0.5 * least!r}, t2: {least!r}}}}}"
    )
    page.wait_for_function(f"() => {APP}.scenario.controller.t2 === {least!r}")
    found = design(scenario_of(page), progress=False)
    page.wait_for_function(
        "words => document.querySelector('.verdict').textContent.includes(words)",
        arg=f"Verdict: {found.verdict}.",
    )


def test_an_opened_map_gives_the_same_and_keeps_its_place(
    page: Any, server: Server, tmp_path: Path
) -> None:
    ring = [[24.0, 60.0], [24.05, 60.0], [24.05, 60.02], [24.0, 60.02], [24.0, 60.0]]
    east = [[24.05, 60.0], [24.1, 60.0], [24.1, 60.02], [24.05, 60.02], [24.05, 60.0]]
    polygons = [{"type": "Polygon", "coordinates": [one]} for one in (ring, east)]
    features = [{"type": "Feature", "properties": {}, "geometry": one} for one in polygons]
    file = tmp_path / "two bays.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    page.locator("#scenario-file").set_input_files(file)
    page.wait_for_function(f"() => {APP}.scenario.name === 'two bays'")
    said = page.locator(".said").inner_text()
    assert "two bays.geojson is the workspace: 1 part, 0 holes" in said
    assert "Dissolved 2 features of two bays.geojson" in said
    assert "1 m/s" in said
    checked = scenario_of(page)
    assert checked.site is not None
    assert checked.controller.k1 == 1.0
    assert 600.0 < checked.run.horizon < 1e6
    run(page)
    pause(page, 1e9)
    summary = run_scenario(checked, progress=False).summary()
    expect_figures(page, summary)
    assert summary["units"] == {"length": "m", "time": "s"}
    page.evaluate("dwellPage.store.set({ panel: 'compare' })")
    page.evaluate("void dwellPage.session.compare(['timer', 'lloyd'])")
    page.wait_for_function(f"() => {APP}.lanes.length === 2")
    dt = page.evaluate(f"{APP}.lanes[1].scenarioFor({APP}.scenario).controller.dt")
    assert dt == scenarios_of_laws(checked, ["timer", "lloyd"])["lloyd"].controller.dt
