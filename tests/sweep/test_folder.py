"""The folder of a sweep: what is found there, put away, taken over, and refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from dwell.errors import StoreError
from dwell.sweep import plan_of, table
from dwell.sweep.cases import FAILED, Result, blank_row, versions
from dwell.sweep.plan import CaseTemplate
from dwell.sweep.store import Folder, open_folder, parts_of
from tests.sweep.worlds import small

PLAN = plan_of(small())


def rows_of(plan, cases, **figures):
    """What workers would send; one case fails: number 5 of `PLAN`."""
    template, rows = CaseTemplate(plan.template), []
    for number in cases:
        case = template.case(plan.spec(int(number)))
        row = blank_row(case, template) | {"_seconds": 0.5, "_worker": "here:1"}
        if (case.point, case.repeat) == (1, 1):
            rows.append({**row, "status": FAILED, "failure": "no luck"})
            continue
        places = {"final_masses": [1.0]} if template.final else {}
        rows.append({**row, "cost.final": case.seed / 3.0, **places, **figures})
    return rows


def opened(out, plan=PLAN, **options):
    return open_folder(out, plan, versions(), **{"mixed": False, "retry": False, **options})


def fill(out, plan=PLAN, portion=4, finish=True, runs=(), **options):
    """All missing cases; how many those were."""
    with opened(out, plan, **options) as folder:
        missing = np.flatnonzero(~folder.done)
        for lo in range(0, len(missing), portion):
            rows = rows_of(plan, missing[lo : lo + portion])
            folder.commit(Result(rows, versions(), {row["key"]: b"run" for row in rows if runs}))
        if finish:
            folder.finish()
        return len(missing)


def test_a_second_look_at_a_finished_sweep_leaves_nothing_behind(tmp_path):
    out = tmp_path / "out"
    fill(out)
    before = sorted(path.name for path in out.iterdir())
    assert fill(out) == 0
    assert sorted(path.name for path in out.iterdir()) == before


@pytest.mark.parametrize(
    "text", ['{"schema": 1}', "{}", "[]", "nonsense", '{"schema": "one"}', "", "VERSIONS"]
)
def test_a_plan_that_is_none_is_said(tmp_path, text):
    out = tmp_path / "out"
    fill(out)
    about = json.loads((out / "sweep.json").read_text())
    odd = json.dumps({**about, "versions": "mine"}) if text == "VERSIONS" else text
    (out / "sweep.json").write_text(odd)
    with pytest.raises(StoreError, match=r"sweep\.json cannot be read"):
        fill(out)


def test_a_table_that_may_not_be_read_now_is_not_called_damaged(tmp_path, monkeypatch):
    out = tmp_path / "out"
    fill(out)

    def refused(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(table, "read", refused)
    with pytest.raises(StoreError, match=r"runs\.parquet could not be read \(Permission denied\)"):
        fill(out)
    monkeypatch.undo()
    assert (out / "runs.parquet").exists()
    assert fill(out) == 0


def test_a_folder_that_may_not_be_looked_into_is_said(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(StoreError, match="Permission denied"):
        fill(tmp_path)
    monkeypatch.undo()
    with pytest.raises(StoreError, match="too long"):
        fill(tmp_path / ("x" * 300))


def test_a_failure_that_stands_twice_is_told_once(tmp_path):
    """As after a crash between joining parts and taking them away."""
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

    monkeypatch.setattr(Folder, "_write_summary", crash)
    with pytest.raises(KeyboardInterrupt):
        fill(out)
    monkeypatch.undo()
    fill(out)
    seconds = pq.read_table(out / "timings.parquet").column("seconds").to_pylist()
    assert seconds == [0.5] * len(PLAN)


def test_a_retry_takes_the_old_summary_away(tmp_path):
    out = tmp_path / "out"
    fill(out)
    with opened(out, retry=True) as folder:
        assert np.flatnonzero(~folder.done).tolist() == [5]
        assert not (out / "summary.parquet").exists()
    before = (tmp_path / "fresh", fill(tmp_path / "fresh"))[0]
    fill(out)
    for name in ("runs.parquet", "summary.parquet"):
        assert (out / name).read_bytes() == (before / name).read_bytes()


# -- a sweep that changed ------------------------------------------------------------------------


def same_as_fresh(tmp_path, out, plan):
    fill(tmp_path / "fresh", plan)
    names = ("runs.parquet", "summary.parquet")
    return all((out / n).read_bytes() == (tmp_path / "fresh" / n).read_bytes() for n in names)


@pytest.mark.parametrize("finish", [True, False])
@pytest.mark.parametrize(("before", "after"), [(True, False), (False, True)])
def test_final_places_are_as_the_new_sweep_says(tmp_path, before, after, finish):
    out, plan = tmp_path / "out", plan_of(small(final=after))
    fill(out, plan_of(small(final=before)), finish=finish)
    fill(out, plan, extend=True)
    assert same_as_fresh(tmp_path, out, plan)


def test_runs_that_were_not_kept_are_made_when_they_are_to_be_kept(tmp_path):
    out, plan = tmp_path / "out", plan_of(small(keep_runs=True))
    fill(out)
    assert fill(out, plan, extend=True, runs=True) == len(plan)
    assert len(list((out / "runs").iterdir())) == len(plan)
    more = plan_of(small(keep_runs=True, repeats=5))
    assert fill(out, more, extend=True, runs=True) == 6 + 1  # one failed


def test_a_law_that_left_takes_its_columns_with_it(tmp_path):
    both = plan_of(small(grid={"controller.kind": ["timer", "lloyd"]}))
    alone = plan_of(small(grid={"controller.kind": ["lloyd"]}))
    out = tmp_path / "out"
    with opened(out, both) as folder:
        timer = {"certificate.ok": True, "certificate.holds": ["a"]}
        folder.commit(Result(rows_of(both, range(4), **timer), versions()))
        folder.commit(Result(rows_of(both, range(4, 8)), versions()))
        folder.finish()
    fill(out, alone, extend=True)
    assert same_as_fresh(tmp_path, out, alone)


def test_a_damaged_part_is_no_reason_not_to_extend(tmp_path):
    out, plan = tmp_path / "out", plan_of(small(repeats=5))
    fill(out, finish=False)
    victim = min(parts_of(out, PLAN.digest).glob("*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-50])
    assert fill(out, plan, extend=True) == len(plan) - (len(PLAN) - 4 - 1)
    assert same_as_fresh(tmp_path, out, plan)


# -- much at a time ------------------------------------------------------------------------------


def test_large_files_are_read_group_by_group(tmp_path, monkeypatch):
    """A table of any size goes through little memory."""
    out = tmp_path / "out"
    fill(out)
    runs, path = pq.read_table(out / "runs.parquet"), tmp_path / "groups.parquet"
    pq.write_table(runs, path, row_group_size=5)
    read = []
    real = table.read_group
    monkeypatch.setattr(table, "read_group", lambda *a: read.append(real(*a)) or read[-1])
    parts = table.Parts([path], PLAN.keys)
    blocks = list(parts.blocks(parts.schema(), 7))
    assert [block.num_rows for block in blocks] == [7, 7, 7, 3]
    assert max(group.num_rows for group in read) == 5
    found = [case for block in blocks for case in block.column("case").to_pylist()]
    assert found == list(range(24))


def test_joining_parts_writes_no_row_over_and_over(tmp_path, monkeypatch):
    plan = plan_of(small(repeats=30))
    monkeypatch.setattr("dwell.sweep.store.MOST_PARTS", 8)
    written = 0
    real = table.write_blocks

    def counted(*args):
        nonlocal written
        rows = real(*args)
        written += rows
        return rows

    monkeypatch.setattr(table, "write_blocks", counted)
    fill(tmp_path / "out", plan, portion=1, finish=False)
    assert written < 8 * len(plan)
    assert len(list(parts_of(tmp_path / "out", plan.digest).iterdir())) <= 9
    monkeypatch.undo()
    fill(tmp_path / "out", plan)
    assert same_as_fresh(tmp_path, tmp_path / "out", plan)
