"""Writes tables of the docs: keys of files, figures of a run, laws, and what goes with what.

    python docs/tables.py

replaces what stands between `<!-- keys of NAME -->`, `<!-- figures of NAME -->` or
`<!-- classes of NAME -->` and `<!-- end -->`, and the parts of docs/compatibility.md; a test
compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import partial
from pathlib import Path
from typing import Any

from dwell._compatibility import TABLE, Feature, Need, Refusal
from dwell._parameters import Parameter, Word, declaration_of, in_words, parameters_of
from dwell.agents import Network
from dwell.density import DECLARED as DENSITIES
from dwell.live.faults import Faults, Partition
from dwell.live.settings import LiveSettings
from dwell.results.figures import FIGURES, compared_figures
from dwell.scenario.laws import LAW_KINDS
from dwell.scenario.team import AgentsSpec
from dwell.scenario.values import Table
from dwell.studies.compare import UNSHOWN
from dwell.sweep.schema import RangeTable, SweepTable

PAGES = (
    *(
        Path(__file__).with_name(f"{name}.md")
        for name in ("scenario", "results", "compare", "sweeps", "reference")
    ),
    *sorted(Path(__file__).with_name("laws").glob("*.md")),
)
DECLARED: dict[str, Any] = {
    **LAW_KINDS, **{declaration_of(one).kind: one for one in DENSITIES}, "network": Network,
    "fleet": LiveSettings, "faults": Faults, "partitions": Partition,
}  # fmt: skip
MARKED = re.compile(
    r"(<!-- (?:keys|figures|classes) of (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL
)
TOGETHER = Path(__file__).with_name("compatibility.md")
MATRIX = re.compile(r"(<!-- (?P<part>matrix|reasons) -->\n).*?(<!-- end -->)", re.DOTALL)
# Words and tables of a file in a sentence, which are not yet spelt as code.
SPELT = re.compile(r'(?<!`)"[\w-]+"|(?<!`)\{[\w, ]+\}|(?<!`)\[\[\w+\]\]')
OF_LAWS = (
    Feature.NO_TIMER, Feature.FOLLOWING, Feature.FIRST_HOLD, Feature.UNSHARED, Feature.NO_PROGRAM,
    Feature.MESSAGES, Feature.BEYOND_SAMPLES,
)  # fmt: skip
ALWAYS_SOME = (Feature.LINE, Feature.PLANE)  # columns that refuse next to nothing
WORDS = {"law": "NAME", "workspace": "WORKSPACE", "density": "DENSITY", "n": "N"}
FEW = 3  # choices that are explained beside the key
HEAD = "| key | meaning | unit | range | default |\n|---|---|---|---|---|\n"
UNITS = {"length / time": "speed", "1 / time": "per time", "": "-"}


def written(text: str) -> str:
    """The page with its tables anew."""
    return MARKED.sub(lambda found: f"{found[1]}\n{TABLES[found['name']]()}\n{found[3]}", text)


def keys_of_table(table: type[Table]) -> str:
    """The table of the keys of a table that pydantic checks."""
    text = "| key | meaning | default |\n|---|---|---|\n"
    for key, field in table.model_fields.items():
        meaning = SPELT.sub(r"`\g<0>`", field.description or "")
        default = "needed" if field.is_required() else default_of(field.default)
        text += f"| `{key}` | {meaning} | {default} |\n"
    return text


def default_of(value: Any) -> str:
    """A default as a file has it; nothing for an empty table."""
    return f"`{json.dumps(value)}`" if value not in (None, {}) else ""


def figures_of_runs() -> str:
    """The table of the keys of a summary."""
    text = "| key | meaning | unit | value |\n|---|---|---|---|\n"
    for one in FIGURES:
        value = one.kind.value + (": `min`, `mean`, `max` over the agents" if one.spread else "")
        text += f"| `{one.key}` | {one.sentence} | {unit_of(one.unit)} | {value} |\n"
    return text


def rows_of_comparisons() -> str:
    """The table of the rows of a comparison that are figures of a run."""
    text = "| row | meaning | unit |\n|---|---|---|\n"
    for one in compared_figures():
        if one.key not in UNSHOWN:
            each = ", per agent" if one.each is not None and not one.spread else ""
            text += f"| {one.label} | {one.sentence}{each} | {unit_of(one.unit)} |\n"
    return text


def keys_of_comparisons() -> str:
    """The table of the keys that a comparison has for each law."""
    text = "| key | `dwell run --json` |\n|---|---|\n"
    for one in compared_figures():
        text += f"| `{one.compared}` | `{one.key}` |\n"
    return text


def classes_of_laws() -> str:
    """The directives that show the classes of the laws."""
    names = [law.__name__ for law in LAW_KINDS.values()]
    classes = "\n".join(f".. autoclass:: dwell.{name}" for name in names)
    return f"```{{eval-rst}}\n{classes}\n```\n"


def tables_of(name: str) -> str:
    """The table of the keys of a class, and one for each key with many choices."""
    declared = parameters_of(DECLARED[name])
    text = HEAD + "".join(row(key, one) for key, one in declared.items())
    for key, one in declared.items():
        if len(choices := explained(one)) > FEW:
            rows = "".join(f"| `{word}` | {meaning} |\n" for word, meaning in choices.items())
            text += f"\n| `{key}` | |\n|---|---|\n{rows}"
    return text


def explained(one: Parameter) -> dict[Any, str]:
    """The choices of a key, if they need words."""
    if not isinstance(one.kind, Word) or not any(one.kind.choices.values()):
        return {}
    return dict(one.kind.choices)


def row(key: str, one: Parameter) -> str:
    """The row of a key."""
    choices = explained(one)
    meaning = one.sentence
    if 0 < len(choices) <= FEW:
        words = (f'`"{word}"`: {text}' for word, text in choices.items())
        meaning = f"{meaning}; {'; '.join(words)}"
    cells = (f"`{one.key or key}`", meaning, unit_of(one.unit), limits(one), default(one))
    return f"| {' | '.join(cells)} |\n"


def unit_of(unit: tuple[int, int]) -> str:
    """A unit in words, as the tables have it."""
    words = in_words(unit).replace("$", "")
    return UNITS.get(words, words)


def limits(one: Parameter) -> str:
    """Which values are allowed, in words."""
    if one.limits:
        return one.limits
    if one.in_file is not None:
        return str(one.in_file.limits)
    if isinstance(one.kind, Word):
        return ", ".join(f"`{_toml(word)}`" for word in one.kind.choices)
    return str(getattr(one.kind, "limits", one.kind.need.rstrip(",")))


def default(one: Parameter) -> str:
    """What a key is if it is not given."""
    if one.default is MISSING:
        return "needed"
    if one.default not in (None, ()):
        return f"`{_toml(one.default)}`"
    if one.needed and one.belongs is not None:
        return f"needed with `{one.belongs[1]}`"
    if one.absent is None or isinstance(one.absent, str):
        return one.absent or "-"
    return f"`{_toml(one.absent)}`"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


TABLES: dict[str, Callable[[], str]] = {
    **{name: partial(tables_of, name) for name in DECLARED},
    "agents": partial(keys_of_table, AgentsSpec),
    "sweeps": partial(keys_of_table, SweepTable),
    "ranges": partial(keys_of_table, RangeTable),
    "runs": figures_of_runs,
    "comparisons": rows_of_comparisons,
    "laws": keys_of_comparisons,
    "controllers": classes_of_laws,
}


# What goes with what.


def compatibility(text: str) -> str:
    """The page of what goes with what, with its parts anew."""
    made = {"matrix": matrix(), "reasons": reasons()}
    return MATRIX.sub(lambda found: f"{found[1]}\n{made[found['part']]}\n{found[3]}", text)


def matrix() -> str:
    """One row for each need, one column for each feature of a world."""
    columns = [one for one in Feature if one not in (*OF_LAWS, *ALWAYS_SOME)]
    rows = [need for need in Need if any(of_world(cells) for cells in TABLE[need])]
    head = f"| | {' | '.join(one.value for one in columns)} |\n|---{'|:-:' * len(columns)}|\n"
    return head + "".join(
        f"| {need.value} | {' | '.join(mark(need, one) for one in columns)} |\n" for need in rows
    )


def of_world(together: tuple[Feature, ...]) -> bool:
    """Whether all features that are refused together are those of a world."""
    return not set(together) & set(OF_LAWS)


def mark(need: Need, feature: Feature) -> str:
    """ "no" where a feature is refused, "some" where it is refused with another one."""
    if (feature,) in TABLE[need]:
        return "no"
    return "some" if any(feature in together for together in TABLE[need]) else ""


def reasons() -> str:
    """The sentences of all cells that refuse, by need."""
    return "\n".join(f"**{need.value}**\n\n{listed(TABLE[need])}" for need in Need)


def listed(cells: Mapping[tuple[Feature, ...], Refusal]) -> str:
    """The cells of a row, those of one sentence together."""
    by_sentence: dict[tuple[str, str], list[str]] = {}
    for together, refusal in cells.items():
        says = refusal.says.format(**WORDS).replace("|", r"\|")
        named = " with ".join(one.value for one in together)
        by_sentence.setdefault((says, refusal.code), []).append(named)
    return "".join(
        f"- {', '.join(names)}: {says}{f' (`{code}`)' if code else ''}\n"
        for (says, code), names in by_sentence.items()
    )


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)
    TOGETHER.write_text(compatibility(TOGETHER.read_text(encoding="utf-8")), encoding="utf-8")
    print(TOGETHER)
