"""Fenced blocks of a Markdown file, and how to run them."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "laws").glob("*.md")),
]

_BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = ("console", "sh", "bash", "shell")
# A hundred runs, minutes long; whether claims hold does not change the exit status. The rest of
# what it does (other grids, several starts) is in tests/studies/test_reproduce.py.
_SHORTER = {("reproduce",): ("--quick",)}


@dataclass(frozen=True)
class Block:
    """One fenced block: what it is, what it says, and where."""

    kind: str
    body: str
    line: int  # of its first line in the file


def blocks_of(text: str) -> Iterator[Block]:
    """Every fenced block that says what it is, in order."""
    for found in _BLOCK.finditer(text):
        yield Block(found["kind"], found["body"], text.count("\n", 0, found.start("body")) + 1)


def commands_of(block: Block) -> list[list[str]]:
    """The lines of a shell block that call dwell, as arguments; comments are dropped."""
    if block.kind not in _SHELL:
        return []
    lines = [line for line in block.body.splitlines() if line.startswith("$ dwell ")]
    return [shlex.split(line.removeprefix("$ "), comments=True)[1:] for line in lines]


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    """Execute a block in `names`; a traceback points into the page."""
    padded = "\n" * (block.line - 1) + block.body
    exec(compile(padded, str(page), "exec", dont_inherit=True), names)


def run_command(arguments: list[str]) -> int:
    """What `dwell arguments...` exits with, in this process."""
    from dwell.cli.main import main

    kept, sys.argv = sys.argv, ["dwell", *arguments, *_SHORTER.get(tuple(arguments), ())]
    handler = signal.getsignal(signal.SIGTERM)
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    finally:
        sys.argv = kept
        signal.signal(signal.SIGTERM, handler)
