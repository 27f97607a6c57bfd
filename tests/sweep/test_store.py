"""The folder of a sweep and its tables: independent of how rows arrive, of crashes and damage."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell.errors import StoreError
from dwell.results.summary import flat
from dwell.sweep import plan_of, table
from dwell.sweep.cases import CaseStatus, Result, blank_row, versions
from dwell.sweep.store import Folder, open_folder, parts_of
from tests.sweep.processes import tables
from tests.sweep.worlds import small

PLAN = plan_of(small())


def rows_of(plan, cases, **figures):
    """Rows with holes and of unlike types, as workers send them; (point 1, repeat 1) fails."""
    template, rows = plan.template, []
    for number in cases:
        case = plan.case(int(number))
        row = blank_row(case, template) | {"_seconds": 0.5, "_worker": "here:1", "stop.ok": True}
        if (case.point, case.repeat) == (1, 1):
            rows.append({**row, "status": CaseStatus.FAILED, "failure": "no luck", "stop.ok": None})
            continue
        row |= {"cost.final": case.seed / 3.0, "coverage.reached_at": None, "flags": []}
        kind = int(case.key, 16) % 4
        if kind == 0:
            row |= {"coverage.reached_at": 2.5, "flags": ["one"], "messages": case.repeat}
        if kind == 1 and "controller.t2" in template.keys:  # of one law: types stay as they are
            row |= {"messages": case.repeat + 0.5}
        rows.append(row | ({"final_masses": [1.0]} if template.final else {}) | figures)
    return rows


def opened(out, plan=PLAN, **options):
    return open_folder(out, plan, versions(), **{"mixed": False, "retry": False, **options})


def fill(out, plan=PLAN, chunk=4, finish=True, runs=(), **options):
    """Commit all missing cases; return their number."""
    with opened(out, plan, **options) as folder:
        missing = np.flatnonzero(~folder.done)
        for lo in range(0, len(missing), chunk):
            rows = rows_of(plan, missing[lo : lo + chunk])
            folder.commit(Result(rows, versions(), {row["key"]: b"run" for row in rows if runs}))
        if finish:
            folder.finish()
        return len(missing)


def tables_from(out, chunks, plan=PLAN):
    with opened(out, plan) as folder:
        for chunk in chunks:
            folder.commit(Result(rows_of(plan, chunk), versions()))
        folder.finish()
    return tables(out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return tables_from(tmp_path_factory.mktemp("whole") / "out", [range(len(PLAN))])


@settings(max_examples=25)
@given(data=st.data())
def test_any_order_and_any_chunks_give_equal_bytes(tmp_path_factory, whole, data):
    order = data.draw(st.permutations(range(len(PLAN))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(PLAN) - 1))))
    chunks = [list(some) for some in np.split(np.array(order), cuts)]
    assert tables_from(tmp_path_factory.mktemp("sweep") / "out", chunks) == whole


@pytest.mark.parametrize("chunks", [[range(10), range(5, 24), range(24)], [[k] for k in range(24)]])
def test_repeated_rows_and_joined_parts_change_nothing(tmp_path, monkeypatch, whole, chunks):
    monkeypatch.setattr("dwell.sweep.store.MOST_PARTS", 3)
    assert tables_from(tmp_path / "out", chunks) == whole


@pytest.mark.parametrize("after", range(1, 6))
def test_a_crash_while_parts_are_deleted_loses_nothing(tmp_path, monkeypatch, whole, after):
    calls, finish, unlink = 0, Folder.finish, Path.unlink

    def crash(path, missing_ok=False):
        nonlocal calls
        calls += path.suffix == ".parquet"
        if path.suffix == ".parquet" and calls >= after:
            raise KeyboardInterrupt
        unlink(path, missing_ok=missing_ok)

    def crashing(self):
        monkeypatch.setattr(Path, "unlink", crash)
        try:
            finish(self)
        finally:
            monkeypatch.setattr(Path, "unlink", unlink)

    monkeypatch.setattr(Folder, "finish", crashing)
    try:
        fill(tmp_path / "out")
    except KeyboardInterrupt:
        assert calls == after
    monkeypatch.undo()
    fill(tmp_path / "out")
    assert tables(tmp_path / "out") == whole


def test_the_summary_has_quartiles_counts_and_bad_ends(tmp_path):
    rows = rows_of(PLAN, range(len(PLAN)))
    for row in rows[:3]:
        row["stop.ok"] = False
    with opened(tmp_path / "out") as folder:
        folder.commit(Result(rows, versions()))
        folder.finish()
    summary = pq.read_table(tmp_path / "out" / "summary.parquet").to_pydict()
    reached = [row.get("coverage.reached_at") for row in rows]
    for point in range(PLAN.points):
        mine = rows[4 * point : 4 * point + 4]
        costs = [row["cost.final"] for row in mine if "cost.final" in row]
        for part, percent in (("q25", 25), ("median", 50), ("q75", 75)):
            expected = np.percentile(costs, percent)
            assert summary[f"cost.final.{part}"][point] == pytest.approx(expected, rel=1e-14)
        count = 4 - reached[4 * point : 4 * point + 4].count(None)
        assert summary["coverage.reached_at.count"][point] == count
        assert (summary["coverage.reached_at.median"][point] is None) == (count == 0)
    assert 0 < reached.count(None) < len(rows)
    assert summary["runs"] == [4] * PLAN.points
    assert summary["failed"] == [0, 1, 0, 0, 0, 0]
    assert summary["ended_badly"] == [3, 0, 0, 0, 0, 0]
    assert summary["controller.t2"] == [0.2, 0.2, 0.3, 0.3, 0.4, 0.4]


def test_columns_have_their_types_even_when_empty(tmp_path):
    fill(tmp_path / "out", chunk=24)
    schema = pq.read_schema(tmp_path / "out" / "runs.parquet")
    assert schema.field("failure").type == pa.string()
    assert schema.field("coverage.reached_at").type == pa.float64()
    assert schema.field("messages").type == pa.float64()
    assert schema.field("flags").type == pa.list_(pa.string())
    assert "_seconds" not in schema.names
    timings = pq.read_table(tmp_path / "out" / "timings.parquet")
    assert timings.column_names == ["case", "key", "seconds", "worker"]
    assert timings.column("case").to_pylist() == list(range(24))


def test_an_axis_of_words_and_numbers_is_a_column_of_words(tmp_path):
    plan = plan_of(small(grid={"run.record.sample_every": [0.25, "off", 0.5]}, record="scenario"))
    found = [
        tables_from(tmp_path / f"{len(chunks)}", chunks, plan)
        for chunks in ([range(12)], [[k] for k in range(12)])
    ]
    assert found[0] == found[1]
    column = pq.read_table(tmp_path / "1" / "runs.parquet").column("run.record.sample_every")
    assert column.to_pylist()[::4] == ["0.25", "off", "0.5"]


def test_figures_are_flat_and_leave_out_what_differs_every_time():
    summary = {
        "schema": 1, "wall_seconds": 3.0, "cost": {"initial": 1.0, "final": None},
        "flags": [{"code": "a", "says": "words"}], "final_masses": [1.0], "certificate": None,
    }  # fmt: skip
    assert flat(summary, final=False) == {"cost.initial": 1.0, "cost.final": None, "flags": ["a"]}
    assert flat(summary, final=True)["final_masses"] == [1.0]


# -- folders that exist -------------------------------------------------------------------------


def test_a_finished_folder_stays_as_it_is_until_a_retry(tmp_path, whole):
    out = tmp_path / "out"
    fill(out)
    before = sorted(path.name for path in out.iterdir())
    assert fill(out) == 0
    assert sorted(path.name for path in out.iterdir()) == before
    with opened(out, retry=True) as folder:
        assert np.flatnonzero(~folder.done).tolist() == [5]
        assert not (out / "summary.parquet").exists()
    fill(out)
    assert tables(out) == whole


@pytest.mark.parametrize(
    "text", ['{"schema": 1}', "{}", "[]", "nonsense", '{"schema": "one"}', "", "VERSIONS"]
)
def test_an_unreadable_plan_is_reported(tmp_path, text):
    out = tmp_path / "out"
    fill(out, finish=False, chunk=24)
    about = json.loads((out / "sweep.json").read_text())
    odd = json.dumps({**about, "versions": "mine"}) if text == "VERSIONS" else text
    (out / "sweep.json").write_text(odd)
    with pytest.raises(StoreError, match=r"sweep\.json cannot be read"):
        fill(out)


def test_files_without_permission_are_not_damaged(tmp_path, monkeypatch):
    def refused(*args, **options):
        raise PermissionError(13, "Permission denied")

    out = tmp_path / "out"
    fill(out)
    for place, name, says in (
        (table, "read", r"runs\.parquet could not be read \(Permission denied\)"),
        (Path, "iterdir", "Permission denied"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, refused)
            with pytest.raises(StoreError, match=says):
                fill(out if place is table else tmp_path)
    assert fill(out) == 0
    with pytest.raises(StoreError, match="too long"):
        fill(tmp_path / ("x" * 300))


def test_a_failure_that_is_stored_twice_counts_once(tmp_path):
    """As after a crash between joining parts and deleting them."""
    out = tmp_path / "out"
    fill(out, finish=False)
    part = parts_of(out, PLAN.digest)
    shutil.copy(part / "00000001.parquet", part / "00000099.parquet")
    with opened(out) as folder:
        assert folder.failed == 1
        assert [failure.case for failure in folder.failures(9)] == [5]


def test_timings_outlive_a_crash_after_the_table(tmp_path, monkeypatch):
    out = tmp_path / "out"

    def crash(self, about):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "_write_summary", crash)
        with pytest.raises(KeyboardInterrupt):
            fill(out)
    fill(out)
    seconds = pq.read_table(out / "timings.parquet").column("seconds").to_pylist()
    assert seconds == [0.5] * len(PLAN)


# -- a sweep that changed -----------------------------------------------------------------------


def assert_as_fresh(out, plan):
    fill(out.parent / "fresh", plan)
    assert tables(out) == tables(out.parent / "fresh")


@pytest.mark.parametrize("finish", [True, False])
@pytest.mark.parametrize(("before", "after"), [(True, False), (False, True)])
def test_final_positions_are_those_of_the_new_sweep(tmp_path, before, after, finish):
    out, plan = tmp_path / "out", plan_of(small(final=after))
    fill(out, plan_of(small(final=before)), finish=finish)
    fill(out, plan, extend=True)
    assert_as_fresh(out, plan)


def test_runs_that_were_not_stored_are_run_again_if_they_are_to_be(tmp_path):
    out, plan = tmp_path / "out", plan_of(small(keep_runs=True))
    fill(out)
    assert fill(out, plan, extend=True, runs=True) == len(plan)
    assert len(list((out / "runs").iterdir())) == len(plan)
    more = plan_of(small(keep_runs=True, repeats=5))
    assert fill(out, more, extend=True, runs=True) == 6 + 1  # one failed


def test_a_removed_law_takes_its_columns_with_it(tmp_path):
    both = plan_of(small(grid={"controller.kind": ["timer", "lloyd"]}))
    out, alone = tmp_path / "out", plan_of(small(grid={"controller.kind": ["lloyd"]}))
    with opened(out, both) as folder:
        timer = {"certificate.ok": True, "certificate.holds": ["a"]}
        folder.commit(Result(rows_of(both, range(4), **timer), versions()))
        folder.commit(Result(rows_of(both, range(4, 8)), versions()))
        folder.finish()
    fill(out, alone, extend=True)
    assert_as_fresh(out, alone)


def test_a_folder_with_a_damaged_part_can_be_extended(tmp_path):
    out, plan = tmp_path / "out", plan_of(small(repeats=5))
    fill(out, finish=False)
    victim = min(parts_of(out, PLAN.digest).glob("*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-50])
    assert fill(out, plan, extend=True) == len(plan) - (len(PLAN) - 4 - 1)
    assert_as_fresh(out, plan)


# -- memory and writes --------------------------------------------------------------------------


def test_large_files_are_read_group_by_group(tmp_path, monkeypatch):
    out = tmp_path / "out"
    fill(out)
    runs, path = pq.read_table(out / "runs.parquet"), tmp_path / "groups.parquet"
    pq.write_table(runs, path, row_group_size=5)
    read, real = [], table.read_group
    monkeypatch.setattr(table, "read_group", lambda *a: read.append(real(*a)) or read[-1])
    parts = table.Parts([path], PLAN.keys)
    blocks = list(parts.blocks(parts.schema(), 7))
    assert [block.num_rows for block in blocks] == [7, 7, 7, 3]
    assert max(group.num_rows for group in read) == 5
    found = [case for block in blocks for case in block.column("case").to_pylist()]
    assert found == list(range(24))


def test_joined_parts_are_not_joined_over_and_over(tmp_path, monkeypatch):
    plan, written, real = plan_of(small(repeats=30)), [], table.write_blocks
    monkeypatch.setattr("dwell.sweep.store.MOST_PARTS", 8)
    monkeypatch.setattr(table, "write_blocks", lambda *a: written.append(real(*a)) or written[-1])
    fill(tmp_path / "out", plan, chunk=1, finish=False)
    assert sum(written) < 8 * len(plan)
    assert len(list(parts_of(tmp_path / "out", plan.digest).iterdir())) <= 9
    monkeypatch.undo()
    fill(tmp_path / "out", plan)
    assert_as_fresh(tmp_path / "out", plan)
