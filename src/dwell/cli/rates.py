"""Rates for people and programs: near which configuration, under which law, and as seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from dwell._compatibility import Need
from dwell._netcdf import HDF5
from dwell._parameters import parameters_of, values_of
from dwell._types import counted
from dwell._units import OPEN, Units
from dwell.cli.options import stored_run
from dwell.cli.output import print_table
from dwell.errors import InputError

if TYPE_CHECKING:
    from dwell.agents import Controller, CoverageSystem
    from dwell.theory.decay import Decay, Prediction
    from dwell.theory.rates import Rates

SHOWN = 6  # of the smallest gaps
UNFIT = {  # why a law has no rate, by the code of the error
    "geometry.dimension": "guaranteed cells are known in 1, 2 and 3 dimensions only",
    "workspace.region": "needs a convex workspace",
    "workspace.stay": "has no paths around corners",
    "density.raster": "guaranteed cells are not integrated over rasters",
}


@final
@dataclass(frozen=True, eq=False)
class Study:
    """What is known near where a scenario or a run comes to rest."""

    source: Path
    law: str
    rates: Rates
    predictions: Mapping[str, Prediction]
    gains: Mapping[str, Mapping[str, float]]  # of the laws that have a rate
    observed: Decay | None  # None for a scenario
    units: Units = OPEN
    world: str = ""  # which state of a changing world this is about; empty if none changes

    @property
    def own(self) -> Prediction:
        """What is predicted of the scenario's own law."""
        return self.predictions[self.law]

    def as_json(self) -> dict[str, Any]:
        """The numbers as `dwell rates --json` prints them."""
        seen = self.observed
        return {
            "schema": 1,
            "file": str(self.source),
            "law": self.law,
            "agents": self.rates.agents,
            **self.units.as_json(),
            **self.rates.as_json(),
            "predicted": {name: _plain(p.rate) for name, p in self.predictions.items()},
            "gains": self.gains,
            "notes": {name: p.says for name, p in self.predictions.items()},
            "world": self.world or None,
            "stability_limit": self.own.limit,
            "best_relaxation": self.predictions["discrete-lloyd"].best,
            "observed": None if seen is None else seen.as_json(),
            "observed_note": "nothing was run" if seen is None else seen.says,
        }


def study(source: Path, overrides: list[str] | None = None, at: float | None = None) -> Study:
    """Rates of a stored run, or near the minimum that a scenario's start leads to.

    at : time at which a world that changes is taken.
    """
    from dwell.scenario import load_scenario
    from dwell.scenario.build import build
    from dwell.scenario.frozen import scenario_at
    from dwell.theory.decay import observe
    from dwell.theory.rates import rates_near, rates_of

    run = None
    if _is_run(source):
        if overrides:
            raise InputError(
                f"{source} is a run, which cannot be changed; --set needs a scenario", code="rates"
            )
        run = stored_run(source)
        law = run.summary()["law"] if run.scenario is None else run.scenario.controller.kind
        system, found, units = run.system, rates_of(run, at), run.details.units
        changes = system.changes
    else:
        whole = load_scenario(source, overrides or ())
        scenario = scenario_at(whole, at)
        law, units = scenario.controller.kind, scenario.units
        system, start, _ = build(scenario)
        changes = system.changes if scenario is whole else build(whole)[0].changes
        system.refuse(Need.RATES)
        found = rates_near(system.workspace, system.density, start)
    laws = _laws_beside(system.controller, law)
    predictions = {kind: _predicted(found, one, system) for kind, one in laws.items()}
    gains = {
        kind: {key: value for key, (one, value) in values_of(laws[kind]).items() if one.decays}
        for kind, p in predictions.items()
        if p.rate is not None and kind != "python"
    }
    seen = None
    if run is not None and run.system.changes is None:
        seen = observe(run, found, predictions[law])
    if changes is None:
        return Study(source, law, found, predictions, gains, seen, units)
    when = at if at is not None else 0.0 if run is None else run.horizon
    what = "the density or the workspace moves" if changes.moves else "the world switches"
    world = f"as at t = {when:g}, as if it stood still; {what}"
    return Study(source, law, found, predictions, gains, seen, units, world)


def _is_run(path: Path) -> bool:
    if path.suffix.lower() == ".nc":
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(HDF5)) == HDF5
    except OSError:
        return False  # the scenario parser says what is wrong


def _laws_beside(own: Controller, kind: str) -> dict[str, Controller | None]:
    """The own law as it is, and every other with its defaults; None for one without defaults."""
    from dwell.scenario.laws import LAW_KINDS

    found: dict[str, Controller | None] = {kind: own}
    for other, law in LAW_KINDS.items():
        lacks = any(one.is_needed for one in parameters_of(law).values())
        found.setdefault(other, None if lacks else law())
    return found


def _predicted(rates: Rates, law: Controller | None, system: CoverageSystem) -> Prediction:
    from dwell.theory.decay import Prediction, predict
    from dwell.theory.scope import CORNERS

    if system.stays:
        return Prediction(None, f"{CORNERS}: no linear model")
    if law is None:
        return Prediction(None, "has no defaults for k1, nu, t1 and t2")
    try:
        return predict(rates, law, system.network)
    except InputError as unfit:
        if unfit.code not in UNFIT:
            raise
        return Prediction(None, UNFIT[unfit.code])


def show_rates(found: Study, out: Path | None) -> None:
    """What the configuration is, what each law does there, and what the run did."""
    print_table(_about(found))
    unit = found.units.beside
    heads = ("law", unit("rate", "1 / time"), unit("time constant", "time"), "says")
    print_table(_laws(found), heads)
    print_table(_after(found, out))


def _about(found: Study) -> Iterator[tuple[str, str]]:
    rates = found.rates
    yield "result", _result(found)
    what = "last position" if found.observed is not None else "start"
    where = "at rest" if rates.centroidal else "nearly at rest"
    yield "configuration", f"{counted(rates.agents, 'agent')} of {found.source} {where}"
    far = f"at most {rates.moved:.3g} cell radii from an agent's {what}"
    if found.world:
        yield "world", found.world
    yield "distance", f"{far} (radius: RMS distance of a cell's weight from its centroid)"
    yield "kind", rates.says
    soft = ", ".join(f"{gap:.3g}" for gap in rates.gaps[:SHOWN])
    more = ", ..." if len(rates.gaps) > SHOWN else ""
    largest = f"the largest {1.0 - rates.lambda_min:.4g}"
    yield "gaps", f"{soft}{more}; {largest} (decay per step of Lloyd's law, one per mode)"
    yield "contraction", f"{rates.contraction:.3g} with frozen masses ({_contracting(rates)})"


def _result(found: Study) -> str:
    """How fast small displacements decay under the scenario's own law, in one sentence."""
    own = found.own
    if found.rates.kind != "minimum":
        return "agents that are displaced need not come back: this is no strict minimum"
    if own.time_constant is None:
        return f"no decay rate is known under {found.law}: {own.says}"
    if own.time_constant == 0.0:
        return f"under {found.law} small displacements vanish in one step"
    time = found.units.after(f"{own.time_constant:.4g}", "time")
    return f"under {found.law} small displacements shrink to 37 % (1/e) in {time}"


def _contracting(rates: Rates) -> str:
    """In words; what is 0 within rounding is neither."""
    rate = rates.contraction
    if abs(rate) <= rates.tolerance:
        return "neutral"
    says = "contracting" if rate < 0.0 else "not contracting"
    return says if rates.centroidal else f"{says} if masses stood still, which they do at rest only"


def _laws(found: Study) -> Iterator[tuple[str, ...]]:
    """What is predicted of each law, and with which gain."""
    for name, p in found.predictions.items():
        time = "-" if p.time_constant is None else f"{p.time_constant:.4g}"
        gains = ", ".join(f"{key} = {value:g}" for key, value in found.gains.get(name, {}).items())
        whose = "with" if name == found.law else "with its default"
        yield name, _number(p.rate), time, f"{p.says} ({whose} {gains})" if gains else p.says


def _after(found: Study, out: Path | None) -> Iterator[tuple[str, str]]:
    if found.own.limit is not None:
        limit = found.units.after(f"{found.own.limit:.4g}", "time")
        yield "stability", f"stable if shared samples are at most {limit} apart"
    best = found.predictions["discrete-lloyd"].best
    if best is not None:
        yield "relaxation", f"discrete Lloyd is quickest with {best:.4g}"
    seen = found.observed
    if seen is not None and seen.rate is None:
        yield "observed", seen.says
    elif seen is not None:
        rate = found.units.after(f"rate {seen.rate:.4g}", "1 / time")
        words = f"{rate} along mode {seen.mode + 1}, {seen.says} (R^2 = {seen.goodness:.6f})"
        if seen.deviation is not None:
            words += f"; predicted {seen.predicted:.4g}, off by {100.0 * seen.deviation:+.2g} %"
        yield "observed", words
    if out is not None:
        yield "plot", str(out)


def _number(rate: float | None) -> str:
    if rate is None:
        return "-"
    return "at once" if math.isinf(rate) else f"{rate:.4g}"


def _plain(rate: float | None) -> float | None:
    """A number that JSON knows: there in one step is no rate."""
    return None if rate is None or not math.isfinite(rate) else rate
