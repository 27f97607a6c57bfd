"""The pace of a law, its largest speed and its gain, and other laws with the same pace.

The page chooses the numbers of laws side by side in the same way (page/src/state/laws.ts).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dwell.agents.interfaces import stated_pace
from dwell.scenario import Scenario
from dwell.scenario.build import build_controller

SPEED = {
    "timer": "k1",
    "lloyd": "speed",
    "discrete-lloyd": "speed",
    "self-triggered": "v",
    "self-triggered-centroid": "v_max",
    "event-triggered": "s_max",
    "python": "top_speed",
}
GAIN = {
    "timer": "nu",
    "lloyd": "k2",
    "self-triggered": "kappa",
    "event-triggered": "k_v",
    "python": "gain",
}


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
    speed = getattr(spec, SPEED[spec.kind], None)
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
    others = {name: law for name, law in laws.items() if not _is_own(law, own)}
    paces = {name: pace_of(law) for name, law in others.items()}
    for k, (what, keys, of_own) in enumerate(zip(words, (SPEED, GAIN), pace_of(own), strict=True)):
        if of_own is None:
            if others:
                named = _named(own, keys)
                yield f"the scenario's law ({named}) sets no {what}: the others keep theirs."
            continue
        without = [name for name, law in others.items() if _kind(law) not in keys]
        if without:
            yield f"{' and '.join(without)}: no key sets the {what}, so it is not matched."
        for name in [name for name in others if name not in without]:
            kind, found = _kind(others[name]), paces[name][k]
            if found is None:
                missing = _missing(kind, keys[kind])
                yield f"{name}: {missing}, so the {what} is not matched."
            elif abs(found - of_own) > 1e-5 * of_own:
                number = getattr(getattr(others[name], "controller", None), keys[kind], found)
                given = f"{keys[kind]} = {number:g} makes the {what} {found:g}"
                yield f"{name}: {given}; that of the scenario's law is {of_own:g}."


def _is_own(law: Any, own: Scenario) -> bool:
    return isinstance(law, Scenario) and law.controller == own.controller


def _kind(law: Any) -> str:
    return law.controller.kind if isinstance(law, Scenario) else "python"


def _named(own: Scenario, keys: Mapping[str, str]) -> str:
    """The kind of a scenario's law; of a class, which attribute would state the quantity."""
    kind = own.controller.kind
    return f"{kind}, a class without {keys[kind]}" if kind == "python" else kind


def _missing(kind: str, key: str) -> str:
    return f"its class has no attribute {key}" if kind == "python" else f"{key} is not given"
