"""Figures as files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dwell._types import in_short, is_one_of, listed
from dwell.errors import InputError
from dwell.plotting.figures import FIGURES, entitled, figures_of, require_matplotlib
from dwell.results import Run, RunLike, as_run
from dwell.results.files import written_whole
from dwell.scenario.guards import as_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "pdf", "svg")
DPI = 200  # of PNG, and of images inside the other formats

MARK = "dwell figure"  # inside every file, which distinguishes our files from others

# No dates and no machine names: the same run gives the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": MARK},
    "pdf": {"Creator": MARK, "CreationDate": None},
    "svg": {"Creator": MARK, "Date": None},
}

# Only matplotlib's settings know these; they are set while a file is written, and put back.
_SETTINGS: Any = {"svg.hashsalt": "dwell", "pdf.fonttype": 42, "text.usetex": False}
_SETTING = threading.Lock()


def save_figures(
    run: RunLike,
    out: str | os.PathLike[str],
    formats: Iterable[str] = ("png",),
    names: Iterable[str] | None = None,
    force: bool = False,
) -> list[Path]:
    """Write plots of `run` into the folder `out`, as NAME.FORMAT; gives the paths.

    All that fit the run, unless `names` says which; a run that keeps no events gets those it can.
    Each file appears whole or not at all. Plots made here before are replaced; any other file of
    the same name is replaced only with `force`.
    """
    run = as_run(run)
    wanted = _known("plot", figures_of(run) if names is None else names, tuple(FIGURES))
    drawings: dict[str, Callable[[], Figure]]
    drawings = {name: partial(_titled, name, run) for name in wanted}
    if names is None and (run.details.record != "events" or run.details.absent is not None):
        drawings = _possible(drawings)
    return write_figures(drawings, out, formats, force)


def _titled(name: str, run: Run) -> Figure:
    return entitled(FIGURES[name](run), run)


def _possible(drawings: Mapping[str, Callable[[], Figure]]) -> dict[str, Callable[[], Figure]]:
    """Those drawings that need no events, and no function that cannot be imported."""
    require_matplotlib()
    found: dict[str, Callable[[], Figure]] = {}
    for name, draw in drawings.items():
        try:
            figure = draw()
        except InputError as refused:
            if refused.code not in ("run.record", "density.function"):
                raise
        else:
            found[name] = partial(_as_it_is, figure)
    return found


def _as_it_is(figure: Figure) -> Figure:
    return figure


def write_figures(
    drawings: Mapping[str, Callable[[], Figure]],
    out: str | os.PathLike[str],
    formats: Iterable[str] = ("png",),
    force: bool = False,
) -> list[Path]:
    """Draw and write any figures, under their names, in the manner of `save_figures`."""
    kinds = _known("format", formats, FORMATS)
    require_matplotlib()
    folder = _folder(as_path(out))
    if not force:
        check_free(folder, drawings, kinds)
    written = []
    for name, draw in drawings.items():
        figure = draw()
        for kind in kinds:
            path = folder / f"{name}.{kind}"
            _write(figure, path, kind)
            written.append(path)
    return written


def check_figure(path: Path) -> str:
    """The format of a figure to be written to `path`; refused if it cannot be."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS or path.suffix != f".{kind}":
        raise InputError(
            f"the plot {path} must end in {', '.join(f'.{known}' for known in FORMATS)}",
            code="plot.format",
        )
    if not path.parent.is_dir():
        raise InputError(
            f"the folder {path.parent} does not exist; make it first", code="plot.folder"
        )
    require_matplotlib()
    check_free(path.parent, (path.stem,), (kind,))
    return kind


def write_figure(draw: Callable[[], Figure], path: Path) -> Path:
    """Write one figure to `path`, whose ending says in which format."""
    kind = check_figure(path)
    return write_figures({path.stem: draw}, path.parent, (kind,))[0]


def check_free(folder: Path, names: Iterable[str], formats: Iterable[str]) -> None:
    """Refuse where a figure would replace a file that is not one of ours."""
    for path in (folder / f"{name}.{kind}" for name in names for kind in formats):
        _check_free(path)


def _known(what: str, wanted: Iterable[str], known: tuple[str, ...]) -> list[str]:
    wanted = [wanted] if isinstance(wanted, str) else list(listed(wanted))
    for one in wanted:
        if not is_one_of(one, known):
            raise InputError(
                f"there is no {what} {in_short(one)}; choose from {', '.join(known)}",
                code=f"plot.{'figure' if what == 'plot' else what}",
            )
    return list(dict.fromkeys(wanted))


def _folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"plots cannot go to {folder}: {fault.strerror or fault}; a folder that can be "
            "written is needed",
            code="plot.folder",
        ) from fault
    return folder


def _check_free(path: Path) -> None:
    if not path.exists():
        return
    if path.is_file() and MARK.encode() in path.read_bytes():
        return
    raise InputError(
        f"{path} exists and is not a plot made here; move it, choose another folder, or force it",
        code="plot.exists",
    )


def _write(figure: Figure, path: Path, kind: str) -> None:
    """Write the whole file, or none."""
    from matplotlib import rc_context

    with written_whole(path) as draft, _SETTING, rc_context(_SETTINGS):
        figure.savefig(draft, format=kind, dpi=DPI, metadata=_METADATA[kind])
