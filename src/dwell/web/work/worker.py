"""A worker: a process of its own that does one thing at a time for the server.

It hears orders on its standard input and answers on its standard output, each message a length of
four bytes and JSON. It ends when its input does, so none outlives its server.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import struct
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, final

from dwell.errors import DwellError, InputError
from dwell.web.limits import Limits
from dwell.web.refusals import problem, problem_of

NO_MEMORY = "web.out-of-memory"
OFTEN = 0.1  # seconds between two words about progress


class Stopped(BaseException):
    """The server asked for an end. Not an Exception, so that nobody on the way keeps it."""


@final
class Line:
    """Both ways to the server; one thread reads, so that a stop is heard while work goes on."""

    def __init__(self, hears: BinaryIO, says: BinaryIO) -> None:
        self._hears, self._says = hears, says
        self.orders: queue.Queue[dict[str, Any]] = queue.Queue()
        self.stopped: str | None = None  # the order that is to end
        self.doing: str | None = None
        self._spoke = 0.0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            order = read_message(self._hears)
            if order is None:
                os._exit(0)  # the server has gone
            if order["do"] == "stop":
                self.stopped = order["id"]
            else:
                self.orders.put(order)

    def say(self, **words: Any) -> None:
        """Tell the server."""
        write_message(self._says, words)

    def progress(self, what: str, share: float) -> None:
        """As runs and films tell; now and then to the server."""
        self.check()
        now = time.monotonic()
        if now - self._spoke >= OFTEN:
            self._spoke = now
            self.say(id=self.doing, doing=what, progress=min(max(share, 0.0), 1.0))

    def check(self) -> None:
        """End here if the server asked for it."""
        if self.doing is not None and self.stopped == self.doing:
            raise Stopped


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None at the end."""
    try:
        head = stream.read(4)
        if len(head) < 4:
            return None
        (length,) = struct.unpack("<I", head)
        body = stream.read(length)
    except (OSError, ValueError):
        return None
    if len(body) < length:
        return None
    message: dict[str, Any] = json.loads(body)
    return message


def write_message(stream: BinaryIO, message: dict[str, Any]) -> None:
    """Send a message whole."""
    body = json.dumps(message, allow_nan=False).encode()
    stream.write(struct.pack("<I", len(body)) + body)
    stream.flush()


def run_job(order: dict[str, Any], limits: Limits, line: Line) -> dict[str, Any]:
    """A scenario, run and kept in a file; its numbers."""
    from dwell.results import save_run
    from dwell.runner import run_scenario
    from dwell.scenario import parse_scenario
    from dwell.scenario.build import with_seed
    from dwell.web.frames import Entry, Spool
    from dwell.web.work.watching import Watcher

    scenario = with_seed(parse_scenario(json.loads(order["scenario"])))

    def told(entry: Entry) -> None:
        line.check()
        about = [entry.kind, entry.first, entry.count, entry.offset, entry.length]
        line.say(id=line.doing, entry=about)

    spool = Spool(Path(order["spool"]))
    try:
        watcher = Watcher(scenario, limits, spool, told)
        run = run_scenario(scenario, progress=line.progress, threads=1, watch=watcher.watch)
        watcher.end(run)
        line.progress("measuring", 1.0)
        summary = run.summary()
        line.progress("saving", 1.0)
        save_run(run, order["file"], force=True)
    finally:
        spool.close()
    return {"summary": summary}


def film_job(order: dict[str, Any], limits: Limits, line: Line) -> dict[str, Any]:
    """A film of a run that was kept."""
    from dwell.plotting.film import animate
    from dwell.results import load_run

    run = load_run(order["file"])
    made = animate(
        run, order["film"], fps=order["fps"], seconds=order["seconds"], progress=line.progress
    )
    return {"film": str(made)}


def task_job(order: dict[str, Any], limits: Limits, line: Line) -> dict[str, Any]:
    """A small question."""
    from dwell.web.work.tasks import TASKS

    return TASKS[order["task"]](b64decode(order["body"]), limits)


JOBS: dict[str, Callable[[dict[str, Any], Limits, Line], dict[str, Any]]] = {
    "run": run_job,
    "film": film_job,
    "task": task_job,
}


def done(order: dict[str, Any], limits: Limits, line: Line) -> dict[str, Any]:
    """What came of an order: its result, or why there is none."""
    try:
        return {"result": JOBS[order["do"]](order, limits, line)}
    except Stopped:
        return {"stopped": True}
    except InputError as fault:
        return {"error": problem_of(fault)}
    except DwellError as fault:
        return {"error": problem("job.failed", str(fault))}
    except MemoryError:
        says = "this job needs more memory than the server gives to one; take fewer agents, fewer "
        return {"error": problem(NO_MEMORY, f"{says}samples or a shorter horizon")}
    except Exception as fault:
        import traceback

        traceback.print_exc()  # for whoever runs the server; the client gets no insides
        says = f"the job ended with an unforeseen {type(fault).__name__}; the server's log has more"
        return {"error": problem("job.unforeseen", says)}


def limit_memory(size: float) -> None:
    """Let this process take `size` bytes beyond what it has; more raises MemoryError."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (int(_memory(ADDRESSES) + size), hard))


def leave_signals_to_the_server() -> None:
    """Whoever ends a service may tell all its processes; the server alone says when to end."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)


def offer_itself() -> None:
    """When the machine runs out of memory, a worker is to be ended rather than its server."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


ADDRESSES, RESIDENT = 0, 1  # columns of /proc/self/statm


def _memory(column: int) -> float:
    """Bytes that this process has; OSError where nobody says."""
    import resource

    pages = Path("/proc/self/statm").read_text().split()[column]
    return float(pages) * resource.getpagesize()


def is_tired(fresh: float, limits: Limits, outcome: dict[str, Any]) -> bool:
    """Whether a fresh process should take over: after a want of memory, or if much is not freed."""
    if outcome.get("error", {}).get("code") == NO_MEMORY:
        return True
    with suppress(ImportError, OSError):
        return _memory(RESIDENT) > fresh + limits.memory / 2.0
    return False


def warm(limits: Limits, what: str) -> None:
    """Load what jobs will need, compiled, so that the first one does not wait for it."""
    from dwell.scenario import parse_scenario, template_text, text_to_mapping
    from dwell.scenario.build import build

    data = text_to_mapping(template_text("two-hills"))
    data["run"] = {"horizon": 1.0, "seed": 1}
    scenario = parse_scenario(data)
    if what == "runs":
        from dwell.runner import run_scenario

        run_scenario(scenario, threads=1, progress=False).summary()
    else:
        import dwell.web.work.tasks  # noqa: F401 (so that the first question finds it loaded)

        build(scenario)


def main() -> None:
    """Do what comes in, until nothing more can come."""
    limits, what = Limits(**json.loads(sys.argv[1])), sys.argv[2]
    says = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed by accident must not be taken for an answer
    line = Line(sys.stdin.buffer, says)
    leave_signals_to_the_server()
    offer_itself()
    warm(limits, what)
    fresh = float("inf")
    with suppress(ImportError, OSError):
        fresh = _memory(RESIDENT)
    line.say(ready=os.getpid())
    tired = False
    while not tired:
        order = line.orders.get()
        line.doing = order["id"]
        limit_memory(limits.memory)
        outcome = done(order, limits, line)
        line.doing = None
        tired = is_tired(fresh, limits, outcome)
        line.say(id=order["id"], tired=tired, **outcome)


if __name__ == "__main__":
    main()
