"""The report: what the paper says, what we get, and why they differ where they do. One page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from dwell.studies import starts as many
from dwell.studies.claims import Claim, borne_out
from dwell.studies.compare import LEVELS, Comparison, LawFigures
from dwell.studies.figures import Illustration
from dwell.studies.markup import Html, joined, number, page, picture, prose, table, tag
from dwell.studies.paper import OTHER_PRESET, PRESET, SPACING, TEMPLATES, TITLES
from dwell.studies.spacings import LEVELS as REST
from dwell.studies.spacings import PAPER_TIMES, GridRow
from dwell.studies.starts import QUANTITIES, Quartiles, Row, quartiles_of, values_of
from dwell.studies.trigger import Watched

MARK = "dwell reproduce"  # inside every file, so that our own can be told from other files
TITLE = "Timer-based coverage control: the paper's simulations again"
PAPER = "Timer-Based Coverage Control for Mobile Sensors"


@final
@dataclass(frozen=True, eq=False)
class Contents:
    """All that the report tells."""

    claims: Sequence[Claim]
    exact: Comparison  # the three laws, with exact integrals
    grid: Comparison
    presets: Mapping[str, LawFigures]  # the self-triggered law, by preset
    guarantees: Mapping[str, Watched]  # what its trigger promises, by preset
    grids: Sequence[GridRow]
    rows: Sequence[Row]
    versions: Mapping[str, str]
    horizon: float
    full_horizon: float
    seed: int
    wall_seconds: float


def write_report(contents: Contents, drawn: Sequence[Illustration], folder: Path) -> str:
    """The page as text; `folder` holds the figures as PNG files."""
    pictures = {
        one.name: picture(folder / f"{one.name}.png", one.alt, one.caption) for one in drawn
    }
    return page(
        TITLE,
        MARK,
        _opening(contents),
        _about(),
        _claims(contents),
        _why(contents, pictures),
        _thirty(pictures),
        _three_laws(contents, pictures),
        _self_trigger(contents, pictures),
        _many_starts(contents, pictures),
        _again(contents),
    )


def _section(name: str, title: str, *parts: object) -> Html:
    return tag("section", tag("h2", prose(title)), *parts, id=name)


def _text(*sentences: object) -> Html:
    parts = (s if isinstance(s, Html) else prose(str(s)) for s in sentences)
    return tag("p", *(piece for part in parts for piece in (part, " ")))


def _opening(c: Contents) -> Html:
    failed = [claim for claim in c.claims if not claim.holds]
    short = (
        tag(
            "p",
            f"This is a rehearsal up to t = {c.horizon:g} instead of {c.full_horizon:g}. Claims "
            "about later times cannot hold in it.",
            class_="warning",
        )
        if c.horizon < c.full_horizon
        else Html()
    )
    verdict = tag(
        "p",
        f"{borne_out(c.claims)} ",
        *(["Not borne out: ", *_listed(failed), "."] if failed else []),
        class_="lead",
    )
    links = {
        "claims": "Every claim, with numbers",
        "why": "Why errors of 1e-13 need a grid",
        "thirty": "Thirty agents",
        "laws": "Three laws from one start",
        "trigger": "The self-trigger",
        "starts": "Many random starts",
        "again": "How to get this page again",
    }
    if not c.rows:
        del links["starts"]
    items = (tag("li", tag("a", prose(words), href=f"#{name}")) for name, words in links.items())
    return joined(
        [tag("h1", TITLE), short, verdict, tag("nav", tag("ul", *items), aria_label="Contents")]
    )


def _listed(claims: Sequence[Claim]) -> list[object]:
    parts: list[object] = []
    for k, claim in enumerate(claims):
        if k:
            parts.append(", ")
        parts.append(tag("a", claim.id, href=f"#{claim.id}"))
    return parts


def _about() -> Html:
    return _section(
        "about",
        "What this is",
        _text(
            f"Zegers, Phillips and Hicks ({PAPER}, arXiv 2402.18744) let mobile agents share out a "
            "region. Each agent looks at its neighbourhood only when its own timer runs out, and "
            "holds its velocity in between.",
            "The paper shows four simulations: its own law with 30 agents, and with 12 agents "
            "Lloyd's law in continuous time, a self-triggered law, and its own law again.",
            "This page repeats the four with another program and compares number by number.",
        ),
        tag("h3", "What is not the authors'"),
        tag(
            "ul",
            tag(
                "li",
                "The workspace and the starts. The paper has them only inside its images. Ours are "
                "a reconstruction, chosen so that the steady cost of 30 agents is about 201.",
            ),
            tag(
                "li",
                "The equation that triggers the self-triggered law. The paper names what goes into "
                "it and points to another article. Ours is the simplest one with these parts that "
                "gives the guarantees the paper mentions.",
            ),
            tag(
                "li",
                prose(
                    "The grid. The paper does not say how it integrates over cells. Errors of "
                    f"1e-13 speak for points. Our grid of spacing {SPACING:g} was chosen after "
                    "trying several, so that errors come to rest as early as the paper says; with "
                    "most others some do not. All that were tried are in a table below."
                ),
            ),
            tag("li", "The random draws of the timers: ours are even on the allowed interval."),
        ),
        _text("All parameters that the paper prints are used as printed."),
    )


def _why(c: Contents, pictures: Mapping[str, Html]) -> Html:
    return _section(
        "why",
        "Why errors of 1e-13 need a grid",
        _text(
            "The paper reports tracking errors of about 1e-13.",
            "With exact integrals they do not come: at t = 150 errors are still between 1e-5 and "
            "1e-2. The density is a wide hill, so the whole pattern of cells can turn about its "
            "peak almost without changing the cost, and errors along such a turn fade very slowly.",
        ),
        _text(
            "On a grid of points the integral over a cell is a sum over the points in it. The "
            "centroid then changes only when a point changes sides. Once the agents are slow "
            "enough that no point does, every centroid stands still, each agent approaches a fixed "
            "target, and its error decays at the rate of the gain alone, until rounding stops it.",
            "That is the straight fall on the right of the figure. When it begins is a matter of "
            "luck and of the grid; where it ends is a matter of rounding.",
        ),
        pictures["exact-and-grid"],
        tag("h3", prose("Where 1.23e-13 comes from")),
        _text(
            "Under Lloyd's law with steps of 0.01 and gain 1, an agent moves 0.01 times its error "
            "per step. Between 8 and 16 neighbouring double-precision numbers are 1.78e-15 apart, "
            "and a step of less than half of that is rounded away. So a coordinate between 8 and "
            "16 stops changing once its part of the error is below 8.9e-14; an agent with two such "
            "coordinates stops with an error of at most 1.26e-13.",
            "The paper's 1.23e-13 for Lloyd's law and 8.71e-14 for its own are just below these "
            "two numbers. Under Lloyd's law ours are as well, whatever the spacing of the grid.",
            "Our timer runs end lower, near 1e-15, because motion between events is computed in "
            "one piece and not in steps.",
        ),
        *_grids(c),
    )


def _grids(c: Contents) -> list[object]:
    if not c.grids:
        return []
    spacings = sorted({row.spacing for row in c.grids})
    found = {(row.simulation, row.spacing): row for row in c.grids}

    def cells(name: str, quantity: str) -> list[object]:
        values = [getattr(found[name, spacing], quantity) for spacing in spacings]
        missing = "not yet" if quantity == "at_rest" else "–"
        digits = 2 if quantity == "final_error" else 4  # the table is wide
        return [number(value, digits, missing) for value in values]

    heads = ["simulation", "paper", *(f"{spacing:g}" for spacing in spacings)]
    at_rest = [
        [joined([TITLES[name], ", errors within ", number(REST[name], 2)]),
         number(PAPER_TIMES[name], 4), *cells(name, "at_rest")]
        for name in TEMPLATES
    ]  # fmt: skip
    ends = [[f"{TITLES[name]}, final error", "", *cells(name, "final_error")] for name in TEMPLATES]
    costs = [[f"{TITLES[name]}, final cost", "", *cells(name, "final_cost")] for name in TEMPLATES]
    return [
        tag("h3", "Other grids"),
        _text(
            f"The runs of this page use {SPACING:g}{_reason(c.grids)}. The time at which cells "
            "freeze depends on the grid, by and large the finer the later; the level at which "
            "errors then rest does not. A coarse grid also freezes agents at a worse cost.",
        ),
        table(
            heads,
            [*at_rest, *ends, *costs],
            kind="figures",
            caption="By spacing of the grid: time from which errors stay within the paper's level; "
            "error and cost at the end.",
        ),
    ]


def _reason(grids: Sequence[GridRow]) -> str:
    """Why our spacing is the one it is, if the table bears that out."""
    spacings = sorted({row.spacing for row in grids})
    early = [spacing for spacing in spacings if _as_early(grids, spacing)]
    if not early or early[0] != SPACING:
        return ""
    return (
        f", the finest of these {len(spacings)} with which all four come to rest as early as the "
        f"paper says. On {len(early)} of the {len(spacings)} they all do, so the verdicts on the "
        "smallest errors turn on this choice"
    )


def _as_early(grids: Sequence[GridRow], spacing: float) -> bool:
    """Whether every simulation comes to rest on this grid by the time that the paper gives."""
    own = [row for row in grids if row.spacing == spacing]
    limits = [PAPER_TIMES[row.simulation] or math.inf for row in own]
    times = [math.inf if row.at_rest is None else row.at_rest for row in own]
    return all(math.isfinite(t) and t <= most for t, most in zip(times, limits, strict=True))


def _claims(c: Contents) -> Html:
    heads = ("claim", "paper", "exact", "grid", "verdict", "note")
    rows = []
    for claim in c.claims:
        name = joined([prose(claim.says), tag("span", claim.id, class_="id", id=claim.id)])
        exact, grid = (number(value, 4) for value in (claim.exact, claim.grid))
        if claim.by == "exact":
            exact = tag("span", exact, class_="decides")
        else:
            grid = tag("span", grid, class_="decides")
        mark, kind = ("✓", "holds") if claim.holds else ("✗", "fails")
        verdict = tag("span", f"{mark} {claim.verdict}", class_=kind)
        rows.append((name, number(claim.paper), exact, grid, verdict, prose(claim.note)))
    return _section(
        "claims",
        "Every claim, with numbers",
        _text(
            "The number in bold decides: ours with exact integrals, or ours on the grid where the "
            "paper's number can only come from one.",
        ),
        table(heads, rows, kind="claims"),
    )


def _thirty(pictures: Mapping[str, Html]) -> Html:
    own = [image for name, image in pictures.items() if name.startswith("n30")]
    return _section(
        "thirty",
        "Thirty agents",
        _text(
            "The figures of the paper's first simulation, with exact integrals. The same on a grid "
            "differs to the eye in the errors alone."
        ),
        *own,
    )


def _three_laws(c: Contents, pictures: Mapping[str, Html]) -> Html:
    own = [image for name, image in pictures.items() if name.startswith("comparison")]
    return _section(
        "laws",
        "Three laws from one start",
        _text(
            "Twelve agents, the same start, the same horizon. A law settles at a level at the "
            "first sample from which no error exceeds it.",
            "Energy is the integral of the squared speed. Counts are means over the agents, with "
            "the largest in brackets.",
            "Seconds of computing are those of one run while others shared the machine.",
        ),
        _law_table(c.exact, "With exact integrals"),
        _law_table(c.grid, f"On a grid of spacing {SPACING:g}"),
        *own,
    )


def _law_table(comparison: Comparison, caption: str) -> Html:
    laws = comparison.figures
    rows: list[list[object]] = [
        ["final error", *(number(f.final_error) for f in laws.values())],
    ]
    for level in LEVELS:
        settled = (number(f.settled[level], 4, "never") for f in laws.values())
        rows.append([joined(["settled to ", number(level)]), *settled])
    rows.append(["final cost", *(number(f.final_cost, 6) for f in laws.values())])
    kinds = {
        "voronoi": "Voronoi cells",
        "guaranteed": "guaranteed cells",
        "dual_guaranteed": "dual guaranteed cells",
        "all": "cells of all kinds",
    }
    for kind, words in kinds.items():
        rows.append([words, *(_spread(f.cells[kind]) for f in laws.values())])
    rows.append(["own position measured", *(_spread(f.measurements) for f in laws.values())])
    rows.append(["changes of velocity", *(_spread(f.updates) for f in laws.values())])
    rows.append(["positions received", *(_spread(f.received) for f in laws.values())])
    rows.append(["messages sent", *(_spread(f.sent) for f in laws.values())])
    rows.append(["distance", *(_spread(f.distance) for f in laws.values())])
    rows.append(["energy", *(_spread(f.energy) for f in laws.values())])
    distances = (number(found.distance) for found in comparison.matches.values())
    rows.append(["final distance from the first law's", *distances])
    settled = (number(found.settled) for found in comparison.matches.values())
    rows.append(["the same once settled", *settled])
    same = ("yes" if found.same else "no" for found in comparison.matches.values())
    rows.append(["same tessellation as the first", *same])
    rows.append(["seconds of computing", *(number(f.wall_seconds, 2) for f in laws.values())])
    heads = ["", *(TITLES.get(name, name) for name in laws)]
    return table(heads, rows, kind="figures", caption=caption)


def _spread(values: Mapping[str, float]) -> Html:
    return joined([number(values["mean"], 4), " (", number(values["max"], 4), ")"])


def _self_trigger(c: Contents, pictures: Mapping[str, Html]) -> Html:
    heads = ["", "paper", *(f"preset {name}" for name in c.presets)]
    found = c.presets.values()
    rows: list[list[object]] = [
        ["cells, mean", number(28_000.0), *(number(f.cells["all"]["mean"]) for f in found)],
        ["looks, mean", "–", *(number(f.looks["mean"]) for f in found)],
        ["looks, most", "–", *(number(f.looks["max"]) for f in found)],
        ["settled to 0.5", "–", *(number(f.settled[0.5], 4, "never") for f in found)],
        ["settled to 0.01", "–", *(number(f.settled[1e-2], 4, "never") for f in found)],
        ["final error", "–", *(number(f.final_error) for f in found)],
        ["final cost", "–", *(number(f.final_cost, 6) for f in found)],
        *_guarantees(list(c.guarantees.values())),
    ]  # fmt: skip
    return _section(
        "trigger",
        "The self-trigger",
        _text(
            "The equation of its trigger is reconstructed, in two forms. Both bound how far a "
            "centroid can have moved since the last look by the size of the dual guaranteed cell "
            "and the share of it that the guaranteed cell leaves open.",
            f"The form {PRESET} uses what an agent knows as well as it can be used. The form "
            f"{OTHER_PRESET} is more cautious: it looks more often, with intervals nearer to those "
            "that the paper describes, and computes a few more cells.",
            f"The comparison above uses {PRESET}: its count of cells is nearer to the paper's "
            "28,000, and it takes longer to settle, as the paper says.",
        ),
        _text(
            "Between two looks the trigger guarantees that the centroid moves by at most δ = 3 "
            "(G1) and that the centroid that was sampled stays in the agent's cell (G2). Both were "
            "followed along the runs and to the end of every interval. A floor hit is an interval "
            "on which even tau_min was longer than the trigger allows: nothing is guaranteed on "
            "it, and it is left out. A ceiling hit is one that tau_max ended.",
        ),
        table(heads, rows, kind="figures", caption="The two forms, with exact integrals"),
        pictures["self-triggered-intervals"],
    )


def _guarantees(presets: Sequence[Watched]) -> list[list[object]]:
    """What became of G1 and G2, with exact integrals and on the grid."""
    rows: list[list[object]] = []
    for way in ("exact", "grid"):
        seen = [getattr(one, way) for one in presets]
        name = "" if way == "exact" else ", on the grid"
        rows += [
            [f"floor hits{name}", "–", *(number(float(f.floor_hits)) for f in seen)],
            [f"ceiling hits{name}", "–", *(number(float(f.ceiling_hits)) for f in seen)],
            [f"largest motion of a centroid{name} (G1)", "≤ 3", *(number(f.drift) for f in seen)],
            [f"least room of a target{name} (G2)", "≥ 0", *(number(f.room) for f in seen)],
        ]
    return rows


def _many_starts(c: Contents, pictures: Mapping[str, Html]) -> Html:
    if not c.rows:
        return Html()
    counted = many.as_json(c.rows)
    laws = list(dict.fromkeys(row.law for row in c.rows))
    rows = [
        [words, *(_quartiles(quartiles_of(values_of(c.rows, law, q))) for law in laws)]
        for q, words in QUANTITIES.items()
    ]
    early = sorted({row.ended for row in c.rows} - {"horizon"})
    notes = [f"Some runs ended early: {', '.join(early)}."] if early else []
    return _section(
        "starts",
        "Many random starts",
        _text(
            "The paper shows one start. Here the three laws of 12 agents run, with exact "
            f"integrals, from {counted['spread']} starts that are spread over the whole workspace "
            f"and {counted['clustered']} in squares of side {many.SIDE:g} at random places.",
            _fewest_looks(c.rows, laws),
            *notes,
        ),
        table(
            ["", *(TITLES[law] for law in laws)],
            rows,
            kind="figures",
            caption="Median, and below it the lower and the upper quartile",
        ),
        pictures["starts"],
    )


def _fewest_looks(rows: Sequence[Row], laws: Sequence[str]) -> str:
    """Which law looks least often, by its median."""
    medians = {law: quartiles_of(values_of(rows, law, "looks")).median or 0.0 for law in laws}
    least = min(laws, key=lambda law: medians[law])
    return f"By the median, an agent looks least often under this law: {TITLES[least].lower()}."


def _quartiles(q: Quartiles) -> Html:
    low, median, high = (number(value, 4, "never") for value in (q.low, q.median, q.high))
    return joined([median, tag("br"), tag("small", low, " to ", high)])


def _again(c: Contents) -> Html:
    versions = ", ".join(f"{name} {c.versions[name]}" for name in ("dwell", "python", "numpy"))
    return _section(
        "again",
        "How to get this page again",
        _text(
            tag("code", "dwell reproduce"),
            "writes it, with the figures as files, every run and",
            tag("code", "claims.json"),
            "beside it. The runs can be checked one by one, as with",
            tag("code", "dwell check runs/n30-exact.nc"),
            "and drawn with",
            tag("code", "dwell plot"),
            "in the same way.",
        ),
        _text(f"Made with {versions}; seed {c.seed}; {c.wall_seconds:.0f} seconds."),
    )
