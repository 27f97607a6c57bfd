"""Arguments and options that several commands share, and what is done with them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from dwell._need import need
from dwell.cli.command import ALLOW_CODE, Number, OneOf, flag, option
from dwell.cli.output import complain
from dwell.errors import InputError

FORMATS = ("png", "pdf", "svg")

SCENARIO = option("scenario", type=Path, metavar="SCENARIO", help="Scenario file (.toml or .json).")
RUN = option(
    "stored", type=Path, metavar="RUN.nc", help="Stored run, as written by dwell run --out."
)
SET = option(
    "--set", dest="overrides", action="append", metavar="KEY=VALUE", default=[],
    help="Change one key; may be given many times.",
)  # fmt: skip
FORMAT = option(
    "--format", dest="formats", action="append", metavar="FORMAT", type=OneOf(*FORMATS),
    help="png, pdf or svg; may be repeated.",
)  # fmt: skip
WORKERS = option(
    "--workers", type=Number(int, 1), help="Runs at a time; as many as processors by default."
)
JSON = flag("--json", "One JSON object on stdout, nothing else.", dest="as_json")
CODE = flag(
    "--allow-code",
    "Import Python code that a file names, wherever it lies and whoever wrote the file.",
    dest=ALLOW_CODE,
)
FORCE = flag("--force", "Replace files that exist.")
AT = option(
    "--at", type=Number(), metavar="TIME",
    help="Time at which a world that changes is taken; 0 by default.",
)  # fmt: skip
STRICT = flag("--strict", "Refuse input that would be repaired.")


def load(path: Path, overrides: Sequence[str]) -> Any:
    """A scenario file with some keys changed."""
    from dwell.scenario import load_scenario

    # The outline of a site is cut by kernels.
    with compiling(_names_site(path)):
        return load_scenario(path, overrides)


def _names_site(path: Path) -> bool:
    """Whether a file names a site, as far as a scenario may go."""
    from dwell.scenario.guards import MOST_BYTES

    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b"site" in file.read(MOST_BYTES)


def compiling(perhaps: bool) -> AbstractContextManager[Any]:
    """Within, a line says so where kernels are compiled for long; `perhaps` they are."""
    if not perhaps:
        return nullcontext()
    from dwell.progress import reported

    return reported()


def about_site(scenario: Any) -> list[str]:
    """A line on the site of a scenario: where it is, how large, and its frame.

    A second one on a long outline: into how many pieces it was divided, and how long that took.
    """
    if scenario.site is None:
        return []
    from dwell.scenario.build import build_workspace
    from dwell.sites import Frame, Site
    from dwell.sites.vector import LONG

    began = time.perf_counter()
    workspace: Any = build_workspace(scenario.workspace)  # which no site moves
    taken = time.perf_counter() - began
    rings = () if workspace.mask is None else workspace.mask.rings
    lines = [f"site {Site(workspace, Frame(scenario.site.crs))}"]
    if sum(map(len, rings)) > LONG:
        pieces = len(workspace.pieces.piece)
        lines.append(f"site divided into {pieces} pieces in {taken:.2g} s")
    return lines


def stored_run(path: Path) -> Any:
    """A stored run; a note on stderr if its file was changed."""
    from dwell.results import load_run
    from dwell.verify.flags import ALTERED

    run = load_run(path)
    if run.intact is False:
        complain(f"{path}: {ALTERED.says}")
    return run


def refuse(repairs: tuple[str, ...]) -> None:
    """Refuse input of which `repairs` were made."""
    if repairs:
        raise InputError(
            f"with --strict nothing is repaired, but this would be: {'; '.join(repairs)}",
            code="strict",
        )


def require_web(what: str) -> None:
    """Refuse a command that shows a page where a library of the server is not installed."""
    names = ("fastapi", "uvicorn", "websockets")
    for name in names:
        need(name, f"{what} needs", " ".join(names), code="web.missing")
