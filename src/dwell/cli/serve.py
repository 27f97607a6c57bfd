"""`dwell serve`: a server, if what it needs is installed."""

from __future__ import annotations

import sys
from typing import Any

from dwell.errors import InputError


def start(host: str, port: int, browser: bool, names: list[str], limits: dict[str, Any]) -> None:
    """Serve until a signal ends it."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as fault:
        raise InputError(
            f"dwell serve needs fastapi, uvicorn and websockets, and {fault.name} is not "
            'installed; install them with: pip install "dwell[web]"',
            code="web.missing",
        ) from fault
    from dwell.web.http_server import serve
    from dwell.web.limits import Limits

    shown = browser and sys.stdout.isatty()
    serve(host, port, Limits(**limits), names=names, browser=shown)
