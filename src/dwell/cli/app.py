"""The command line with all its commands; `dwell --help` lists them in the order of the modules."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from dwell.cli.command import COMMANDS
from dwell.cli.commands import files, page, runs, studies
from dwell.errors import InputError

__all__ = ["COMMANDS", "run_command"]

ABOUT = "Coverage control with mobile sensors: simulate, check, plot, compare laws."
BEGIN = "Start with: dwell init two-hills, then dwell run two-hills.toml"

GROUPS = [module.__name__ for module in (runs, studies, files, page)]  # in the order of the help


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
        close = get_close_matches(name, COMMANDS, 1)
        hint = f"did you mean dwell {close[0]}?" if close else "see dwell --help"
        raise InputError(f"there is no command {name!r}; {hint}", code="usage")
    return None


def _help() -> str:
    listed = sorted(COMMANDS.items(), key=lambda c: GROUPS.index(c[1].function.__module__))
    firsts = {name: command.help.partition(".")[0] for name, command in listed}
    lines = "\n".join(f"  {name:10} {' '.join(first.split())}." for name, first in firsts.items())
    options = (
        "  --version   Show the version.\n  -h, --help  Show this message, or that of a command."
    )
    usage = "Usage: dwell COMMAND [OPTIONS] ..."
    return f"{usage}\n\n{ABOUT}\n\nOptions:\n{options}\n\nCommands:\n{lines}\n\n{BEGIN}"
