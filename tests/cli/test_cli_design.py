"""`dwell design`: what it prints, draws, refuses and exits with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dwell as package
from tests.cli.shell import dwell

PROMISED = {
    "max_dwell_time", "max_gain", "sync_global", "async_local", "feasible", "margins",
    "assumed_lipschitz", "measured_lipschitz", "advice",
}  # fmt: skip


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "paper-12.toml"
    assert dwell("init", "paper-12", "--out", path).code == 0
    return path


def test_the_paper_for_programs(paper: Path) -> None:
    outcome = dwell("design", paper, "--json", "--samples", 5)

    assert (outcome.code, outcome.err) == (0, "")
    value = outcome.json
    assert set(value) >= PROMISED
    assert value["max_dwell_time"] == pytest.approx(0.0327502, abs=5e-8)
    assert value["max_gain"] == pytest.approx(0.112233, abs=5e-7)
    assert value["feasible"] is False
    assert value["admissible_k1"] is None
    assert value["max_lipschitz"] is None
    assert 1.0 / value["margins"]["dwell_time"] == pytest.approx(19.8, abs=0.05)
    assert value["async_local"]["met"] is True
    assert value["async_local"]["limit"] == pytest.approx(1.0, rel=1e-7)
    assert value["sync_global"]["limit"] == pytest.approx(2.0, rel=1e-7)
    assert value["sync_global"]["applies"] is False
    assert value["verdict"] == "certificate void"
    assert value["assumed_lipschitz"] == 5.0
    measured = value["measured_lipschitz"]
    assert set(measured) == {"start", "run", "end", "sampled", "bound", "missing"}
    assert measured["sampled"]["configurations"] == 5
    assert measured["run"]["value"] > measured["start"]["value"] > 5.0 > measured["end"]["value"]
    assert {advice["key"]: advice["possible"] for advice in value["advice"]} == {
        "k1": False, "t2": True, "nu": True, "eta_max": False,
    }  # fmt: skip


def test_it_is_what_python_says(scenario: Path) -> None:
    value = dwell("design", scenario, "--json", "--samples", 4, "--separation", 0.5).json
    found = package.design(package.load_scenario(scenario), samples=4, separation=0.5)

    assert value == found.as_json()


def test_for_people(scenario: Path) -> None:
    outcome = dwell("design", scenario, "--samples", 3, "--agree", "gossip")

    assert (outcome.code, outcome.err) == (0, "")
    for words in (
        "timer, 4 agents: k1 = 1, nu = 0.5, T1 = 0.1, T2 = 0.2",
        "assumed: eta_max = 0.9, L = 5",
        "sync_global", "async_local", "no overshoot", "neighbours", "derivatives",
        "rigorous bound", "at random places", "certificate void", "T2 at most 0.0409",
        "by gossip on k1",
    ):  # fmt: skip
        assert words in outcome.out
    said = " ".join(outcome.out.split())
    assert said.startswith("verdict The paper's conditions are not met (certificate void).")
    assert "promises nothing about any run" in said
    assert "sync_global is not applicable: the timers are not shared" in said
    order = ("in practice", "async_local (local) is met", "advice T2 at most", "for the paper To")
    places = [said.index(words) for words in (*order, "timer, 4 agents", "condition T2 at most")]
    assert places == sorted(places)
    assert "hold errors stay within" not in said
    assert "hold errors stay within" in dwell("design", scenario, "--samples", 0, "--verbose").out


def test_a_certificate_can_be_given_on_the_way(scenario: Path) -> None:
    text = scenario.read_text()
    scenario.write_text(text.replace("[certificate]\neta_max = 0.9\nlipschitz = 5.0\n", ""))
    bare = dwell("design", scenario, "--samples", 0)
    assert "note" in bare.out
    assert "no certificate" in bare.out
    sets = ("--set", "certificate.eta_max=0.4", "--set", "certificate.lipschitz=2")
    value = dwell("design", scenario, "--samples", 0, "--json", *sets).json
    assert (value["eta_max"], value["assumed_lipschitz"]) == (0.4, 2.0)
    one = dwell("design", scenario, "--set", "certificate.eta_max=0.4").sentences
    assert "certificate.lipschitz" in one[0]


@pytest.mark.parametrize("kind", ["svg", pytest.param("pdf", marks=pytest.mark.exhaustive)])
def test_the_figure(scenario: Path, kind: str) -> None:
    pytest.importorskip("matplotlib")
    out = scenario.parent / "figures" / f"trade.off.{kind}"
    refused = dwell("design", scenario, "--samples", 0, "--out", out).sentences
    assert f"the folder {out.parent} does not exist; make it first" in refused[0]
    assert not out.parent.exists()
    out.parent.mkdir()
    outcome = dwell("design", scenario, "--samples", 0, "--out", out)

    assert (outcome.code, outcome.err) == (0, "")
    assert str(out) in outcome.out.replace("\n", "")
    first = out.read_bytes()
    assert len(first) > 5000
    assert dwell("design", scenario, "--samples", 0, "--out", out).code == 0
    assert out.read_bytes() == first


@pytest.mark.exhaustive
def test_figures_of_all_kinds_of_settings(scenario: Path) -> None:
    """Without a certificate, with agents that differ, with eta_max above k1, with an infinite L."""
    pytest.importorskip("matplotlib")
    from dataclasses import replace

    import numpy as np

    from dwell.plotting.tradeoff import tradeoff

    place = package.load_scenario(scenario)
    s = package.design(place, samples=0, run=False).setting
    for other in (
        s,
        replace(s, tied=True),
        replace(s, eta_max=3.0),
        replace(s, lipschitz=np.array([1.0, 2.0, 3.0, np.inf])),
        replace(s, k1=1e-6),
        replace(s, nu=1e5),
    ):
        figure = tradeoff(other)
        figure.canvas.draw()
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert any(label.startswith("this scenario") for label in labels)
        assert [ax.get_xlabel() for ax in figure.axes] == [r"$k_1$", r"$\nu$", r"$\nu$"]


def test_other_laws_and_other_files_are_refused(tmp_path: Path, scenario: Path) -> None:
    path = tmp_path / "lloyd.toml"
    assert dwell("init", "paper-12-lloyd", "--out", path).code == 0
    (sentence,) = dwell("design", path).sentences
    assert "the law is lloyd" in sentence
    assert 'such as controller.kind = "timer" with k1, nu, t1 and t2' in sentence
    (tmp_path / "mine.png").write_text("mine")
    refusal = dwell("design", scenario, "--out", tmp_path / "mine.png").sentences
    assert "not a plot made here" in refusal[0]
    assert "nowhere.toml" in dwell("design", tmp_path / "nowhere.toml").sentences[0]


def test_the_table_shows_the_agent_that_needs_most(scenario: Path) -> None:
    sets = {"controller.t1": 0.05, "controller.t2": [0.2, 0.4, 0.12, 0.3],
            "certificate.lipschitz": [5.0, 1.0, 2.0, 8.0]}  # fmt: skip
    words = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    out = dwell("design", scenario, "--samples", 2, "--verbose", *words).out
    found = package.design(package.load_scenario(scenario, words[1::2]), samples=2)
    s = found.setting
    assert found.neighbor_limits is not None
    assert found.rate_limits is not None
    for name, limits in (
        ("paper", s.max_dwell_times),
        ("neighbours", found.neighbor_limits),
        ("derivatives", found.rate_limits),
    ):
        row = re.search(rf"^ *{name} +(\S+) to (\S+) +(\S+) ", out, re.MULTILINE)
        assert row is not None, name
        assert row[1] == f"{limits.min():.6g}"
        assert row[2] == f"{limits.max():.6g}"
        assert row[3] == f"{min(limits / s.t2):.3g}"
        assert min(limits / s.t2) < 0.5 * max(limits / s.t2)
    assert f"would have to be at most {min(s.max_gains):.6g} and above" in out
    assert f"at most {min(s.max_lipschitz):.6g} will do for this T2" in out
    assert s.max_gains_in_theta is not None
    assert f"at most {min(s.max_gains_in_theta):.6g} if eta_max" in out
