"""Jobs and their files, and what workers are let do, without a server around them."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest

from dwell.errors import InputError
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario
from dwell.web.frames import Spool
from dwell.web.jobs import crew as crews
from dwell.web.jobs.book import Book, Job
from dwell.web.jobs.crew import Crew, Task
from dwell.web.jobs.desk import Desk
from dwell.web.jobs.films import Films
from dwell.web.limits import Limits
from dwell.web.refusals import Refusal
from dwell.web.work import watching
from dwell.web.work.watching import Watcher
from dwell.web.work.worker import JOBS, Line, Stopped, done, is_tired
from tests.web.servers import scenario, slow

ADMITTED = {
    "scenario": "{}", "law": "timer", "agents": 3, "dimension": 2, "horizon": 1.0, "name": None
}  # fmt: skip


class Idle:
    """Stands for a crew: does nothing until told what came of a task."""

    def __init__(self):
        self.tasks, self.running, self.stopped = [], [], []

    def submit(self, task):
        self.tasks.append(task)

    def place(self, task):
        return self.tasks.index(task) + 1 if task in self.tasks else 0

    def stop(self, task):
        self.stopped.append(task)
        self.tasks.remove(task)
        task.ended({"stopped": True})

    def begin(self, task):
        self.tasks.remove(task)
        task.began()

    def finish(self, task, size, **outcome):
        if task in self.tasks:
            self.begin(task)
        for suffix in ("file", "spool"):
            with open(task.order[suffix], "wb") as file:
                file.write(b"x" * size)
        task.ended(outcome or {"result": {"summary": {"figures": 1}}})


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (Limits(kept=3), 3),
        (Limits(disk=2500.0), 2),  # two files of 500 bytes each
        (Limits(), 6),
        (Limits(disk=10.0), 0),
    ],
)
def test_the_oldest_are_forgotten_with_their_files(tmp_path, limits, left):
    crew = Idle()
    book = Book(limits, crew, tmp_path)
    jobs = []
    for _ in range(6):
        jobs.append(book.start(ADMITTED, live=False))
        crew.finish(jobs[-1].task, 500)
    kept = jobs[6 - left :]
    assert book.newest_first() == kept[::-1]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{job.id}.{end}" for job in kept for end in ("nc", "frames")}
    for job in jobs[: 6 - left]:
        with pytest.raises(Refusal) as gone:
            book.get(job.id)
        assert gone.value.status == 404


def test_what_waits_or_runs_is_never_forgotten(tmp_path):
    crew = Idle()
    book = Book(Limits(kept=1, disk=1.0), crew, tmp_path)
    waiting, other = (book.start(ADMITTED, live=False) for _ in range(2))
    crew.finish(other.task, 100)
    assert book.newest_first() == [waiting]


def test_a_failed_job_says_why_and_a_cancelled_one_leaves_no_files(tmp_path):
    crew = Idle()
    book = Book(Limits(), crew, tmp_path)
    failed, cancelled = (book.start(ADMITTED, live=False) for _ in range(2))
    error = {"code": "x", "key": None, "message": "words"}
    crew.finish(failed.task, 1, error=error)
    assert book.as_json(failed)["error"] == error
    assert failed.status == "failed"
    (tmp_path / f"{cancelled.id}.frames").write_bytes(b"x")
    book.cancel(cancelled)
    assert cancelled.status == "cancelled"
    assert not list(tmp_path.glob(f"{cancelled.id}.*"))
    book.cancel(cancelled)  # once more changes nothing
    assert len(crew.stopped) == 1


def test_a_job_that_ends_while_it_is_cancelled_stays_cancelled(tmp_path):
    crew = Idle()
    crew.stop = lambda task: None  # the worker has just finished, and does not hear
    book = Book(Limits(), crew, tmp_path)
    job = book.start(ADMITTED, live=False)
    task = job.task
    crew.begin(task)
    book.cancel(job)
    crew.finish(task, 10)
    assert job.status == "cancelled"
    assert job.summary is None
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_worker_left_goes_with_its_job(tmp_path):
    """Files are written under hidden names first, and a worker that is killed deletes nothing."""
    crew = Idle()
    book = Book(Limits(), crew, tmp_path)
    job = book.start(ADMITTED, live=False)
    crew.finish(job.task, 10)
    (tmp_path / f".{job.id}.6.gif.abcd.tmp").write_bytes(b"x" * 100)
    assert job.size() == 120
    asyncio.run(book.forget(job))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_goes_while_sizes_are_added_up(tmp_path, monkeypatch):
    crew = Idle()
    book = Book(Limits(), crew, tmp_path)
    job = book.start(ADMITTED, live=False)
    crew.finish(job.task, 10)
    gone = tmp_path / f"{job.id}.gone"
    monkeypatch.setattr(Job, "files", lambda self: iter([job.file, gone]))
    assert job.size() == 10


def test_nothing_is_taken_while_draining(tmp_path):
    book = Book(Limits(drain=0.1), Idle(), tmp_path)
    waiting = book.start(ADMITTED, live=False)
    asyncio.run(book.drain())
    assert waiting.status == "cancelled"
    assert waiting.error["code"] == "web.draining"
    with pytest.raises(Refusal, match="about to end"):
        book.start(ADMITTED, live=False)


@pytest.mark.parametrize("keys", [{"agents": 0}, {"seconds": -1.0}, {"memory": float("nan")}])
def test_limits_are_numbers_above_zero(keys):
    with pytest.raises(InputError, match=next(iter(keys))):
        Limits(**keys)


# Films.


def test_a_film_is_made_once_for_all_who_wait_and_given_up_when_all_have_gone(tmp_path):
    class Studio(Idle):
        def stop(self, task):
            self.stopped.append(task)

    async def filming():
        crew = Studio()
        book = Book(Limits(), crew, tmp_path)
        films, job = Films(Limits(), crew, book, tmp_path), book.start(ADMITTED, live=False)
        crew.finish(job.task, 1)
        first, second = (asyncio.create_task(films.film(job, "gif", 6)) for _ in range(2))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (task,) = crew.tasks
        drafts = []

        def leave_a_draft(task):
            film = Path(task.order["film"])
            drafts.append(film.with_name(f".{film.name}.abcd.tmp"))
            drafts[-1].write_bytes(b"x")

        leave_a_draft(task)
        for waits in (first, second):
            assert crew.stopped == []
            waits.cancel()
            await asyncio.wait({waits})
        await asyncio.sleep(0)
        assert crew.stopped == [task]
        third = asyncio.create_task(films.film(job, "gif", 6))  # whoever comes begins anew
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        anew = crew.tasks[-1]
        assert anew.id != task.id
        leave_a_draft(anew)
        task.ended({"stopped": True})  # its worker did not heed, and was killed later
        assert [draft.exists() for draft in drafts] == [False, True]
        Path(anew.order["film"]).write_bytes(b"film")
        anew.ended({"result": {}})
        assert (await third).read_bytes() == b"film"
        assert [path.name for path in tmp_path.glob("*.gif*")] == [f"{job.id}.6.gif"]
        assert not drafts[1].exists()

    asyncio.run(filming())


# A crew whose workers are made up.


class Clerk:
    """Stands for a worker process: ready at once, and works until it is told."""

    made: ClassVar[list] = []

    def __init__(self, limits, what, heard):
        self.ready, self.tired, self.busy, self._heard = True, False, None, heard
        self.pid, self.killed, self.alive = len(self.made), False, True
        self.made.append(self)

    def send(self, message):
        pass

    def kill(self):
        if not self.killed:
            self.killed = True
            asyncio.get_running_loop().call_soon(self._heard, self, None)

    def answer(self):
        self._heard(self, {"id": self.busy.id, "result": {}})

    def ended_by(self):
        return "signal 9"


@pytest.fixture
def clerks(monkeypatch):
    monkeypatch.setattr(crews, "Worker", Clerk)
    Clerk.made = []
    return Clerk.made


def question(name, outcomes):
    def ended(outcome):
        outcomes[name] = outcome

    return Task(name, {}, 60.0, lambda: None, lambda words: None, ended)


def test_a_long_question_lets_others_by(clerks):
    async def asking():
        desk, outcomes = Crew(Limits(), "desk", 1, 9, quick=0.05, grace=0.01), {}
        desk.open()
        desk.submit(question("long", outcomes))
        await asyncio.sleep(0.15)
        assert len(clerks) == 1  # nobody waits: it may take its time
        desk.submit(question("short", outcomes))
        await asyncio.sleep(0.15)
        first, second = clerks
        assert second.busy is None  # not ready before its process has started
        second._heard(second, {"ready": 1})
        assert second.busy.id == "short"
        second.answer()
        assert list(outcomes) == ["short"]
        assert [task.id for task in desk.running] == ["long"]
        first.answer()
        await asyncio.sleep(0.02)
        assert "result" in outcomes["long"]
        assert first.killed
        assert desk.pids == [second.pid]
        await desk.close()

    asyncio.run(asking())


def test_a_worker_that_has_just_died_gets_no_work(clerks):
    async def asking():
        desk, outcomes = Crew(Limits(), "desk", 1, 9), {}
        desk.open()
        clerks[0].alive = False  # and nobody has said so yet
        desk.submit(question("one", outcomes))
        assert len(desk.waiting) == 1
        clerks[0]._heard(clerks[0], None)
        clerks[1]._heard(clerks[1], {"ready": 1})
        clerks[1].answer()
        assert "result" in outcomes["one"]
        await desk.close()

    asyncio.run(asking())


def test_there_are_not_endlessly_many_long_questions(clerks):
    async def asking():
        desk, outcomes = Crew(Limits(), "desk", 1, 9, quick=0.02, grace=0.01), {}
        desk.open()
        for k in range(4):
            desk.submit(question(k, outcomes))
            await asyncio.sleep(0.06)
            clerks[-1]._heard(clerks[-1], {"ready": 1})
        desk.submit(question("last", outcomes))
        await asyncio.sleep(0.1)
        assert outcomes[2]["error"]["code"] == "web.busy"
        assert len(desk.pids) == 3
        await desk.close()
        assert desk.pids == []

    asyncio.run(asking())


def test_who_stops_waiting_frees_the_worker(clerks):
    async def asking():
        desk = Crew(Limits(), "desk", 1, 9, grace=0.01)
        desk.open()
        waiting = [
            asyncio.create_task(Desk(desk).ask("validate", b"")) for _ in range(2)
        ]  # fmt: skip
        await asyncio.sleep(0.01)
        assert (len(desk.running), len(desk.waiting)) == (1, 1)
        for one in waiting:
            one.cancel()
        await asyncio.sleep(0.05)
        assert (desk.running, desk.waiting) == ([], [])
        assert clerks[0].killed
        await desk.close()

    asyncio.run(asking())


# A real worker.


def order(tmp_path, body, name):
    files = {"file": str(tmp_path / f"{name}.nc"), "spool": str(tmp_path / f"{name}.frames")}
    return {"do": "run", "scenario": json.dumps(body), **files}


def test_a_job_that_takes_too_long_is_ended_and_the_next_goes_on(tmp_path):
    """And one that needs more memory than it gets fails alone, in the same worker."""

    async def trying():
        crew = Crew(Limits(memory=4e8), "runs", 1, 9)
        crew.open()
        outcomes = {}
        left = asyncio.Event()

        def task(name, body, seconds):
            def ended(outcome):
                outcomes[name] = outcome
                if len(outcomes) == 3:
                    left.set()

            made = order(tmp_path, body, name)
            return Task(name, made, seconds, lambda: None, lambda words: None, ended)

        crew.submit(task("late", slow(), 0.5))
        large = scenario(seed=1, record={"kind": "samples", "sample_every": 2e-5})
        crew.submit(task("large", large, 100.0))
        crew.submit(task("good", scenario(horizon=1.0, seed=1), 100.0))
        await asyncio.wait_for(left.wait(), 200.0)
        await crew.close()
        return outcomes

    found = asyncio.run(trying())
    assert found["late"]["error"]["code"] == "web.time"
    assert found["large"]["error"]["code"] == "web.memory"
    assert found["good"]["result"]["summary"]["stop"]["ok"]


# The work itself, in this process.


def quiet_line():
    line = object.__new__(Line)
    line.stopped, line.doing, line._spoke, line.said = None, "one", 0.0, []
    line.say = lambda **words: line.said.append(words)
    return line


def test_a_stop_is_heard_at_the_next_piece(tmp_path):
    line = quiet_line()

    def say(**words):
        if words.get("entry", [""])[0] == "events":
            line.stopped = "one"

    line.say = say
    began = time.monotonic()
    outcome = done({**order(tmp_path, slow(horizon=1e4), "one")}, Limits(), line)
    assert outcome == {"stopped": True}
    assert time.monotonic() - began < 60.0  # and not after 400 000 events
    assert not (tmp_path / "one.nc").exists()
    with pytest.raises(Stopped):
        line.check()


def test_faults_of_ours_are_told_without_insides(tmp_path, monkeypatch, capsys):
    def broken(*args):
        raise ZeroDivisionError("secret /home/someone")

    monkeypatch.setitem(JOBS, "run", broken)
    outcome = done(order(tmp_path, {}, "one"), Limits(), quiet_line())
    assert outcome["error"]["code"] == "job.unforeseen"
    assert "secret" not in outcome["error"]["message"]
    assert "secret" in capsys.readouterr().err


def test_want_of_memory_is_a_reason_and_tires_the_worker(tmp_path, monkeypatch):
    def greedy(*args):
        raise MemoryError

    monkeypatch.setitem(JOBS, "run", greedy)
    outcome = done(order(tmp_path, {}, "one"), Limits(), quiet_line())
    assert outcome["error"]["code"] == "web.out-of-memory"
    assert is_tired(float("inf"), Limits(), outcome)
    assert not is_tired(float("inf"), Limits(), {"result": {}})
    assert not is_tired(float("inf"), Limits(), {"error": {"code": "web.memory"}})


def test_events_beyond_the_limit_end_a_run(tmp_path, monkeypatch):
    """Laws that do not say beforehand how often they look are watched."""
    told = []
    checked = parse_scenario(slow(horizon=50.0))
    with closing(Spool(tmp_path / "x")) as spool:
        watcher = Watcher(checked, Limits(events=300.0), spool, told.append)
        monkeypatch.setattr(watching, "refuse_events", lambda expected, horizon, limits: None)
        with pytest.raises(InputError, match=r"has made \d+ events") as refused:
            run_scenario(checked, watch=watcher.watch)
    assert 600 < watcher.events < 2000
    assert refused.value.code == "web.events"
