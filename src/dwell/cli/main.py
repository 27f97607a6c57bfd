"""Entry point: turns what went wrong into a sentence and an exit code.

0 done; 1 the run ended badly or a check failed; 2 wrong input; 130 interrupted; 143 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from dwell.errors import DwellError, InputError

BADLY, WRONG_INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, taken like an interrupt from the keyboard so that work is kept."""


def main() -> NoReturn:
    """Run the command line and exit."""
    from dwell.cli.app import app

    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(standalone_mode=False)
        sys.stdout.flush()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt as stop:
        code = TERMINATED if isinstance(stop, Terminated) else INTERRUPTED
        print("dwell: interrupted", file=sys.stderr)
    except BrokenPipeError:
        code = _closed_pipe()
    except InputError as fault:
        code = WRONG_INPUT
        _complain(str(fault))
    except DwellError as fault:
        code = BADLY
        _complain(str(fault))
    except Exception as fault:
        code = _of_click(fault)
    sys.exit(code)


def _terminate(signum: int, frame: FrameType | None) -> None:
    raise Terminated


def _complain(text: str) -> None:
    for line in text.splitlines():
        print(f"dwell: {line}", file=sys.stderr)


def _closed_pipe() -> int:
    """Whoever read our output has gone: say nothing, and let nothing be written on the way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _of_click(fault: Exception) -> int:
    """Usage errors and exits of the command-line library; anything else is a fault of ours."""
    import typer

    if isinstance(fault, typer.Exit):
        return int(fault.exit_code)
    if isinstance(fault, typer.Abort):
        return INTERRUPTED
    show = getattr(fault, "show", None)
    if show is None:
        raise fault
    show()
    return WRONG_INPUT
