"""The table is the same however its rows came in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell.sweep import plan_of
from dwell.sweep.cases import FAILED, Chunk, Result, blank_row, flat_figures, versions
from dwell.sweep.plan import CaseTemplate
from dwell.sweep.store import Folder, open_folder
from tests.sweep.worlds import quick_work, small

PLAN = plan_of(small())


def rows_of(cases):
    """Rows with holes, of unlike types, as real ones have."""
    template = CaseTemplate(PLAN.template)
    rows = []
    for number in cases:
        case = template.case(PLAN.spec(number))
        row = blank_row(case, template) | {"_seconds": 0.1, "_worker": "here:1", "stop.ok": True}
        if number % 7 == 3:
            rows.append({**row, "status": FAILED, "failure": "no reason", "stop.ok": None})
            continue
        row |= {"cost.final": case.seed / 3.0, "coverage.reached_at": None, "flags": []}
        if number % 5 == 0:
            row |= {"coverage.reached_at": 2.5, "flags": ["one"], "messages": number}
        if number % 11 == 0:
            row |= {"messages": number + 0.5, "final_positions": [[1.0, 2.0]]}
        rows.append(row)
    return rows


def table_from(tmp_path_factory, portions):
    out = tmp_path_factory.mktemp("sweep") / "out"
    with open_folder(out, PLAN, versions(), mixed=False, retry=False) as folder:
        for portion in portions:
            folder.commit(Result(rows_of(portion), versions()))
        folder.finish()
    return (out / "runs.parquet").read_bytes(), (out / "summary.parquet").read_bytes()


@settings(max_examples=25)
@given(data=st.data())
def test_any_order_and_any_portions_give_the_same_bytes(tmp_path_factory, data):
    whole = table_from(tmp_path_factory, [range(len(PLAN))])
    order = data.draw(st.permutations(range(len(PLAN))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(PLAN) - 1))))
    portions = [list(some) for some in np.split(np.array(order), cuts)]
    assert table_from(tmp_path_factory, portions) == whole


def test_rows_that_come_twice_are_kept_once(tmp_path_factory):
    whole = table_from(tmp_path_factory, [range(len(PLAN))])
    assert table_from(tmp_path_factory, [range(10), range(5, 24), range(24)]) == whole


def test_many_parts_are_joined_on_the_way(tmp_path_factory, monkeypatch):
    whole = table_from(tmp_path_factory, [range(len(PLAN))])
    monkeypatch.setattr("dwell.sweep.store.MOST_PARTS", 3)
    assert table_from(tmp_path_factory, [[k] for k in range(len(PLAN))]) == whole


@pytest.mark.parametrize("after", range(1, 6))
def test_a_crash_while_files_are_put_away_loses_nothing(tmp_path, monkeypatch, after):
    """Whichever file was to be deleted or renamed next: the next command ends with one table."""
    good = tmp_path / "good"
    _fill(good, 4)
    out, calls = tmp_path / "out", 0
    real = Folder.finish

    def crash(self):
        nonlocal calls
        from pathlib import Path

        unlink = Path.unlink

        def dying(path, missing_ok=False):
            nonlocal calls
            if path.suffix == ".parquet":
                calls += 1
                if calls >= after:
                    raise KeyboardInterrupt
            unlink(path, missing_ok=missing_ok)

        monkeypatch.setattr(Path, "unlink", dying)
        try:
            real(self)
        finally:
            monkeypatch.setattr(Path, "unlink", unlink)

    monkeypatch.setattr(Folder, "finish", crash)
    try:
        _fill(out, 4)
    except KeyboardInterrupt:
        assert calls == after
    monkeypatch.setattr(Folder, "finish", real)
    _fill(out, 4)
    for name in ("runs.parquet", "summary.parquet"):
        assert (out / name).read_bytes() == (good / name).read_bytes()


def _fill(out, portion):
    with open_folder(out, PLAN, versions(), mixed=False, retry=False) as folder:
        missing = np.flatnonzero(~folder.done)
        for lo in range(0, len(missing), portion):
            folder.commit(Result(rows_of(missing[lo : lo + portion]), versions()))
        folder.finish()


def test_quartiles_are_numpy_s(tmp_path_factory):
    out = tmp_path_factory.mktemp("sweep") / "out"
    with open_folder(out, PLAN, versions(), mixed=False, retry=False) as folder:
        order = Chunk(PLAN.template, tuple(PLAN.spec(k) for k in range(len(PLAN))))
        folder.commit(quick_work(order))
        folder.finish()
    runs = pq.read_table(out / "runs.parquet")
    summary = pq.read_table(out / "summary.parquet")
    values = runs.column("cost.final").to_numpy().reshape(PLAN.points, -1)
    for part, percent in (("q25", 25), ("median", 50), ("q75", 75)):
        found = summary.column(f"cost.final.{part}").to_numpy()
        np.testing.assert_allclose(found, np.percentile(values, percent, axis=1), rtol=1e-14)
    assert summary.column("runs").to_pylist() == [4] * PLAN.points
    assert summary.column("controller.t2").to_pylist() == [0.2, 0.2, 0.3, 0.3, 0.4, 0.4]


def test_failed_and_missing_values_are_counted(tmp_path):
    _fill(tmp_path / "out", 24)
    summary = pq.read_table(tmp_path / "out" / "summary.parquet")
    numbers = np.arange(len(PLAN))
    failed = (numbers % 7 == 3).reshape(-1, 4).sum(axis=1)
    assert summary.column("failed").to_pylist() == failed.tolist()
    there = ((numbers % 5 == 0) & (numbers % 7 != 3)).reshape(-1, 4).sum(axis=1)
    assert summary.column("coverage.reached_at.count").to_pylist() == there.tolist()
    no_value = np.flatnonzero(there == 0)
    medians = summary.column("coverage.reached_at.median").to_pylist()
    assert all(medians[k] is None for k in no_value)


def test_columns_have_their_types_even_when_empty(tmp_path):
    _fill(tmp_path / "out", 24)
    schema = pq.read_schema(tmp_path / "out" / "runs.parquet")
    assert schema.field("failure").type == pa.string()
    assert schema.field("coverage.reached_at").type == pa.float64()
    assert schema.field("flags").type == pa.list_(pa.string())
    assert "_seconds" not in schema.names
    timings = pq.read_table(tmp_path / "out" / "timings.parquet")
    assert timings.column_names == ["case", "key", "seconds", "worker"]
    assert timings.column("case").to_pylist() == list(range(24))


def test_an_axis_of_words_and_numbers_is_a_column_of_words(tmp_path):
    plan = plan_of(small(grid={"run.record.sample_every": [0.25, "off", 0.5]}, record="scenario"))
    template = CaseTemplate(plan.template)
    for portions in ([range(12)], [[k] for k in range(12)]):
        out = tmp_path / f"out{len(portions)}"
        with open_folder(out, plan, versions(), mixed=False, retry=False) as folder:
            for portion in portions:
                rows = [blank_row(template.case(plan.spec(k)), template) for k in portion]
                folder.commit(Result(rows, versions()))
            folder.finish()
    one, two = (pq.read_table(tmp_path / f"out{k}" / "runs.parquet") for k in (1, 12))
    assert one.equals(two)
    assert one.column("run.record.sample_every").to_pylist()[::4] == ["0.25", "off", "0.5"]


def test_figures_are_flat_and_leave_out_what_differs_every_time():
    summary = {
        "schema": 1, "wall_seconds": 3.0, "cost": {"initial": 1.0, "final": None},
        "flags": [{"code": "a", "says": "words"}], "final_masses": [1.0], "certificate": None,
    }  # fmt: skip
    flat = flat_figures(summary, final=False)
    assert flat == {"cost.initial": 1.0, "cost.final": None, "flags": ["a"]}
    assert flat_figures(summary, final=True)["final_masses"] == [1.0]


def test_bad_ends_are_counted_and_failures_are_not(tmp_path):
    rows = rows_of(range(len(PLAN)))
    for row in rows[:3]:
        row["stop.ok"] = False
    rows[3] |= {"status": FAILED, "failure": "no reason", "stop.ok": None}
    with open_folder(tmp_path / "out", PLAN, versions(), mixed=False, retry=False) as folder:
        folder.commit(Result(rows, versions()))
        folder.finish()
    summary = pq.read_table(tmp_path / "out" / "summary.parquet")
    assert summary.column("ended_badly").to_pylist() == [3, 0, 0, 0, 0, 0]
