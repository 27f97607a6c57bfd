"""What keys and figures are called on axes."""

from __future__ import annotations

from typing import Any

from dwell.plotting.style import number

LONGEST = 28  # characters of a value

# The key without its table, where that is the law's: word, letter, unit.
_KEYS: dict[str, tuple[str, str, str]] = {
    "t1": ("shortest wait", "T_1", "time"),
    "t2": ("longest wait", "T_2", "time"),
    "period": ("period", "", "time"),
    "k1": ("top speed", "k_1", "length / time"),
    "nu": ("radius of coverage", r"\nu", "length"),
    "epsilon": ("margin", r"\varepsilon", ""),
    "loss": ("chance of a lost sample", "", ""),
    "eta_max": ("hold error kept to", r"\tilde\eta_{\max}", "length / time"),
    "k2": ("gain", "k_2", "1 / time"),
    "dt": ("time step", r"\Delta t", "time"),
    "kappa": ("gain", r"\kappa", "1 / time"),
    "v": ("top speed", "v", "length / time"),
    "v_max": ("top speed", r"v_{\max}", "length / time"),
    "s_max": ("top speed", r"s_{\max}", "length / time"),
    "speed": ("top speed", "", "length / time"),
    "tau_min": ("shortest wait", r"\tau_{\min}", "time"),
    "tau_max": ("longest wait", r"\tau_{\max}", "time"),
    "delta": ("accepted drift", r"\delta", "length"),
    "step": ("time of a move", "", "time"),
    "relaxation": ("relaxation", "", ""),
    "heartbeat": ("longest silence", "", "time"),
    "agents.start.count": ("agents", "N", ""),
    "network.loss": ("chance of a loss", "", ""),
    "network.delay": ("delay", "", "time"),
    "density.rate": ("rate of the density", r"\lambda", "1 / length$^2$"),
    "run.horizon": ("horizon", "", "time"),
}


def short(key: str) -> str:
    """A key without the name of the law's table: there is one law in a run."""
    return key.removeprefix("controller.")


def stem(key: str) -> str:
    """A key as part of the name of a file."""
    return short(key).replace(".", "-").replace("_", "-")


def letter(key: str) -> str:
    """A key in the fewest words: its letter, or itself."""
    found = _KEYS.get(short(key))
    return f"${found[1]}$" if found and found[1] else short(key)


def label(key: str) -> str:
    """The name of an axis: in words, with letter and unit."""
    found = _KEYS.get(short(key))
    if found is None:
        return short(key)
    word, sign, unit = found
    return word + (f" ${sign}$" if sign else "") + (f" ({unit})" if unit else "")


def cell(value: Any) -> str:
    """A value of a key, as in a legend."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"${number(float(value))}$"
    text = str(value)  # which may be a whole table: its beginning
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    return text.replace("$", r"\$")
