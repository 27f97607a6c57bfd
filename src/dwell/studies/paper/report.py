"""The values on the report page of `dwell reproduce`, which templates/report.html.j2 lays out."""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from dwell._need import need
from dwell.studies.compare import Comparison, LawFigures
from dwell.studies.paper import variations
from dwell.studies.paper.claims import Claim, borne_out
from dwell.studies.paper.simulations import (
    OTHER_PRESET,
    PRESET,
    SPACING,
    TEMPLATES,
    TITLES,
    Pair,
    TriggerFigures,
)
from dwell.studies.paper.variations import LABELS, PAPER_TIMES, REST_LEVELS, GridRow, Row

if TYPE_CHECKING:
    from markupsafe import Markup

SCHEMA = 1
MARK = "dwell reproduce"  # inside every file, which distinguishes our files from others
TITLE = "Timer-based coverage control: the paper's simulations again"
NO_VALUE = "–"
NO_BREAK_SPACE = "\u00a0"


@final
@dataclass(frozen=True, eq=False)
class Reproduction:
    """All results, as the report shows them, and the folder that holds them."""

    folder: Path
    claims: Sequence[Claim]  # every statement of the paper beside our numbers
    exact: Comparison  # the three laws, with exact integrals
    grid: Comparison
    presets: Mapping[str, LawFigures]  # the self-triggered law, by preset
    guarantees: Mapping[str, Pair[TriggerFigures]]  # of its trigger, by preset
    grids: Sequence[GridRow]
    rows: Sequence[Row]
    versions: Mapping[str, str]
    horizon: float
    full_horizon: float
    seed: int
    wall_seconds: float

    @property
    def report(self) -> Path:
        """The page to read."""
        return self.folder / "report.html"

    def as_json(self) -> dict[str, Any]:
        """Everything `dwell reproduce --json` prints, and claims.json keeps."""
        return {
            "schema": SCHEMA,
            "made_by": MARK,
            "claims": [claim.as_json() for claim in self.claims],
            "says": borne_out(self.claims),
            "horizon": self.horizon,
            "seed": self.seed,
            "spacing": SPACING,
            "comparison": {"exact": self.exact.as_json(), "grid": self.grid.as_json()},
            "presets": {name: figures.as_json() for name, figures in self.presets.items()},
            "guarantees": {
                name: pair.each(asdict)._asdict() for name, pair in self.guarantees.items()
            },
            "grids": [asdict(row) for row in self.grids],
            "starts": variations.as_json(self.rows) if self.rows else None,
            "report": str(self.report),
            "wall_seconds": self.wall_seconds,
        }


def require_jinja() -> None:
    """Refuse, with the remedy, where Jinja2 is not installed."""
    need("jinja2", "the report needs", "matplotlib jinja2", code="report.missing")


def report_page(found: Reproduction, drawn: Sequence[str]) -> str:
    """The page as text; the figures are PNG files in the folder of `found`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("dwell.studies.paper"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    pages.filters |= {"number": number, "prose": prose, "figure": figure}
    return pages.get_template("report.html.j2").render(
        c=found,
        generator=MARK,
        title=TITLE,
        verdict=borne_out(found.claims),
        pictures={name: _picture(found.folder / "figures" / f"{name}.png") for name in drawn},
        spacing=SPACING,
        preset=PRESET,
        other_preset=OTHER_PRESET,
        grids=_grids(found.grids),
        starts=_starts(found.rows),
        titles=TITLES,
        rest=REST_LEVELS,
        paper_times=PAPER_TIMES,
        quantities=LABELS,
    )


def figure(laws: Iterable[LawFigures], key: str, part: str = "") -> list[Any]:
    """A figure of each law; of a spread over the agents a part, such as the mean."""
    return [row[key][part] if part else row[key] for row in laws]


def number(value: float | None, digits: int = 3, missing: str = NO_VALUE) -> Markup:
    r"""Write a number for readers: 15,000, 0.038 or 1.25 × 10^-13 with a raised power.

    >>> [str(text) for text in (number(15000.0), number(0.25), number(200.04, 4), number(None))]
    ['15,000', '0.25', '200.0', '–']
    >>> str(number(1.2455e-13)), str(number(1e-9))
    ('1.25\xa0×\xa010<sup>−13</sup>', '10<sup>−9</sup>')
    """
    from markupsafe import Markup

    if value is None:
        return Markup.escape(missing)
    if value == int(value) and abs(value) < 1e9:
        return Markup(f"{int(value):,}".replace("-", "−"))
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if math.isclose(float(f"{mantissa}e{exponent}"), value, rel_tol=1e-9):  # short as it is
        mantissa = mantissa.rstrip("0").rstrip(".")
    power = int(exponent)
    if power < -3 or power > 8:
        return Markup(_scientific(mantissa, power))
    decimals = max(0, len(mantissa.lstrip("-").replace(".", "")) - 1 - power)
    return Markup(f"{value:,.{decimals}f}".replace("-", "−"))


def _scientific(mantissa: str, power: int) -> str:
    raised = f"10<sup>{power}</sup>"
    text = raised if mantissa == "1" else f"{mantissa} × {raised}".replace(" ", NO_BREAK_SPACE)
    return text.replace("-", "−")


_POWER = re.compile(r"\b(\d+(?:\.\d+)?)e(-?\d+)\b")


def prose(text: str) -> Markup:
    """Escape a sentence, and write 1.23e-13 in it with a raised power.

    >>> str(prose("below 1e-9 & steady"))
    'below 10<sup>−9</sup> &amp; steady'
    """
    from markupsafe import Markup

    escaped = html.escape(text, quote=False)
    return Markup(_POWER.sub(lambda m: _scientific(m[1], int(m[2])), escaped))


def _picture(path: Path) -> dict[str, Any]:
    """A PNG file as a data address, with its size on the page."""
    data = path.read_bytes()
    width, height = (int.from_bytes(data[k : k + 4], "big") for k in (16, 20))
    return {
        "source": f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}",
        "width": 5 * width // 7,  # drawn larger than it is shown, for sharp screens
        "height": 5 * height // 7,
    }


def _grids(grids: Sequence[GridRow]) -> dict[str, Any] | None:
    """Rows by simulation, finest grid first; how many grids are early if ours is their finest."""
    if not grids:
        return None
    spacings = sorted({row.spacing for row in grids})
    late = {row.spacing for row in grids if not _is_early(row)}
    early = [spacing for spacing in spacings if spacing not in late]
    by_spacing = sorted(grids, key=lambda row: row.spacing)
    return {
        "spacings": [f"{spacing:g}" for spacing in spacings],
        "rows": {name: [r for r in by_spacing if r.simulation == name] for name in TEMPLATES},
        "early": len(early) if early and early[0] == SPACING else 0,
    }


def _is_early(row: GridRow) -> bool:
    """Whether a simulation comes to rest by the paper's time."""
    limit = PAPER_TIMES[row.simulation] or math.inf
    return row.at_rest is not None and row.at_rest <= limit


def _starts(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Quartiles by law over the random starts, and the law with the least median of samples."""
    if not rows:
        return None
    counted = variations.as_json(rows)
    laws = counted["laws"]
    return {
        **counted,
        "side": variations.SIDE,
        "least": min(laws, key=lambda law: laws[law]["looks"]["median"] or 0.0),
        "early": sorted({row.ended for row in rows} - {"horizon"}),
    }
