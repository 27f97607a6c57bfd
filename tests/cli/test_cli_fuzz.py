"""Beyond the catalogue: random changes to a scenario, and inputs that once broke something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dwell as package
from dwell.scenario.load import _toml
from tests.catalogue.kit import small
from tests.cli.shell import Outcome, dwell

SMALL = small() | {
    "density": {"kind": "gaussian", "center": [1, 1], "rate": 0.5},
    "run": {"horizon": 0.5, "seed": 1, "max_jumps": 2000, "record": {"sample_every": 0.25}},
}
KEYS = [
    "workspace.lower[0]", "workspace.upper", "workspace.upper[1]", "workspace.kind", "workspace",
    "density.center[0]", "density.center", "density.rate", "density.weight", "density.kind",
    "density.covariance", "density", "agents.start", "agents.start[0]", "agents.start[0][1]",
    "agents.ids", "controller.k1", "controller.nu", "controller.epsilon", "controller.t1",
    "controller.t2", "controller.reset", "controller.period", "controller.intervals",
    "controller.loss", "controller.initial_hold", "controller.initial_timer", "run.horizon",
    "run.seed", "run.max_jumps", "run.integration", "run.record.sample_every", "certificate",
    "name", "bogus", "run", "schema_version",
]  # fmt: skip
SCALARS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -0.0, 5e-324, 1e-70, 1e70, 1e308, 0.1, 0.2, 0.15, 1.0, 4.0, 3.5]),
    st.integers(-3, 12),
    st.integers(0, 2**70),
    st.booleans(),
    st.text(max_size=8),
    st.sampled_from(["uniform", "gaussian", "mixture", "polygon", "box", "latest", "dropout"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["kind", "level", "count", "spacing"]), inner, max_size=2),
    ),
    max_leaves=6,
)


def oneoutcome(outcome: Outcome, folder: Path) -> Outcome:
    """Refused with sentences and nothing kept, or run with figures and a file that is right."""
    kept = folder / "run.nc"
    if outcome.code == 2:
        assert outcome.sentences
        assert not kept.exists()
    else:
        assert outcome.code in (0, 1)
        assert outcome.err == ""
        figures = outcome.json
        assert (outcome.code == 0) is figures["stop"]["ok"]
        assert package.load_run(kept).stop.reason.value == figures["stop"]["reason"]
        assert outcome.code == 1 or dwell("check", kept).code == 0
        kept.unlink()
    assert not [path for path in folder.iterdir() if path.suffix == ".part"]
    return outcome


def run(folder: Path, *words: str) -> Outcome:
    path = folder / "s.json"
    path.write_text(json.dumps(SMALL))
    outcome = dwell("run", path, "--json", "--out", folder / "run.nc", *words)
    return oneoutcome(outcome, folder)


@pytest.mark.exhaustive
@settings(max_examples=250)
@given(changes=st.lists(st.tuples(st.sampled_from(KEYS), VALUES), min_size=1, max_size=3))
def test_random_overrides(tmp_path_factory: pytest.TempPathFactory, changes) -> None:
    words = [word for key, value in changes for word in ("--set", f"{key}={_toml(value)}")]
    run(tmp_path_factory.mktemp("fuzz"), *words)


@settings(max_examples=60)
@given(word=st.text(max_size=30))
def test_random_words(tmp_path_factory: pytest.TempPathFactory, word: str) -> None:
    run(tmp_path_factory.mktemp("words"), f"--set={word}")


@pytest.mark.exhaustive
@settings(max_examples=80)
@given(text=st.text(max_size=60))
def test_random_files(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("files")
    for name in ("s.toml", "s.json", "s"):
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        assert dwell("validate", folder / name).sentences


WORKS = {
    "synchronous": ["controller.t1=0.2", "controller.reset='periodic'"],
    "overshoot": ["controller.k1=40.0", "run.horizon=6.0"],
    "far-overshoot": ["controller.k1=1e6", "run.horizon=6.0"],
    "hills-far-apart": [
        "density={kind='mixture',parts=[{kind='gaussian',center=[-1e4,0],rate=0.3},"
        "{kind='gaussian',center=[1e4,0],rate=0.2},{kind='gaussian',center=[2,9],rate=3.0}]}"
    ],
    "peak-outside": ["density.center=[10000,10000]"],
    "grid": ["run.integration={kind='grid',spacing=0.25}"],
    "grid-of-one-point": ["run.integration={kind='grid',spacing=4.0}"],
    "dropout": ["controller.reset='dropout'", "controller.loss=0.9", "controller.t1=0.01"],
    "sequence": ["controller.reset='sequence'", "controller.intervals=[0.1,0.2,0.15]"],
    "unicode": ['name="Überwachung – 覆盖 🛰"'],
    "long-horizon": ["run.horizon=1e9", "run.record.sample_every='off'"],
    "on-the-boundary": ["agents.start=[[0,0],[4,4],[4,0],[0,2],[2,0]]"],
    "one-corner": ["agents.start=[[0,0],[1e-9,0],[0,1e-9],[1e-9,1e-9]]"],
}


@pytest.mark.parametrize("changes", WORKS.values(), ids=WORKS)
def test_works(tmp_path: Path, changes: list[str]) -> None:
    outcome = run(tmp_path, *(word for change in changes for word in ("--set", change)))
    assert outcome.code == (1 if "run.horizon=1e9" in changes else 0)
