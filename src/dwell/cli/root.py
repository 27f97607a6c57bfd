"""The command line itself: commands add themselves to it."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    name="dwell",
    help="Coverage control with mobile sensors that look only now and then: simulate, check, draw.",
    epilog="Start with: dwell init two-hills, then dwell run two-hills.toml",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        import dwell

        typer.echo(f"dwell {dwell.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options before a command."""
