"""The options of `simulate`: what a scenario file would refuse is refused here as well."""

from __future__ import annotations

from typing import Any

from dwell._checks import check_whole
from dwell._types import finite_number, in_short, is_one_of, is_whole, listed
from dwell.agents.network import PERFECT, Network
from dwell.errors import ControllerError, InputError


def run_table(
    until: float,
    seed: int,
    max_jumps: int,
    spacing: float | None,
    record: str,
    sample_every: float | str | None,
    nu: float | None,
) -> dict[str, Any]:
    """Return the table `run` of a scenario."""
    integration = {"kind": "exact"} if spacing is None else {"kind": "grid", "spacing": spacing}
    samples = {} if sample_every is None else {"sample_every": sample_every}
    return {
        "horizon": until, "seed": seed, "integration": integration,
        "record": {"kind": record, **samples}, "max_jumps": max_jumps,
        **({} if nu is None else {"nu": float(nu)}),
    }  # fmt: skip


def check_ids(ids: object, agents: int) -> None:
    """Refuse numbers of random streams that are not one per agent."""
    given = listed(ids)
    good = all(is_whole(i) and 0 <= i < 2**31 for i in given)
    if not good or len(given) != agents or len(set(given)) != agents:
        need = f"{agents} different whole numbers from 0 to 2147483647, one per agent, are needed"
        raise InputError(f"ids is {in_short(ids)}; {need}", code="agents.ids", key="agents.ids")


def _check_record(record: object, sample_every: object) -> None:
    if not is_one_of(record, ("events", "samples", "summary")):
        need = 'one of "events", "samples" and "summary" is needed'
        raise InputError(
            f"record is {in_short(record)}; {need}", code="run.record", key="run.record.kind"
        )
    if record == "samples" and is_one_of(sample_every, ("off",)):
        raise InputError(
            'sample_every is "off", which leaves nothing of record = "samples"; use "summary"',
            code="run.samples",
        )


def check_options(
    until: object,
    seed: object,
    spacing: object,
    sample_every: object,
    max_jumps: object,
    threads: object,
    record: object,
    nu: object,
) -> None:
    """Refuse what a scenario file would refuse, also where no file can describe the run."""
    _check_number("until", until, "a time from 0 on", "run.horizon")
    check_whole("seed", seed)
    check_whole("max_jumps", max_jumps, 1)
    check_whole("threads", threads, 1, optional=True)
    if spacing is not None:
        _check_number("spacing", spacing, "a positive length", "integration.spacing", above=True)
    if sample_every is not None and not is_one_of(sample_every, ("off",)):
        need = 'a positive time or "off"'
        _check_number("sample_every", sample_every, need, "run.samples", above=True)
    _check_record(record, sample_every)
    if nu is not None:
        _check_number("nu", nu, "a positive length", "run.nu", above=True)


def check_controller(controller: object) -> None:
    """Refuse what is not a law."""
    usable = hasattr(controller, "begin") and hasattr(controller, "decide")
    if not usable or isinstance(controller, type):
        kind = f"of type {type(controller).__name__}"
        if isinstance(controller, type):
            kind = f"the class {controller.__name__}"
        raise ControllerError(
            f"the controller is {kind}; an object with the methods "
            "begin(observation) and decide(observation) is needed, such as dwell.Timer(...)",
            code="controller.kind",
        )


def checked_network(network: Network | None) -> Network:
    """Return the network, by default a perfect one."""
    links = PERFECT if network is None else network
    if not isinstance(links, Network):
        need = "a dwell.Network(loss=..., delay=...) is needed"
        raise InputError(f"network is {in_short(links)}; {need}", code="network", key="network")
    return links


def _check_number(name: str, value: object, need: str, code: str, above: bool = False) -> None:
    number = finite_number(value)
    if number is None or number < 0.0 or (above and number == 0.0):
        raise InputError(f"{name} is {in_short(value)}; {need} is needed", code=code)
