"""Jobs, their files and films, and what worker processes do, without a server around them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from dwell.errors import InputError
from dwell.web.errors import RequestError
from dwell.web.jobs.film_cache import FilmCache
from dwell.web.jobs.registry import Job, JobRegistry
from dwell.web.jobs.task_client import WORKER_LOST, problem_of, task_result
from dwell.web.limits import Limits
from dwell.web.wire_format import Entry
from dwell.web.work import run_stream
from dwell.web.work.jobs import describe, run_order, work_on
from dwell.workers.child import Ending, Link, TaskOutcome
from tests.web.servers import scenario, slow
from tests.workers.watch import LONG

ADMITTED = {
    "scenario": "{}", "law": "timer", "agents": 3, "dimension": 2, "horizon": 1.0, "name": None,
    "advice": "take fewer agents",
}  # fmt: skip


class FakePool:
    """A pool whose tasks end when the test says so."""

    def __init__(self):
        self.waiting, self.running, self.stopped, self.closed = [], [], [], False
        self.warming = False

    def submit(self, task):
        self.waiting.append(task)

    def place(self, task):
        return self.waiting.index(task) + 1 if task in self.waiting else 0

    def stop(self, task):
        self.stopped.append(task)
        self.waiting.remove(task)
        task.ended(TaskOutcome(Ending.STOPPED))

    def begin(self, task):
        self.waiting.remove(task)
        task.began()

    def finish(self, task, size, outcome=None):
        if task in self.waiting:
            self.begin(task)
        for suffix in ("file", "spool"):
            Path(task.order[suffix]).write_bytes(b"x" * size)
        task.ended(outcome or TaskOutcome(Ending.RESULT, {"summary": {"figures": 1}}))


@pytest.fixture
def pool():
    return FakePool()


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (Limits(kept=3), 3),
        (Limits(disk=2500.0), 2),  # two files of 500 bytes each
        (Limits(), 6),
        (Limits(disk=10.0), 0),
    ],
)
def test_the_oldest_ended_jobs_are_deleted_with_their_files(tmp_path, pool, limits, left):
    registry = JobRegistry(limits, pool, tmp_path)
    waiting = registry.start(ADMITTED, live=False)
    jobs = []
    for _ in range(6):
        jobs.append(registry.start(ADMITTED, live=False))
        pool.finish(jobs[-1].task, 500)
    kept = jobs[6 - left :]
    assert registry.newest_first() == [*kept[::-1], waiting]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{job.id}.{end}" for job in kept for end in ("nc", "frames")}
    for job in jobs[: 6 - left]:
        with pytest.raises(RequestError) as gone:
            registry.get(job.id)
        assert gone.value.status == 404


def test_a_failed_job_has_its_error_and_a_cancelled_one_no_files(tmp_path, pool):
    registry = JobRegistry(Limits(), pool, tmp_path)
    failed, cancelled = (registry.start(ADMITTED, live=False) for _ in range(2))
    error = {"code": "x", "key": None, "message": "words"}
    pool.finish(failed.task, 1, TaskOutcome(Ending.FAILED, error))
    assert registry.as_json(failed)["error"] == error
    assert failed.status == "failed"
    (tmp_path / f"{cancelled.id}.frames").write_bytes(b"x")
    registry.cancel(cancelled)
    assert cancelled.status == "cancelled"
    assert not list(tmp_path.glob(f"{cancelled.id}.*"))
    registry.cancel(cancelled)  # a second time changes nothing
    assert len(pool.stopped) == 1


def test_a_job_says_when_it_waits_for_compiled_code(tmp_path, pool):
    registry = JobRegistry(Limits(), pool, tmp_path)
    pool.warming = True
    job = registry.start(ADMITTED, live=True)
    states = [registry.as_json(job)["status"]]
    pool.warming = False
    states.append(registry.as_json(job)["status"])
    pool.begin(job.task)
    for doing in ("compiling", "simulating"):
        job.task.reported({"doing": doing, "progress": 0.0})
        states.append(registry.as_json(job)["status"])
    assert states == ["warming", "queued", "warming", "running"]


def test_a_job_that_ends_while_it_is_cancelled_stays_cancelled(tmp_path, pool):
    pool.stop = lambda task: None  # its process has just finished
    registry = JobRegistry(Limits(), pool, tmp_path)
    job = registry.start(ADMITTED, live=False)
    task = job.task
    pool.begin(task)
    registry.cancel(job)
    pool.finish(task, 10)
    assert (job.status, job.summary) == ("cancelled", None)
    assert list(tmp_path.iterdir()) == []


def test_drafts_of_a_killed_process_belong_to_its_job(tmp_path, pool, monkeypatch):
    registry = JobRegistry(Limits(), pool, tmp_path)
    job = registry.start(ADMITTED, live=False)
    pool.finish(job.task, 10)
    (tmp_path / f".{job.id}.6.gif.abcd.tmp").write_bytes(b"x" * 100)
    assert job.size() == 120
    asyncio.run(registry.delete(job))
    assert list(tmp_path.iterdir()) == []
    assert Job.size(job) == 0
    monkeypatch.setattr(Job, "files", lambda self: iter([job.file]))  # deleted meanwhile
    assert job.size() == 0


def test_a_draining_registry_takes_no_jobs(tmp_path, pool):
    registry = JobRegistry(Limits(drain=0.1), pool, tmp_path)
    waiting = registry.start(ADMITTED, live=False)
    asyncio.run(registry.drain())
    assert waiting.status == "cancelled"
    assert waiting.error["code"] == "web.draining"
    with pytest.raises(RequestError, match="about to end"):
        registry.start(ADMITTED, live=False)


@pytest.mark.parametrize("keys", [{"agents": 0}, {"seconds": -1.0}, {"memory": float("nan")}])
def test_limits_are_numbers_above_zero(keys):
    with pytest.raises(InputError, match=next(iter(keys))):
        Limits(**keys)


def test_a_film_is_made_once_for_all_requests_and_stopped_when_none_is_left(tmp_path, pool):
    pool.stop = pool.stopped.append

    def leave_a_draft(task):
        film = Path(task.order["film"])
        draft = film.with_name(f".{film.name}.abcd.tmp")
        draft.write_bytes(b"x")
        return draft

    async def next_task(count):
        async with asyncio.timeout(LONG):
            while len(pool.waiting) < count:
                await asyncio.sleep(0)
        return pool.waiting[-1]

    async def filming():
        registry = JobRegistry(Limits(), pool, tmp_path)
        films, job = FilmCache(Limits(), pool, registry, tmp_path), registry.start(ADMITTED, live=0)
        pool.finish(job.task, 1)
        requests = [asyncio.create_task(films.get(job, "gif", 6)) for _ in range(2)]
        task = await next_task(1)
        old = leave_a_draft(task)
        for request in requests:
            assert pool.stopped == []
            request.cancel()
            await asyncio.wait({request})
        await asyncio.sleep(0)
        assert pool.stopped == [task]
        third = asyncio.create_task(films.get(job, "gif", 6))  # starts another attempt
        again = await next_task(2)
        new = leave_a_draft(again)
        task.ended(TaskOutcome(Ending.STOPPED))  # its process did not stop, and was killed later
        assert (old.exists(), new.exists()) == (False, True)
        Path(again.order["film"]).write_bytes(b"film")
        again.ended(TaskOutcome(Ending.RESULT, {}))
        assert (await third).read_bytes() == b"film"
        assert [path.name for path in tmp_path.glob("*.gif*")] == [f"{job.id}.6.gif"]
        assert not new.exists()

    asyncio.run(filming())


def test_a_short_task_is_tried_twice_if_its_process_dies_and_stopped_if_its_request_is(pool):
    async def requesting():
        request = asyncio.create_task(task_result(pool, "validate", b"", 1))
        for outcome in (
            TaskOutcome(Ending.LOST, "signal 9"),
            TaskOutcome(Ending.RESULT, {"ok": True}),
        ):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            pool.waiting.pop().ended(outcome)
        assert await request == {"ok": True}
        request = asyncio.create_task(task_result(pool, "validate", b"", 1))
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="1 jobs wait already"):
            await task_result(pool, "validate", b"", 1)
        request.cancel()
        await asyncio.wait({request})
        assert len(pool.stopped) == 1

    asyncio.run(requesting())


@pytest.mark.parametrize(
    ("outcome", "code", "words"),
    [
        (TaskOutcome(Ending.LATE, "0.5 s"), "web.time", "longer than the 0.5 s"),
        (TaskOutcome(Ending.LOST, "signal 9"), WORKER_LOST, "signal 9"),
        (TaskOutcome("crowded"), "web.busy", "others wait"),
    ],
)
def test_outcomes_as_errors(outcome, code, words):
    error = problem_of(outcome)
    assert error["code"] == code
    assert words in error["message"]
    assert problem_of(TaskOutcome(Ending.STOPPED)) is None


# The work itself.


LARGE = scenario(seed=1, record={"kind": "samples", "sample_every": 2e-5})


@pytest.mark.parametrize(
    ("body", "limits", "stops", "status", "code"),
    [
        (slow(horizon=1e4), Limits(), True, Ending.STOPPED, None),  # and not after 400 000 events
        (slow(horizon=50.0), Limits(events=300.0), False, Ending.FAILED, "web.events"),
        (LARGE, Limits(memory=4e8), False, Ending.FAILED, "web.memory"),
        (scenario(horizon=1.0, seed=1), Limits(memory=4e8), False, Ending.RESULT, None),
    ],
)
def test_runs_in_a_worker(tmp_path, monkeypatch, body, limits, stops, status, code):
    """The number of events is known before the start for some laws only; others are watched."""
    monkeypatch.setattr(run_stream, "refuse_events", lambda expected, horizon, limits: None)
    link, events = object.__new__(Link), [0]
    link.task, link.stopped, link._sent_at = 1, None, 0.0

    def send(kind, message):
        if isinstance(message, Entry) and message.kind == "events":
            events[0] += message.count
            link.stopped = 1 if stops else None

    link.send = send
    files = {"file": str(tmp_path / "one.nc"), "spool": str(tmp_path / "one.frames")}
    order = {"do": "run", "scenario": json.dumps(body), **files}
    outcome, _ = work_on(limits, runs=True).outcome(order, link)
    assert outcome.status == status
    assert code is None or outcome.value["code"] == code
    assert (tmp_path / "one.nc").exists() == (status == Ending.RESULT)
    assert events[0] < (20_000 if stops else 2000)


def test_errors_hide_internals_and_name_missing_memory(capsys):
    error = describe(ZeroDivisionError("secret /home/someone"))
    assert error["code"] == "job.unforeseen"
    assert "secret" not in error["message"]
    assert "secret" in capsys.readouterr().err
    assert describe(MemoryError())["code"] == "web.out-of-memory"
    with pytest.raises(KeyError):
        run_order(Limits(), {"do": "something else"}, None)
