"""A page as text: elements, tables, numbers and pictures, all inside one file."""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import final


@final
class Html(str):
    """Text that is markup already and is not escaped again."""

    __slots__ = ()


GAP = "\u00a0"  # a space at which no line breaks
VOID = frozenset({"img", "meta", "br", "hr"})


def tag(name: str, /, *parts: object, **attributes: object) -> Html:
    """An element. Text in it is escaped; `class_` and `data_label` become class and data-label.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{said} />")
    return Html(f"<{name}{said}>{joined(parts)}</{name}>")


def joined(parts: Iterable[object]) -> Html:
    """Parts one after another; what is not markup is escaped."""
    return Html("".join(p if isinstance(p, Html) else html.escape(str(p)) for p in parts))


def number(value: float | None, digits: int = 3, missing: str = "–") -> Html:
    r"""A number for readers: 15,000, 0.038 or 1.25 × 10^-13 with a raised power.

    >>> number(15000.0), number(0.25), number(200.04, 4), number(None)
    ('15,000', '0.25', '200.0', '–')
    >>> number(1.2455e-13), number(1e-9)
    ('1.25\xa0×\xa010<sup>−13</sup>', '10<sup>−9</sup>')
    """
    if value is None:
        return Html(missing)
    if value == int(value) and abs(value) < 1e9:
        return Html(f"{int(value):,}".replace("-", "−"))
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if math.isclose(float(f"{mantissa}e{exponent}"), value, rel_tol=1e-9):  # short as it is
        mantissa = mantissa.rstrip("0").rstrip(".")
    power = int(exponent)
    if power < -3 or power > 8:
        return _scientific(mantissa, power)
    behind = max(0, len(mantissa.lstrip("-").replace(".", "")) - 1 - power)
    return Html(f"{value:,.{behind}f}".replace("-", "−"))


def _scientific(mantissa: str, power: int) -> Html:
    raised = f"10<sup>{power}</sup>"
    text = raised if mantissa == "1" else f"{mantissa}{GAP}×{GAP}{raised}"
    return Html(text.replace("-", "−"))


_POWER = re.compile(r"\b(\d+(?:\.\d+)?)e(-?\d+)\b")


def prose(text: str) -> Html:
    """A sentence in which 1.23e-13 is written as readers write it.

    >>> prose("below 1e-9 & steady")
    'below 10<sup>−9</sup> &amp; steady'
    """
    return Html(_POWER.sub(lambda m: _scientific(m[1], int(m[2])), html.escape(text, quote=False)))


def table(
    heads: Sequence[object], rows: Iterable[Sequence[object]], *, kind: str = "", caption: str = ""
) -> Html:
    """A table that scrolls sideways where it is too wide; the first column names the row."""
    head = tag("thead", tag("tr", *(tag("th", cell, scope="col") for cell in heads)))
    body = tag("tbody", *(_row(heads, row) for row in rows))
    title = [tag("caption", prose(caption))] if caption else []
    whole = tag("table", *title, head, body, class_=kind or None)
    return tag("div", whole, class_="wide", tabindex="0", role="region", aria_label=caption or None)


def _row(heads: Sequence[object], row: Sequence[object]) -> Html:
    first = tag("th", row[0], scope="row")
    cells = [
        tag("td", cell, data_label=_plain(head))
        for head, cell in zip(heads[1:], row[1:], strict=True)
    ]
    return tag("tr", first, *cells)


def _plain(head: object) -> str:
    return html.unescape(str(head)) if isinstance(head, Html) else str(head)


def picture(path: Path, alt: str, caption: str) -> Html:
    """A PNG file inside the page, with words for those who do not see it, and a caption."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    width, height = _png_size(path)
    image = tag(
        "img",
        src=f"data:image/png;base64,{data}",
        alt=alt,
        width=5 * width // 7,  # drawn larger than it is shown, for sharp screens
        height=5 * height // 7,
        loading="lazy",
    )
    return tag("figure", image, tag("figcaption", prose(caption)), id=f"figure-{path.stem}")


def _png_size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[16:24]
    return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")


def page(title: str, mark: str, *parts: object) -> str:
    """A whole document, which needs no other file."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=mark),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(STYLE)),
    )
    body = tag("body", tag("main", *parts))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --dim: #555; --paper: #fff; --line: #d4d4d4;
  --soft: #f4f5f7; --good: #00654b; --bad: #a33a00; --link: #005a8f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --dim: #aaa; --paper: #15171a;
  --line: #3a3d42; --soft: #1f2226; --good: #5fd3ae; --bad: #ff9d66; --link: #7cc4f5; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .5rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .25rem; }
p, ul { max-width: 44rem; }
a { color: var(--link); }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  background: var(--soft); padding: .1em .3em; border-radius: .25rem; overflow-wrap: anywhere; }
nav ul { padding-left: 1.1rem; }
.lead { font-size: 1.1rem; }
.warning { border-left: .3rem solid var(--bad); padding: .5rem 1rem; background: var(--soft); }
sup { font-size: .75em; line-height: 0; }
small { color: var(--dim); font-size: .85em; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums;
  width: 100%; }
caption { text-align: left; color: var(--dim); padding-bottom: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0;
  border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--ink); white-space: nowrap; }
tbody th { font-weight: 600; min-width: 7rem; }
table.claims tbody th { font-weight: 400; }
table.figures td, table.figures thead th:not(:first-child) { text-align: right;
  white-space: nowrap; }
.holds { color: var(--good); font-weight: 600; white-space: nowrap; }
.fails { color: var(--bad); font-weight: 600; white-space: nowrap; }
.id { display: block; color: var(--dim); font-size: .8rem; font-weight: 400; }
.decides { font-weight: 700; }
figure { margin: 1.5rem 0; }
figure img { display: block; max-width: 100%; height: auto; background: #fff; border-radius: .25rem;
  border: 1px solid var(--line); }
figcaption { color: var(--dim); font-size: .9rem; max-width: 44rem; margin-top: .5rem; }
@media (max-width: 46rem) {
  table.claims thead { display: none; }
  table.claims, table.claims tbody, table.claims tr, table.claims th, table.claims td {
    display: block; width: 100%; border: 0; padding: .1rem 0; white-space: normal; }
  table.claims tr { border-bottom: 1px solid var(--line); padding: .75rem 0; }
  table.claims td::before { content: attr(data-label) ": "; color: var(--dim); }
}
@media print {
  :root { --ink: #000; --dim: #333; --paper: #fff; --line: #bbb; --soft: #fff; --good: #000;
    --bad: #000; --link: #000; }
  main { max-width: none; padding: 0; }
  .wide { overflow: visible; }
  figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
"""
