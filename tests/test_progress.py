"""Progress on the error stream: nothing for two seconds, then little, and never on the output."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest

import dwell
from dwell import progress
from dwell.errors import DwellWarning, InputError
from dwell.progress import reported
from tests.cli.shell import dwell as command

TWO_HILLS = dwell.scenario.template_text("two-hills")
SWEEP = """
scenario = "two-hills.toml"
repeats = 1
[grid]
"run.horizon" = [0.5, 1.0]
"""


class Moved:
    """A clock that the test moves on."""

    def __init__(self) -> None:
        self.time, self.until, self.over = 0.0, -1.0, False
        self.changed = threading.Condition()

    def now(self) -> float:
        return self.time

    def wait(self, pause: float) -> bool:
        with self.changed:
            self.until = self.time + pause
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.over or self.time >= self.until)
            return self.over

    def stop(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def advance(self, seconds: float) -> None:
        """Let time pass, and all that is due by then be shown."""
        with self.changed:
            self.changed.wait_for(lambda: self.until > self.time)
            self.time += seconds
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.until > self.time)


class Slow(Moved):
    """A clock on which every computation takes two seconds, and a moment more."""

    def wait(self, pause: float) -> bool:
        if self.time == 0.0:
            self.time = pause
            return False
        return super().wait(pause)


@pytest.fixture
def shown(monkeypatch):
    """Progress as users have it."""
    monkeypatch.delenv("DWELL_PROGRESS")


@pytest.fixture
def clock(monkeypatch, shown):
    moved = Moved()
    monkeypatch.setattr(progress, "ProgressClock", lambda: moved)
    return moved


@pytest.fixture
def slow(monkeypatch, shown):
    monkeypatch.setattr(progress, "ProgressClock", Slow)


def test_lines_come_after_two_seconds_and_seldom(clock, capsys):
    def lines():
        return capsys.readouterr().err.splitlines()

    with reported() as tell:
        tell("preparing", 0.0)
        clock.advance(1.9)
        assert lines() == []
        tell("expecting about 200 events", 0.0)
        tell("simulating, 100 events/s", 0.1)
        clock.advance(0.2)
        assert lines() == [
            "dwell: expecting about 200 events",
            "dwell: simulating, 100 events/s: 10% after 2 s, about 19 s left",
        ]
        for k in range(9):
            tell("simulating", 0.1 * max(k, 1))
            clock.advance(1.0)
        assert lines() == []
        clock.advance(1.0)
        assert lines() == ["dwell: simulating: 80% after 12 s, about 3 s left"]
        tell("measuring", 0.0)  # of which no share is known
        clock.advance(10.0)
        assert lines() == ["dwell: measuring: 22 s so far"]
        count = 0
        for _ in range(36 * 6):  # six hours, in steps of 100 s
            clock.advance(100.0)
            count += len(lines())
        assert 30 < count < 60
    assert lines() == []


def test_compiling_is_shown_while_it_lasts(clock, capsys, monkeypatch):
    monkeypatch.setattr("dwell.progress.is_compiling", lambda: clock.time < 5.0)
    with reported() as tell:
        tell("preparing", 0.0)
        clock.advance(2.0)
        clock.advance(10.0)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "dwell: compiling (once; kept for later runs): 2 s so far"
    assert second == "dwell: preparing: 12 s so far"


def test_the_time_left_does_not_count_compiling(clock, capsys, monkeypatch):
    monkeypatch.setattr("dwell.progress.is_compiling", lambda: clock.time < 50.0)
    with reported() as tell:
        for _ in range(25):
            clock.advance(2.0)
        tell("simulating", 0.5)
        clock.advance(10.0)
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("dwell: simulating: 50% after 60 s, about ")
    assert int(line.split()[-3]) <= 20


def test_the_time_left_does_not_count_what_comes_before_the_work(clock, capsys):
    with reported() as tell:
        for _ in range(15):  # processes start
            tell("starting", 0.0)
            clock.advance(1.0)
        tell("t = 0 s", 1e-9)
        clock.advance(10.0)
        tell("t = 10 s", 0.25)
        clock.advance(10.0)
    line = capsys.readouterr().err.splitlines()[-1]
    assert line == "dwell: t = 10 s: 25% after 35 s, about 63 s left"


def test_times_are_told_in_units_that_fit():
    assert [progress._time(s) for s in (0.4, 59, 119, 121, 3600)] == [
        "0 s", "59 s", "119 s", "2 min 1 s", "60 min"
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scenario, a sweep and a run."""
    made = tmp_path_factory.mktemp("long")
    (made / "two-hills.toml").write_text(TWO_HILLS)
    (made / "sweep.toml").write_text(SWEEP)
    scenario = dwell.load_scenario(made / "two-hills.toml", ["run.horizon=1"])
    dwell.run_scenario(scenario, out=made / "run.nc", progress=False)
    return made


BOX, START, LAW = dwell.Box((0, 0), (1, 1)), [(0.2, 0.3), (0.7, 0.6)], dwell.Lloyd()
# Everything that may take long; k counts the calls.
LONG = {
    "simulate": lambda f, k, **p: dwell.simulate(BOX, None, START, LAW, until=1.0, **p),
    "run_scenario": lambda f, k, **p: dwell.run_scenario(scenario_in(f), **p),
    "resume_run": lambda f, k, **p: dwell.resume_run(copied(f, k), horizon=2.0, **p),
    "check": lambda f, k, **p: dwell.check(dwell.load_run(f / "run.nc"), **p),
    "simulate_many": lambda f, k, **p: dwell.simulate_many(scenario_in(f), seeds=[1, 2], **p),
    "optimize": lambda f, k, **p: dwell.optimize(BOX, None, 2, starts=2, **p),
    "run_sweep": lambda f, k, **p: dwell.run_sweep(f / "sweep.toml", f / f"rows{k}", **p),
    "animate": lambda f, k, **p: dwell.animate(
        dwell.load_run(f / "run.nc"), f / "film.gif", fps=5, seconds=0.4, size=(320, 180), **p
    ),
}


def copied(folder: Path, k: int) -> Path:
    """A copy of the run: one that is resumed goes on from where it is."""
    return Path(shutil.copy(folder / "run.nc", folder / f"run{k}.nc"))


def scenario_in(folder: Path) -> dwell.Scenario:
    return dwell.load_scenario(folder / "two-hills.toml", ["run.horizon=1"])


@pytest.mark.parametrize("name", LONG)
def test_long_calls_report_once_they_take_two_seconds(name, folder, slow, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dwell.sweep.run._executor", interrupted)  # it has reported by then
    LONG[name](folder, 0)
    out, err = capsys.readouterr()
    assert out == ""
    assert 1 <= len(err.splitlines()) <= 2
    assert all(line.startswith("dwell: ") for line in err.splitlines())
    answer = []
    LONG[name](folder, 1, progress=lambda *state: answer.append(state))
    assert answer
    LONG[name](folder, 2, progress=False)
    with pytest.raises(InputError, match="progress is 3; a function"):
        LONG[name](folder, 3, progress=3)
    monkeypatch.setattr(progress, "ProgressClock", Moved)  # on which no time passes
    LONG[name](folder, 4)
    assert capsys.readouterr() == ("", "")


def test_there_is_one_display_at_a_time(clock, capsys):
    with reported() as outer:
        outer("outside", 0.5)
        with reported() as inner:
            inner("inside", 0.5)
        clock.advance(2.0)
    (line,) = capsys.readouterr().err.splitlines()
    assert "outside" in line


def test_a_failure_takes_the_display_away(slow, capsys):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), reported() as tell:
            tell("before", 1 / 0)
        assert capsys.readouterr().err == "dwell: starting: 2 s so far\n"
    assert not [t for t in threading.enumerate() if t.name == "dwell progress"]


def test_commands_report_on_the_error_stream_alone(folder, slow):
    file = folder / "two-hills.toml"
    for words in (
        ["run", file, "--horizon", 1, "--json"],
        ["run", "--resume", copied(folder, "-shell"), "--horizon", 9, "--json"],
        ["check", folder / "run.nc", "--json"],
        ["compare", file, "--laws", "timer,lloyd", "--set", "run.horizon=1", "--json"],
        ["optimize", file, "--starts", 2, "--json"],
        ["design", file, "--samples", 2, "--set", "run.horizon=1", "--json"],
    ):
        found = command(*words)
        json.loads(found.out)
        assert found.code == 0
        assert 1 <= len(found.err.splitlines()) <= 2, found.err


def test_a_cache_that_cannot_be_written_is_said_once(monkeypatch, folder):
    run = ["run", folder / "two-hills.toml", "--horizon", 0]
    command(*run)  # so that all kernels are loaded
    monkeypatch.setattr("dwell._kernels._jit.ENABLED", True)
    monkeypatch.setattr("dwell._kernels._jit.cache_root", lambda: None)
    monkeypatch.setenv("DWELL_CACHE_DIR", "/mnt/fixed")
    progress._warn_uncached.cache_clear()
    with pytest.warns(DwellWarning, match="/mnt/fixed .* compiled anew .* set DWELL_CACHE_DIR"):
        dwell.run_scenario(scenario_in(folder))
    with reported():  # a second warning would be an error
        pass
    assert progress._compiling() == "compiling"  # and not kept
    progress._warn_uncached.cache_clear()
    for said in (1, 0):
        found = command(*run)
        assert found.code == 0
        assert [line[:18] for line in found.err.splitlines()] == ["dwell: /mnt/fixed "] * said
