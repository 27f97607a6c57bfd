"""The command line itself: commands add themselves to it."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from dwell.cli.options import Printed, print_json
from dwell.cli.usage import usage_sentence
from dwell.errors import DwellError

METAVARS = {"path": "FILE", "int range": "N", "float": "NUMBER", "str": "TEXT", "list[str]": "TEXT"}


class CommandWithHelp(TyperCommand):
    """One command, whose help has words such as FILE and N where the library puts types."""

    def get_help(self, ctx: Any) -> str:
        """The help text: `--out FILE`, not `--out <path>`; `SCENARIO`, not `{SCENARIO} <path>`."""
        text = re.sub(r"\{(\S+)\}", r"\1", super().get_help(ctx))
        return re.sub(r"(--\S+ )?<([^>\n]+)>", _named, text)


def _named(found: re.Match[str]) -> str:
    words = found[1] + METAVARS.get(found[2], "VALUE") if found[1] else ""
    return words.ljust(len(found[0]))


class Commands(TyperGroup):
    """All commands: with --json, standard output has an object even if a command is refused."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; with --json an error is also printed as an object."""
        Printed.done = False
        try:
            return super().main(*args, **kwargs)
        except Exception as fault:
            usage = getattr(fault, "format_message", None)  # of the command-line library
            known = usage or isinstance(fault, DwellError)
            if "--json" in sys.argv and known and not Printed.done:
                code = "usage" if usage else getattr(fault, "code", "error")
                error = {"code": code, "key": getattr(fault, "key", None)}
                error["message"] = usage_sentence(fault) if usage else str(fault)
                print_json({"schema": 1, "error": error})
            raise


app = typer.Typer(
    name="dwell",
    cls=Commands,
    help="Coverage control with mobile sensors that look only now and then: simulate, check, plot.",
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
