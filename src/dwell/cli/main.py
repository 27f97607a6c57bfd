"""Entry point: turns what went wrong into a sentence and an exit code.

0 done; 1 the run ended badly or a check failed; 2 wrong input; 3 a file could not be written;
130 interrupted; 143 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from types import FrameType
from typing import NoReturn

from dwell.cli.terminated import Terminated
from dwell.errors import Aborted, DwellError, DwellWarning, InputError, UnsavedError

BADLY, WRONG_INPUT, UNSAVED, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143


def main() -> NoReturn:
    """Run the command line and exit."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DwellWarning)
        warnings.showwarning = lambda message, *_: _complain(str(message))
        code, said = _run()
    try:
        sys.stdout.flush()
    except OSError as fault:
        code = _unwritten(fault, code)
    if code == INTERRUPTED:
        _complain(said)
        code = TERMINATED if Terminated.seen else INTERRUPTED
    sys.exit(code)


def _run() -> tuple[int, str]:
    """The exit code, and what to say of an interrupt."""
    from dwell.cli.app import run_command
    from dwell.cli.output import Printed

    Terminated.seen = Printed.done = False
    signal.signal(signal.SIGTERM, _terminate)
    code, said = 0, "interrupted"
    try:
        code = run_command(sys.argv[1:]) or 0
    except SystemExit as stop:  # after a help text
        code = stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt as stop:
        code, said = INTERRUPTED, str(stop) if isinstance(stop, Aborted) else said
    except DwellError as fault:
        code = UNSAVED if isinstance(fault, UnsavedError) else BADLY
        if isinstance(fault, InputError) and fault.run is None and code == BADLY:
            code = WRONG_INPUT
        _refuse(fault)
    except OSError as fault:
        code = _unwritten(fault, code)
    except MemoryError:
        code = BADLY
        _complain("there is not enough memory for this run; take fewer agents or fewer samples")
    return code, said


def _refuse(fault: DwellError) -> None:
    """Say what is wrong; with --json also as an object, unless there is one already."""
    from dwell.cli.output import Printed, print_json

    if "--json" in sys.argv and not Printed.done:
        error = {"code": getattr(fault, "code", "error"), "key": getattr(fault, "key", None)}
        print_json({"schema": 1, "error": {**error, "message": str(fault)}})
    _complain(_with_key(fault) if isinstance(fault, InputError) else str(fault))


def _terminate(signum: int, frame: FrameType | None) -> None:
    Terminated.seen = True
    raise Terminated


def _with_key(fault: InputError) -> str:
    """The sentence, led by the place in the scenario that it is about."""
    text, key = str(fault), fault.key
    named = key is None or (key in text if "." in key else text.startswith(f"{key} "))
    return text if named else f"{key}: {text}"


def _complain(text: str) -> None:
    for line in text.splitlines():
        print(f"dwell: {line}", file=sys.stderr)


def _unwritten(fault: OSError, code: int) -> int:
    """Handle output that cannot be written: quiet on a closed pipe, a message on a full disk."""
    nowhere = os.open(os.devnull, os.O_WRONLY)  # so that nothing is tried again on the way out
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    if isinstance(fault, BrokenPipeError):
        return code
    _complain(f"the output could not be written ({fault.strerror or fault})")
    return code or BADLY
