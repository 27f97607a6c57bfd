"""Commands for scenario files."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path

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
        if checked.fleet is not None and not unseen:
            from dwell.fleet.configuration import refuse_fleet

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


@command(example="> dwell.schema.json")
def schema() -> None:
    """Print the JSON Schema of scenario files."""
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
    from dwell.scenario.templates import WITH_CODE
    from dwell.sweep.templates import SWEEPS, sweep_text

    if names:
        for name, about in {**TEMPLATES, **WITH_CODE, **SWEEPS}.items():
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
    print(f"wrote {' and '.join(map(str, texts))}; run it with: dwell {then}")
