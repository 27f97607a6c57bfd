"""Checkpoints: crashes, damage, full disks, locks and signals."""

from __future__ import annotations

import errno
import json
import os
import signal

import numpy as np
import pytest

import dwell
from dwell.engine import stepper
from dwell.engine.codec import plain, restored
from dwell.errors import ControllerError, DwellWarning, InputError, StoreError, UnsavedError
from dwell.results import journal
from dwell.results.journal import Journal
from dwell.runner import resume_run, run_scenario
from tests.controllers.examples import LAWS
from tests.controllers.worlds import BOX, HILL, START
from tests.results.crashes import KINDS, LOSSY, Crash, crash, ending_at, few, same, scenario, settle

pytestmark = pytest.mark.usefixtures("small_pieces")


@pytest.mark.parametrize("kind", few(*KINDS))
def test_several_crashes_of_one_run(kind, path):
    asked = scenario(LAWS["timer"], KINDS[kind], until=6.0)
    whole = run_scenario(asked)
    reached = []
    crash(asked, path, 3)
    for _ in range(3):
        settle()
        reached.append(dwell.load_run(path).horizon)
        with pytest.raises(Crash):
            resume_run(path, progress=ending_at(3, Crash()))
    settle()
    assert reached == sorted(set(reached))
    assert same(whole, resume_run(path))


@pytest.mark.parametrize("law", ["timer", "event-triggered"])
def test_what_is_left_of_a_run_that_was_killed_is_a_solution(law, path):
    asked = scenario(LAWS[law], {"kind": "events"}, until=6.0)
    crash(asked, path, 3)
    settle()
    run = dwell.load_run(path)
    assert 0.0 < run.horizon < 6.0
    report = dwell.check(run)
    assert report.ok, report


def test_samples_of_a_run_with_events_follow_the_new_horizon(path):
    record = {"kind": "events"}
    run_scenario(scenario(LAWS["timer"], record, until=1.0), out=path)
    whole = run_scenario(scenario(LAWS["timer"], record, until=1.7))
    assert same(whole, resume_run(path, horizon=1.7))
    # Without events, those that were taken stay, and the others follow at the same distance.
    record = {"kind": "samples"}
    run_scenario(scenario(LAWS["timer"], record, until=1.0), out=path, force=True)
    further = resume_run(path, horizon=1.7)
    assert further.scenario.run.record.sample_every == 0.001
    record = {"kind": "samples", "sample_every": 0.001}
    assert same(run_scenario(scenario(LAWS["timer"], record, until=1.7)), further)


@pytest.mark.parametrize("kind", ["samples", "summary"])
@pytest.mark.parametrize("beyond", [0.95, 0.75, 0.5, 0.2])
def test_a_resumed_run_covers_from_when_the_whole_one_does(kind, beyond, path):
    """The last error beyond nu lies before the stop, or after it, or there is none."""
    law = LAWS["timer"]
    whole = run_scenario(scenario(law, KINDS["events"], until=1.0))
    worst = [float(whole.errors(t).max()) for t in (0.0, 1.0)]
    nu = worst[1] + beyond * (worst[0] - worst[1])
    known = run_scenario(scenario(law, KINDS["events"], until=3.0, nu=nu))
    asked = scenario(law, {"kind": kind, "sample_every": 0.05}, until=1.0, nu=nu)
    run_scenario(asked, out=path)
    again = resume_run(path, horizon=3.0)
    assert known.reached_at is not None
    assert again.reached_at == pytest.approx(known.reached_at, abs=1e-9)
    assert dwell.load_run(path).reached_at == again.reached_at


def test_where_a_run_cannot_go_on(path, tmp_path):
    """The rest of the refusals is in tests/catalogue/test_catalogue_resume.py."""
    run_scenario(scenario(LAWS["timer"], KINDS["events"]), out=path)
    with pytest.raises(InputError, match="max_jumps is 3"):
        resume_run(path, horizon=9.0, max_jumps=3)
    with pytest.raises(StoreError, match="is not a file"):
        resume_run(tmp_path / "none.nc")
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def crashed(path, kind="events"):
    """A run with a journal."""
    asked = scenario(LAWS["timer"], KINDS[kind])
    crash(asked, path, 3)
    (folder,) = [p for p in path.parent.iterdir() if p.suffix == ".journal"]
    return asked, folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", few("events", "summary"))
def test_a_journal_that_is_damaged_or_away(kind, path, tmp_path):
    _, folder = crashed(path, kind)
    for file in sorted(folder.iterdir()):
        good = file.read_bytes()
        for bad in (good[: len(good) // 2], good[:200] + b"\0\1\2" + good[203:], None):
            file.unlink(missing_ok=True)
            if bad is not None:
                file.write_bytes(bad)
            with pytest.raises(StoreError) as refused:
                resume_run(path)
            assert len(str(refused.value).splitlines()) == 1
        file.write_bytes(good)
    dwell.load_run(path)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="put both into one folder again"):
        dwell.load_run(path)


@pytest.mark.exhaustive
def test_journals_of_two_runs_are_never_mixed(tmp_path):
    """A file is the beginning of one journal only, whatever lies beside it."""
    one, other = tmp_path / "a" / "run.nc", tmp_path / "b" / "run.nc"
    for path in (one, other):
        path.parent.mkdir()
        _, folder = crashed(path)
    foreign = next(p for p in one.parent.iterdir() if p.suffix == ".journal")
    for file in foreign.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    with pytest.raises(StoreError, match="belongs to another run"):
        dwell.load_run(other)


@pytest.mark.exhaustive
def test_a_part_beyond_the_last_checkpoint_does_not_count(path):
    """As if killed between the two files of a checkpoint."""
    asked, folder = crashed(path)
    kept = dwell.load_run(path)
    parts = sorted(folder.glob("0*.columns"))
    (folder / f"{len(parts) + 1:06}.columns").write_bytes(parts[0].read_bytes())
    assert len(dwell.load_run(path).events) == len(kept.events)
    assert same(run_scenario(asked), resume_run(path))


def test_any_reader_of_netcdf_can_open_what_a_crash_left(path):
    import xarray as xr

    crashed(path)
    with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as data:
        assert json.loads(data.attrs["scenario"])["run"]["seed"] == 5
        assert data.attrs["journal"]


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("failing", [{1}, {3}, {2, 3}, set(range(1, 10_000))])
def test_a_checkpoint_that_fails_does_not_end_the_run(kind, failing, path, tmp_path, monkeypatch):
    """Whichever of the files of a checkpoint finds the disk full, and however often."""
    asked = scenario(LAWS["timer"], KINDS[kind], until=6.0)
    save, put, puts, saves = journal.write_columns, Journal._put, [], []

    def counted(self, *args):
        puts.append(args)
        put(self, *args)

    def filling(file, columns):
        saves.append(file)
        if len(puts) in failing and (len(saves) % 2 or file.name == journal.STATE):
            raise FULL
        save(file, columns)

    monkeypatch.setattr(Journal, "_put", counted)
    monkeypatch.setattr(journal, "write_columns", filling)
    with pytest.warns(
        DwellWarning, match=r"run\.nc could not .* \(No space left .*goes on"
    ) as said:
        run = run_scenario(asked, out=path)
    assert len(said) == 1
    monkeypatch.undo()
    (flag,) = [flag for flag in run.flags if flag.code == "checkpoint-failed"]
    assert flag.says == "A checkpoint could not be written (No space left on device)."
    kept = dwell.load_run(path)
    assert kept.summary()["flags"] == run.summary()["flags"]
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]
    assert same(run_scenario(asked), kept, flags=False)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_after_a_failed_checkpoint_the_next_one_is_whole(kind, path, monkeypatch):
    asked = scenario(LAWS["timer"], KINDS[kind], until=6.0)
    save, states = journal.write_columns, []

    def filling(file, columns):
        states.extend([file] * (file.name == journal.STATE))
        if file.name == journal.STATE and len(states) == 2:  # its part was written
            raise FULL
        save(file, columns)

    monkeypatch.setattr(journal, "write_columns", filling)
    with pytest.warns(DwellWarning), pytest.raises(Crash):
        run_scenario(asked, out=path, progress=ending_at(5, Crash()))
    settle()
    assert len(states) > 2
    assert dwell.load_run(path).details.tally.jumps > 0
    assert same(run_scenario(asked), resume_run(path))


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_at_the_end_loses_no_run(kind, path, tmp_path, monkeypatch):
    asked = scenario(LAWS["timer"], KINDS[kind], until=6.0)

    def full(handle):
        raise FULL

    monkeypatch.setattr("os.fsync", full)
    with pytest.warns(DwellWarning), pytest.raises(UnsavedError, match="No space left") as lost:
        run_scenario(asked, out=path)
    assert "another folder" in str(lost.value)
    assert "--resume" not in str(lost.value)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    lost.value.run.save(path)
    assert same(run_scenario(asked), dwell.load_run(path), flags=False)


@pytest.mark.exhaustive
def test_when_only_the_last_write_fails_the_last_checkpoint_goes_on(path, monkeypatch):
    asked = scenario(LAWS["timer"], KINDS["events"], until=6.0)

    def full(*args, **options):
        raise UnsavedError("no room")

    monkeypatch.setattr("dwell.execution.save_run", full)
    with pytest.raises(UnsavedError, match=r"no room; .* --resume .*run\.nc"):
        run_scenario(asked, out=path)
    monkeypatch.undo()
    assert dwell.load_run(path).details.tally.jumps > 0
    assert same(run_scenario(asked), resume_run(path))


def test_two_at_a_time_are_refused(path, tmp_path):
    asked = scenario(LAWS["timer"], KINDS["events"])
    said = []

    def watch(what, share):
        if not said:
            with pytest.raises(StoreError, match=f"by process {os.getpid()}") as refused:
                run_scenario(asked, out=path, force=True)
            said.append(refused.value.code)

    run_scenario(asked, out=path, progress=watch)
    assert said == ["store.locked"]
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_a_lock_left_by_a_dead_process_is_none(tmp_path):
    (tmp_path / ".run.nc.lock").write_text("999999\n")
    run_scenario(scenario(LAWS["timer"], KINDS["events"]), out=tmp_path / "run.nc")
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


@pytest.mark.parametrize("phase", ["preparing", "simulating", "measuring", "saving"])
def test_a_signal_in_any_phase_leaves_a_run_that_goes_on(phase, path):
    asked = scenario(LAWS["timer"], KINDS["samples"])
    whole = run_scenario(asked)
    late = phase in ("measuring", "saving")  # all is done then
    words = "the run was over by then" if late else r"resume_run\('.*run\.nc'\)"
    with pytest.raises(dwell.Interrupted, match=words) as stopped:
        run_scenario(asked, out=path, progress=ending_at(1, 1, phase))
    run = stopped.value.run
    assert run.stop.reason.value == ("horizon" if late else "interrupted")
    kept = dwell.load_run(path)
    assert kept.horizon == run.horizon
    assert same(whole, kept if late else resume_run(path))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", ["timer", "event-triggered"])
def test_a_signal_in_the_middle_of_a_piece_loses_no_sample(law, kind, path, monkeypatch):
    asked = scenario(LAWS[law], KINDS[kind])
    whole, pieces = run_scenario(asked), []
    for name in ("CompiledStepper", "PythonStepper"):
        advance = getattr(stepper, name).advance

        def signalled(self, *args, advance=advance):
            pieces.append(advance(self, *args))
            if len(pieces) == 3:
                signal.raise_signal(signal.SIGINT)
            return pieces[-1]

        monkeypatch.setattr(getattr(stepper, name), "advance", signalled)
    with pytest.raises(dwell.Interrupted) as stopped:
        run_scenario(asked, out=path)
    assert 0.0 < stopped.value.run.horizon < 2.0
    assert same(whole, resume_run(path))


def test_a_second_signal_stops_at_once(path):
    asked = scenario(LAWS["timer"], KINDS["events"])
    words = r"aborted; .*run\.nc holds the run up to its last checkpoint, t = [0-9.]+: .*--resume"
    with pytest.raises(KeyboardInterrupt, match=words):
        run_scenario(asked, out=path, progress=ending_at(3, 2))
    settle()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert same(run_scenario(asked), resume_run(path))


def test_memories_are_plain_data():
    run = dwell.simulate(
        BOX, HILL, START, LAWS["event-triggered"], until=1.0, seed=5, network=LOSSY
    )
    state = run.details.recorder.remembered
    again = restored(json.loads(json.dumps(plain(state))))
    assert plain(again) == plain(state)
    assert again.segments.next_at.tobytes() == state.segments.next_at.tobytes()
    with pytest.raises(ValueError, match="nothing that a file should hold"):
        restored({"Popen": {"args": "ls"}})
    with pytest.raises(ValueError, match="no numbers"):
        restored({"array": ["|O", [1], "AAAA"]})
    with pytest.raises(
        ControllerError, match="remembers or sends a object, which a file cannot hold"
    ):
        plain(object())
    assert np.isinf(restored(plain(np.inf)))
