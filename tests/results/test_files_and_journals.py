"""Files and journals part by part: faults at any write, limits from both sides."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.agents import EventTable
from dwell.errors import DwellWarning, InputError, StoreError, UnsavedError
from dwell.hybrid import Stop, StopReason
from dwell.live.record import INTERVENTIONS, STALE, LiveRecord, belief_type, sample_type
from dwell.measure import Metrics
from dwell.results import journal
from dwell.results.files import (
    check_target,
    locked,
    refuse_own_source,
    replaceable,
    written_whole,
)
from dwell.results.journal import STATE, Journal, clear, folder_of, read_journal
from dwell.results.live_record import live_attribute, live_from, live_numbers, live_variables
from dwell.results.resume import extended, standing_after
from dwell.results.store import _refuse_nonsense, as_run
from dwell.runner import resume_run, run_scenario
from dwell.scenario import parse_scenario
from tests.conftest import differing

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def table_of(k: int, **more: Any) -> EventTable:
    """Two jumps that no other table has."""
    table = EventTable.blank(2)
    for name, column in table.columns().items():
        if column.dtype.kind == "f":
            column[...] = 10.0 * k + np.arange(column.size).reshape(column.shape) + len(name) / 100
        else:
            column[...] = 10 * k + np.arange(column.size).reshape(column.shape)
    return replace(table, **more)


def metrics_of(k: int) -> Metrics:
    rows = np.arange(3.0) + 100 * k
    return Metrics(rows, np.outer(rows, [1, 2]), np.outer(rows, [3, 4]), rows + 0.5, rows + 0.25)


class Recorded:
    """Stands in for a recorder: what a journal asks of one."""

    def __init__(self) -> None:
        self.tables: list[EventTable] = []
        self.metrics: list[Metrics] = []

    def grow(self) -> None:
        k = len(self.tables) + 1
        more = {"mark": np.array([k, k + 1])} if k % 2 else {}  # only some tables have it
        self.tables += [table_of(k, **more), table_of(k + 1)]
        self.metrics.append(metrics_of(k))

    def frozen(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"state": np.array([float(len(self.tables))])}, {"kind": "events"}


def holds(target: Path, name: str, recorder: Recorded, tables: int) -> None:
    """The journal has the first `tables` tables, and all else of that time."""
    kept = read_journal(target, name)
    joined = EventTable.joined(recorder.tables[:tables])
    assert differing(EventTable.joined(kept.tables), joined) == []
    for field in ("times", "errors", "hold_errors", "costs", "separations"):
        whole = np.concatenate([getattr(m, field) for m in recorder.metrics[: tables // 2]])
        found = np.concatenate([getattr(m, field) for m in kept.metrics])
        assert found.tobytes() == whole.tobytes(), field
    assert kept.arrays["state"].tolist() == [tables]
    assert kept.info["reached"] == tables


@pytest.mark.parametrize("failing", range(9))
def test_a_fault_at_any_write_costs_no_later_checkpoint(
    failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each checkpoint writes a part, then the state; that of number `failing` fails (0: none)."""
    save, count, named = journal.write_columns, [0], []

    def filling(path: Path, columns: Any) -> None:
        count[0] += 1
        if count[0] == failing:
            raise FULL
        save(path, columns)

    monkeypatch.setattr(journal, "write_columns", filling)
    target, recorder = tmp_path / "run.nc", Recorded()
    kept = Journal(target, 1.0, named.append)
    assert not kept.begun
    for k in range(4):
        recorder.grow()
        before = kept.reached
        kept.write(recorder, {"reached": 2.0 * k + 2.0})
        if kept._warned:
            fault = kept.wait()
        else:
            kept._writer.join()
            if kept._fault:
                with pytest.warns(DwellWarning, match="No space left on device"):
                    fault = kept.wait()
            else:
                fault = kept.wait()
        assert fault in ("", "No space left on device")
        if count[0] == failing:  # this very checkpoint failed
            assert kept.reached == before
            if k == 0:
                assert not kept.folder.exists()
                assert not named
            else:
                holds(target, kept.name, recorder, len(recorder.tables) - 2)
        else:
            assert kept.reached == 2.0 * k + 2.0
            assert kept.begun
            holds(target, kept.name, recorder, len(recorder.tables))
    assert named == [kept.name]
    assert bool(kept.wait()) is (failing in range(1, count[0] + 1))


def test_a_journal_that_is_continued_keeps_its_parts(tmp_path: Path) -> None:
    target, recorder, named = tmp_path / "run.nc", Recorded(), []
    first = Journal(target, 1.0, named.append)
    for reached in (2.0, 4.0):
        recorder.grow()
        first.write(recorder, {"reached": reached})
        first.wait()
    again = Journal(target, 1.0, named.append, name=first.name, parts=2, reached=4.0)
    assert again.begun
    assert again.reached == 4.0
    again.skip(recorder)
    recorder.grow()
    again.write(recorder, {"reached": 6.0})
    assert again.wait() == ""
    holds(target, first.name, recorder, 6)
    assert len(named) == 1
    again.write(recorder, {"reached": 6.0})  # nothing new: no part
    again.wait()
    assert read_journal(target, first.name).info["parts"] == 3
    with pytest.raises(ValueError, match="names no journal"):
        folder_of(target, "../other")
    (again.folder / STATE).unlink()
    with pytest.raises(StoreError, match="into one folder again"):
        read_journal(target, first.name)


def test_when_a_checkpoint_is_due(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now = [100.0]
    monkeypatch.setattr(journal.time, "monotonic", lambda: now[0])
    kept = Journal(tmp_path / "run.nc", 8.0, lambda name: None)
    for takes, piece, due in (
        (8.0, 0.0, 4.0),  # nothing is known of how long one takes: half the interval
        (0.1, 0.0, 7.0),  # an eighth of the interval is spare
        (1.0, 0.0, 6.0),  # twice the last one
        (1.0, 1.5, 4.5),
        (1.0, 9.0, 4.0),
    ):
        kept._takes = takes
        for late, expected in ((-1e-6, False), (1e-6, True)):
            now[0] = 100.0 + due + late
            assert kept.is_due(piece) is expected, (takes, piece, late)


def test_only_the_journals_of_this_run_are_cleared(tmp_path: Path) -> None:
    target = tmp_path / "run.nc"
    ours = [folder_of(target, "0123456789abcdef"), folder_of(target, "f" * 16)]
    others = [
        folder_of(tmp_path / "other.nc", "0" * 16),
        tmp_path / "run.nc.short.journal",
        tmp_path / ("0" * 16),
    ]
    for folder in (*ours, *others):
        folder.mkdir()
    files = [tmp_path / name for name in ("run.nc", ".other.nc.x.part", ".run.nc.x.txt")]
    for path in (*files, tmp_path / ".run.nc.x.part"):
        path.write_text("")
    clear(target)
    assert sorted(tmp_path.iterdir()) == sorted([*others, *files])


# Single files.


def write_until(path: Path, fault: BaseException) -> None:
    """Begin to write a file, and meet a fault."""
    with written_whole(path) as temporary:
        temporary.write_text("two")
        raise fault


def lock_until(path: Path, fault: BaseException) -> None:
    """Lock a file, which refuses a second lock, and meet a fault."""
    with locked(path):
        with pytest.raises(StoreError, match=f"by process {os.getpid()}"), locked(path):
            pass  # pragma: no cover
        raise fault


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a file"
    mask = os.umask(0o027)
    try:
        with written_whole(path) as temporary:
            temporary.write_text("one")
            assert not path.exists()
    finally:
        os.umask(mask)
    assert path.read_text() == "one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    for fault, raised in ((FULL, UnsavedError), (KeyError("x"), KeyError)):
        with pytest.raises(raised):
            write_until(path, fault)
        assert path.read_text() == "one"
        assert [one.name for one in tmp_path.iterdir()] == ["a file"]
    with pytest.raises(UnsavedError, match="Not a directory"), written_whole(path / "x" / "y"):
        pass  # pragma: no cover


def test_where_a_file_may_be_written(tmp_path: Path) -> None:
    there, link, absent = tmp_path / "there", tmp_path / "link", tmp_path / "none" / "run.nc"
    there.write_text("mine")
    link.symlink_to(tmp_path / "nowhere")
    assert check_target(tmp_path / "new") == tmp_path / "new"
    assert check_target(there, force=True) == there
    for path, force, says in (
        (there, False, "exists already"),
        (link, False, "exists already"),
        (tmp_path, True, "is a folder"),
        (absent, True, "does not exist"),
        (Path("/dev/null"), True, "is a device"),
    ):
        with pytest.raises(StoreError, match=says):
            check_target(path, force=force)
    assert there.read_text() == "mine"
    assert {one.name for one in tmp_path.iterdir()} == {"there", "link"}
    refuse_own_source(there, tmp_path / "other")
    refuse_own_source({"a": 1}, there)
    refuse_own_source(there, None)
    (tmp_path / "same").hardlink_to(there)
    for out in (there, tmp_path / "same"):
        with pytest.raises(StoreError, match="is the scenario itself"):
            refuse_own_source(str(there), out)


def test_a_lock_is_given_back_after_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            lock_until(path, ZeroDivisionError())
    assert list(tmp_path.iterdir()) == []


# Going on.

TABLES: dict[str, Any] = {
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 3]},
    "agents": {"start": [[0.6, 0.5], [3.1, 1.2], [2.0, 2.2]]},
    "controller": {"kind": "timer", "k1": 0.8, "nu": 0.3, "t1": 0.05, "t2": 0.2},
    "run": {"horizon": 1.0, "seed": 4, "record": {"sample_every": 0.25}},
}


@pytest.fixture(scope="module")
def run() -> dwell.Run:
    return run_scenario(parse_scenario(TABLES), progress=False)


def ended(run: dwell.Run, reason: StopReason, time: float = 1.0) -> dwell.Run:
    return replace(run, details=replace(run.details, stop=Stop(reason, time, "")))


def test_which_run_goes_on_and_how_far(run: dwell.Run) -> None:
    kernels, jumps = run.provenance["kernels"], len(run.events)
    path = Path("run.nc")

    def asked(one: dwell.Run, horizon: Any, most: Any, code: str | None) -> Any:
        if code is None:
            return extended(one, path, horizon, most, kernels).run
        with pytest.raises(InputError) as refused:
            extended(one, path, horizon, most, kernels)
        assert refused.value.code == code
        return None

    stopped = ended(run, StopReason.INTERRUPTED, 0.75)
    limited = ended(run, StopReason.JUMP_LIMIT, 0.75)
    assert asked(run, 1.5, None, None).horizon == 1.5
    assert asked(run, 1.5, jumps + 5, None).max_jumps == jumps + 5
    assert asked(stopped, None, None, None).horizon == 1.0
    assert asked(stopped, 0.75, None, None).horizon == 0.75
    assert asked(limited, None, jumps + 1, None).max_jumps == jumps + 1
    for one, horizon, most, key in (
        (run, None, None, "horizon"),
        (run, 1.0, None, "horizon"),
        (run, 0.5, None, "horizon"),
        (run, "far", None, "horizon"),
        (stopped, 0.7499, None, "horizon"),
        (run, 1.5, jumps - 1, "max_jumps"),
        (run, 1.5, 1e9 + 0.5, "max_jumps"),
        (limited, 1.5, jumps, "max_jumps"),
        (ended(run, StopReason.ZENO), 1.5, None, "ended"),
        (ended(run, StopReason.COINCIDENT), 1.5, None, "ended"),
    ):
        asked(one, horizon, most, f"resume.{key}")
    for change, code in (
        ({"kernels": "old"}, "store.kernels"),
        ({"intact": "false"}, "store.damaged"),
    ):
        other = replace(run, provenance={**run.provenance, **change})
        with pytest.raises(StoreError) as refused:
            extended(other, path, 1.5, None, kernels)
        assert refused.value.code == code
    assert extended(run, path, 1.5, None, kernels).run.record == run.scenario.run.record


@pytest.mark.parametrize("every", [0.25, 0.3, "off", None])
def test_a_longer_run_has_the_samples_of_one_made_at_once(tmp_path: Path, every: Any) -> None:
    record = {} if every is None else {"record": {"sample_every": every}}

    def until(horizon: float) -> Any:
        return parse_scenario({**TABLES, "run": {"horizon": horizon, "seed": 4, **record}})

    run_scenario(until(1.0), out=tmp_path / "run.nc", progress=False)
    again = resume_run(tmp_path / "run.nc", horizon=1.5, progress=False)
    whole = run_scenario(until(1.5), progress=False)
    assert differing(again.events, whole.events) == []
    for name in ("times", "errors", "hold_errors", "costs", "separations"):
        one, other = getattr(again.metrics, name), getattr(whole.metrics, name)
        assert one.tobytes() == other.tobytes(), name
    apart = {"wall_seconds": 0.0}
    assert again.summary() | apart == whole.summary() | apart
    assert dwell.load_run(tmp_path / "run.nc").summary() == again.summary()


def test_jumps_that_leave_the_clock_standing_are_counted() -> None:
    for times, until, count in (
        ([1.0, 2.0, 3.0], 9.0, 0),
        ([1.0, 3.0, 3.0], 9.0, 1),
        ([3.0, 3.0, 3.0, 3.0 + 1e-15], 9.0, 3),
        ([3.0, 3.0, 4.0, 4.0], 9.0, 1),
        ([3.0, 3.0 + 1e-14], 9.0, 0),
        ([3.0, 3.0 + 1e-14], 1e5, 1),
    ):
        table = EventTable.blank(len(times))
        table.time[:] = times
        assert standing_after(table, until) == count, times


def test_jumps_that_cannot_be_are_refused(run: dwell.Run) -> None:
    def with_table(**columns: Any) -> dwell.Run:
        return replace(run, details=replace(run.details, table=replace(run.events, **columns)))

    path, agent, time = Path("run.nc"), run.events.agent, run.events.time
    _refuse_nonsense(run, path)
    for k, wrong in ((0, 3), (-1, 3), (5, -1)):
        column = agent.copy()
        column[k] = wrong
        with pytest.raises(StoreError, match="agents that do not exist"):
            _refuse_nonsense(with_table(agent=column), path)
    for k, late in ((-1, 1.0 + 1e-12), (0, -1e-12), (4, time[3] - 1e-9)):
        column = time.copy()
        column[k] = late
        with pytest.raises(StoreError, match="out of order"):
            _refuse_nonsense(with_table(time=column), path)
    assert as_run(run) is run
    with pytest.raises(StoreError, match="a Run, or the path"):
        as_run(3)


# The record of a live run.


def live() -> tuple[LiveRecord, EventTable]:
    rows = np.zeros(5, dtype=sample_type(2))
    for k, name in enumerate(rows.dtype.names or ()):
        column = rows[name]
        column[...] = 2 + k + 7 * np.arange(column.size).reshape(column.shape)
    rows["agent"] = [2, 0, 2, 1, 0]
    rows["boot"], rows["k"] = [0, 1, 0, 0, 1], [1, 1, 2, 1, 2]
    rows["time"] = [0.5, 1.0, 1.4, 1.6, 1.7]
    flags = list(INTERVENTIONS)
    rows["flags"] = [flags[0], flags[0] | STALE, flags[1], 0, flags[1] | flags[0]]
    beliefs = np.zeros(6, dtype=belief_type(2))
    for k, name in enumerate(beliefs.dtype.names or ()):
        beliefs[name] = 1 + k + 3 * np.arange(beliefs[name].size).reshape(beliefs[name].shape)
    shifts = np.array([-0.5, -1.0, 0.125, 0.25, 0.5])
    record = LiveRecord(
        {"margin": 0.02}, rows, beliefs, np.array([2, 1, 0, 2, 1]), shifts, np.inf, False,
        {"late": 3}, ((1, 0), (2, 4)), {0: 0.25, 2: np.inf},
    )  # fmt: skip
    from dwell.live.table import table_of_live

    return record, table_of_live(record)


def test_the_record_of_a_live_run_is_stored_whole(run: dwell.Run) -> None:
    record, table = live()
    again = live_from(live_variables(record), live_attribute(record), table)
    for name in record.samples.dtype.names or ():
        assert again.samples[name].tolist() == record.samples[name].tolist(), name
    for name in ("beliefs", "counts", "shifts"):
        assert getattr(again, name).tobytes() == getattr(record, name).tobytes(), name
    for name in ("settings", "uncertainty", "exact", "dropped", "cut", "clocks"):
        assert getattr(again, name) == getattr(record, name), name
    for changed in (
        replace(record, counts=np.array([2, 1, 1, 2, 1])),
        replace(record, cut=((1, 2, 3),)),
    ):
        with pytest.raises(ValueError, match=r"beliefs of another|cut-off"):
            live_from(live_variables(changed), live_attribute(changed), table)
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=[0.8, 0.8, 0.95])
    found = live_numbers(replace(run.system, controller=law), record)
    assert (found["agents"], found["boots"], found["samples"]) == (3, 3, 5)
    assert found["stale"] == 1
    names = list(INTERVENTIONS.values())
    assert found["interventions"] == {names[0]: 3, names[1]: 2}
    assert found["clock_uncertainty"] is None
    assert found["dropped"] == {"late": 3}
    # Agent 2 waits 0.9, within its own T2 alone; agent 0 waits 0.7.
    assert found["gaps_over_t2"] == 0
    shorter = replace(run.system, controller=replace(law, t2=[0.95, 0.95, 0.8]))
    assert live_numbers(shorter, record)["gaps_over_t2"] == 1


def test_what_may_be_replaced(tmp_path):
    for name, content in (("ours", b"x" * 5000 + b"a mark"), ("empty", b""), ("theirs", b"none")):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    kept = {name: replaceable(tmp_path / name, "a mark") for name in os.listdir(tmp_path)}
    assert kept == {"ours": True, "empty": False, "theirs": False, "folder": False, "link": False}
    assert replaceable(tmp_path / "absent")
    assert not replaceable(tmp_path / "ours")
