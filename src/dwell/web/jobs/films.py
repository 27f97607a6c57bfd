"""Films of runs: each made once, for as long as somebody waits for it."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from dwell.web.jobs.book import Book, Job
from dwell.web.jobs.crew import Crew, Outcome
from dwell.web.jobs.desk import asked
from dwell.web.limits import Limits
from dwell.web.refusals import Refusal

FPS, LONGEST = 20.0, 20  # frames and seconds
MEDIA = {"gif": "image/gif", "mp4": "video/mp4"}


def kinds() -> list[str]:
    """The formats that this machine can make."""
    return [kind for kind in MEDIA if kind != "mp4" or shutil.which("ffmpeg")]


@final
@dataclass(eq=False)
class _Making:
    """A film under way, and how many wait for it."""

    task: asyncio.Task[dict[str, Any]]
    waiting: int = 0


@final
class Films:
    """Those that there are, and those under way."""

    def __init__(self, limits: Limits, crew: Crew, book: Book, folder: Path) -> None:
        self._limits, self._crew, self._book, self._folder = limits, crew, book, folder
        self._making: dict[Path, _Making] = {}
        self._numbers = itertools.count()  # a film that is begun anew is another order

    async def film(self, job: Job, kind: str, seconds: int) -> Path:
        """The film of a run; those who ask meanwhile wait for the same one."""
        if kind not in kinds():
            says = (
                "an MP4 film needs the program ffmpeg, which this server does not have; take "
                "format=gif, or install ffmpeg where the server runs"
            )
            raise Refusal(503, "film.ffmpeg", says)
        path = self._folder / f"{job.id}.{seconds}.{kind}"
        if not path.exists():
            try:
                await self._wait_for(job, path, seconds)
            finally:
                self._book.get(job.id)  # it may be forgotten meanwhile, and the film with it
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
                making.task.cancel()  # all have gone
                del self._making[path]  # whoever comes now begins anew

    async def _make(self, job: Job, path: Path, seconds: int) -> dict[str, Any]:
        own, number = self._making[path], next(self._numbers)
        take = path.with_name(f"{job.id}.{seconds}.{number}{path.suffix}")
        order = {
            "do": "film", "file": str(job.file), "film": str(take), "fps": FPS, "seconds": seconds
        }  # fmt: skip

        def over(outcome: Outcome) -> None:
            """Here and not below, as a worker that was asked to stop goes on for a moment."""
            with suppress(FileNotFoundError):  # the run is forgotten
                if "result" in outcome:
                    take.replace(path)
            for draft in self._folder.glob(f".{take.name}.*"):  # of a worker that was killed
                draft.unlink(missing_ok=True)
            self._book.tidy(job)

        try:
            return await asked(self._crew, f"film-{number}", order, self._limits.seconds, over)
        finally:
            if self._making.get(path) is own:
                del self._making[path]
