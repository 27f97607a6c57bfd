"""The command that shows runs in a browser."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from dwell.cli.command import Number, command, flag, option
from dwell.cli.options import require_web, stored_run
from dwell.errors import InputError

LINK = re.compile(r"s=[A-Za-z0-9_-]+(&[a-z]+=[A-Za-z0-9_.,+-]*)*")  # of page/src/state/link.ts


@command(
    option(
        "shown", nargs="*", metavar="RUN.nc",
        help="Stored runs to show side by side, or one link of the page in quotes.",
    ),
    option("--host", default="127.0.0.1", help="Address to listen at."),
    option(
        "--port", type=Number(int, 0, 65535), default=8000,
        help="Port to listen at; 0 for any that is free.",
    ),
    flag("--no-browser", "Do not open the page in a browser."),
    option(
        "--name", dest="names", action="append", default=[],
        help="A host name by which the server is reached; repeatable.",
    ),
    option("--workers", type=Number(int, 1), default=2, help="Runs at a time."),
    option("--queued", type=Number(int, 1), default=200, help="Runs that may wait."),
    option("--agents", type=Number(int, 1), default=2_000, help="Most agents of a run."),
    option("--horizon", type=Number(), default=1e6, help="Longest horizon of a run."),
    option("--events", type=Number(), default=2e6, help="Most events that a run may come to."),
    option("--seconds", type=Number(), default=120.0, help="Real time that a run may take."),
    option("--memory", type=Number(), default=2e9, help="Bytes that a run may take."),
    option("--kept", type=Number(int, 1), default=100, help="Runs that are kept when done."),
    option("--disk", type=Number(), default=2e9, help="Bytes of their files together."),
    option(
        "--absent", type=Number(), default=20.0,
        help="How long a live run goes on without a viewer.",
    ),
    option(
        "--drain", type=Number(), default=20.0, help="How long runs may go on when the server ends."
    ),
    example="--port 8080 --seconds 30; or dwell serve run.nc",
)  # fmt: skip
def serve(
    shown: list[str], host: str, port: int, no_browser: bool, names: list[str], **limits: Any
) -> None:
    """Show runs, live or stored, on a page in the browser."""
    require_web("dwell serve")
    from dwell.web.http_server import serve as serve_pages
    from dwell.web.limits import Limits

    fragment = _fragment(shown[0]) if len(shown) == 1 else ""
    recordings = [] if fragment else _recordings(shown)
    serve_pages(
        host, port, Limits(**limits), names=names, browser=not no_browser and sys.stdout.isatty(),
        recordings=recordings, fragment=fragment,
    )  # fmt: skip


def _fragment(text: str) -> str:
    """The fragment of a link of the page; nothing if the text is the name of a file."""
    _, mark, rest = text.partition("#")
    if not mark or os.path.exists(text):  # False also for a text too long for a name
        return ""
    if not LINK.fullmatch(rest):
        says = "the link holds no scenario; copy it whole, and put it in quotes"
        raise InputError(says, code="web.link")
    return mark + rest


def _recordings(stored: list[str]) -> list[bytes]:
    """Stored runs as the page plays them."""
    if not stored:
        return []
    from dwell.exports.html import MOST_RUNS
    from dwell.exports.recording import recording_of

    if len(stored) > MOST_RUNS:
        raise InputError(f"at most {MOST_RUNS} runs are shown, got {len(stored)}", code="usage")
    return [recording_of(stored_run(Path(one))) for one in stored]
