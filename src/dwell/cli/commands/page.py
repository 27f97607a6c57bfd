"""The command that shows it all in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from dwell.cli.root import app


@app.command(epilog="Example: dwell serve --port 8080 --seconds 30")
def serve(
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 for any that is free.")
    ] = 8000,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in a browser.")
    ] = False,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", help="A host name by which the server is reached; repeatable."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 2,
    queued: Annotated[int, typer.Option(min=1, help="Runs that may wait.")] = 200,
    agents: Annotated[int, typer.Option(min=1, help="Most agents of a run.")] = 2_000,
    horizon: Annotated[float, typer.Option(help="Longest horizon of a run.")] = 1e6,
    events: Annotated[float, typer.Option(help="Most events that a run may come to.")] = 2e6,
    seconds: Annotated[float, typer.Option(help="Real time that a run may take.")] = 120.0,
    memory: Annotated[float, typer.Option(help="Bytes that a run may take.")] = 2e9,
    kept: Annotated[int, typer.Option(min=1, help="Runs that are kept when done.")] = 100,
    disk: Annotated[float, typer.Option(help="Bytes of their files together.")] = 2e9,
    absent: Annotated[
        float, typer.Option(help="How long a live run goes on without a viewer.")
    ] = 20.0,
    drain: Annotated[
        float, typer.Option(help="How long runs may go on when the server ends.")
    ] = 20.0,
) -> None:
    """Show runs, as they go, on a page in the browser."""
    from dwell.cli.serve import start

    limits = {
        "workers": workers, "queued": queued, "agents": agents, "horizon": horizon,
        "events": events, "seconds": seconds, "memory": memory, "kept": kept, "disk": disk,
        "absent": absent, "drain": drain,
    }  # fmt: skip
    start(host, port, not no_browser, names or [], limits)
