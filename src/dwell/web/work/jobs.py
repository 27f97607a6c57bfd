"""The jobs of a worker process: runs, films, files that play, and short tasks about scenarios."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from dwell.errors import DwellError, InputError
from dwell.web.errors import problem
from dwell.web.limits import Limits
from dwell.workers.child import Link, Work

COMPILING = "compiling"  # what a worker does at the first run of a kind


def work_on(limits: Limits, *, runs: bool) -> Work:
    """Return the work of processes that run scenarios and draw films, or do short tasks."""
    return Work(partial(run_order, limits), describe, partial(_prepare, run=runs), limits.memory)


def run_order(limits: Limits, order: dict[str, Any], link: Link) -> dict[str, Any]:
    """Return the result of an order, which names one of `JOBS`."""
    return JOBS[order["do"]](order, limits, link)


def run_job(order: dict[str, Any], limits: Limits, link: Link) -> dict[str, Any]:
    """Run a scenario, store it in a file, and return its summary."""
    from dwell._kernels._jit import compilations
    from dwell.progress import EXPECTING
    from dwell.results import save_run
    from dwell.runner import run_scenario
    from dwell.scenario import parse_scenario
    from dwell.scenario.build import with_seed
    from dwell.web.wire_format import Spool
    from dwell.web.work.run_stream import RunStreamer

    scenario = with_seed(parse_scenario(json.loads(order["scenario"])))
    spool = Spool(Path(order["spool"]))
    try:
        streamer = RunStreamer(scenario, limits, spool, link.report)

        def tell(what: str, share: float) -> None:
            if not what.startswith(EXPECTING):  # its size, for a log
                link.progress(f"{what}, {streamer.length}" if streamer.length else what, share)

        with compilations(lambda: link.send("report", {"doing": COMPILING, "progress": 0.0})):
            run = run_scenario(scenario, progress=tell, threads=1, watch=streamer.watch)
        streamer.end(run)
        link.progress("measuring", 1.0)
        summary = run.summary()
        link.progress("saving", 1.0)
        save_run(run, order["file"], force=True)
    finally:
        spool.close()
    return {"summary": summary}


def film_job(order: dict[str, Any], limits: Limits, link: Link) -> dict[str, Any]:
    """Draw a film of a stored run."""
    from dwell.plotting.film import animate
    from dwell.results import load_run

    run = load_run(order["file"])
    made = animate(
        run, order["film"], fps=order["fps"], seconds=order["seconds"], progress=link.progress
    )
    return {"film": str(made)}


def html_job(order: dict[str, Any], limits: Limits, link: Link) -> dict[str, Any]:
    """Write stored runs as a file that plays them."""
    from dwell.exports import export_html

    return {"html": str(export_html(order["files"], order["html"]))}


def task_job(order: dict[str, Any], limits: Limits, link: Link) -> dict[str, Any]:
    """Carry out one of `scenario_tasks.TASKS`."""
    from dwell.web.work.scenario_tasks import TASKS

    return TASKS[order["task"]](order["body"], limits, **order.get("given", {}))


JOBS: dict[str, Callable[[dict[str, Any], Limits, Link], dict[str, Any]]] = {
    "run": run_job,
    "film": film_job,
    "html": html_job,
    "task": task_job,
}


def describe(fault: Exception) -> dict[str, Any]:
    """Return an exception as the error of a response."""
    if isinstance(fault, InputError):
        return problem(fault.code, str(fault), fault.key)
    if isinstance(fault, DwellError):
        return problem("job.failed", str(fault))
    if isinstance(fault, MemoryError):
        says = "this job needs more memory than the server gives to one; take fewer agents, fewer "
        return problem("web.out-of-memory", f"{says}samples or a shorter horizon")
    import traceback

    traceback.print_exception(fault)  # for the server's log; clients see no internals
    says = f"the job ended with an unforeseen {type(fault).__name__}; the server's log has more"
    return problem("job.unforeseen", says)


def _prepare(*, run: bool) -> None:
    """Import and compile what jobs need, before the first one."""
    from dwell.scenario import parse_scenario, template_text, text_to_mapping
    from dwell.scenario.build import build

    data = text_to_mapping(template_text("two-hills"))
    data["run"] = {"horizon": 1.0, "seed": 1}
    scenario = parse_scenario(data)
    if run:
        from dwell.runner import run_scenario

        run_scenario(scenario, threads=1, progress=False).summary()
    else:
        import dwell.web.work.scenario_tasks  # noqa: F401 (so that the first task finds it loaded)

        build(scenario)
