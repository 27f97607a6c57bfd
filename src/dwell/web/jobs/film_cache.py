"""Films of runs: each is made once, for as long as a request waits for it."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from dwell.web.errors import RequestError
from dwell.web.jobs.registry import Job, JobRegistry
from dwell.web.jobs.task_client import result_of
from dwell.web.limits import Limits
from dwell.workers.child import Ending, TaskOutcome
from dwell.workers.pool import Pool

FPS, LONGEST = 20.0, 20  # frames and seconds
MEDIA = {"gif": "image/gif", "mp4": "video/mp4"}


def kinds() -> list[str]:
    """Return the formats that this machine can make."""
    return [kind for kind in MEDIA if kind != "mp4" or shutil.which("ffmpeg")]


@final
@dataclass(eq=False)
class _Making:
    """A film under way, and the number of requests that wait for it."""

    task: asyncio.Task[dict[str, Any]]
    waiting: int = 0


@final
class FilmCache:
    """Finished films, and those under way."""

    def __init__(self, limits: Limits, pool: Pool, registry: JobRegistry, folder: Path) -> None:
        self._limits, self._pool, self._registry, self._folder = limits, pool, registry, folder
        self._making: dict[Path, _Making] = {}
        self._numbers = itertools.count()  # each attempt writes a file of its own

    async def get(self, job: Job, kind: str, seconds: int) -> Path:
        """Return the film of a run; concurrent requests wait for the same one."""
        if kind not in kinds():
            says = (
                "an MP4 film needs the program ffmpeg, which this server does not have; take "
                "format=gif, or install ffmpeg where the server runs"
            )
            raise RequestError(503, "film.ffmpeg", says)
        path = self._folder / f"{job.id}.{seconds}.{kind}"
        if not path.exists():
            try:
                await self._wait_for(job, path, seconds)
            finally:
                self._registry.get(job.id)  # it may be deleted meanwhile, and the film with it
        return path

    async def _wait_for(self, job: Job, path: Path, seconds: int) -> None:
        if path not in self._making:
            self._making[path] = _Making(asyncio.create_task(self._make(job, path, seconds)))
        making = self._making[path]
        making.waiting += 1
        try:
            await asyncio.shield(making.task)
        finally:
            making.waiting -= 1
            if not making.waiting and not making.task.done():
                making.task.cancel()  # no request waits any more
                del self._making[path]  # the next request starts another attempt

    async def _make(self, job: Job, path: Path, seconds: int) -> dict[str, Any]:
        own, number = self._making[path], next(self._numbers)
        take = path.with_name(f"{job.id}.{seconds}.{number}{path.suffix}")
        order = {
            "do": "film", "file": str(job.file), "film": str(take), "fps": FPS, "seconds": seconds
        }  # fmt: skip

        def ended(outcome: TaskOutcome) -> None:
            """Called by the pool, as a stopped process goes on for a moment."""
            with suppress(FileNotFoundError):  # the run was deleted
                if outcome.status == Ending.RESULT:
                    take.replace(path)
            for draft in self._folder.glob(f".{take.name}.*"):  # of a killed process
                draft.unlink(missing_ok=True)
            self._registry.tidy(job)

        try:
            return await result_of(
                self._pool, order, self._limits.seconds, self._limits.queued, ended
            )
        finally:
            if self._making.get(path) is own:
                del self._making[path]
