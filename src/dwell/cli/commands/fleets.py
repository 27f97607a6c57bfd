"""Commands for live fleets."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

from dwell.cli.command import Number, OneOf, command, flag, option
from dwell.cli.options import CODE, FORCE, JSON, SCENARIO, SET, load
from dwell.cli.output import answer, complain
from dwell.errors import InputError

HORIZON = option("--horizon", type=Number(), help="Seconds until the end, if not the scenario's.")


@command(
    SCENARIO,
    SET,
    option("--out", type=Path, metavar="RUN.nc", help="Store the run here."),
    HORIZON,
    option(
        "--transport", type=OneOf("memory", "udp", "zenoh"), default="udp",
        help="udp (by default), zenoh, or memory: one process in virtual time.",
    ),
    option(
        "--hosts", type=Number(int, 1),
        help="Processes; one per agent for up to 64 agents by default.",
    ),
    flag("--realtime", "Agents get real-time priority, where the system permits it."),
    flag("--no-restart", "Processes that die are not started again."),
    option(
        "--watch", type=OneOf("page", "foxglove"),
        help="Show the fleet while it runs: page (in a browser) or foxglove.",
    ),
    option("--port", type=Number(int, 0, 65535), help="Port of what --watch serves; 0 for any."),
    JSON,
    FORCE,
    CODE,
    example="two-hills.toml --horizon 20 --out live.nc; then dwell check live.nc",
)  # fmt: skip
def fleet(
    scenario: Path,
    overrides: list[str],
    out: Path | None,
    horizon: float | None,
    transport: str,
    hosts: int | None,
    realtime: bool,
    no_restart: bool,
    watch: str | None,
    port: int | None,
    as_json: bool,
    force: bool,
) -> int:
    """Run a scenario live, with each agent as a process of its own.

    Each samples on its own clock. One second of the scenario takes one second. Ctrl-C stops all
    agents, and keeps what they did.
    """
    from dwell.cli.running import on_signal, outcome
    from dwell.cli.show import show_summary
    from dwell.cli.watching import watched
    from dwell.fleet.run import run_fleet
    from dwell.results import Run
    from dwell.results.files import check_target

    changes = [*overrides, *([] if horizon is None else [f"run.horizon={horizon!r}"])]
    checked = load(scenario, changes)
    if watch is not None and transport == "memory":
        raise InputError("--watch follows processes, and --transport memory has none", code="usage")
    if out is not None:
        check_target(out, force=force)  # before a view is opened

    def run() -> Run:
        with watched(watch, checked, port) as (seeded, follow):
            return run_fleet(
                seeded, out=out, force=force, transport=transport, hosts=hosts, watch=follow,
                realtime=realtime, restart=not no_restart,
                on_signal=partial(on_signal, what="all agents"),
            )  # fmt: skip

    result, summary, failed = outcome(run, out)
    kept = out if summary["file"] else None
    answer(as_json, lambda: summary, lambda: show_summary(summary, kept))
    if failed:
        raise failed
    reason = result.stop.reason
    return 0 if reason.ok else 130 if reason.value == "interrupted" else 1


RUN = option("--run", default="fleet", help="Name of the run, the same for all agents.")
LINKS = (
    option(
        "--transport", type=OneOf("udp", "zenoh"), default="udp", help="udp (by default) or zenoh."
    ),
    option(
        "--listen", metavar="ADDRESS",
        help="Address to listen at, host:port; by default that of the agent in the scenario, and "
        "any free port for dwell stop.",
    ),
    option(
        "--key", type=Path,
        help="udp: file with the secret that all agents share; needed beyond loopback.",
    ),
    option(
        "--connect", action="append", default=[], metavar="ENDPOINT",
        help="zenoh: tls/host:port of a router or an agent; may be given many times.",
    ),
    option(
        "--tls", type=Path, metavar="DIR",
        help="zenoh: folder with ca.pem, NAME.pem and NAME.key; needed beyond loopback. NAME is "
        "agent_K, or observer to stop agents.",
    ),
)  # fmt: skip


@command(
    SCENARIO,
    SET,
    HORIZON,
    option("--id", dest="number", type=Number(int, 0), required=True, help="Number of the agent."),
    option(
        "--journals", type=Path, metavar="DIR", required=True,
        help="Folder of its journals; it must outlive restarts.",
    ),
    RUN,
    *LINKS,
    option(
        "--robot", default="integrator", metavar="KIND",
        help="What it moves, such as ros2 or mavlink:address=udpin:127.0.0.1:14540; a simulated "
        "point by default.",
    ),
    CODE,
    example="site.toml --id 3 --journals log",
)  # fmt: skip
def agent(
    scenario: Path,
    overrides: list[str],
    horizon: float | None,
    number: int,
    journals: Path,
    run: str,
    robot: str,
    **links: Any,
) -> None:
    """Run one agent of a live fleet, such as on the robot itself.

    The addresses of all agents are in the scenario, fleet.peers. Agents begin when all have been
    heard of. Afterwards dwell merge makes one run of the journals of all agents.
    """
    from dwell.fleet.single import AgentLinks, run_agent

    changes = [*overrides, *([] if horizon is None else [f"run.horizon={horizon!r}"])]
    made = load(scenario, changes)
    run_agent(made, number, journals, run, AgentLinks(**links), complain, robot)


@command(
    SCENARIO,
    SET,
    RUN,
    *LINKS,
    option(
        "--patience", type=Number(float, 0), default=3.0,
        help="Seconds to wait for the answers of all agents; 3 by default.",
    ),
    JSON,
    CODE,
    example="site.toml --run monday --key secret",
)  # fmt: skip
def stop(
    scenario: Path,
    overrides: list[str],
    run: str,
    patience: float,
    as_json: bool,
    **links: Any,
) -> int:
    """Send the emergency stop to agents of dwell agent.

    Their robots stand from then on, also those of agents that are started again in this run.
    Agents that do not answer are named, and the exit code is then 1.
    """
    os.environ.setdefault("DWELL_JIT", "0")
    from dwell.fleet.single import AgentLinks, stop_agents

    made = load(scenario, overrides)
    stopped, silent = stop_agents(made, run, AgentLinks(**links), patience, complain)
    answer(
        as_json,
        lambda: {"schema": 1, "stopped": stopped, "silent": silent},
        lambda: print(f"{len(stopped)} of {len(stopped) + len(silent)} agents have stopped"),
    )
    if silent:
        who = ", ".join(f"agent {p}" for p in silent)
        complain(f"no answer in {patience:g} s, and perhaps still moving: {who}")
        complain("compare the key, the name of the run and the addresses with those of the agents")
    return 1 if silent else 0


@command(
    option(
        "folder", type=Path, metavar="DIR", help="Folder with the journals of all agents of a run."
    ),
    option("--out", type=Path, metavar="RUN.nc", required=True, help="Store the run here."),
    flag(
        "--partial",
        "Merge although journals are missing or damaged, or clocks cannot be compared.",
    ),
    option(
        "--key", type=Path, metavar="FILE",
        help="The secret that the agents shared: journals that were changed since are refused.",
    ),
    JSON,
    FORCE,
    CODE,
    example="log --key secret --out live.nc",
)  # fmt: skip
def merge(
    folder: Path, out: Path, partial: bool, key: Path | None, as_json: bool, force: bool
) -> None:
    """Merge the journals of a live fleet into one run."""
    from dwell.cli.running import identified
    from dwell.cli.show import show_summary
    from dwell.fleet.run import merge_journals
    from dwell.results import save_run
    from dwell.results.files import check_target

    check_target(out, force=force)
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; give that of the journals", code="fleet.journal")
    result = merge_journals(folder, partial=partial, key=key)
    if partial:
        complain(
            "agents without a journal count as standing, and damaged ones end early; dwell check "
            "names what lacks a source"
        )
    save_run(result, out, force=force)
    summary = identified(result, out)
    answer(as_json, lambda: summary, lambda: show_summary(summary, out))
