"""Runs as one HTML file that plays them in any browser, without a server or a network."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

import dwell
from dwell._types import listed
from dwell.errors import InputError
from dwell.exports.recording import recording_of
from dwell.results import Run, RunLike, as_run
from dwell.results.files import check_target, written_whole

MOST_RUNS = 6  # side by side, also on the page
DATA = "application/x-dwell-run"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="dwell {version}">
<title>{title}</title>
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>{sheet}</style>
</head>
<body>
<div id="page" class="player"><p class="opening">The run is opening…</p></div>
<noscript>This file plays a run of dwell, and needs JavaScript for it.</noscript>
{runs}
<script type="text/plain">{licences}</script>
<script type="module">{program}</script>
</body>
</html>
"""


def export_html(
    runs: RunLike | Sequence[RunLike], path: str | os.PathLike[str], *, force: bool = False
) -> Path:
    """Write one run, or several side by side, as an HTML file that plays in any browser.

    The file holds the map, the charts and the transport of the page. It needs no server and no
    network, and its policy (CSP) forbids both. Positions are within 1e-8 of the diagonal of the
    bounding box of those of the run.

    Parameters
    ----------
    runs : Run, str or path, or a sequence of these
        The runs with their events, or their .nc files; at most six.
    path : str or path
        The file to write.
    force : bool
        Replace a file that exists.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import dwell
    >>> dwell.export_html("run.nc", "run.html", force=True).name
    'run.html'
    """
    target = check_target(path, force=force)
    text = html_of(as_runs(runs))
    with written_whole(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return target


def as_runs(given: RunLike | Sequence[RunLike]) -> list[Run]:
    """Return the runs that are played side by side."""
    every = [given] if isinstance(given, Run | str | os.PathLike) else list(listed(given))
    if not 1 <= len(every) <= MOST_RUNS:
        says = f"1 to {MOST_RUNS} runs are played side by side, got {len(every)}"
        raise InputError(says, code="export.runs", key="runs")
    return [as_run(one) for one in every]


def html_of(runs: Sequence[Run]) -> str:
    """Return the text of an HTML file that plays some runs."""
    name = next((run.scenario.name for run in runs if run.scenario and run.scenario.name), None)
    records = [base64.b64encode(recording_of(run)).decode() for run in runs]
    program, sheet = player_file("player.js"), player_file("player.css")
    policy = [
        "default-src 'none'",
        f"script-src {_hash(program)}",
        f"style-src {_hash(sheet)}",
        "img-src data: blob:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return PAGE.format(
        policy="; ".join(policy),
        version=dwell.__version__,
        title=escape(f"{name} · dwell" if name else "dwell"),
        icon=base64.b64encode(player_file("icon.svg").encode()).decode(),
        sheet=sheet,
        runs="\n".join(f'<script type="{DATA}">{record}</script>' for record in records),
        licences=player_file("licences.txt"),
        program=program,
    )


def player_file(name: str) -> str:
    """Return a file of the player, which is built from page/; nothing in it ends a script."""
    try:
        text = files("dwell").joinpath("web", "static", name).read_text(encoding="utf-8")
    except FileNotFoundError:
        says = "the player is not part of this installation; build it with scripts/page"
        raise InputError(says, code="export.player") from None
    return text.replace("</script", "<\\/script").replace("</style", "<\\/style")


def _hash(text: str) -> str:
    """Return the source of a policy that admits this text alone."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
