"""Which laws to compare: from words and changed keys to checked scenarios of one pace.

The pace of a law is its largest speed and its gain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import signature
from itertools import combinations
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np

from dwell._parameters import LENGTH, parameters_of
from dwell.agents.traits import Traits, traits_of
from dwell.errors import InputError, ScenarioError
from dwell.scenario import Scenario, apply_overrides, parse_scenario
from dwell.scenario.build import build_controller
from dwell.scenario.explain import fields_of, nearest, table_at
from dwell.scenario.laws import LAW_KINDS, class_of
from dwell.scenario.load import beside
from dwell.scenario.modules import find_code, named_code
from dwell.scenario.problems import listing, shown

PYTHON: Final = "python"  # the kind of laws that are classes in Python
MANY_SAMPLES = 3e5  # of a run, beyond which its default time between samples is named
ANY_KEY: Final = "**"  # among the keys of a law that takes any


def _with_role(role: str) -> dict[str, str]:
    """The key of each law that has this role, by the kind of the law."""
    return {
        kind: key
        for kind, law in LAW_KINDS.items()
        for key, one in parameters_of(law).items()
        if one.role == role
    }


# The keys of a law for its largest speed, for its gain, and for the time between the samples of
# all agents together.
SPEED = {**_with_role("speed"), PYTHON: "top_speed"}
GAIN = {**_with_role("gain"), PYTHON: "gain"}
PERIOD = _with_role("period")


def split_overrides(overrides: Iterable[str]) -> tuple[list[str], list[str]]:
    """Changes of the scenario itself, and changes of one law, such as lloyd.k2=2."""
    own: list[str] = []
    of_laws: list[str] = []
    for override in overrides:
        first = override.partition("=")[0].partition(".")[0].strip()
        (of_laws if first in (*LAW_KINDS, PYTHON) else own).append(override)
    return own, of_laws


def scenarios_of_laws(
    scenario: Scenario, laws: Sequence[str], overrides: Iterable[str] = (), *, match: bool = True
) -> dict[str, Scenario]:
    """The scenario once for each law, under the law's name.

    A law is named by its kind; `self-triggered:paper-like` also chooses a preset, `module:Class`
    is a class in Python. The scenario's own law keeps its parameters. With `match` any other gets
    its largest speed and its gain, and defaults for the rest. `overrides` read LAW.key=value, with
    the LAW `python` for classes.
    """
    names = [name.strip() for name in laws]
    check_law_names(names)
    changes = apply_overrides({}, overrides)
    _refuse_strangers(changes, [parts_of(name)[0] for name in names])
    found = {name: _with_law(scenario, name, changes, match) for name in names}
    for one, other in combinations(found, 2):
        if found[one].controller == found[other].controller:
            raise InputError(
                f"{shown(one)} and {shown(other)} are the same law with the same parameters; "
                "list each once",
                code="compare.twice",
            )
    return found


def with_law(scenario: Scenario, law: Mapping[str, Any]) -> Scenario:
    """`scenario` under another law, with the same nu; a certificate stays with the timer law."""
    data = scenario.model_dump(exclude_none=True)
    data["controller"] = dict(law)
    certificate, nu = data.pop("certificate", None), traits_in(scenario).nu
    if nu is not None and "nu" not in law:
        data["run"].setdefault("nu", nu)
    found = parse_scenario(data)
    if certificate is None or traits_in(found).timer is None:
        return found
    return parse_scenario({**data, "certificate": certificate})


def traits_in(scenario: Scenario) -> Traits:
    """What the law of a scenario states of itself."""
    scenario.refuse_withheld()
    return traits_of(build_controller(scenario.controller, scenario.modules))


def parts_of(name: str) -> tuple[str, str | None]:
    """The kind of a law, and its preset; of a law in Python, its class."""
    kind, colon, preset = name.partition(":")
    if colon and kind not in LAW_KINDS and f"{kind}{preset}".replace(".", "").isidentifier():
        return PYTHON, name
    return kind, preset if colon else None


def beside_if_named(scenario: Scenario, names: Iterable[str], folder: Path) -> Scenario:
    """`scenario` with `folder` as the folder of its modules, if it or one of `names` has some."""
    code = named_code(scenario) or any(parts_of(name)[0] == PYTHON for name in names)
    return beside(scenario, folder) if code else scenario


def scenario_of_law(
    scenario: Scenario, name: str, keys: Mapping[str, Any], *, match: bool = True
) -> Scenario:
    """The scenario under the law of this name, with some of the law's keys set anew."""
    check_law_names([name])
    kind = parts_of(name)[0]
    known = keys_of_law(scenario, name, keys)
    unknown = [key for key in keys if key not in known and ANY_KEY not in known]
    if unknown:
        raise InputError(
            f"the {kind} law has no key {unknown[0]}{_hint(unknown[0], known)}; it has "
            f"{listing(known)}",
            code="compare.override",
            key=f"{kind}.{unknown[0]}",
        )
    return _with_law(scenario, name, {kind: keys}, match)


def _with_law(scenario: Scenario, name: str, changes: Mapping[str, Any], match: bool) -> Scenario:
    kind = parts_of(name)[0]
    table = {**_table(scenario, name), **changes.get(kind, {})}
    table = matched(scenario, table) if match else table
    _refuse_gaps(kind, table, scenario.controller.kind)
    try:
        return with_law(scenario, table)
    except ScenarioError as fault:  # say it in the words of the command
        text = str(fault).replace("controller.", f"{kind}.")
        key = None if fault.key is None else fault.key.replace("controller.", f"{kind}.")
        raise ScenarioError(text, code=fault.code, key=key) from None


def _table(scenario: Scenario, name: str) -> dict[str, Any]:
    """The table of a law before any of its keys are changed: the scenario's own, or of defaults."""
    kind, preset = parts_of(name)
    law = scenario.controller
    if law.kind == kind and (kind != PYTHON or preset in (None, class_of(law))):
        table: dict[str, Any] = law.model_dump(exclude_none=True)
    else:
        table = {"kind": kind} if kind != PYTHON or preset is None else {"class": preset}
    if preset is not None and kind != PYTHON:
        table["preset"] = _known_preset(kind, preset)
    return {**table, "kind": kind}


def matched(scenario: Scenario, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a law with the pace of the scenario's law, where that is another law.

    A class in Python gets those of the keys top_speed and gain that it has parameters for, and that
    its traits then state. At a site, where times are in seconds, a law without a `dt` gets the
    shortest wait of a timer law.
    """
    kind, spec = str(table.get("kind")), scenario.controller
    if kind == spec.kind and table.get("class") == class_of(spec):
        return dict(table)
    pace = paced(kind, scenario)
    if kind == PYTHON:
        pace = _stated_pace(scenario, table, pace)
    wait = _period_at_site(scenario)
    if kind in PERIOD and wait is not None and table.get("mode") != "ode":
        pace[PERIOD[kind]] = wait
    return {**pace, **table}


def _stated_pace(
    scenario: Scenario, table: Mapping[str, Any], pace: Mapping[str, float]
) -> dict[str, float]:
    """The keys of a class that set the pace which its traits then state."""
    known = _parameters(scenario, table.get("class"))
    keys = {key: value for key, value in pace.items() if key in known or ANY_KEY in known}
    try:
        traits = traits_in(with_law(scenario, {**keys, **table}))
    except InputError:  # the class says later what it needs
        return keys
    return {key: value for key, value in keys.items() if getattr(traits, key) == value}


def _period_at_site(own: Scenario) -> float | None:
    """The shortest wait of the timer law of a scenario with a site; None for others."""
    timer = None if own.site is None else traits_in(own).timer
    return None if timer is None else float(np.min(timer.t1))


def keys_of_law(scenario: Scenario, name: str, given: Mapping[str, Any]) -> list[str]:
    """The keys of the law of this name; of a class in Python its parameters, or `ANY_KEY` too."""
    kind = parts_of(name)[0]
    code = {**_table(scenario, name), **given}.get("class")
    if kind != PYTHON or code is None:
        return law_keys(kind)
    return ["class", *_parameters(scenario, code)]


def _parameters(scenario: Scenario, code: object) -> list[str]:
    """The parameters of the class `code`, a "module:Class"; `ANY_KEY` for any."""
    if not isinstance(code, str):
        return []  # which the parser refuses
    found = signature(find_code("controller.class", code, scenario.modules)).parameters.values()
    return [ANY_KEY if p.kind is p.VAR_KEYWORD else p.name for p in found]


def _fields(kind: str) -> dict[str, Any]:
    """The keys of a law's table."""
    return fields_of(table_at({"controller": {"kind": kind}}, ("controller",))[0])


def _known_preset(kind: str, preset: str) -> str:
    field = _fields(kind).get("preset")
    if field is None:
        with_presets = [k for k in LAW_KINDS if "preset" in _fields(k)]
        raise InputError(
            f"the {kind} law has no presets, got {shown(f'{kind}:{preset}')}; a colon may follow "
            f"{listing(with_presets, 'or')} only",
            code="compare.preset",
        )
    known = list(map(str, get_args(field.annotation)))
    if preset not in known:
        raise InputError(
            f"the {kind} law has the presets {listing(known)}, got {shown(preset)}"
            f"{_hint(preset, known)}",
            code="compare.preset",
        )
    return preset


def check_law_names(names: Sequence[str]) -> None:
    """Refuse what is no law, and what is named twice."""
    known = [*LAW_KINDS, PYTHON]
    if not any(names):
        raise InputError(
            f"no law is named; choose some of {listing(known, 'or')}, as in timer,lloyd",
            code="compare.laws",
        )
    for k, name in enumerate(names):
        kind = parts_of(name)[0]
        if kind not in known:
            raise InputError(
                f"a law must be {listing(known, 'or')}, got {shown(name)}{_hint(kind, known)}",
                code="compare.law",
            )
        if name in names[:k]:
            raise InputError(
                f"the law {shown(name)} is listed twice; list each once", code="compare.twice"
            )


def _hint(word: str, known: list[str]) -> str:
    close = nearest(word, known)
    return f'; did you mean "{close}"?' if close else ""


def _refuse_strangers(changes: Mapping[str, Any], kinds: Sequence[str]) -> None:
    for kind, table in changes.items():
        if kind not in kinds:
            raise InputError(
                f"{kind} is not among the laws compared ({listing(kinds)}), so its keys cannot be "
                "set; add it to --laws, or leave it out",
                code="compare.override",
                key=kind,
            )
        if not isinstance(table, dict):
            first = law_keys(kind)[0]
            raise InputError(
                f"{kind} is a law; set one of its keys, such as {kind}.{first}",
                code="compare.override",
                key=kind,
            )


def law_keys(kind: str) -> list[str]:
    """The keys of a law's table, but for its kind."""
    return [key for key in _fields(kind) if key != "kind"]


def _refuse_gaps(kind: str, table: Mapping[str, Any], own_kind: str) -> None:
    missing = [
        key for key, field in _fields(kind).items() if field.is_required() and key not in table
    ]
    if missing:
        sets = " ".join(f"--set {kind}.{key}=..." for key in missing)
        raise InputError(
            f"the {kind} law needs {listing(missing)}, which a scenario of the {own_kind} law does "
            f"not have; give them: {sets}",
            code="compare.missing",
            key=f"{kind}.{missing[0]}",
        )


# The pace of a law, and other laws with the same pace.


def pace_of(case: Any) -> tuple[float | None, float | None]:
    """The largest speed of a law, and its gain: speed per distance near the centroid.

    `case` is a scenario with the law, or the controller itself. None where the law has no such key,
    or leaves it open; a law in Python states both in its traits, if at all.
    """
    if not isinstance(case, Scenario) or case.controller.kind == PYTHON:
        traits = traits_in(case) if isinstance(case, Scenario) else traits_of(case)
        return traits.top_speed, traits.gain
    spec = case.controller
    speed = getattr(spec, SPEED.get(spec.kind, ""), None)
    gain = getattr(spec, GAIN.get(spec.kind, ""), None)
    return speed, _gain(spec.kind, speed, gain)


def _gain(kind: str, speed: float | None, number: float | None) -> float | None:
    """The gain of a law from its key, and the key from the gain: a length is speed over gain."""
    key = GAIN.get(kind)
    declared = parameters_of(LAW_KINDS.get(kind))
    if number is None or key not in declared or declared[key].unit != LENGTH:
        return number
    return None if speed is None else float(f"{speed / number:.6g}")


def paced(kind: str, own: Scenario) -> dict[str, float]:
    """The keys of a law that give it the pace of the law of the scenario `own`."""
    speed, gain = pace_of(own)
    wanted = {SPEED.get(kind): speed, GAIN.get(kind): _gain(kind, speed, gain)}
    return {key: value for key, value in wanted.items() if key and value is not None}


def mismatches(own: Scenario, laws: Mapping[str, Any]) -> Iterator[str]:
    """What keeps some laws from having the pace of the law of the scenario `own`, in sentences.

    Each of `laws` is a scenario, or a controller, which is run as it is.
    """
    words = ("largest speed", "speed per distance near the centroid")
    others = {
        name: case
        for name, case in laws.items()
        if not (isinstance(case, Scenario) and case.controller == own.controller)
    }
    paces = {name: pace_of(case) for name, case in others.items()}
    for k, (what, keys, of_own) in enumerate(zip(words, (SPEED, GAIN), pace_of(own), strict=True)):
        if of_own is None:
            if others:
                named = _kind(own)  # of a class: which trait would state it
                if named == PYTHON:
                    named += f", a class whose traits have no {keys[PYTHON]}"
                yield f"the scenario's law ({named}) sets no {what}: the others keep theirs."
            continue
        without = [name for name, case in others.items() if _kind(case) not in keys]
        if without:
            yield f"{' and '.join(without)}: no key sets the {what}, so it is not matched."
        for name in [name for name in others if name not in without]:
            kind, found = _kind(others[name]), paces[name][k]
            if found is None:
                absent = f"its traits have no {keys[kind]}"
                missing = absent if kind == PYTHON else f"{keys[kind]} is not given"
                yield f"{name}: {missing}, so the {what} is not matched."
            elif abs(found - of_own) > 1e-5 * of_own:
                number = found if kind == PYTHON else _table_of(others[name])[keys[kind]]
                given = f"{keys[kind]} = {number:g} makes the {what} {found:g}"
                yield f"{name}: {given}; that of the scenario's law is {of_own:g}."
    wait = _period_at_site(own)
    for name, case in others.items():
        period = PERIOD.get(_kind(case))
        if wait is not None and period and _table_of(case)[period] == wait:
            yield f"{name}: dt = {wait:g} s, the t1 of the scenario's law."


def frequent(own: Scenario, laws: Mapping[str, Scenario]) -> Iterator[str]:
    """Which laws sample very often because no time between samples is given, in sentences."""
    for name, one in laws.items():
        spec = one.controller
        for key, declared, time in spec.clock():
            if declared.role != "period" or key in spec.model_fields_set:
                continue
            samples = one.agents.count * one.run.horizon / time
            if samples <= MANY_SAMPLES:
                continue
            timer = traits_in(own).timer
            t1 = None if timer is None else timer.t1
            few = (
                f", as by --set {spec.kind}.{key}={t1:g}, the t1 of the timer law"
                if isinstance(t1, float)
                else ""
            )
            says = f"{name}: {key} = {time:g} by default makes about {samples:.2g} samples"
            yield f"{says}; a larger {key} takes less time{few}"


def _table_of(case: Scenario) -> dict[str, Any]:
    table: dict[str, Any] = case.controller.model_dump()
    return table


def _kind(case: Any) -> str:
    return case.controller.kind if isinstance(case, Scenario) else PYTHON
