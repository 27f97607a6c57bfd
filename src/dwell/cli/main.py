"""Entry point: runs a command, and turns what went wrong into a sentence and an exit code.

0 done; 1 the run ended badly or a check failed; 2 wrong input; 3 a file could not be written;
130 interrupted; 143 terminated.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from types import FrameType
from typing import NoReturn

from dwell.cli.command import COMMANDS
from dwell.cli.commands import files, fleets, page, runs, studies
from dwell.cli.output import Printed, complain, print_json
from dwell.cli.running import Terminated
from dwell.errors import Aborted, DwellError, DwellWarning, InputError, UnsavedError

ABOUT = "Coverage control with mobile sensors: simulate, check, plot, compare laws."
BEGIN = "Start with: dwell init two-hills, then dwell run two-hills.toml"

GROUPS = [
    module.__name__ for module in (runs, fleets, studies, files, page)
]  # in the order of the help
OF_OUTPUT = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EBADF)
BADLY, WRONG_INPUT, UNSAVED, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143


def main() -> NoReturn:
    """Run the command line and exit."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DwellWarning)
        warnings.showwarning = lambda message, *_: complain(str(message))
        code, said = _run()
    try:
        sys.stdout.flush()
    except OSError as fault:
        code = _unwritten(fault, code)
    if code == INTERRUPTED:
        complain(said)
        code = TERMINATED if Terminated.seen else INTERRUPTED
    sys.exit(code)


def _run() -> tuple[int, str]:
    """The exit code, and what to say of an interrupt."""
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
        if _is_of_output(fault):
            code = _unwritten(fault, code)
        else:
            code = BADLY
            complain(f"the system refused a request ({_in_words(fault)})")
    except MemoryError:
        code = BADLY
        complain("there is not enough memory for this run; take fewer agents or fewer samples")
    return code, said


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


def _refuse(fault: DwellError) -> None:
    """Say what is wrong; with --json also as an object, unless there is one already."""
    if "--json" in sys.argv and not Printed.done:
        error = {"code": getattr(fault, "code", "error"), "key": getattr(fault, "key", None)}
        print_json({"schema": 1, "error": {**error, "message": str(fault)}})
    complain(_with_key(fault) if isinstance(fault, InputError) else str(fault))


def _terminate(signum: int, frame: FrameType | None) -> None:
    Terminated.seen = True
    raise Terminated


def _with_key(fault: InputError) -> str:
    """The sentence, led by the place in the scenario that it is about."""
    text, key = str(fault), fault.key
    named = key is None or (key in text if "." in key else text.startswith(f"{key} "))
    return text if named else f"{key}: {text}"


def _is_of_output(fault: OSError) -> bool:
    """Whether output could not be written: a closed pipe, a full disk, no file that is named."""
    return fault.errno in OF_OUTPUT and fault.filename is None


def _in_words(fault: OSError) -> str:
    file = "" if fault.filename is None else f": {fault.filename}"
    return f"{fault.strerror or fault}{file}"


def _unwritten(fault: OSError, code: int) -> int:
    """Handle output that cannot be written: quiet on a closed pipe, a message on a full disk."""
    nowhere = os.open(os.devnull, os.O_WRONLY)  # so that nothing is tried again on the way out
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    if isinstance(fault, BrokenPipeError):
        return code
    complain(f"the output could not be written ({fault.strerror or fault})")
    return code or BADLY
