"""The command line with all its commands; `dwell --help` lists them in the order of the modules."""

from __future__ import annotations

from importlib import import_module

from dwell.cli.root import CommandWithHelp, app

__all__ = ["app"]

for name in ("runs", "studies", "files", "page"):  # each adds its commands when it is imported
    import_module(f"dwell.cli.commands.{name}")
for command in app.registered_commands:
    command.cls = CommandWithHelp
