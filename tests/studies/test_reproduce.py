"""The report: whole, in one file, readable by machines; and nothing of others is replaced."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import dwell
from dwell import InputError
from dwell.studies import reproduce
from dwell.studies.paper.report import Reproduction
from dwell.studies.paper.reproduce import DRAWINGS
from dwell.studies.paper.variations import grid_jobs, start_jobs
from dwell.workers.threads import Job

pytestmark = pytest.mark.slow

HORIZON = 0.3


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The whole of it, with very short runs."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    return reproduce(tmp_path_factory.mktemp("paper") / "out", starts=2, horizon=HORIZON)


@pytest.fixture(scope="module")
def page(done: Reproduction) -> ElementTree.Element:
    text = done.report.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    return ElementTree.fromstring(text)  # also well-formed as XML: every element is closed


@pytest.mark.exhaustive
def test_everything_is_written_and_nothing_else(done: Reproduction) -> None:
    names = {
        str(path.relative_to(done.folder)) for path in done.folder.rglob("*") if path.is_file()
    }

    assert names >= {"report.html", "claims.json", "runs/n30-exact.nc", "runs/n30-grid.nc"}
    figures = {name for name in names if name.startswith("figures/")}
    assert figures == {f"figures/{name}.png" for name in DRAWINGS}
    assert len([name for name in names if name.startswith("runs/")]) == 10
    assert len(names) == 2 + 10 + len(figures)


@pytest.mark.exhaustive
def test_the_page_needs_no_other_file(page: ElementTree.Element) -> None:
    text = ElementTree.tostring(page, encoding="unicode")
    sources = [e.get("src") for e in page.iter() if e.get("src") is not None]
    links = [e.get("href") for e in page.iter() if e.get("href") is not None]

    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert len(sources) == len(DRAWINGS)
    assert not re.search(r"https?://|url\(|@import", text)
    assert not list(page.iter("script"))
    assert not list(page.iter("link"))
    ids = {e.get("id") for e in page.iter() if e.get("id")}
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)


@pytest.mark.exhaustive
def test_the_page_can_be_read_by_everyone(page: ElementTree.Element) -> None:
    assert page.get("lang") == "en"
    assert [e.text for e in page.iter("title")] == [e.text for e in page.iter("h1")]
    images = list(page.iter("img"))
    assert all(len(image.get("alt") or "") > 40 for image in images)
    assert all(int(image.get("width") or 0) > 100 for image in images)
    ids = [e.get("id") for e in page.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    style = next(page.iter("style")).text or ""
    for words in ("prefers-color-scheme: dark", "@media print", "max-width: 46rem"):
        assert words in style
    viewport = [e for e in page.iter("meta") if e.get("name") == "viewport"]
    assert len(viewport) == 1


@pytest.mark.exhaustive
def test_the_page_tells_what_matters(done: Reproduction, page: ElementTree.Element) -> None:
    text = " ".join("".join(page.itertext()).split())

    for claim in done.claims:
        assert claim.id in text
    for words in ("floor hits", "ceiling hits", "(G1)", "(G2)"):
        assert words in text
    for words in ("reconstruction", "grid of points", "rehearsal", "does not hold", "Quartile"):
        assert words.lower() in text.lower()
    assert "nan" not in re.findall(r"\b\w+\b", text.lower())
    assert "None" not in re.findall(r"\b\w+\b", text)


@pytest.mark.exhaustive
def test_json_is_kept_and_has_the_promised_keys(done: Reproduction) -> None:
    value = json.loads((done.folder / "claims.json").read_text(encoding="utf-8"))

    assert value == json.loads(json.dumps(done.as_json(), allow_nan=False))
    assert value["schema"] == 1
    assert value["wall_seconds"] > 0.0
    for claim in value["claims"]:
        assert set(claim) >= {"id", "says", "paper", "exact", "grid", "holds", "note"}
        assert isinstance(claim["holds"], bool)
    assert set(value["guarantees"]) == {"default", "paper-like"}
    for watched in value["guarantees"].values():
        for figures in watched.values():
            assert set(figures) == {"floor_hits", "ceiling_hits", "intervals", "drift", "room"}
    assert set(value["comparison"]["exact"]["laws"]) == {"lloyd", "self-triggered", "timer"}
    assert value["starts"]["spread"] == 2
    assert value["starts"]["clustered"] == 1
    assert {row["spacing"] for row in value["grids"]} == {0.2, 0.25, 0.3, 0.32, 0.35, 0.4, 0.5}


@pytest.mark.exhaustive
def test_kept_runs_can_be_checked(done: Reproduction) -> None:
    for name in ("n30-grid", "lloyd-exact", "self-triggered-exact"):
        run = dwell.load_run(done.folder / "runs" / f"{name}.nc")
        assert run.horizon == HORIZON
        assert dwell.check(run).ok


@pytest.mark.exhaustive
def test_our_own_files_are_replaced(done: Reproduction) -> None:
    before = done.report.read_text(encoding="utf-8")
    again = reproduce(done.folder, starts=0, horizon=HORIZON, other_grids=False, workers=1)

    after = again.report.read_text(encoding="utf-8")
    assert after != before
    assert "Many random starts" not in after
    assert "Other grids" not in after
    ElementTree.fromstring(after)
    first = {claim.id: claim.exact for claim in done.claims}
    assert {claim.id: claim.exact for claim in again.claims} == first


@pytest.mark.parametrize(
    "name", ["report.html", "claims.json", "runs/timer-grid.nc", "figures/n30-cost.png"]
)
def test_files_of_others_are_refused_before_anything_runs(tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    target.parent.mkdir(exist_ok=True)
    target.write_text("mine")

    with pytest.raises(InputError, match="made here"):
        reproduce(tmp_path, starts=0, horizon=HORIZON)
    assert target.read_text() == "mine"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [target]


def test_without_jinja_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(sys.modules, "jinja2", None)

    with pytest.raises(InputError, match=r"jinja2, .* pip install matplotlib jinja2"):
        reproduce(tmp_path / "out", starts=0, horizon=HORIZON)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder"):
        reproduce(tmp_path / "file" / "out", starts=0, horizon=HORIZON)
    with pytest.raises(InputError, match="0 or more"):
        reproduce(tmp_path / "out", starts=-1)


@pytest.mark.exhaustive
def test_an_interrupt_leaves_what_is_finished(tmp_path: Path) -> None:
    def impatient(what: str, share: float) -> None:
        if share > 0.25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, starts=0, horizon=HORIZON, workers=1, progress=impatient)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert 0 < len(kept) < 10
    for path in kept:
        assert dwell.load_run(path).provenance["intact"] == "true"


@pytest.mark.parametrize("part", ["starts", "spacings"])
def test_half_a_run_is_not_counted(part: str) -> None:
    jobs: dict[str, Job[object]] = {**(start_jobs(1) if part == "starts" else grid_jobs())}

    def impatient(what: str, share: float) -> None:
        if share > 0.001:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(iter(jobs.values()))(impatient)
