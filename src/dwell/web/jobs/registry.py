"""Runs as jobs: their states, and the files of those that have ended."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, final

from dwell.web.errors import RequestError, problem
from dwell.web.jobs.task_client import LESS, problem_of, submit
from dwell.web.limits import Limits
from dwell.web.wire_format import EVENTS, Entry
from dwell.web.work.jobs import COMPILING
from dwell.workers.child import Ending, TaskOutcome
from dwell.workers.pool import Pool, Task

WARMING = "warming"  # shown in place of queued or running while code is compiled
CLOSING = 2.0  # seconds in which listeners still receive how their runs ended
PULSE = 0.25  # seconds between two checks for listeners


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@final
@dataclass(eq=False)
class Job:
    """One requested run."""

    id: str
    about: dict[str, Any]  # law, agents, dimension, horizon, name
    file: Path
    spool: Path
    live: bool  # whether it ends when no client listens
    fleet: bool = False  # whether it is a live fleet, which no request ends
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    status: JobState = JobState.QUEUED
    progress: float = 0.0
    doing: str = "waiting"
    events: int = 0
    error: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    entries: list[Entry] = field(default_factory=list)
    listeners: set[asyncio.Event] = field(default_factory=set)
    listened_at: float = field(default_factory=time.monotonic)  # when a client listened last
    ended_at: float = 0.0
    task: Task | None = None
    advice: str = LESS  # if it takes too long

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.status in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)

    def changed(self) -> None:
        """Wake all listeners."""
        for listener in self.listeners:
            listener.set()

    def files(self) -> Iterator[Path]:
        """Its files, with the drafts that a killed worker left."""
        for pattern in (f"{self.id}.*", f".{self.id}.*"):
            yield from self.file.parent.glob(pattern)

    def size(self) -> int:
        """Return the bytes of its files."""
        return sum(_size(path) for path in self.files())

    def discard(self) -> None:
        """Delete its files; only its final status remains."""
        self.entries.clear()
        for path in self.files():
            path.unlink(missing_ok=True)


@final
class JobRegistry:
    """All jobs, oldest first."""

    def __init__(self, limits: Limits, pool: Pool, folder: Path) -> None:
        self._limits, self._pool, self._folder = limits, pool, folder
        self._jobs: dict[str, Job] = {}
        self.draining = False
        pool.moved = self._moved

    @property
    def busy(self) -> bool:
        """Whether a job runs."""
        return bool(self._pool.running)

    def newest_first(self) -> list[Job]:
        """Return all jobs."""
        return list(reversed(self._jobs.values()))

    def get(self, job_id: str) -> Job:
        """Return one job."""
        if job_id not in self._jobs:
            says = (
                f"there is no run {job_id[:40]!r}; it may have been deleted: GET /api/runs lists "
                "the others"
            )
            raise RequestError(404, "web.unknown-run", says)
        return self._jobs[job_id]

    def as_json(self, job: Job, *, whole: bool = False) -> dict[str, Any]:
        """Return the state of a job; `whole` adds its summary."""
        state = {
            "id": job.id,
            "status": WARMING if self._warms(job) else job.status,
            "position": 0 if job.task is None else self._pool.place(job.task),
            "progress": job.progress,
            "doing": job.doing,
            **job.about,
            "events": job.events,
            "live": job.live,
            "created": job.created.isoformat(),
            "error": job.error,
        }
        return {**state, "summary": job.summary} if whole else state

    def _warms(self, job: Job) -> bool:
        """Whether a job waits for code to be compiled, which happens once on each machine."""
        if job.status == JobState.QUEUED:
            return self._pool.warming
        return job.status == JobState.RUNNING and job.doing == COMPILING

    def start(self, admitted: dict[str, Any], *, live: bool) -> Job:
        """Put a new job into the queue."""
        if self.draining:
            raise RequestError(
                503, "web.draining", "the server is about to end; it takes no more jobs"
            )
        about = {key: admitted[key] for key in ("law", "agents", "dimension", "horizon", "name")}
        name = secrets.token_hex(8)
        file, spool = self._folder / f"{name}.nc", self._folder / f"{name}.frames"
        job = Job(name, about, file, spool, live, advice=admitted["advice"])
        order = {
            "do": "run", "scenario": admitted["scenario"], "file": str(file), "spool": str(spool)
        }  # fmt: skip
        job.task = Task(
            order, lambda outcome: self._ended(job, outcome), self._limits.seconds,
            began=lambda: self._began(job),
            reported=lambda message: report(job, message),
        )  # fmt: skip
        self._jobs[name] = job
        try:
            submit(self._pool, job.task, self._limits.queued)
        except RequestError:
            del self._jobs[name]
            raise
        return job

    def follow(self, job: Job) -> None:
        """Take in a job that no process of the server carries out: a live fleet."""
        self._jobs[job.id] = job

    def cancel(self, job: Job, reason: dict[str, Any] | None = None) -> None:
        """End a job that is not over; `reason` is given unless a client requested it."""
        if job.over or job.task is None:
            return
        task, job.error = job.task, reason
        self.close(job, JobState.CANCELLED)
        self._pool.stop(task)

    async def delete(self, job: Job) -> None:
        """End a job, wait until its process is free, and delete its files."""
        if job.fleet:
            says = "this run is a live fleet, which goes on; Ctrl-C where it was started stops it"
            raise RequestError(409, "web.fleet", says)
        task = job.task
        self.cancel(job)
        while task is not None and task.process is not None:
            await asyncio.sleep(0.01)
        self._drop(job)

    async def expire_live_jobs(self) -> None:
        """End live jobs without listeners, until this coroutine is cancelled."""
        while True:
            await asyncio.sleep(PULSE)
            now = time.monotonic()
            for job in self.newest_first():
                if job.listeners:
                    job.listened_at = now
                elif job.live and not job.over and now - job.listened_at > self._limits.absent:
                    says = f"no client has listened to this live run for {self._limits.absent:g} s"
                    self.cancel(job, problem("web.absent", says))

    async def drain(self) -> None:
        """Refuse new jobs, and let the present ones end within the time that limits allow."""
        self.draining = True
        for job in self.newest_first():
            if job.status == JobState.QUEUED:
                self.cancel(job, problem("web.draining", "the server ended before its turn came"))
        until = time.monotonic() + self._limits.drain
        while self._pool.running and time.monotonic() < until:
            await asyncio.sleep(0.02)
        for job in self.newest_first():
            self.cancel(job, problem("web.draining", "the server ended before the run did"))
        until = time.monotonic() + CLOSING
        while any(job.listeners for job in self._jobs.values()) and time.monotonic() < until:
            await asyncio.sleep(0.02)

    def _began(self, job: Job) -> None:
        job.status, job.doing = JobState.RUNNING, "preparing"
        job.changed()

    def _ended(self, job: Job, outcome: TaskOutcome) -> None:
        """Record how the task of a job ended."""
        job.task = None
        if job.over:  # it was cancelled before
            job.discard()
            return
        job.error = problem_of(outcome, job.advice)
        if outcome.status == Ending.RESULT:
            job.summary, job.progress = outcome.value["summary"], 1.0
            self.close(job, JobState.DONE)
        else:
            self.close(job, JobState.CANCELLED if job.error is None else JobState.FAILED)
        self._delete_oldest()

    def close(self, job: Job, status: JobState) -> None:
        """Record that a job is over."""
        job.status, job.doing, job.ended_at = status, status, time.monotonic()
        job.changed()

    def tidy(self, job: Job) -> None:
        """Keep the disk limit after a file was written, and delete files of deleted jobs."""
        self._delete_oldest()
        if job.id not in self._jobs:
            self._drop(job)

    def _delete_oldest(self) -> None:
        """Delete the oldest jobs that are over, until the others fit."""
        over = sorted((j for j in self._jobs.values() if j.over), key=lambda j: j.ended_at)
        sizes = {job.id: job.size() for job in over}
        while over and (len(over) > self._limits.kept or sum(sizes.values()) > self._limits.disk):
            oldest = over.pop(0)
            del sizes[oldest.id]
            self._drop(oldest)

    def _drop(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        job.discard()
        job.changed()

    def _moved(self) -> None:
        """Wake listeners of waiting jobs: their places in the queue have changed."""
        for job in self._jobs.values():
            if job.status == JobState.QUEUED:
                job.changed()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # a worker has just renamed or deleted it
        return 0


def report(job: Job, message: Entry | dict[str, Any]) -> None:
    """Record what is reported of a run under way."""
    if job.over:
        return
    if isinstance(message, Entry):
        job.entries.append(message)
        if message.kind == EVENTS:
            job.events = message.first + message.count
    else:
        job.doing, job.progress = message["doing"], message["progress"]
    job.changed()
