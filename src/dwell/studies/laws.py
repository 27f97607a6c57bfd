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

from dwell.agents.interfaces import stated_pace
from dwell.controllers.lloyd import DT
from dwell.errors import InputError, ScenarioError
from dwell.scenario import Scenario, apply_overrides, parse_scenario
from dwell.scenario.build import LAW_KINDS, build_controller
from dwell.scenario.explain import fields_of, nearest, table_at
from dwell.scenario.load import beside
from dwell.scenario.modules import find_code, named_code
from dwell.scenario.problems import listing, shown

PYTHON: Final = "python"  # the kind of laws that are classes in Python
MANY_SAMPLES = 3e5  # of a run, beyond which its default time between samples is named
ANY_KEY: Final = "**"  # among the keys of a law that takes any

# The keys of a law for its largest speed and its gain.
PACE = {
    "timer": ("k1", "nu"),
    "lloyd": ("speed", "k2"),
    "discrete-lloyd": ("speed", ""),
    "self-triggered": ("v", "kappa"),
    "self-triggered-centroid": ("v_max", ""),
    "event-triggered": ("s_max", "k_v"),
    "tvd": ("speed", "kappa"),
    "minimum-energy": ("speed", ""),
    PYTHON: ("top_speed", "gain"),
}
# Powers of length and of time in the unit of each key that has one: speeds have (1, -1).
UNITS: dict[str, dict[str, tuple[int, int]]] = {
    "timer": {
        "k1": (1, -1), "nu": (1, 0), "t1": (0, 1), "t2": (0, 1), "period": (0, 1),
        "intervals": (0, 1), "eta_max": (1, -1), "initial_hold": (1, -1), "initial_timer": (0, 1),
    },
    "lloyd": {"k2": (0, -1), "dt": (0, 1), "speed": (1, -1)},
    "discrete-lloyd": {"step": (0, 1), "speed": (1, -1), "rate": (0, -1)},
    "self-triggered": {
        "kappa": (0, -1), "v": (1, -1), "tau_min": (0, 1), "tau_max": (0, 1), "delta": (1, 0),
        "scan": (0, 1),
    },
    "self-triggered-centroid": {"v_max": (1, -1), "dt": (0, 1), "epsilon": (1, 0), "t_max": (0, 1)},
    "event-triggered": {
        "s_max": (1, -1), "dt": (0, 1), "k_v": (0, -1), "d_stop": (1, 0), "d_start": (1, 0),
        "heartbeat": (0, 1),
    },
    "tvd": {"kappa": (0, -1), "dt": (0, 1), "speed": (1, -1)},
    "minimum-energy": {"alpha": (0, -1), "rho": (-2, 0), "dt": (0, 1), "speed": (1, -1)},
}  # fmt: skip
PERIODIC = ("lloyd", "tvd")  # laws that sample every dt, with a gain that is matched
SPEED, GAIN = ({kind: keys[k] for kind, keys in PACE.items() if keys[k]} for k in (0, 1))


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
    nu = getattr(scenario.controller, "nu", None)
    if nu is not None and "nu" not in law:
        data["run"].setdefault("nu", nu)
    if law.get("kind") != "timer":
        data.pop("certificate", None)
    return parse_scenario(data)


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
    if law.kind == kind and (kind != PYTHON or preset in (None, getattr(law, "law", None))):
        table: dict[str, Any] = law.model_dump(exclude_none=True)
    else:
        table = {"kind": kind} if kind != PYTHON or preset is None else {"class": preset}
    if preset is not None and kind != PYTHON:
        table["preset"] = _known_preset(kind, preset)
    return {**table, "kind": kind}


def matched(scenario: Scenario, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a law with the pace of the scenario's law, where that is another law.

    A class in Python gets those of the keys top_speed and gain that it has parameters for. At a
    site, where times are in seconds, a law without a `dt` gets the shortest wait of a timer law.
    """
    kind, own = str(table.get("kind")), scenario.controller
    if kind == own.kind and table.get("class") == getattr(own, "law", None):
        return dict(table)
    pace = paced(kind, scenario)
    if kind == PYTHON:
        known = _parameters(scenario, table.get("class"))
        pace = {key: value for key, value in pace.items() if key in known or ANY_KEY in known}
    wait = _period_at_site(scenario)
    if kind in PERIODIC and wait is not None and table.get("mode") != "ode":
        pace["dt"] = wait
    return {**pace, **table}


def _period_at_site(own: Scenario) -> float | None:
    """The shortest wait of the timer law of a scenario with a site; None for others."""
    t1 = getattr(own.controller, "t1", None)
    return None if own.site is None or t1 is None else float(np.min(t1))


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


def pace_of(law: Any) -> tuple[float | None, float | None]:
    """The largest speed of a law, and its gain: speed per distance near the centroid.

    `law` is a scenario, or a controller. None where the law has no such key, or leaves it open;
    a law in Python states both as attributes, if at all.
    """
    if not isinstance(law, Scenario):
        return stated_pace(law)
    spec = law.controller
    if spec.kind == "python":
        return stated_pace(build_controller(spec, law.modules))
    speed = getattr(spec, SPEED.get(spec.kind, ""), None)
    gain = getattr(spec, GAIN.get(spec.kind, ""), None)
    return speed, _gain(spec.kind, speed, gain)


def _gain(kind: str, speed: float | None, number: float | None) -> float | None:
    """The gain of a law from its key, and the key from the gain: nu is speed over gain."""
    if kind != "timer" or number is None:
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
        name: law
        for name, law in laws.items()
        if not (isinstance(law, Scenario) and law.controller == own.controller)
    }
    paces = {name: pace_of(law) for name, law in others.items()}
    for k, (what, keys, of_own) in enumerate(zip(words, (SPEED, GAIN), pace_of(own), strict=True)):
        if of_own is None:
            if others:
                named = _kind(own)  # of a class: which attribute would state it
                named += f", a class without {keys[named]}" * (named == PYTHON)
                yield f"the scenario's law ({named}) sets no {what}: the others keep theirs."
            continue
        without = [name for name, law in others.items() if _kind(law) not in keys]
        if without:
            yield f"{' and '.join(without)}: no key sets the {what}, so it is not matched."
        for name in [name for name in others if name not in without]:
            kind, found = _kind(others[name]), paces[name][k]
            if found is None:
                absent = f"its class has no attribute {keys[kind]}"
                missing = absent if kind == PYTHON else f"{keys[kind]} is not given"
                yield f"{name}: {missing}, so the {what} is not matched."
            elif abs(found - of_own) > 1e-5 * of_own:
                number = getattr(getattr(others[name], "controller", None), keys[kind], found)
                given = f"{keys[kind]} = {number:g} makes the {what} {found:g}"
                yield f"{name}: {given}; that of the scenario's law is {of_own:g}."
    wait = _period_at_site(own)
    for name, law in others.items():
        if wait is not None and getattr(getattr(law, "controller", None), "dt", None) == wait:
            yield f"{name}: dt = {wait:g} s, the t1 of the scenario's law."


def frequent(own: Scenario, laws: Mapping[str, Scenario]) -> Iterator[str]:
    """Which laws sample very often because no `dt` is given, in sentences."""
    for name, one in laws.items():
        law, samples = one.controller, one.agents.count * one.run.horizon / DT
        sampled = law.kind == "lloyd" and law.mode == "sampled" and law.dt is None
        if sampled and samples > MANY_SAMPLES:
            t1 = getattr(own.controller, "t1", None)
            few = (
                f", as by --set lloyd.dt={t1:g}, the t1 of the timer law"
                if isinstance(t1, float)
                else ""
            )
            says = f"{name}: dt = {DT:g} by default makes about {samples:.2g} samples; a larger dt"
            yield f"{says} takes less time{few}"


def _kind(law: Any) -> str:
    return law.controller.kind if isinstance(law, Scenario) else PYTHON
