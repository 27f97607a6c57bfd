"""Commands for scenario files."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dwell.cli.command import command, flag, option
from dwell.cli.options import (
    CODE,
    FORCE,
    JSON,
    SCENARIO,
    SET,
    STRICT,
    about_site,
    compiling,
    load,
    refuse,
)
from dwell.cli.output import print_json
from dwell.errors import InputError

FEW = 1000  # agents that plain Python checks in less time than Numba takes to load


@command(SCENARIO, SET, JSON, STRICT, CODE, example="site.toml --set agents.start.count=40")
def validate(scenario: Path, overrides: list[str], as_json: bool, strict: bool) -> None:
    """Check a scenario file without running it.

    Python code that it names is neither imported nor checked, unless --allow-code is given.
    """
    from dwell.scenario.modules import named_code
    from dwell.scenario.rasters import unit_remarks
    from dwell.scenario.trust import is_allowed

    checked = load(scenario, overrides)
    few = checked.agents.count <= FEW and checked.site is None
    if few and "dwell._kernels._jit" not in sys.modules:
        os.environ.setdefault("DWELL_JIT", "0")  # the kernels stay plain Python

    from dwell._types import counted
    from dwell.scenario.build import build, build_without_code
    from dwell.verify.flags import flags_before

    assumed = None if checked.certificate is None else checked.certificate.model_dump()
    with compiling(not few):
        unseen = [] if is_allowed() else list(named_code(checked).values())
        system, start, repairs = build_without_code(checked) if unseen else build(checked)
        notes = [] if unseen else flags_before(system, start, assumed)
        if checked.fleet is not None:
            from dwell.fleet.configuration import refuse_fleet, refuse_overlap

            if unseen:  # without the law, the robots alone
                refuse_overlap(checked, system, start)
            else:
                refuse_fleet(checked, system, start)  # what no fleet can run
    if strict:
        refuse(repairs)
    remarks = [*((checked.site and checked.site.notes) or ()), *unit_remarks(checked)]
    if unseen:
        says = f"{', '.join(unseen)} was not imported, so neither it nor its keys are checked"
        remarks.append(f"{says}; if you trust it, add --allow-code")
    if as_json:
        found = {"repairs": list(repairs), "flags": [asdict(note) for note in notes]}
        found["remarks"] = remarks
        print_json({"schema": 1, "ok": True, "agents": system.agents, **found})
        return
    print(f"{scenario}: ok, {counted(system.agents, 'agent')}")
    for line in about_site(checked):
        print(f"  {line}")
    for repair in repairs:
        print(f"  repaired: {repair}")
    for note in notes:
        print(f"  note: {note.says}")
    for remark in remarks:
        print(f"  note: {remark}")


@command(
    option("file", type=Path, help="Map file: GeoJSON, TopoJSON, GeoPackage, Shapefile, ..."),
    option("--layer", help="One of its layers; all by default."),
    option("--feature", help="The feature to read, as in [site]; by default the largest."),
    JSON,
    example="harbour.gpkg --layer water --feature name=North",
)
def site(file: Path, layer: str | None, feature: str | None, as_json: bool) -> None:
    """Show what a map file contains, and the [site] that reads it."""
    from textwrap import fill

    from dwell._types import counted
    from dwell.sites.survey import MOST_SHOWN, site_table, survey

    number = int(feature) if feature is not None and feature.isdecimal() else feature
    found = survey(file, layer, number)
    table = None if found["keys"] is None else site_table(file, found["keys"])
    if as_json:
        print_json({"schema": 1, **found, "table": table})
        return
    kind = {"GPKG": "GeoPackage", "ESRI Shapefile": "Shapefile"}.get(found["format"])
    print(f"{found['file']}: {kind or found['format']}, {counted(len(found['layers']), 'layer')}")
    for one in found["layers"]:
        rows = one["features"]
        where = f"in {one['system']}" if one["system"] else "in a system that is not named"
        print()
        print(fill(f"layer {one['name']}: {counted(len(rows), 'feature')} {where}"))
        for line in _features_in_lines(rows[:MOST_SHOWN]):
            print(f"  {line}")
        if len(rows) > MOST_SHOWN:
            print(f"  and {len(rows) - MOST_SHOWN} more (--json lists all)")
    print()
    if table is None:
        print(fill(f"It cannot be read as a site: {found['why']}"))
        return
    print(f"{table}\n")
    print(fill(f"reads {found['reads']}"))
    for kind, key in (("repaired", "repairs"), ("note", "notes")):
        for said in found[key]:
            print(fill(f"{kind}: {said}", subsequent_indent="  "))


def _features_in_lines(rows: list[dict[str, Any]]) -> list[str]:
    """A table of features, at most 78 characters wide."""
    lines = [f"{'feature':>7} {'km by km':>15} {'parts':>6} {'holes':>6} {'corners':>8} valid"]
    for row in rows:
        if "parts" in row:
            sides = row["kilometres"]
            size = "?" if sides is None else " by ".join(f"{side:.4g}" for side in sides)
            counts = f"{row['parts']:>6} {row['holes']:>6} {row['corners']:>8}"
            line = f"{row['feature']:>7} {size:>15} {counts} {'yes' if row['valid'] else 'no':5}"
        else:
            line = f"{row['feature']:>7} {row['why']:>15} {'':28}"
        words = ", ".join(f"{key}={value}" for key, value in row["attributes"].items())
        lines.append(f"{line} {words}"[:77].rstrip())
        if row.get("parts", 0) > 1:
            sizes = [f"{side:.3g}" for size in row["largest"] if size for side in size]
            pairs = [" by ".join(pair) for pair in zip(sizes[::2], sizes[1::2], strict=True)]
            more = ", ..." if row["parts"] > len(pairs) else ""
            lines.append(f"{'parts':>12} 0, 1, ... (km): {', '.join(pairs)}{more}"[:77])
    return lines


@command(flag("--sweep", "That of sweep files."), example="> dwell.schema.json")
def schema(sweep: bool) -> None:
    """Print the JSON Schema of scenario files."""
    if sweep:
        from dwell.sweep.schema import sweep_schema

        print_json(sweep_schema())
        return
    from dwell.scenario import scenario_schema

    print_json(scenario_schema())


@command(
    option(
        "template", nargs="?", default="two-hills", metavar="TEMPLATE",
        help="Which template; see --list.",
    ),
    option("--out", type=Path, help="File to write; TEMPLATE.toml by default."),
    FORCE,
    flag("--list", "List the templates and stop.", dest="names"),
    example="paper-30 --out site.toml",
)  # fmt: skip
def init(template: str, out: Path | None, force: bool, names: bool) -> None:
    """Write a commented scenario or sweep file to start from."""
    from dwell.results.files import check_target, written_whole
    from dwell.scenario import TEMPLATES, template_text
    from dwell.scenario.templates import FLEETS, WITH_CODE
    from dwell.sweep.templates import SWEEPS, sweep_text

    if names:
        for name, about in {**TEMPLATES, **FLEETS, **WITH_CODE, **SWEEPS}.items():
            print(f"{name:24} {about}")
        return
    text = (
        sweep_text(template) if template in SWEEPS else template_text(template, others=list(SWEEPS))
    )
    target = check_target(out or Path(f"{template}.toml"), force=force)
    texts = {target: text}
    if template in WITH_CODE:
        module = target.with_name(f"{template.replace('-', '_')}.py")
        if module == target:
            says = f"{target} is the name of its Python module; name the scenario {template}.toml"
            raise InputError(says, code="store")
        texts[check_target(module, force=force)] = template_text(template, "py")
    for path, content in texts.items():
        with written_whole(path) as temporary:
            temporary.write_text(content, encoding="utf-8")
    then = f"sweep {target} --out sweep" if template in SWEEPS else f"run {target}"
    then = f"fleet {target}" if template in FLEETS else then
    print(f"wrote {' and '.join(map(str, texts))}; run it with: dwell {then}")
