"""Runs as jobs: what is known of each, and the files of those that are over."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, final

from dwell.web.frames import EVENTS, Entry
from dwell.web.jobs.crew import Crew, Outcome, Task
from dwell.web.limits import Limits
from dwell.web.refusals import Refusal, problem

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
FAREWELL = 2.0  # seconds in which listeners may still hear how their runs ended
PULSE = 0.25  # seconds between two looks at who still listens


@final
@dataclass(eq=False)
class Job:
    """One run that somebody asked for."""

    id: str
    about: dict[str, Any]  # law, agents, dimension, horizon, name
    file: Path
    spool: Path
    live: bool  # whether it belongs to those who listen
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    status: str = QUEUED
    progress: float = 0.0
    doing: str = "waiting"
    events: int = 0
    error: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    entries: list[Entry] = field(default_factory=list)
    listeners: set[asyncio.Event] = field(default_factory=set)
    heard_at: float = field(default_factory=time.monotonic)  # when somebody listened last
    ended_at: float = 0.0
    task: Task | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in (DONE, FAILED, CANCELLED)

    def changed(self) -> None:
        """Wake those who listen."""
        for listener in self.listeners:
            listener.set()

    def files(self) -> Iterator[Path]:
        """Files that belong to it, also drafts that a worker left which was killed."""
        for pattern in (f"{self.id}.*", f".{self.id}.*"):
            yield from self.file.parent.glob(pattern)

    def size(self) -> int:
        """Bytes of its files."""
        return sum(_size(path) for path in self.files())

    def discard(self) -> None:
        """Delete its files; there is nothing more to be heard of it than how it ended."""
        self.entries.clear()
        for path in self.files():
            path.unlink(missing_ok=True)


@final
class Book:
    """All jobs, oldest first."""

    def __init__(self, limits: Limits, crew: Crew, folder: Path) -> None:
        self._limits, self._crew, self._folder = limits, crew, folder
        self._jobs: dict[str, Job] = {}
        self.draining = False
        crew.moved = self._moved

    @property
    def busy(self) -> bool:
        """Whether something runs."""
        return bool(self._crew.running)

    def newest_first(self) -> list[Job]:
        """All of them."""
        return list(reversed(self._jobs.values()))

    def get(self, job_id: str) -> Job:
        """One of them."""
        if job_id not in self._jobs:
            says = (
                f"there is no run {job_id[:40]!r}; it may have been forgotten: GET /api/runs lists "
                "those that there are"
            )
            raise Refusal(404, "web.unknown-run", says)
        return self._jobs[job_id]

    def as_json(self, job: Job, *, whole: bool = False) -> dict[str, Any]:
        """What clients are told of a job; `whole` with its numbers."""
        told = {
            "id": job.id,
            "status": job.status,
            "position": 0 if job.task is None else self._crew.place(job.task),
            "progress": job.progress,
            "doing": job.doing,
            **job.about,
            "events": job.events,
            "live": job.live,
            "created": job.created.isoformat(),
            "error": job.error,
        }
        return {**told, "summary": job.summary} if whole else told

    def start(self, admitted: dict[str, Any], *, live: bool) -> Job:
        """A new job, in the queue."""
        if self.draining:
            raise Refusal(503, "web.draining", "the server is about to end; it takes no more jobs")
        about = {key: admitted[key] for key in ("law", "agents", "dimension", "horizon", "name")}
        name = secrets.token_hex(8)
        file, spool = self._folder / f"{name}.nc", self._folder / f"{name}.frames"
        job = Job(name, about, file, spool, live)
        order = {
            "do": "run", "scenario": admitted["scenario"], "file": str(file), "spool": str(spool)
        }  # fmt: skip
        job.task = Task(
            name, order, self._limits.seconds,
            began=lambda: self._began(job),
            heard=lambda words: _heard(job, words),
            ended=lambda outcome: self._ended(job, outcome),
        )  # fmt: skip
        self._jobs[name] = job
        try:
            self._crew.submit(job.task)
        except Refusal:
            del self._jobs[name]
            raise
        return job

    def cancel(self, job: Job, reason: dict[str, Any] | None = None) -> None:
        """End a job that is not over; `reason` says why if nobody asked for it."""
        if job.over or job.task is None:
            return
        task, job.error = job.task, reason
        self._close(job, CANCELLED)
        self._crew.stop(task)

    async def forget(self, job: Job) -> None:
        """End a job, wait until its worker is free, and delete its files."""
        task = job.task
        self.cancel(job)
        while task is not None and task.worker is not None:
            await asyncio.sleep(0.01)
        self._drop(job)

    async def keep_house(self) -> None:
        """End live jobs that nobody listens to any more, for ever."""
        while True:
            await asyncio.sleep(PULSE)
            now = time.monotonic()
            for job in self.newest_first():
                if job.listeners:
                    job.heard_at = now
                elif job.live and not job.over and now - job.heard_at > self._limits.absent:
                    says = f"nobody has listened to this live run for {self._limits.absent:g} s"
                    self.cancel(job, problem("web.absent", says))

    async def drain(self) -> None:
        """Take no more jobs, let those that run come to their end, for a while."""
        self.draining = True
        for job in self.newest_first():
            if job.status == QUEUED:
                self.cancel(job, problem("web.draining", "the server ended before its turn came"))
        until = time.monotonic() + self._limits.drain
        while self._crew.running and time.monotonic() < until:
            await asyncio.sleep(0.02)
        for job in self.newest_first():
            self.cancel(job, problem("web.draining", "the server ended before the run did"))
        farewell = time.monotonic() + FAREWELL
        while any(job.listeners for job in self._jobs.values()) and time.monotonic() < farewell:
            await asyncio.sleep(0.02)

    def _began(self, job: Job) -> None:
        job.status, job.doing = RUNNING, "preparing"
        job.changed()

    def _ended(self, job: Job, outcome: Outcome) -> None:
        """A worker is done with it."""
        job.task = None
        if job.over:  # it was cancelled before; nothing of it is wanted
            job.discard()
            return
        if "result" in outcome:
            job.summary, job.progress = outcome["result"]["summary"], 1.0
            self._close(job, DONE)
        elif "error" in outcome:
            job.error = outcome["error"]
            self._close(job, FAILED)
        else:
            self._close(job, CANCELLED)
        self._make_room()

    def _close(self, job: Job, status: str) -> None:
        job.status, job.doing, job.ended_at = status, status, time.monotonic()
        job.changed()

    def tidy(self, job: Job) -> None:
        """A file of a job has come: make room for it, or delete it if the job is forgotten."""
        self._make_room()
        if job.id not in self._jobs:
            self._drop(job)

    def _make_room(self) -> None:
        """Forget the oldest of those that are over, until the others fit."""
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
        """Places in the queue have changed."""
        for job in self._jobs.values():
            if job.status == QUEUED:
                job.changed()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # a worker has just given it its name, or put it away
        return 0


def _heard(job: Job, words: dict[str, Any]) -> None:
    """What a worker says of a run under way."""
    if job.over:
        return
    if "entry" in words:
        entry = Entry(*words["entry"])
        job.entries.append(entry)
        if entry.kind == EVENTS:
            job.events = entry.first + entry.count
    else:
        job.doing, job.progress = words["doing"], words["progress"]
    job.changed()
