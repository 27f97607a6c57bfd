"""The pace of a law, its largest speed and its gain, and other laws with the same pace.

The page chooses the numbers of laws side by side in the same way (page/src/state/laws.ts).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dwell.scenario import Scenario

SPEED = {
    "timer": "k1",
    "lloyd": "speed",
    "discrete-lloyd": "speed",
    "self-triggered": "v",
    "self-triggered-centroid": "v_max",
    "event-triggered": "s_max",
}
GAIN = {"timer": "nu", "lloyd": "k2", "self-triggered": "kappa", "event-triggered": "k_v"}


def pace_of(law: Any) -> tuple[float | None, float | None]:
    """The largest speed of a law, and its gain: speed per distance near the centroid.

    None where the law has no such key, or leaves it open.
    """
    speed = getattr(law, SPEED.get(law.kind, ""), None)
    gain = getattr(law, GAIN.get(law.kind, ""), None)
    return speed, _gain(law.kind, speed, gain)


def _gain(kind: str, speed: float | None, number: float | None) -> float | None:
    """The gain of a law from its key, and the key from the gain: nu is speed over gain."""
    if kind != "timer" or number is None:
        return number
    return None if speed is None else float(f"{speed / number:.6g}")


def paced(kind: str, own: Any) -> dict[str, float]:
    """The keys of a law that give it the pace of the law `own`."""
    speed, gain = pace_of(own)
    wanted = {SPEED.get(kind): speed, GAIN.get(kind): _gain(kind, speed, gain)}
    return {key: value for key, value in wanted.items() if key and value is not None}


def mismatches(own: Any, scenarios: Mapping[str, Scenario]) -> Iterator[str]:
    """What keeps some laws from having the pace of the scenario's law `own`, in sentences."""
    words = ("largest speed", "speed per distance near the centroid")
    laws = {name: one.controller for name, one in scenarios.items()}
    for k, (what, keys, of_own) in enumerate(zip(words, (SPEED, GAIN), pace_of(own), strict=True)):
        paces = {name: pace_of(law)[k] for name, law in laws.items() if law != own}
        if of_own is None:
            if paces:
                yield f"the scenario's law ({own.kind}) sets no {what}: the others keep theirs."
            continue
        unset = [name for name, found in paces.items() if found is None]
        without = [name for name in unset if laws[name].kind not in keys]
        if without:
            yield f"{' and '.join(without)}: no key sets the {what}, so it is not matched."
        for name in [name for name in unset if name not in without]:
            yield f"{name}: {keys[laws[name].kind]} is not given, so the {what} is not matched."
        for name, found in paces.items():
            if found is not None and abs(found - of_own) > 1e-5 * of_own:
                key = keys[laws[name].kind]
                given = f"{key} = {getattr(laws[name], key):g} makes the {what} {found:g}"
                yield f"{name}: {given}; that of the scenario's law is {of_own:g}."
