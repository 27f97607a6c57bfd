"""Runs that play in a notebook, with the code of the page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from dwell._checks import check_whole
from dwell._need import need
from dwell.exports.html import as_runs, player_file
from dwell.exports.recording import recording_of
from dwell.results import RunLike

LEAST_HEIGHT = 200  # pixels


def player(runs: RunLike | Sequence[RunLike], *, height: int = 560) -> Any:
    """Return a widget that plays one run, or several side by side, in a notebook.

    It has the map, the charts and the transport of the page, and works in JupyterLab, VS Code and
    marimo. It needs the extra `notebook`.

    Parameters
    ----------
    runs : Run, str or path, or a sequence of these
        The runs with their events, or their .nc files; at most six.
    height : int
        The height in pixels.

    Returns
    -------
    anywidget.AnyWidget
        The widget; a notebook shows it as the last line of a cell.

    Examples
    --------
    >>> import dwell
    >>> widget = dwell.player("run.nc")
    """
    check_whole("height", height, LEAST_HEIGHT, "export")
    records = [recording_of(run) for run in as_runs(runs)]
    return _widget()(
        recordings=b"".join(records),
        sizes=[len(one) for one in records],
        sheet=player_file("player.css"),
        height=height,
    )


@cache
def _widget() -> Any:
    """Return the class of players, made when it is first used: its base is an extra."""
    for name in ("anywidget", "traitlets"):
        need(name, "a player in a notebook needs", "anywidget", code="notebook.missing")
    import anywidget
    import traitlets

    traits: Any = traitlets

    class Player(anywidget.AnyWidget):
        """Plays recorded runs; see `dwell.player`."""

        _esm = player_file("player.js")
        recordings = traits.Bytes().tag(sync=True)
        sizes = traits.List(traits.Int()).tag(sync=True)
        sheet = traits.Unicode().tag(sync=True)
        height = traits.Int().tag(sync=True)

    return Player
