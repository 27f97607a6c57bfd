"""Figures as files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dwell._types import in_short, is_one_of, listed
from dwell.errors import InputError
from dwell.plotting.figures import FIGURES, entitled, figures_of, require_matplotlib
from dwell.results import RunLike, as_run
from dwell.results.files import make_folder, refuse_foreign, shown, written_whole
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

    def draw(name: str) -> Figure | None:
        try:
            return entitled(FIGURES[name](run), run)
        except InputError as refused:  # it needs events, or a function that cannot be imported
            if names is not None or refused.code not in ("run.record", "density.function"):
                raise
            return None

    return write_figures({name: partial(draw, name) for name in wanted}, out, formats, force)


def write_figures(
    drawings: Mapping[str, Callable[[], Figure | None]],
    out: str | os.PathLike[str],
    formats: Iterable[str] = ("png",),
    force: bool = False,
) -> list[Path]:
    """Draw and write any figures, under their names, in the manner of `save_figures`.

    What draws a figure may give None: then there is none.
    """
    kinds = _known("format", formats, FORMATS)
    require_matplotlib()
    folder = as_path(out)
    make_folder(folder, "plot.folder")
    if not force:
        check_free(folder, drawings, kinds)
    from matplotlib import rc_context

    written = []
    for name, draw in drawings.items():
        figure = draw()
        if figure is None:
            continue
        for kind in kinds:
            path = folder / f"{name}.{kind}"
            with written_whole(path) as draft, _SETTING, rc_context(_SETTINGS):
                figure.savefig(draft, format=kind, dpi=DPI, metadata=_METADATA[kind])
            written.append(path)
    return written


def format_of(path: Path, what: str, known: Sequence[str]) -> str:
    """The format of a plot or film to be written to `path`; refused where there is no such."""
    kind = path.suffix.removeprefix(".")
    if kind not in known:
        endings = ", ".join(f".{one}" for one in known)
        raise InputError(f"the {what} {shown(path)} must end in {endings}", code=f"{what}.format")
    if not path.parent.is_dir():
        raise InputError(
            f"the folder {path.parent} does not exist; make it first", code=f"{what}.folder"
        )
    return kind


def check_figure(path: Path) -> str:
    """The format of a figure to be written to `path`; refused if it cannot be."""
    kind = format_of(path, "plot", FORMATS)
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
        refuse_foreign(path, MARK, "a plot", "plot.exists", "choose another folder, or force it")


def _known(what: str, wanted: Iterable[str], known: tuple[str, ...]) -> list[str]:
    wanted = [wanted] if isinstance(wanted, str) else list(listed(wanted))
    for one in wanted:
        if not is_one_of(one, known):
            raise InputError(
                f"there is no {what} {in_short(one)}; choose from {', '.join(known)}",
                code=f"plot.{'figure' if what == 'plot' else what}",
            )
    return list(dict.fromkeys(wanted))
