"""Style: colours, dashes, widths, sizes, words and legends of the figures, in one place.

Matplotlib is loaded when something is drawn; its types are here for the other modules.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

from dwell._parameters import in_words, parameters_of
from dwell._units import OPEN, Units
from dwell.agents import Network
from dwell.controllers import LAWS
from dwell.density import DECLARED

if TYPE_CHECKING:
    from matplotlib.artist import Artist as Artist
    from matplotlib.axes import Axes as Axes
    from matplotlib.axis import Axis as Axis
    from matplotlib.figure import Figure as Figure
    from matplotlib.legend import Legend
    from matplotlib.transforms import Bbox
else:
    Artist = Axes = Axis = Figure = Any

# What axes are called: the quantity with its symbol, and its dimension.
LABELS = {
    "time": ("time $t$", "time"),
    "density": (r"density $\varphi$", ""),
    "cost": (r"cost $\mathcal{L}(x)$", ""),
    "error": (r"tracking error $\Vert e_p \Vert$", "length"),
    "largest error": (r"largest error $\max_p \Vert e_p \Vert$", "length"),
    "hold error": (r"hold error $\Vert \tilde{\eta}_p \Vert$", "length / time"),
    "timer": (r"timer $\tau_p$", "time"),
    "time since event": (r"time since event $\sigma_p$", "time"),
}


def _declared(classes: Iterable[Any], table: str = "") -> dict[str, tuple[str, str, str]]:
    """Word, letter and dimension of each key of some classes; the key alone where they disagree."""
    known: dict[str, tuple[str, str, str]] = {}
    for cls in classes:
        for name, one in parameters_of(cls).items():
            key = table + (one.key or name)
            row = (one.label or key, one.sign, in_words(one.unit))
            if known.setdefault(key, row) != row:
                sign = row[1] if row[1] == known[key][1] else ""
                known[key] = (key, sign, "")
    return known


# The key without its table, where that is the law's: word, letter, dimension.
KEYS: dict[str, tuple[str, str, str]] = {
    **_declared(LAWS),
    **_declared(DECLARED, "density."),
    **_declared([Network], "network."),
    "agents.start.count": ("agents", "N", ""),
    "run.horizon": ("horizon", "", "time"),
}

# Okabe and Ito's colours, which the colour-blind can tell apart; yellow is left out as too pale.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#5D3A9B", "#000000")

# When the colours are used up they come again with the next pattern.
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.2)), (0, (1.2, 1.0)), (0, (5, 1, 1.2, 1)))

LONGEST = 28  # characters of a value
LINE = 1.2  # height of a line of text over the size of its letters
WIDEST_LEGEND, HANDLE = 66, 4  # characters of a row in one column, and of a line or marker in it
LONG_LEGEND = 70  # characters of labels that fit above the axes in one row


@final
@dataclass(frozen=True)
class Style:
    """The appearance of figures. Sizes in points, as printed."""

    label_size: float = 8.0
    text_size: float = 7.0
    frame: float = 0.6  # line widths
    thin: float = 0.5
    line: float = 0.9
    bold: float = 1.2
    ink: str = "#1A1A1A"
    faint: str = "#B8B8B8"
    cell: str = "#7A7A7A"
    start: str = "#D81B82"  # magenta, as in the paper
    final: str = "#00A878"  # green, as in the paper
    limit: str = "#0072B2"
    band: str = "#56B4E9"
    flash: str = "#D55E00"  # agents that sampled just now
    density_map: str = "viridis"
    columns: int = 400  # columns that curves are thinned to: more than print can show
    most_lines: int = 40  # more agents than this are drawn as bands
    most_named: int = 8  # more agents than this are not named in a legend

    def colour(self, agent: int) -> str:
        """The colour of an agent, the same in every figure."""
        return COLOURS[agent % len(COLOURS)]

    def dashes(self, agent: int) -> Any:
        """The line pattern of an agent, the same in every figure."""
        return DASHES[agent // len(COLOURS) % len(DASHES)]

    def width(self, agents: int) -> float:
        """Width of each of so many curves."""
        return self.line if agents <= self.most_named else self.thin

    def dot(self, agents: int) -> float:
        """Diameter of a dot that stands for one of so many agents."""
        return min(4.2, max(0.8, 4.2 * math.sqrt(40.0 / max(agents, 1))))

    def dress(self, ax: Axes, x_label: str, y_label: str) -> None:
        """Name the axes, and set their text and frame to the style."""
        ax.set_xlabel(x_label, fontsize=self.label_size, labelpad=2.0)
        ax.set_ylabel(y_label, fontsize=self.label_size, labelpad=2.0)
        ax.tick_params(which="both", labelsize=self.text_size, width=self.frame, pad=2.0)
        ax.tick_params(which="major", length=3.0)
        ax.tick_params(which="minor", length=1.8)
        for axis in (ax.xaxis, ax.yaxis):
            formatter = axis.get_major_formatter()
            if hasattr(formatter, "set_useMathText"):
                formatter.set_useMathText(True)
            axis.get_offset_text().set_fontsize(self.text_size)
        for spine in ax.spines.values():
            spine.set_linewidth(self.frame)

    def entitle(self, ax: Axes, words: str, pad: float = 4.0) -> None:
        """The title of one panel."""
        ax.set_title(words, fontsize=self.label_size, pad=pad)

    def colour_bar(self, image: Any, axes: Sequence[Axes], label: str, **options: Any) -> None:
        """The scale of colours of an image, at the right of some panels."""
        bar = axes[0].figure.colorbar(
            image, ax=list(axes), **{"aspect": 30, "pad": 0.02, **options}
        )
        bar.set_label(label, fontsize=self.label_size)
        bar.ax.tick_params(which="both", labelsize=self.text_size, width=self.frame, length=3.0)
        bar.ax.yaxis.get_offset_text().set_fontsize(self.text_size)
        bar.outline.set_linewidth(self.frame)

    def explain(self, ax: Axes, columns: int) -> None:
        """A legend above the axes, below any title; none without labels.

        It has one or two rows, and more where two would be wider than a figure of one column.
        """
        handles, labels = ax.get_legend_handles_labels()
        if sum(map(len, labels)) > LONG_LEGEND:  # wider than the axes: fewer columns
            columns = min(columns, 2)
        columns = len(handles) if len(handles) <= columns else -(-len(handles) // 2)
        while columns > 2 and _legend_width(labels, columns) > WIDEST_LEGEND:
            columns -= 1
        if handles:
            legend = ax.legend(
                handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns,
                fontsize=self.text_size, frameon=False, handlelength=1.9 if columns < 4 else 1.3,
                columnspacing=1.0, handletextpad=0.4, borderaxespad=0.1, borderpad=0.2,
                labelspacing=0.2,
            )  # fmt: skip
            # Matplotlib puts titles above child axes, but not above legends.
            margin = ax.inset_axes((0.0, 1.0, 1.0, 0.1))
            margin.set_axis_off()
            margin.set_axes_locator(partial(_extent, legend))
            _reserve(ax, legend)

    def explain_all(self, figure: Figure, axes: Sequence[Axes], columns: int) -> None:
        """One legend for all panels, below them, as wide as the figure."""
        found: dict[str, Any] = {}
        for ax in axes:
            handles, labels = ax.get_legend_handles_labels()
            found = dict(zip(labels, handles, strict=True)) | found
        if found:
            properties: Any = {"loc": "outside lower center", "fontsize": self.text_size}
            figure.legend(
                list(found.values()), list(found), ncols=min(columns, len(found)), frameon=False,
                columnspacing=1.4, handlelength=2.0, handletextpad=0.5, labelspacing=0.3,
                **properties,
            )  # fmt: skip

    def annotate(self, ax: Axes, words: str, *, at: tuple[float, float] = (0.5, 0.5)) -> None:
        """A sentence on the axes about what they show."""
        ax.text(
            *at, words, transform=ax.transAxes, ha="center", va="center", fontsize=self.text_size,
            color=self.ink, bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none",
                                   "alpha": 0.85},
        )  # fmt: skip

    def placeholder(self, ax: Axes, words: str) -> None:
        """A sentence in place of data that are not there."""
        self.annotate(ax, words)
        ax.tick_params(which="both", left=False, labelleft=False)


PLAIN = Style()


def add_lines(ax: Axes, lines: Sequence[Any], **options: Any) -> Any:
    """Lines (k, 2) as one artist, which does not change the limits of the axes."""
    from matplotlib.collections import LineCollection

    return ax.add_collection(LineCollection(lines, **options), autolim=False)


def add_polygons(ax: Axes, rings: Sequence[Any], **options: Any) -> Any:
    """Polygons (k, 2) as one artist, which does not change the limits of the axes."""
    from matplotlib.collections import PolyCollection

    return ax.add_collection(PolyCollection(rings, **options), autolim=False)


def rgba(colour: str, alpha: float = 1.0) -> tuple[float, float, float, float]:
    """Red, green, blue and opacity of a colour."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour, alpha)


def pale_map() -> Any:
    """Colours of a density that ink stays readable on: white to a middle blue."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    shades: Any = colormaps["Blues"]
    return ListedColormap([shades(0.6 * k / 255.0) for k in range(256)], name="pale")


def plain_log_ticks(axis: Axis, subs: Sequence[float], most: int = 7) -> None:
    """Numbers such as 0.3 and 200 on a log axis, at `subs` times powers of ten only."""
    from matplotlib.ticker import LogLocator

    axis.set_major_locator(LogLocator(subs=subs, numticks=most))
    axis.set_major_formatter(lambda value, _: f"${number(value, 3)}$")
    axis.set_minor_formatter("")


def round_ticks(axis: Axis, most: int) -> None:
    """At most so many intervals between ticks, at round values."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 5, 10]))


def number(value: float, digits: int = 4) -> str:
    """A number as mathtext: 200.8, or 3.2 x 10^12 with a proper power."""
    mantissa, _, power = f"{value:.{digits}g}".partition("e")
    if not power:
        return mantissa
    return rf"{mantissa} \times 10^{{{int(power)}}}".replace(r"1 \times ", "", mantissa == "1")


def _legend_width(labels: Sequence[str], columns: int) -> int:
    """About how many characters wide a legend is, filled column by column."""
    rows = -(-len(labels) // columns)
    longest = [max(map(len, labels[k : k + rows])) for k in range(0, len(labels), rows)]
    return sum(longest) + HANDLE * len(longest)


def _reserve(ax: Axes, legend: Legend) -> None:
    """Lower the subplots of a figure without a layout engine until legend and title fit above."""
    from matplotlib import rcParams

    cell, figure = ax.get_subplotspec(), ax.figure
    if cell is None or figure.figure.get_layout_engine() is not None:
        return
    if cell.get_topmost_subplotspec().is_first_row():
        points = LINE * float(ax.title.get_fontsize()) + 2.0 * rcParams["axes.titlepad"]
        high = legend.get_window_extent().height + points / 72.0 * figure.figure.dpi
        top = max(1.0 - high / figure.bbox.height, 0.5)
        figure.subplots_adjust(top=min(figure.subplotpars.top, top))


def _extent(legend: Legend, ax: Axes, renderer: Any) -> Bbox:
    """The place of a legend in its figure, for axes that cover it."""
    box = legend.get_window_extent(renderer)
    return box.transformed(ax.figure.transSubfigure.inverted())


def quantity_label(quantity: str, units: Units = OPEN) -> str:
    """The name of the axis of a quantity, with its unit if it has one."""
    return units.beside(*LABELS[quantity])


def agent_label(agent: int) -> str:
    """The entry of an agent in a legend: p = 0, then 1, 2, ..."""
    return "$p = 0$" if agent == 0 else f"${agent}$"


def short(key: str) -> str:
    """A key without the name of the law's table: there is one law in a run."""
    return key.removeprefix("controller.")


def stem(key: str) -> str:
    """A key as part of the name of a file."""
    return short(key).replace(".", "-").replace("_", "-")


def letter(key: str) -> str:
    """A key in the fewest words: its letter, or itself."""
    found = KEYS.get(short(key))
    return f"${found[1]}$" if found and found[1] else short(key)


def label(key: str, units: Units = OPEN) -> str:
    """The name of the axis of a key: in words, with letter and unit, or else its dimension."""
    found = KEYS.get(short(key))
    if found is None:
        return short(key)
    word, sign, dimension = found
    unit = units.of(dimension) or dimension
    return word + (f" ${sign}$" if sign else "") + (f" ({unit})" if unit else "")


def value_words(value: Any) -> str:
    """A value of a key, as in a legend."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"${number(float(value))}$"
    text = str(value)  # which may be a whole table: its beginning
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    return text.replace("$", r"\$")
