"""Laws side by side: maps that fill their frames, the table, the samples, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.person import APP, change, choose, frames, pause, run, time_of, until_done

LANES = f"{APP}.lanes"
SHARE = """() => dwellPage.maps.map(map => {
    const { view, region, size } = map.shown().scene;
    const of = i => region.ring.map(z => z[i]);
    const wide = view.sx * (Math.max(...of(0)) - Math.min(...of(0)));
    const high = view.sy * (Math.max(...of(1)) - Math.min(...of(1)));
    return wide * high / (size.width * size.height);
})"""


def side_by_side(page: Any, *laws: str) -> None:
    """Put laws side by side, wait for them, and go to the end."""
    page.evaluate("laws => void dwellPage.session.compare(laws)", list(laws))
    page.wait_for_function(
        f"kinds => {LANES}.map(one => one.kind).join() === kinds", arg=",".join(laws)
    )
    until_done(page)
    pause(page, 1e9)


def short(page: Any) -> None:
    """Make runs short."""
    assert change(page, "{...s, run: {...s.run, horizon: 6}}")


def test_maps_fill_their_frames_in_one_row(page: Any) -> None:
    short(page)
    side_by_side(page, "timer", "lloyd", "self-triggered")
    for width, height in ((1024, 768), (1440, 900), (2560, 1440)):
        page.set_viewport_size({"width": width, "height": height})
        frames(page)
        frames(page)
        boxes = [one.bounding_box() for one in page.locator(".map").all()]
        assert len({box["y"] for box in boxes}) == 1
        assert boxes[-1]["x"] + boxes[-1]["width"] <= width
        assert min(page.evaluate(SHARE)) > 0.45
    page.set_viewport_size({"width": 390, "height": 844})
    frames(page)
    boxes = [one.bounding_box() for one in page.locator(".map").all()]
    assert min(box["width"] for box in boxes) > 330
    assert boxes[1]["x"] < 390 < boxes[2]["x"]  # the next one is seen, the last is swiped to
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = [one.bounding_box()["y"] for one in page.locator(".race-table tr").all()]
    assert tops == [round(y) for y in tops]  # otherwise the browser rounds words now up, now down


def test_the_table_has_the_numbers_of_the_runs(page: Any) -> None:
    short(page)
    side_by_side(page, "timer", "lloyd", "event-triggered")
    rows = [
        row.locator("td").all_inner_texts() for row in page.locator(".race-table tbody tr").all()
    ]
    summaries = page.evaluate(f"{LANES}.map(one => one.summary)")
    for cells, about in zip(rows, summaries, strict=True):
        numbers = [cell.replace("best", "").strip() for cell in cells]
        n = about["agents"]
        wanted = [
            about["cells"]["voronoi"] / n,
            sum(about["cells"][k] for k in ("voronoi", "guaranteed", "dual_guaranteed")) / n,
            about["messages"] / n, about["broadcasts"] / n,
            about["distance"]["mean"], about["cost"]["final"], about["top_speed"],
        ]  # fmt: skip
        assert [float(one) for one in numbers[1:]] == pytest.approx(wanted, rel=1e-3)
    assert summaries[1]["top_speed"] == pytest.approx(summaries[0]["top_speed"], rel=0.1)
    assert not any("best" in row[1] for row in rows)  # samples are a part of the cells alone
    assert sum("best" in row[2] for row in rows) == 1
    assert "best" not in "".join(row[-1] for row in rows)


def test_unlike_speeds_are_said(page: Any) -> None:
    choose(page, "paper-12-lloyd")
    assert change(page, "{...s, run: {...s.run, horizon: 3}}")
    side_by_side(page, "lloyd", "timer")
    said = page.locator(".race-notes").inner_text()
    assert "The scenario's law (Lloyd) sets no largest speed" in said
    assert "largest speeds that occurred differ: Lloyd" in said
    speeds = page.evaluate(f"{LANES}.map(one => one.summary.top_speed)")
    shown = page.locator(".map .counters dd").all_inner_texts()[2::3]
    assert [float(one) for one in shown] == pytest.approx(speeds, rel=0.01)


def test_the_second_map_is_named_by_its_law(page: Any) -> None:
    short(page)
    side_by_side(page, "timer", "lloyd")
    second = page.locator(".map-canvas").nth(1)
    assert "under the lloyd law" in second.get_attribute("aria-label")
    side_by_side(page, "timer", "self-triggered")
    assert "under the self-triggered law" in second.get_attribute("aria-label")


def test_a_click_among_the_samples_goes_there(page: Any) -> None:
    short(page)
    run(page)
    pause(page, 0)
    picture = page.locator(".raster-canvas")
    picture.scroll_into_view_if_needed()
    for _ in range(3):
        page.get_by_label("Zoom in on time").click()
    frames(page)
    events = f"{LANES}[0].timeline.pieces[0].arc.events"
    times = page.evaluate(f"Array.from({events}.time).filter((_, k) => {events}.agent[k] === 3)")
    wanted = next(t for t in times if 0.1 < t < 0.7)  # three steps: an eighth of the run is seen
    box = picture.bounding_box()
    wide, high = box["width"] - 54, box["height"] - 26
    page.mouse.click(box["x"] + 34 + 2 + wanted / 0.75 * wide, box["y"] + 4 + 3.5 / 8 * high)
    frames(page)
    assert time_of(page) == wanted
    assert page.evaluate(f"{APP}.selected") == 3
    assert "samples by 8 agents" in picture.get_attribute("aria-label")
    page.evaluate("""() => {
        dwellPage.seeks = 0;
        const { session } = dwellPage, seek = session.seek;
        session.seek = t => { dwellPage.seeks++; seek.call(session, t); };
        dwellPage.store.set({ theme: "dark" });
    }""")
    frames(page)
    picture.click()
    assert page.evaluate("dwellPage.seeks") == 1  # the raster of the old theme listens no more


def test_the_end_is_said_and_saved_as_a_picture(page: Any) -> None:
    short(page)
    side_by_side(page, "timer", "lloyd")
    card = page.locator(".end-card")
    said = card.inner_text()
    assert "Timer: cost" in said
    assert "Lloyd (dt = 0.01): cost" in said
    pause(page, 2)
    assert not card.count()
    pause(page, 1e9)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as picture").click()
    assert saved.value.suggested_filename.endswith("-comparison.png")
    content = saved.value.path().read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(content[16:20], "big") == 2400
    assert len(content) > 50_000
