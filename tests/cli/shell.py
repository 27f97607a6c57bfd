"""Calls the command line, in this process where possible and in a real one where needed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from dwell.cli.main import main
from tests.workers.watch import LONG

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Standard output as strict JSON: one object on one line, and nothing else."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        value = json.loads(self.out, parse_constant=_refuse)
        assert isinstance(value, dict)
        return value

    @property
    def sentences(self) -> list[str]:
        """The complaints of a command that refused its input."""
        assert self.code == 2, self
        if self.out:  # with --json
            assert set(self.json) == {"schema", "error"}, self.out
        lines = self.err.splitlines()
        assert 1 <= len(lines) <= 5, self.err
        assert all(line.startswith("dwell: ") and len(line) > 20 for line in lines), self.err
        assert "Traceback" not in self.err
        return [line.removeprefix("dwell: ") for line in lines]


def _refuse(literal: str) -> NoReturn:
    raise AssertionError(f"{literal} in JSON")


def dwell(*arguments: object) -> Outcome:
    """Run `dwell ARGUMENTS` in this process; a fault of ours comes out as an exception."""
    out, err = io.StringIO(), io.StringIO()
    handler = signal.getsignal(signal.SIGTERM)
    code: object = None
    try:
        with (
            mock.patch.object(sys, "argv", ["dwell", *map(str, arguments)]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as stop:
                code = stop.code
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert isinstance(code, int)
    return Outcome(code, out.getvalue(), err.getvalue())


def command(*arguments: object) -> list[str]:
    """The same as words for a real process."""
    return [sys.executable, "-m", "tests.cli.shell", *map(str, arguments)]


def environment(**changes: str) -> dict[str, str]:
    """This process's environment with changes."""
    here = os.pathsep.join(map(str, (REPOSITORY, REPOSITORY / "src")))  # not what is installed
    return {**os.environ, "PYTHONPATH": here, **changes}


def spawn(*arguments: object, stdout: Any = subprocess.PIPE, **changes: str) -> Outcome:
    """Run `dwell ARGUMENTS` in a process of its own."""
    done = subprocess.run(
        command(*arguments), stdout=stdout, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        timeout=LONG, cwd=REPOSITORY, env=environment(**changes), check=False,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout or "", done.stderr)


def on_a_terminal(words: list[str]) -> tuple[subprocess.Popen[str], int]:
    """A process whose error stream is a pseudo-terminal, on which there is a bar; and our end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=REPOSITORY,
        env=environment(PYTHONUNBUFFERED="1", TERM="xterm", COLUMNS="100", DWELL_PROGRESS="1"),
    )  # fmt: skip
    os.close(theirs)
    return process, ours


def rest_of(terminal: int) -> str:
    """What is still to be read from a terminal until its other end is closed."""
    parts = []
    with contextlib.suppress(OSError):  # how Linux says that the other end is closed
        while part := os.read(terminal, 65536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode(errors="replace")


if __name__ == "__main__":
    main()
