"""Films: the right frames, the same every time, in files that are whole or not there."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_rgb
from PIL import Image

import dwell
from dwell import InputError, Run, animate
from dwell.plotting import PLAIN
from dwell.plotting.film import Canvas, canvas_of, frames_of
from dwell.plotting.film_writer import MARK, durations
from tests.workers.watch import LONG

from .conftest import RUNS, run_named

SMALL = (320, 180)
QUICK = {"fps": 5, "seconds": 1.2, "size": SMALL}  # six frames


def stage_named(name: str, **options: object) -> Canvas:
    return canvas_of(frames_of(run_named(name), **{"fps": 5, "seconds": 2, **options}), SMALL, 40.0)


@cache
def kept(name: str) -> Canvas:
    return stage_named(name)


def images_of(path: Path) -> list[np.ndarray]:
    found = []
    with Image.open(path) as image:
        for k in range(image.n_frames):
            image.seek(k)
            found.append(np.asarray(image.convert("RGB")))
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", RUNS)
def test_every_run_can_be_filmed(name: str) -> None:
    canvas = kept(name)

    first, last = canvas.frame(0), canvas.frame(9)
    assert first.shape == last.shape == (180, 320, 3)
    assert first.dtype == np.uint8
    assert first.std() > 5.0
    if run_named(name).horizon > 0.0:
        assert (first != last).any()


def test_frames_do_not_depend_on_what_was_drawn_before() -> None:
    ahead, back = kept("two-hills"), stage_named("two-hills")

    there = [ahead.frame(k) for k in range(10)]
    again = [back.frame(k) for k in reversed(range(10))][::-1]
    for one, other in zip(there, again, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [0, 4, 9])
def test_agents_stand_where_the_run_says(k: int) -> None:
    run = run_named("two-hills")
    canvas = canvas_of(frames_of(run, fps=5, seconds=2), (1280, 720), 80.0)  # agents lie apart
    frame = canvas.frame(k)
    ax = canvas.figure.axes[0]
    places = ax.transData.transform(run.positions(run.horizon * k / 9))

    colour = np.round(255.0 * np.array(to_rgb(PLAIN.start)))
    for x, y in places:
        seen = frame[int(720.0 - y), int(x)]
        assert np.abs(seen - colour).max() < 60
    fields = np.abs(frame.astype(int) - colour).max(axis=2) < 60
    assert 0 < fields.sum() < 80 * len(places)


def test_cells_are_those_of_the_moment() -> None:
    run, canvas = run_named("two-hills"), kept("two-hills")
    canvas.frame(5)

    rings = [path.vertices for path in canvas.parts[0].artists[0].get_paths()]
    cells = dwell.geometry.voronoi_cells(run.workspace.polygon, run.positions(run.horizon * 5 / 9))
    for ring, cell in zip(rings, cells, strict=True):
        np.testing.assert_allclose(ring[:-1], cell.vertices)


def test_recent_samples_are_those_of_the_events() -> None:
    run = run_named("two-hills")
    frames = frames_of(run, fps=50, seconds=30.0)

    assert (frames.fresh[0] == 1.0).all()  # all agents sample at the beginning
    assert frames.flashes
    wait = run.horizon * run.agents / len(run.events)
    span = min(0.3 * run.horizon / 30.0, 0.5 * wait)
    for k in (100, 700, 1499):
        for p in range(run.agents):
            times = run.events.time[run.events.of_agent(p)]
            before = times[times <= frames.times[k]]
            ago = frames.times[k] - (before[-1] if len(before) else 0.0)
            assert frames.fresh[k, p] == pytest.approx(max(0.0, 1.0 - ago / span))


@pytest.mark.parametrize(("fps", "rings"), [(2, False), (60, True)])
def test_rings_only_where_samples_can_be_told_apart(fps: int, rings: bool) -> None:
    run = run_named("two-hills")
    frames = frames_of(run, fps=fps, seconds=10.0)
    assert frames.flashes == rings
    assert bool(frames.fresh.any()) == rings
    assert 0.0 < (frames.fresh[1:] > 0.0).mean() < 0.7 or not rings
    label = canvas_of(frames, SMALL, 40.0).figure.axes[0].get_xlabel()
    assert ("rings" in label) == rings


def test_velocities_can_be_seen_near_rest() -> None:
    frames = frames_of(run_named("two-hills"), fps=5, seconds=4)
    speed, shown = (np.hypot(*np.moveaxis(v, -1, 0)) for v in (frames.holds, frames.arrows))
    usual = np.quantile(speed[speed > 0.0], 0.9)
    moving = speed > 2e-3 * usual
    assert shown[moving].min() >= 0.2499 * shown.max()
    assert (shown[speed < 1e-4 * usual] < 1e-3 * shown.max()).all()
    fast = (speed > 0.25 * usual) & (speed < usual)
    np.testing.assert_allclose(shown[fast] / shown.max(), speed[fast] / usual, rtol=1e-9)


def test_curves_grow_up_to_now() -> None:
    run, canvas = run_named("two-hills"), kept("two-hills")
    for k in (3, 9):
        canvas.frame(k)
        line = canvas.parts[2].artists[0]
        now = run.horizon * k / 9
        assert now - run.horizon / 500 <= line.get_xdata()[-1] <= now
        assert line.get_ydata()[-1] == pytest.approx(run.cost(line.get_xdata()[-1]))


@pytest.mark.parametrize("name", ["two-hills", "paper-30", "two", "wide", "lloyd"])
@pytest.mark.parametrize("since", [0.0, 1.5])
def test_the_curves_have_two_numbers_on_their_axes(name: str, since: float) -> None:
    canvas = canvas_of(frames_of(run_named(name), fps=5, seconds=1, since=since), (960, 540), 120.0)
    for ax in canvas.figure.axes[1:]:
        low, high = ax.get_ylim()
        ticks = [*ax.yaxis.get_major_ticks(), *ax.yaxis.get_minor_ticks()]
        shown = [t.label1 for t in ticks if low <= t.get_loc() <= high and t.label1.get_text()]
        assert len(shown) >= 2
        boxes = [label.get_window_extent() for label in shown]
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.parametrize("name", ["two-hills", "paper-30"])
@pytest.mark.parametrize("size", [(960, 540), (540, 960), (1280, 720)])
def test_a_film_has_the_name_of_the_scenario(name: str, size: tuple[int, int]) -> None:
    run = run_named(name)
    figure = canvas_of(frames_of(run, fps=5, seconds=1), size, max(size) / 8.0).figure
    assert figure.get_suptitle() == run.scenario.name
    box = figure._suptitle.get_window_extent()
    others = [text for ax in figure.axes for text in ax.texts if text.get_text()]
    assert not any(box.overlaps(text.get_window_extent()) for text in others)
    assert box.y1 <= figure.bbox.y1


# Other pixels here and there, which change the palette: white must stay white.
SETTINGS = [{}, {"text.hinting": "none"}, {"path.simplify": False}, {"font.family": "monospace"}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_gif_shows_the_frames(tmp_path: Path, settings: dict[str, object]) -> None:
    with rc_context(settings):
        path = animate(run_named("two-hills"), tmp_path / "film.gif", **QUICK)
        canvas = stage_named("two-hills", fps=5, seconds=1.2)
        frames = [canvas.frame(k) for k in range(6)]

    for seen, frame in zip(images_of(path), frames, strict=True):
        off = np.abs(seen.astype(int) - frame.astype(int))
        assert off.mean() < 1.0  # 255 colours for all of it
        assert np.quantile(off, 0.999) < 60
        white = (frame == 255).all(axis=2)
        assert white.mean() > 0.3
        assert off[white].max() == 0


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_a_film_has_its_frames_and_the_same_run_gives_the_same_bytes(
    tmp_path: Path, kind: str
) -> None:
    one, other = (animate(run_named("two"), tmp_path / f"{n}.{kind}", **QUICK) for n in "ab")

    assert one.read_bytes() == other.read_bytes()
    assert MARK.encode() in one.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {f"a.{kind}", f"b.{kind}"}
    with Image.open(one) as image:
        assert (image.n_frames, image.size) == (6, SMALL)
        assert image.info["loop"] == 0
        assert kind == "webp" or image.info["duration"] == 200


def test_frames_that_do_not_change_are_short(tmp_path: Path) -> None:
    path = animate(run_named("horizon-0"), tmp_path / "still.gif", **QUICK)
    once = animate(run_named("horizon-0"), tmp_path / "one.gif", **{**QUICK, "seconds": 0.2})

    assert path.stat().st_size < once.stat().st_size + 5 * 40


def test_a_part_of_a_run(tmp_path: Path) -> None:
    frames = frames_of(run_named("two-hills"), fps=10, seconds=1.0, since=2.0, until=5.0)

    np.testing.assert_allclose(frames.times, np.linspace(2.0, 5.0, 10))
    canvas = canvas_of(frames, SMALL, 40.0)
    assert canvas.figure.axes[1].get_xlim() == (2.0, 5.0)
    assert canvas.parts[1].artists[0].get_text() == "t = 2.0"


def test_times_of_frames_are_right_on_average() -> None:
    assert sum(durations(31, 30.0)[:-1]) == 1000
    assert durations(4, 25.0) == [40, 40, 40, 1500]


def test_own_films_are_replaced_and_others_only_with_force(tmp_path: Path) -> None:
    path = animate(run_named("two"), tmp_path / "film.gif", **QUICK)
    assert animate(run_named("two"), path, **QUICK) == path
    path.write_text("my holidays")

    with pytest.raises(InputError, match="not a film made here") as caught:
        animate(run_named("two"), path, **QUICK)
    assert caught.value.code == "film.exists"
    assert path.read_text() == "my holidays"
    animate(run_named("two"), path, force=True, **QUICK)
    assert path.read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("nowhere/film.gif", {}, "does not exist"),
        ("bin", {"force": True}, "must end in"),
        ("folder.gif", {"force": True}, "is a folder"),
        ("film.mp4", {"size": (321, 180)}, "even numbers"),
        ("film.mp4", QUICK, "the disk is on fire"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: dict, says: str
) -> None:
    pretend_ffmpeg(tmp_path, monkeypatch, "echo the disk is on fire >&2; exit 1")
    (tmp_path / "folder.gif").mkdir()
    with pytest.raises(InputError, match=says) as caught:
        animate(run_named("two"), tmp_path / name, **options)
    assert caught.value.code.startswith("film.")
    assert {path.name for path in tmp_path.iterdir()} == {"bin", "folder.gif"}


class Stopped(KeyboardInterrupt):
    """Ctrl-C."""


def stop_half_way(what: str, share: float) -> None:
    if share >= 0.5:
        raise Stopped


@pytest.mark.parametrize("kind", ["gif", "webp", "mp4"])
def test_stopped_half_way_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if kind == "mp4":
        pretend_ffmpeg(tmp_path, monkeypatch, 'exec cat > "$last"')
    with pytest.raises(Stopped):
        animate(run_named("two"), out / f"film.{kind}", progress=stop_half_way, **QUICK)

    assert list(out.iterdir()) == []


# MP4: how ffmpeg is called, with a stand-in; and a real one where there is one.


def pretend_ffmpeg(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program called ffmpeg that runs a script; $last is the file to be written."""
    place = folder / "bin"
    place.mkdir()
    program = place / "ffmpeg"
    known = 'case "$*" in *-encoders*) echo libx264; exit 0;; esac'
    program.write_text(f"#!/bin/sh\n{known}\nfor last; do :; done\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")


def test_every_frame_goes_to_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_ffmpeg(tmp_path, monkeypatch, 'exec cat > "$last"')
    path = animate(run_named("two"), tmp_path / "film.mp4", **QUICK)

    frames = np.frombuffer(path.read_bytes(), dtype=np.uint8).reshape(6, 180, 320, 3)
    canvas = stage_named("two", fps=5, seconds=1.2)
    for k, frame in enumerate(frames):
        np.testing.assert_array_equal(frame, canvas.frame(k))


def test_without_ffmpeg_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"end in \.gif") as caught:
        animate(run_named("two"), tmp_path / "film.mp4")
    assert caught.value.code == "film.ffmpeg"


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg here")
def test_a_real_ffmpeg_makes_a_film(tmp_path: Path) -> None:
    path = animate(run_named("two"), tmp_path / "film.mp4", **QUICK)
    assert path.read_bytes()[4:8] == b"ftyp"
    assert MARK.encode() in path.read_bytes()
    assert animate(run_named("two"), path, **QUICK) == path  # it knows its own


# The command.


def command(*words: str) -> list[str]:
    code = "from dwell.cli import main; main()"
    return [sys.executable, "-c", code, "animate", *words]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "two.nc"
    run: Run = run_named("two")
    run.save(path)
    return path


def test_the_command_writes_a_film_and_says_where(tmp_path: Path, stored: Path) -> None:
    out = tmp_path / "film.gif"
    options = ("--fps", "5", "--seconds", "1", "--from", "1", "--to", "2", "--size", "320x180")
    done = subprocess.run(
        command(str(stored), "--out", str(out), *options), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(out), "")
    assert len(images_of(out)) == 5


@pytest.mark.exhaustive
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_killed_command_leaves_nothing(
    tmp_path: Path, stored: Path, number: int, code: int
) -> None:
    words = command(str(stored), "--out", str(tmp_path / "film.gif"), "--seconds", "300")
    process = subprocess.Popen(words, stderr=subprocess.PIPE)
    until = time.monotonic() + LONG
    while not list(tmp_path.iterdir()):  # it has begun to write under another name
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.05)
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    process.send_signal(number)
    process.communicate(timeout=LONG)

    assert process.returncode == code
    assert list(tmp_path.iterdir()) == []
