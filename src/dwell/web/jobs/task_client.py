"""Tasks whose results a request waits for, carried out by worker processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from dwell.web.errors import RequestError, problem
from dwell.workers.child import Ending, TaskOutcome
from dwell.workers.pool import Pool, Task

SECONDS = 60.0  # time limit of a short task: the first of a kind may have to be compiled
LESS = "take a shorter horizon or fewer agents"
WORKER_LOST = "web.worker-lost"
STATUS = {
    "web.too-large": 413,
    "scenario.too-large": 413,
    "job.unforeseen": 500,
    **dict.fromkeys(("film.ffmpeg", "plot.missing", WORKER_LOST, "web.busy"), 503),
}


async def task_result(
    pool: Pool, task: str, raw: bytes, queued: int, given: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the result of one of `dwell.web.work.scenario_tasks.TASKS` on the body of a request.

    A task whose process dies is tried once more: an earlier one may have damaged the process.
    """
    order = {"do": "task", "task": task, "body": raw, "given": dict(given or {})}
    try:
        return await result_of(pool, order, SECONDS, queued)
    except RequestError as error:
        if error.code != WORKER_LOST:
            raise
    return await result_of(pool, order, SECONDS, queued)


async def result_of(
    pool: Pool,
    order: dict[str, Any],
    seconds: float,
    queued: int,
    ended: Callable[[TaskOutcome], None] = lambda outcome: None,
) -> dict[str, Any]:
    """Return the result of an order, or raise a RequestError; a cancelled call stops the task.

    `ended` is called when the process has ended the task, also after a cancellation.
    """
    waiting: asyncio.Future[TaskOutcome] = asyncio.get_running_loop().create_future()

    def end(outcome: TaskOutcome) -> None:
        ended(outcome)
        if not waiting.done():
            waiting.set_result(outcome)

    task = Task(order, end, seconds)
    submit(pool, task, queued)
    try:
        outcome = await waiting
    except asyncio.CancelledError:
        pool.stop(task)
        raise
    if outcome.status == Ending.RESULT:
        result: dict[str, Any] = outcome.value
        return result
    error = problem_of(outcome)
    if error is None:
        raise draining()
    raise RequestError(
        STATUS.get(error["code"], 422), error["code"], error["message"], error["key"]
    )


def submit(pool: Pool, task: Task, queued: int) -> None:
    """Put a task into the queue of a pool, unless `queued` tasks wait there."""
    if pool.closed:
        raise draining()
    if len(pool.waiting) >= queued:
        says = f"{len(pool.waiting)} jobs wait already, and no more may; try again later"
        raise RequestError(503, "web.queue-full", says)
    pool.submit(task)


def draining() -> RequestError:
    """Return the error for a server that is about to end."""
    return RequestError(503, "web.draining", "the server is about to end; it takes no more jobs")


def problem_of(outcome: TaskOutcome, advice: str = LESS) -> dict[str, Any] | None:
    """Return the error of a task that failed; None if it was stopped on request.

    `advice` says what would make a task that took too long shorter.
    """
    match outcome.status:
        case Ending.LATE:
            code = "web.time"
            says = f"the job took longer than the {outcome.value} that this server gives to one; "
            says += f"{advice}, or use dwell run"
        case Ending.LOST:
            code = WORKER_LOST
            says = f"the worker process ended unexpectedly ({outcome.value}), perhaps for want of "
            says += "memory; take fewer agents or a shorter horizon, or try again"
        case Ending.CROWDED:
            code = "web.busy"
            says = "too many long tasks are under way, and others wait; try again later"
        case Ending.FAILED:
            error: dict[str, Any] = outcome.value
            return error
        case _:
            return None
    return problem(code, says)
