"""Design: from a scenario of the timer law to what T2 and k1 may be, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from dwell._compatibility import Need
from dwell._types import Floats, Points, apart, in_short, is_one_of
from dwell._units import OPEN, Units
from dwell.agents import CoverageSystem
from dwell.cells import tessellate
from dwell.errors import InputError
from dwell.progress import Progress, reported
from dwell.results import Run
from dwell.scenario import Scenario, ScenarioLike, as_scenario
from dwell.scenario.build import build, law_kind, with_seed
from dwell.scenario.frozen import scenario_at
from dwell.studies.constants import measure_constants, quick_run, samples_of, separation_of
from dwell.theory.advice import Advice, advise, advise_for, advise_proved, each
from dwell.theory.consensus import METHODS, Agreement, Graph, flooding
from dwell.theory.consensus import agree as agree_by
from dwell.theory.design import VACUOUS, Setting, setting_of, void_reasons
from dwell.theory.lipschitz import Attained, Lipschitz
from dwell.theory.scope import STATEMENTS, THEOREM, Scope, assumed_of, scope_of
from dwell.verify.flags import about_scale

GRAPHS = 50  # configurations along a run that a changing graph is taken from
THETA = 0.99  # eta_max / k1 where no eta_max is given
SCHEMA = 1
VALID, VOID, SILENT = "conditions met", "certificate void", "not applicable"


@final
@dataclass(frozen=True, eq=False)
class Design:
    """The conditions for a scenario, and the constants measured on it."""

    setting: Setting
    lipschitz: Lipschitz
    advice: tuple[Advice, ...]
    advice_measured: tuple[Advice, ...]  # where constants on the way exceed the assumed ones
    reasons: tuple[str, ...]  # why the conditions do not hold, or do not apply; none if they hold
    notes: tuple[str, ...]  # what was assumed, and what the conditions do not cover
    agreement: Agreement | None = None
    caps: Floats | None = None  # (N,) of k1, that was agreed on
    messages_on_change: int | None = None  # of flooding, if only changes are sent
    units: Units = OPEN
    between_switches: bool = False  # whether all that is said holds between two switches only

    def __repr__(self) -> str:
        return f"<Design for {self.setting.agents} agents: {self.verdict}>"

    @property
    def feasible(self) -> bool:
        """Whether the paper's inequalities hold, for the constants that they assume."""
        return self.setting.feasible

    @property
    def verdict(self) -> str:
        """Whether the paper's conditions hold, or apply at all; `reasons` says why not."""
        if self.setting.why_not(THEOREM):
            return SILENT
        return VOID if self.reasons else VALID

    @property
    def in_practice(self) -> str:
        """What holds whatever the paper's conditions say; empty where nothing does."""
        holding = [c for c in self.setting.sharper if c.holds]
        says = "; ".join(f"{c.name} ({c.status}) is met: {c.guarantees}" for c in holding)
        where = "between two switches of the world, " if self.between_switches else ""
        return f"{where}{says}." if holding else ""

    @property
    def locally(self) -> Attained | None:
        """The source of neighbours and rates: along the run if there is one, else the start."""
        return self.lipschitz.on_the_whole_way

    @property
    def neighbor_limits(self) -> Floats | None:
        """T2 by the paper's condition with sqrt(neighbours + 1) for sqrt(N), (N,)."""
        seen = self.locally
        return None if seen is None else self.setting.dwell_times_with(seen.neighbors)

    @property
    def rate_limits(self) -> Floats | None:
        """T2 by how fast each error could change where it was measured, (N,)."""
        seen = self.locally
        return None if seen is None else self.setting.dwell_times_for(seen.rates)

    @property
    def lipschitz_margins(self) -> Floats | None:
        """Assumed over measured constant of each agent, (N,): below 1 where it is exceeded."""
        seen = self.lipschitz.values
        if seen is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(seen > 0.0, self.setting.lipschitz / seen, np.inf)

    def as_json(self) -> dict[str, Any]:
        """Everything `dwell design --json` prints."""
        s = self.setting
        sync, local = s.sharper
        k1 = s.admissible_k1
        margins = {
            key: each(np.atleast_1d(np.asarray(value, dtype=np.float64)))
            for key, value in s.margins.items()
        }
        margins["measured_lipschitz"] = _if_known(self.lipschitz_margins)
        return {
            "schema": SCHEMA,
            "agents": s.agents,
            "k1": s.k1,
            "nu": s.nu,
            "epsilon": s.epsilon,
            "t1": each(s.t1),
            "t2": each(s.t2),
            "eta_max": s.eta_max,
            "max_dwell_time": each(s.max_dwell_times),
            "max_gain": each(s.max_gains),
            "admissible_k1": None if k1 is None else {"above": k1[0], "at_most": k1[1]},
            # null where no constant is admissible
            "max_lipschitz": each(np.where(s.max_lipschitz < 0.0, np.nan, s.max_lipschitz)),
            "theta": {
                "value": s.theta,
                "k1_t2": each(s.k1 * s.t2),
                "limit": each(s.theta * s.reach / s.spreads),
                "max_gain": _if_known(s.max_gains_in_theta),
            },
            "feasible": self.feasible,
            sync.name: sync.as_json(),
            local.name: local.as_json(),
            "margins": margins,
            "max_dwell_time_neighbors": _if_known(self.neighbor_limits),
            "max_dwell_time_rates": _if_known(self.rate_limits),
            "assumed_lipschitz": each(s.lipschitz),
            "measured_lipschitz": self.lipschitz.as_json(),
            "verdict": self.verdict,
            "between_switches": self.between_switches,
            "theorem": VACUOUS,
            "not_applicable": {name: list(s.why_not(name)) for name in STATEMENTS},
            "in_practice": self.in_practice or None,
            "reasons": list(self.reasons),
            "advice_proved": [advice.as_json() for advice in advise_proved(s)],
            "advice": [advice.as_json() for advice in self.advice],
            "advice_measured": [advice.as_json() for advice in self.advice_measured],
            "notes": list(self.notes),
            "agreement": self._agreement(),
        }

    def _agreement(self) -> dict[str, Any] | None:
        if self.agreement is None or self.caps is None:
            return None
        return {
            **self.agreement.as_json(),
            "eta_max": self.setting.theta * self.agreement.value,
            "caps": each(self.caps),
            "messages_on_change": self.messages_on_change,
        }


def _if_known(values: Floats | None) -> Any:
    return None if values is None else each(values)


def design(
    scenario: ScenarioLike,
    *,
    eta_max: float | None = None,
    lipschitz: float | Sequence[float] | None = None,
    samples: int | None = None,
    separation: float | None = None,
    run: bool | None = None,
    agree: str | None = None,
    graph: str = "start",
    at: float | None = None,
    progress: Progress | bool | None = None,
) -> Design:
    """Find which T2 and k1 are admissible in a scenario of the timer law.

    Lipschitz constants are measured at the start, along a run and at its end, and over random
    configurations; what neither argument nor scenario gives is measured or chosen, and `notes` says
    so.

    Parameters
    ----------
    scenario : Scenario, mapping or path
        The scenario.
    eta_max : float, optional
        The bound on hold errors, in place of that of the scenario's certificate.
    lipschitz : float or sequence of float, optional
        Lipschitz constants of the centroids, one or one per agent.
    samples : int, optional
        Random configurations to measure, at most 1,000,000.
    separation : float, optional
        Least distance of agents in them.
    run : bool, optional
        Whether to measure along a run; by default if that is quick.
    agree : {"flooding", "gossip", "equalizing"}, optional
        How agents agree on a k1.
    graph : {"start", "run"}
        The Voronoi graph over which they agree.
    at : float, optional
        Time at which a world that changes is taken; 0 by default.
    progress : callable or bool, optional
        As in `run_scenario`.

    Returns
    -------
    Design
        Verdict, limits, measured constants and advice.

    Examples
    --------
    >>> import dwell
    >>> dwell.design("site.toml", samples=0, run=False).verdict
    'certificate void'
    """
    whole = with_seed(as_scenario(scenario))
    scenario = scenario_at(whole, at)
    for value, known, code in (
        (agree, METHODS, "agreement.method"),
        (graph, ("start", "run"), "agreement.graph"),
    ):
        if value is not None and not is_one_of(value, known):
            raise InputError(f"{in_short(value)} is not one of {', '.join(known)}", code=code)
    with reported(progress) as tell:
        system, start, _ = build(scenario)
        system.refuse(Need.DESIGN, law_kind(system.controller))
        changing = system if scenario is whole else build(whole)[0]
        count = samples_of(system, samples)
        made, why_not = quick_run(scenario, system, run, tell)
        rho = separation_of(system, start, made, separation)
        constants = measure_constants(system, start, made, rho, count, tell)
        notes = [flag.says for flag in about_scale(system, start)]
        notes += _about(system, made, why_not, constants)
        notes += _about_changes(changing, at)
        scope = scope_of(changing)
        setting = _setting(scenario, system, eta_max, lipschitz, constants, notes, scope)
        sampled, limit = constants.sampled, float(setting.lipschitz.max())
        if sampled is not None and sampled.value > limit:  # not on the way: a warning only
            seen, assumed = apart(sampled.value, limit, 6)
            notes.append(
                f"At random places the constant reaches {seen}, above the assumed {assumed}: from "
                "another start the assumption may fail."
            )
        found = Design(
            setting=setting,
            lipschitz=constants,
            advice=advise(setting),
            advice_measured=(
                () if constants.values is None else advise_for(setting, constants.values)
            ),
            reasons=_reasons(setting, constants.on_the_whole_way),
            notes=tuple(notes),
            units=scenario.units,
            between_switches=len(changing.timeline.worlds) > 1,
        )
        if agree is None:
            return found
        caps, note = caps_of(setting, constants.values)
        found = replace(found, notes=(*notes, note) if note else tuple(notes))
        return replace(found, **_agreed(caps, setting, system, start, made, agree, graph, tell))


_PLACES = {
    "start": "at the start",
    "run": "along a run",
    "end": "at the end of a run",
    "sampled": "at random places",
}


def _reasons(setting: Setting, seen: Attained | None) -> tuple[str, ...]:
    """Why the paper's conditions do not apply, or else why they do not hold."""
    silent = setting.why_not(THEOREM)
    if silent:
        return tuple(f"{why[0].upper()}{why[1:]}." for why in silent)
    return tuple(void_reasons(setting, seen))


def _about_changes(system: CoverageSystem, at: float | None) -> Iterator[str]:
    """Which world the numbers are about, and what is assumed of its density."""
    if system.changes is not None:
        says = f"The world changes; constants and limits are those of its state at t = {at or 0:g}"
        between = (
            ", and hold between two switches only; limits of hold errors hold again from every "
        )
        between = "" if system.timeline.moves else f"{between}agent's next sample on"
        yield f"{says}{between}."
    assumed = assumed_of(system)
    if assumed:
        yield assumed


def _about(
    system: CoverageSystem, run: Run | None, why_not: str, constants: Lipschitz
) -> Iterator[str]:
    """What the conditions do not cover, and which constants are missing."""
    if system.spacing is not None:
        yield (
            "Constants are measured with exact integrals: on a grid of points centroids are "
            "piecewise constant and have no derivatives."
        )
    if (timer := system.traits.timer) is not None and timer.initial_hold is not None:
        yield (
            "The hold error is assumed to be 0 at the start; with initial_hold it may be up to "
            "eta_max beyond its bound until each agent's first sample."
        )

    if run is None:
        yield f"No constant along a run: {why_not}."
    elif not run.stop.reason.ok:
        yield f"The run ended early, at t = {run.horizon:g}: {run.stop.reason.value}."
    for kind, why in constants.missing.items():
        yield f"No constant {_PLACES[kind]}: {why}."


def _setting(
    scenario: Scenario,
    system: CoverageSystem,
    eta_max: float | None,
    lipschitz: float | Sequence[float] | None,
    constants: Lipschitz,
    notes: list[str],
    scope: Scope,
) -> Setting:
    """The setting with eta_max and lipschitz as given, as certified, or as chosen and measured."""
    table, law = scenario.certificate, system.traits.timer
    assert law is not None
    if table is not None:
        eta_max = table.eta_max if eta_max is None else eta_max
        lipschitz = table.lipschitz if lipschitz is None else lipschitz
        return setting_of(system, eta_max, lipschitz, scope=scope)
    how = "give one with --set certificate.eta_max=... --set certificate.lipschitz=..."
    if lipschitz is None:
        if constants.values is None:
            raise InputError(
                "the scenario has no certificate table, and no Lipschitz constant could be "
                f"measured; {how}",
                code="design.certificate",
                key="certificate",
            )
        where = "along the run" if constants.run is not None else "at the start"
        notes.append(
            "The scenario has no certificate: the largest constant of each agent measured "
            f"{where} is taken for its L; {how}."
        )
        lipschitz = constants.values.tolist()
    eta_max = law.eta_max if eta_max is None else eta_max  # of adaptive timers
    if eta_max is not None:
        return setting_of(system, eta_max, lipschitz, scope=scope)
    eta_max = THETA * law.k1
    notes.append(
        f"No eta_max is given: {THETA:g} k1 is taken, here {eta_max:.6g}, near the most that the "
        "theorem allows."
    )
    return setting_of(system, eta_max, lipschitz, tied=True, scope=scope)


def caps_of(setting: Setting, measured: Floats | None) -> tuple[Floats | None, str]:
    """The most that k1 may be for each agent, (N,), and what they are based on, if that differs.

    A measured constant takes the place of an assumed one that it exceeds, so that the k1 agreed on
    is one for which the conditions hold. None where no k1 would do.
    """
    if measured is None or not (measured > setting.lipschitz).any():
        return setting.max_gains_in_theta, ""
    if not np.isfinite(measured).all():
        says = "The k1 agreed on is one for the assumed constants; on the way some are infinite."
        return setting.max_gains_in_theta, says
    raised = replace(setting, lipschitz=np.maximum(setting.lipschitz, measured))
    says = "The k1 agreed on is one for the constants measured on the way, where these are larger."
    return raised.max_gains_in_theta, says


def _agreed(
    caps: Floats | None,
    setting: Setting,
    system: CoverageSystem,
    start: Points,
    run: Run | None,
    method: str,
    graph: str,
    progress: Progress,
) -> dict[str, Any]:
    """The agreement, the caps of k1, and flooding's messages if only changes are sent."""
    if graph == "run" and run is None:
        raise InputError(
            "the graphs along the run are wanted, but the scenario was not run; take the graph of "
            "the start",
            code="agreement.graph",
        )
    if caps is None:
        raise InputError(
            f"there is no k1 to agree on: eta_max = {setting.eta_max:g} is {setting.theta:.4g} "
            f"times k1 = {setting.k1:g}, and the theorem needs it to be below k1; give a smaller "
            "eta_max, or a larger k1",
            code="agreement.theta",
            key="certificate.eta_max",
        )
    graphs = voronoi_graphs(system, start, run if graph == "run" else None)
    found: dict[str, Any] = {"caps": caps}
    found["agreement"] = agree_by(method, caps, graphs, seed=system.seed, progress=progress)
    if method == "flooding":
        found["messages_on_change"] = flooding(caps, graphs, only_changes=True).messages
    return found


def voronoi_graphs(system: CoverageSystem, start: Points, run: Run | None) -> list[Graph]:
    """Voronoi neighbours at the start, or at times spread evenly over a run."""
    positions = [start]
    if run is not None:
        last = not run.details.ends_in_contact  # where there are no cells
        positions = list(run.positions(np.linspace(0.0, run.horizon, GRAPHS, endpoint=last)))
    return [tessellate(system.workspace, x, system.density).neighbors for x in positions]
