"""Runs as HTML files: what they hold and allow, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import h5py
import pytest

import dwell
from dwell.exports.html import DATA, MOST_RUNS, player_file
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from tests.cli.shell import dwell as shell

HOSTILE = '<img src=x onerror="window.bad = 1"></title></script><script>window.bad = 1</script>'


def renamed(run: dwell.Run, name: str) -> dwell.Run:
    """A short run whose scenario has another name."""
    assert run.scenario is not None
    table = run.scenario.model_dump(mode="json", exclude_none=True)
    return dwell.run_scenario(parse_scenario({**table, "name": name}))


def policy_of(text: str) -> dict[str, str]:
    """The policy of an HTML file by directive."""
    found = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert found is not None
    return dict(part.split(" ", 1) for part in found[1].split("; "))


def test_a_policy_admits_the_player_alone(two_hills: dwell.Run, tmp_path: Path) -> None:
    text = dwell.export_html(two_hills, tmp_path / "a.html").read_text(encoding="utf-8")
    policy = policy_of(text)
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in " ".join(policy.values())
    assert "http" not in " ".join(policy.values())
    for kind, directive in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(rf'<{kind}(?: type="module")?>(.*?)</{kind}>', text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert policy[directive] == f"'sha256-{digest}'"


def test_names_of_a_scenario_are_no_code(two_hills: dwell.Run, tmp_path: Path) -> None:
    plain = dwell.export_html(two_hills, tmp_path / "a.html").read_text(encoding="utf-8")
    text = dwell.export_html(renamed(two_hills, HOSTILE), tmp_path / "b.html").read_text("utf-8")
    assert "<img" not in text
    assert text.count("<script") == plain.count("<script")
    assert text.count("</title>") == 1
    record = re.search(rf'<script type="{DATA}">([^<]*)</script>', text)
    assert record is not None
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", record[1])


@pytest.mark.parametrize("count", [0, MOST_RUNS + 1])
def test_no_run_and_too_many_are_refused(two_hills: dwell.Run, tmp_path: Path, count: int) -> None:
    with pytest.raises(dwell.errors.InputError, match=f"1 to 6 runs .* got {count}"):
        dwell.export_html([two_hills] * count, tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_as_many_runs_as_admitted_are_written(two_hills: dwell.Run, tmp_path: Path) -> None:
    text = dwell.export_html([two_hills] * MOST_RUNS, tmp_path / "a.html").read_text("utf-8")
    assert text.count(f'<script type="{DATA}">') == MOST_RUNS


def test_nothing_in_the_player_ends_its_element() -> None:
    for name in ("player.js", "player.css", "licences.txt"):
        assert "</s" not in player_file(name).replace("</svg", "").replace("</span", "")
    assert "url(/" not in player_file("player.css"), "a sheet with an address needs a server"


def test_what_cannot_be_exported_is_refused_and_nothing_is_written(
    two_hills: dwell.Run, tmp_path: Path
) -> None:
    good, target = tmp_path / "good.nc", tmp_path / "a.html"
    two_hills.save(good)
    cut, text, other = (tmp_path / f"{name}.nc" for name in ("cut", "text", "other"))
    cut.write_bytes(good.read_bytes()[:20_000])
    text.write_text("no run")
    other.write_bytes(good.read_bytes())
    with h5py.File(other, "r+") as file:
        file.attrs["dwell_format"] = 99
    for path in (cut, text, other, tmp_path / "missing.nc"):
        done = shell("export", good, path, "--html", target)
        assert done.code == 2
        assert len(done.err.strip().splitlines()) == 1
        assert path.name in done.err
        assert not list(tmp_path.glob("*html*"))
    target.write_text("mine")
    done = shell("export", good, "--html", target)
    assert (done.code, target.read_text()) == (2, "mine")
    assert "exists already" in done.err
    assert shell("export", good, "--html", target, "--force").code == 0
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("count", [0, 7])
def test_one_to_six_runs(two_hills: dwell.Run, tmp_path: Path, count: int) -> None:
    with pytest.raises(dwell.InputError, match="1 to 6 runs"):
        dwell.export_html([two_hills] * count, tmp_path / "a.html")


@pytest.mark.parametrize("given", [(), ("--html", "a.html", "--mcap", "a.mcap")])
def test_one_format_at_a_time(given: tuple[str, ...]) -> None:
    done = shell("export", "run.nc", *given)
    assert done.code == 2
    assert "one of --html FILE, --gis FILE and --mcap FILE is needed" in done.err


@pytest.mark.slow
def test_the_file_of_225_000_events_is_small(tmp_path: Path) -> None:
    run = dwell.run_scenario(parse_scenario(text_to_mapping(template_text("paper-30"))))
    assert len(run.events) > 225_000
    assert dwell.export_html(run, tmp_path / "a.html").stat().st_size <= 6_000_000
