"""Figures as files: valid, whole, repeatable; and clear words when they cannot be made."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import matplotlib
import matplotlib.image
import pytest

from dwell.errors import InputError, UnsavedError
from dwell.plotting import FIGURES, FORMATS, save_figures
from dwell.plotting.figures import entitled, figures_of

from .conftest import run_named


def test_all_figures_are_written_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    paths = save_figures(run_named("two"), out)

    assert paths == [out / f"{name}.png" for name in FIGURES]
    assert sorted(out.iterdir()) == sorted(paths)
    for path in paths:
        height, width, _ = matplotlib.image.imread(path).shape
        assert width == (1400 if path.stem == "configurations" else 700)
        assert height > 100


def test_hold_errors_are_those_of_the_timer_law(tmp_path: Path) -> None:
    assert figures_of(run_named("lloyd")) == [name for name in FIGURES if name != "hold_errors"]
    (asked,) = save_figures(run_named("lloyd"), tmp_path, names=["hold_errors"])
    assert asked.stem == "hold_errors"


def test_the_scenario_is_named(tmp_path: Path) -> None:
    run = run_named("two-hills")
    assert run.scenario is not None
    for name in FIGURES:
        assert entitled(FIGURES[name](run), run).get_suptitle().startswith(str(run.scenario.name))
    odd = run.scenario.model_copy(update={"name": "5 $ and 6 $" + "x" * 99})
    (path,) = save_figures(
        replace(run, details=replace(run.details, scenario=odd)), tmp_path, ["svg"], ["cost"]
    )
    assert path.stat().st_size > 0


def test_every_format_is_valid_and_the_same_every_time(tmp_path: Path) -> None:
    first, second = (
        save_figures(run_named("two-hills"), tmp_path / name, FORMATS, ["configurations", "timers"])
        for name in "ab"
    )

    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    png, pdf, svg = first[:3]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf.read_bytes().rstrip().endswith(b"%%EOF")
    root = ElementTree.parse(svg).getroot()
    assert root.tag.endswith("svg")
    assert root.get("width") == "504pt"


@pytest.mark.exhaustive
def test_vector_files_of_large_runs_stay_small(tmp_path: Path) -> None:
    names = ["errors", "hold_errors", "timers", "cost"]
    for path in save_figures(run_named("500"), tmp_path, ["svg", "pdf"], names):
        assert path.stat().st_size < 300_000


def test_own_figures_are_replaced_and_others_only_with_force(tmp_path: Path) -> None:
    run = run_named("two")
    for kind in FORMATS:
        (path,) = save_figures(run, tmp_path, [kind], ["cost"])
        assert save_figures(run, tmp_path, [kind], ["cost"]) == [path]
    path.write_text("my own drawing")

    with pytest.raises(InputError, match="not a plot made here"):
        save_figures(run, tmp_path, ["svg"], ["errors", "cost"])
    assert path.read_text() == "my own drawing"
    assert not (tmp_path / "errors.svg").exists()
    save_figures(run, tmp_path, ["svg"], ["cost"], force=True)
    assert path.read_text().startswith("<?xml")


def test_settings_and_windows_are_left_alone(tmp_path: Path) -> None:
    before, windows = dict(matplotlib.rcParams), "matplotlib.pyplot" in sys.modules
    save_figures(run_named("two"), tmp_path, FORMATS, ["errors"])

    assert dict(matplotlib.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == windows


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "taken"
    place.write_text("")

    with pytest.raises(InputError, match="folder") as caught:
        save_figures(run_named("two"), place)
    assert caught.value.code == "plot.folder"


def test_a_failed_write_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(UnsavedError, match="No space left"):
        save_figures(run_named("two"), tmp_path, names=["cost"])
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    run = run_named("two")

    with pytest.raises(InputError, match="pip install matplotlib jinja2"):
        save_figures(run, tmp_path / "out")
    with pytest.raises(InputError, match="pip install matplotlib jinja2"):
        FIGURES["cost"](run)
    assert not (tmp_path / "out").exists()


def test_loading_the_room_does_not_load_matplotlib() -> None:
    code = "import sys, dwell.plotting; sys.exit('matplotlib' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
