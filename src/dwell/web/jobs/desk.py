"""Small questions, answered by a worker of their own, so that they need not wait for runs."""

from __future__ import annotations

import asyncio
import itertools
from base64 import b64encode
from collections.abc import Callable
from typing import Any, final

from dwell.web.jobs.crew import BUSY, LOST, Crew, Outcome, Task
from dwell.web.refusals import Refusal

SECONDS = 60.0  # that an answer may take: the first of a kind may have to be compiled
QUICK = 2.0  # seconds after which those who wait behind a question are let by
STATUS = {
    "web.too-large": 413,
    "scenario.too-large": 413,
    "job.unforeseen": 500,
    **dict.fromkeys(("film.ffmpeg", "plot.missing", LOST, BUSY), 503),
}


@final
class Desk:
    """Takes questions to a crew and brings answers back."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._numbers = itertools.count()

    async def ask(self, task: str, raw: bytes) -> dict[str, Any]:
        """The answer to one of `dwell.web.work.tasks.TASKS`."""
        try:
            return await self._ask(task, raw)
        except Refusal as refusal:
            if refusal.code != LOST:
                raise
        return await self._ask(task, raw)  # it may have been the fault of something before

    async def _ask(self, task: str, raw: bytes) -> dict[str, Any]:
        order = {"do": "task", "task": task, "body": b64encode(raw).decode()}
        return await asked(self._crew, f"desk-{next(self._numbers)}", order, SECONDS)


async def asked(
    crew: Crew,
    name: str,
    order: dict[str, Any],
    seconds: float,
    over: Callable[[Outcome], None] = lambda outcome: None,
) -> dict[str, Any]:
    """What comes of an order, for those who wait for it; a refusal if nothing does.

    `over` is told when the worker has done with it, even if nobody waits any more.
    """
    answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    def ended(outcome: Outcome) -> None:
        over(outcome)
        if not answer.done():
            answer.set_result(outcome)

    task = Task(name, order, seconds, lambda: None, lambda words: None, ended)
    crew.submit(task)
    try:
        outcome = await answer
    except asyncio.CancelledError:
        crew.stop(task)
        raise
    if "result" in outcome:
        result: dict[str, Any] = outcome["result"]
        return result
    raise refusal_of(outcome)


def refusal_of(outcome: Outcome) -> Refusal:
    """An outcome without a result, as an answer."""
    if "error" not in outcome:
        return Refusal(503, "web.draining", "the server is about to end; ask again later")
    error = outcome["error"]
    status = STATUS.get(error["code"], 422)
    return Refusal(status, error["code"], error["message"], error["key"])
