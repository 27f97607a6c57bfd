"""Portions: how large, how many at a time, and what becomes of those that come back undone."""

from __future__ import annotations

import random

import pytest

from dwell.sweep import plan_of
from dwell.sweep.conduct import AHEAD, MOST_LIVE, _Conductor
from dwell.sweep.engines import Done, Lost
from dwell.sweep.orders import LARGEST, TRIES, Orders, Sizer
from dwell.sweep.store import open_folder
from dwell.sweep.work import AGAIN, FAILED, Result, versions
from tests.sweep.worlds import quick_work, small


class Fake:
    """An engine in this process, that loses what it is told to lose."""

    about = ""

    def __init__(self, workers=2, lose=lambda order: None, most_back=3):
        self.workers, self.lose, self.most_back = workers, lose, most_back
        self.under_way, self.most_live, self.given = [], 0, []
        self.chance = random.Random(1)

    def versions(self):
        return {}

    def submit(self, order):
        self.under_way.append(order)
        self.most_live = max(self.most_live, len(self.under_way))
        self.given.append(order)

    def collect(self, patience):
        self.chance.shuffle(self.under_way)
        back, self.under_way = (
            self.under_way[: self.most_back],
            self.under_way[self.most_back :],
        )
        return [self.lose(order) or Done(order, quick_work(order)) for order in back]

    def close(self):
        pass


def conducted(tmp_path, plan, engine, chunk=None, mixed=False):
    with open_folder(tmp_path / "out", plan, versions(), mixed=mixed, retry=False) as folder:
        conductor = _Conductor(folder, chunk, mixed, lambda what, share: None, None)
        conductor.conduct(lambda: engine)
        return conductor.ending()


@pytest.fixture(scope="module")
def plan():
    return plan_of(small(repeats=50))  # 300 cases


@pytest.fixture(scope="module")
def whole(plan, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    conducted(folder, plan, Fake())
    return (folder / "out" / "runs.parquet").read_bytes()


def test_orders_lost_without_blame_are_given_again(tmp_path, plan, whole):
    chance = random.Random(5)

    def lose(order):
        return Lost(order, "the cable was pulled", False) if chance.random() < 0.5 else None

    found = conducted(tmp_path, plan, Fake(lose=lose))
    assert found.ok
    assert (tmp_path / "out" / "runs.parquet").read_bytes() == whole


def test_one_culprit_is_found_and_the_others_do_not_suffer(tmp_path, plan):
    deaths = 0

    def lose(order):
        nonlocal deaths
        if any(brief[0] == 137 for brief in order.cases):
            deaths += 1
            return Lost(order, "its process died (signal 9)", True)
        return None

    found = conducted(tmp_path, plan, Fake(lose=lose), chunk=100)
    assert (found.done, found.failed) == (300, 1)
    assert found.failures[0].case == 137
    assert found.failures[0].reason == "its process died (signal 9), 3 times"
    assert deaths <= 3 + TRIES  # cut into eight, thrice, and then alone


def test_bystanders_of_a_death_are_not_set_aside(tmp_path, plan):
    """A Dask worker that dies takes all that waits with it along, and nobody knows who did it."""

    class Unsure(Fake):
        def collect(self, patience):
            if not any(brief[0] == 137 for order in self.under_way for brief in order.cases):
                return super().collect(patience)
            lost, self.under_way = self.under_way, []
            return [Lost(order, "KilledWorker", True, sure=False) for order in lost]

    found = conducted(tmp_path, plan, Unsure(), chunk=1)
    assert (found.done, found.failed) == (300, 1)
    assert found.failures[0].case == 137


def test_a_passing_trouble_is_waited_out(plan):
    orders = Orders(plan, iter(range(300)), 300)
    order = orders.next(2)
    rows = quick_work(order).rows
    rows[1] |= {"status": AGAIN, "failure": "MemoryError: no room"}
    kept = orders.sort_out(order, Result(rows, versions()))
    assert [row["case"] for row in kept.rows] == [0]
    again = orders.next(50)
    assert [brief[0] for brief in again.cases] == [1]
    for _ in range(TRIES - 2):
        back = orders.sort_out(again, Result([rows[1]], versions()))
        assert not back.rows
        again = orders.next(50)
    last = orders.sort_out(again, Result([rows[1]], versions()))
    assert last.rows[0]["status"] == FAILED
    assert last.rows[0]["failure"] == f"MemoryError: no room, {TRIES} times"


def test_few_orders_live_at_a_time_however_many_cases(tmp_path, plan):
    engine = Fake(workers=4)
    assert conducted(tmp_path, plan, engine, chunk=1).ok
    assert engine.most_live == (1 + AHEAD) * 4
    assert len(engine.given) == 300


def test_never_more_than_ten_thousand(tmp_path, plan, monkeypatch):
    monkeypatch.setattr("dwell.sweep.conduct.MOST_LIVE", 7)
    engine = Fake(workers=100_000)
    assert conducted(tmp_path, plan, engine, chunk=1).ok
    assert engine.most_live == 7
    assert MOST_LIVE == 10_000


def test_portions_grow_to_half_a_second_and_shrink_towards_the_end():
    sizer = Sizer(None)
    assert sizer.size(10**6, 2) == 1
    for _ in range(10):
        sizer.learn([{"_seconds": 0.005}])
    assert sizer.size(10**6, 2) == 100
    assert sizer.size(60, 2) == 10
    for _ in range(10):
        sizer.learn([{"_seconds": 1e-9}])
    assert sizer.size(10**6, 2) == LARGEST
    sizer.learn([{"_seconds": 10.0}])
    assert sizer.size(10**6, 2) == 1
    assert Sizer(13).size(2, 8) == 13


def test_rows_of_another_version_stop_the_sweep(tmp_path, plan):
    class Strange(Fake):
        def collect(self, patience):
            back = super().collect(patience)
            return [
                Done(d.order, Result(d.result.rows, {**versions(), "dwell": "9"})) for d in back
            ]

    with pytest.raises(ValueError, match="versions differ"):
        conducted(tmp_path, plan, Strange())
    assert conducted(tmp_path, plan, Strange(), mixed=True).ok


def test_progress_tells_cases_rate_and_failures(tmp_path, plan):
    told = []

    def lose(order):
        bad = any(brief[0] == 5 for brief in order.cases)
        return Lost(order, "its process died", True) if bad else None

    with open_folder(tmp_path / "out", plan, versions(), mixed=False, retry=False) as folder:
        conductor = _Conductor(
            folder, 10, False, lambda what, share: told.append((what, share)), None
        )
        conductor.conduct(lambda: Fake(lose=lose))
        conductor.ending()
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any("of 300 cases" in what and "/s" in what for what, _ in told)
    assert any("1 failed" in what for what, _ in told)
