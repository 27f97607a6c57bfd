"""The command line with all its commands; `dwell --help` lists them in the order of the modules."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from dwell.cli.command import COMMANDS
from dwell.errors import InputError

__all__ = ["COMMANDS", "run_command"]

ABOUT = "Coverage control with mobile sensors that sample now and then: simulate, check, plot."
BEGIN = "Start with: dwell init two-hills, then dwell run two-hills.toml"

for module in ("runs", "studies", "files", "page"):  # each adds its commands when it is imported
    import_module(f"dwell.cli.commands.{module}")


def run_command(words: Sequence[str]) -> int | None:
    """Run the command that the words of a command line name; gives its exit code."""
    name = words[0] if words else ""
    if name in COMMANDS:
        return COMMANDS[name](words[1:])
    if name == "--version":
        import dwell

        print(f"dwell {dwell.__version__}")
    elif name in ("", "-h", "--help"):
        print(_help())
        return None if name else 2
    else:
        raise InputError(f"there is no command {name!r}; see dwell --help", code="usage")
    return None


def _help() -> str:
    firsts = {name: command.help.partition(".")[0] for name, command in COMMANDS.items()}
    lines = "\n".join(f"  {name:10} {' '.join(first.split())}." for name, first in firsts.items())
    options = (
        "  --version   Show the version.\n  -h, --help  Show this message, or that of a command."
    )
    usage = "Usage: dwell COMMAND [OPTIONS] ..."
    return f"{usage}\n\n{ABOUT}\n\nOptions:\n{options}\n\nCommands:\n{lines}\n\n{BEGIN}"
