"""Run: one simulation, with everything needed to show, check and repeat it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._tables import data_frame, html_table
from dwell._types import Floats, Points, counted, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.agents.events import LoggedEvents, LoggedStates
from dwell.agents.walk import walk_of
from dwell.cells.measurement import Looks
from dwell.controllers import Timer
from dwell.engine.counters import Counters
from dwell.engine.recorder import Recorder, touching
from dwell.engine.tally import Tally, of_table
from dwell.errors import DensityError, InputError
from dwell.hybrid import HybridArc, Stop
from dwell.measure import Metrics
from dwell.measure.closest_approach import Approach
from dwell.measure.metrics import Snapshots, metrics_of
from dwell.results.at_times import checked_times, metrics_at, not_kept, shaped, snapshots_at
from dwell.results.journal import UNSAVED
from dwell.results.summary import SHOWN, UNSEEN, summarize
from dwell.scenario import Scenario
from dwell.theory.lipschitz import Attained
from dwell.verify import Finding, Flag, flags_of
from dwell.verify.flags import ALTERED, RunFacts
from dwell.verify.recorded import QUICK, Recorded
from dwell.verify.run_certificate import held_against, measure_along

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from dwell.geometry import Workspace


@final
@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of one simulation.

    Its methods take one time or an array of times and evaluate the solution exactly. A run that was
    recorded as "samples" or "summary" has no events and no arc, and knows only its first and its
    last state; the methods then raise an error that says so.

    Attributes
    ----------
    arc : HybridArc
        The solution, which can be evaluated at any hybrid time.
    events : EventTable
        The jumps as a table.
    metrics : Metrics
        Samples of cost, errors and separation.
    stop : Stop
        Why and when the run ended.
    scenario : Scenario or None
        The scenario that repeats the run, if a file can hold it.

    Examples
    --------
    >>> import dwell
    >>> run = dwell.load_run("run.nc")
    >>> run.positions(1.5).shape
    (8, 2)
    """

    system: CoverageSystem
    start: AgentsState  # at time 0
    stop: Stop  # why it ended
    metrics: Metrics
    recorder: Recorder  # what was kept, from which the run can go on
    counted: Tally | None = None  # its figures; None: computed when needed
    table: EventTable | None = None  # every jump; None if they were not kept
    scenario: Scenario | None = None  # None for a law or density that no file can describe
    repairs: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    wall_seconds: float = 0.0
    journal: tuple[str, int] | None = None  # the journal it was read from: its name, and its parts
    absent: InputError | None = None  # why the law or density that it was read with is not there
    noted: Mapping[str, Any] | None = None  # its summary as it was kept, for that case

    def __repr__(self) -> str:
        law, stop = type(self.system.controller).__name__, self.stop
        return (
            f"<Run of {law}: {counted(self.agents, 'agent')}, {counted(self.tally.jumps, 'jump')}, "
            f"ended at t = {stop.time:g} ({stop.reason.value})>"
        )

    def _repr_html_(self) -> str:
        told = self.summary()
        rows = [(f"{a}.{b}", told[a][b]) for a, b in SHOWN if told[a][b] is not None]
        table = html_table((key, f"{value:.6g}") for key, value in rows)
        return f"{table}<p>{escape(repr(self))}</p>"

    @property
    def agents(self) -> int:
        """How many agents there are."""
        return self.system.agents

    @property
    def workspace(self) -> Workspace:
        """The region that is shared out."""
        return self.system.workspace

    @property
    def horizon(self) -> float:
        """The time the run reached."""
        return self.stop.time

    @property
    def record(self) -> str:
        """What was kept: "events", "samples" or "summary"."""
        return self.recorder.kind

    @property
    def intact(self) -> bool | None:
        """Whether the file it was read from is as it was written; None if it was not read.

        `provenance["intact"]` has the same as a word, "true" or "false".
        """
        word = self.provenance.get("intact")
        return None if word is None else word == "true"

    @cached_property
    def tally(self) -> Tally:
        """What the run came to."""
        if self.counted is not None:
            return self.counted
        tally = of_table(self.system, self.start, self.events)
        tally.sample(self.metrics)
        return tally

    @property
    def events(self) -> EventTable:
        """Every jump."""
        if self.table is None:
            raise not_kept(self, "its events")
        return self.table

    @cached_property
    def arc(self) -> HybridArc[AgentsState]:
        """The solution."""
        table = self.events
        states = LoggedStates(
            self.start, table, walk_of(self.system, self.start, table), self.recorder.remembered
        )
        return HybridArc(self.system, states, LoggedEvents(table), self.horizon, self.stop)

    @cached_property
    def flags(self) -> list[Flag]:
        """What limits the meaning of this run."""
        if self.absent is not None and self.noted is not None:
            return [Flag(**flag) for flag in self.summary()["flags"]]
        tally = self.tally
        seen = RunFacts(
            start=self.start,
            places=tally.places(self.horizon),
            nearest=self.seen_separation,
            empty=tally.empty,
            outside=tally.outside,
            floors=tally.floors,
            hold_error=self.largest_hold_error or 0.0,
        )
        kept = self.table is not None
        found = flags_of(
            self.system, seen, self.assumed,
            approach=self.closest if kept else None, measured=self.measured,
        )  # fmt: skip
        altered = [ALTERED] if self.intact is False else []
        if UNSAVED in self.provenance:
            says = f"A checkpoint could not be written ({self.provenance[UNSAVED]})."
            found.append(Flag("checkpoint-failed", says))
        return [*altered, *found, *([] if self._coverage_known else [UNSEEN])]

    @property
    def seen_separation(self) -> float:
        """The smallest distance of two agents at the start, events and end; inf for one agent."""
        ends = [float(one.separations[0]) for one in self.ends]
        return min(self.tally.nearest, *ends, 0.0 if self.ends_in_contact else np.inf)

    @property
    def largest_hold_error(self) -> float | None:
        """The largest hold error at the start, ends of holds and end; None for laws without one."""
        if self.ends[0].hold_errors.shape[1] == 0:
            return None
        return max(self.tally.hold_error, *(float(one.hold_errors.max()) for one in self.ends))

    @property
    def last_beyond(self) -> float | None:
        """The last of the start, the events and the end with an error beyond nu; None if none."""
        nu, times = self.system.nu, [self.tally.last_large]
        if nu is not None:
            times += [float(one.times[0]) for one in self.ends if one.errors.max() > nu]
        return max(times) if max(times) >= 0.0 else None

    @cached_property
    def ends(self) -> list[Metrics]:
        """Metrics at the start and at the end; at the start alone where agents meet at the end."""
        first = Snapshots(
            self.start.positions[None], self.start.velocities[None], self.start.next_at[None]
        )
        found = [metrics_of(self.system, first, np.zeros(1), self.initial_looks)]
        if not self.ends_in_contact:
            now = np.array([self.horizon])
            found.append(metrics_of(self.system, self.at_the_end, now, self.final_looks))
        return found

    @property
    def _coverage_known(self) -> bool:
        """Whether the time at which coverage was reached is known."""
        return (
            self.table is not None
            or self.recorder.window is not None
            or self.system.nu is None
            or self.ends_in_contact
            or not self._covered_at_the_end
        )

    @cached_property
    def _covered_at_the_end(self) -> bool:
        worst = lengths(self.final_looks.error).max()
        return self.system.nu is None or bool(worst <= self.system.nu)

    @cached_property
    def initial_looks(self) -> Looks:
        """The cells of all agents at the start, measured."""
        return self.system.looks_of_all(self.start.positions, threads=self.recorder.threads)

    @cached_property
    def final_looks(self) -> Looks:
        """Measurements of all cells at the end."""
        return self.system.looks_of_all(self.at_the_end.positions[0], threads=self.recorder.threads)

    @cached_property
    def at_the_end(self) -> Snapshots:
        """Positions and velocities of all agents at the end; one row."""
        return snapshots_at(self, self.horizon)

    @property
    def assumed(self) -> Mapping[str, Any] | None:
        """eta_max and lipschitz of the scenario's certificate, if it has one."""
        if self.scenario is None or self.scenario.certificate is None:
            return None
        return self.scenario.certificate.model_dump()

    @cached_property
    def ends_in_contact(self) -> bool:
        """Whether two agents stand at one place at the end, so that cells are not defined there."""
        return bool(touching(self.at_the_end)[0])

    @cached_property
    def reached_at(self) -> float | None:
        """The time from which every error stays within nu; None if it never does.

        None also for a summary without samples, which has a flag to say so.
        """
        if self.system.nu is None or self.ends_in_contact:
            return None
        if self.table is not None:
            return self._recorded.covered
        window = self.recorder.window
        return None if window is None else window.covered(self.tally, self.horizon)

    @cached_property
    def closest(self) -> Approach:
        """The closest that two agents came at any time."""
        return self._recorded.closest

    @cached_property
    def measured(self) -> Attained | None:
        """Lipschitz constants at some times on the way, for scenarios that assume some."""
        if self.assumed is None or not isinstance(self.system.controller, Timer):
            return None
        if self.table is None:
            return None
        try:
            return measure_along(self._recorded, QUICK)
        except DensityError:  # on a grid, or where some cell always weighs nothing
            return None

    @cached_property
    def certificate(self) -> tuple[Finding, ...]:
        """The theorem checked for this run, at fewer times than `dwell check` does.

        Empty where the events were not kept.
        """
        if self.assumed is None or self.table is None:
            return ()
        return held_against(self._recorded, self.assumed, QUICK, self.measured)

    @cached_property
    def _recorded(self) -> Recorded:
        return Recorded(self.system, self.start, self.events, self.horizon, self.metrics)

    @property
    def distances(self) -> Floats:
        """Length of each agent's path, (N,)."""
        return self.counters.distance

    @cached_property
    def counters(self) -> Counters:
        """What the run cost each agent."""
        return self.tally.counters(self.horizon)

    # Exact answers at any time.

    def positions(self, t: float | Floats) -> Points:
        """Positions of all agents at time t: (N, n), or (len(t), N, n)."""
        return shaped(t, snapshots_at(self, t).positions)

    def holds(self, t: float | Floats) -> Points:
        """The velocities, after any jump at t."""
        return shaped(t, snapshots_at(self, t).velocities)

    def timers(self, t: float | Floats) -> Floats:
        """Time left until each agent's next sample, after any jump at t."""
        return shaped(t, snapshots_at(self, t).next_at - checked_times(self, t)[:, None])

    def errors(self, t: float | Floats) -> Floats:
        """|centroid - position| of each agent: (N,), or (len(t), N)."""
        return shaped(t, metrics_at(self, t).errors)

    def hold_errors(self, t: float | Floats) -> Floats:
        """|held velocity - k1 sat(error)| of each agent, after any jump at t."""
        return shaped(t, metrics_at(self, t).hold_errors)

    def cost(self, t: float | Floats) -> float | Floats:
        """Locational cost at time t."""
        costs = shaped(t, metrics_at(self, t).costs)
        return float(costs) if np.ndim(t) == 0 else costs

    def summary(self) -> dict[str, Any]:
        """The numbers of the run, as `dwell run --json` prints them."""
        if self.absent is None or self.noted is None:
            return summarize(self)
        note = {"code": "without-code", "says": f"Numbers as they were kept: {self.absent}."}
        altered = [asdict(ALTERED)] if self.intact is False else []
        return {**self.noted, "flags": [*altered, *self.noted["flags"], note]}

    def to_pandas(self) -> pd.DataFrame:
        """Samples along the run as a data frame; for the jumps see ``run.events.to_pandas()``.

        Returns
        -------
        pandas.DataFrame
            One row per sample, indexed by its time: cost, separation, and for each agent p
            error_p and (if the law has hold errors) hold_error_p.
        """
        m = self.metrics
        columns = {"time": m.times, "cost": m.costs, "separation": m.separations}
        columns |= {f"error_{p}": column for p, column in enumerate(m.errors.T)}
        columns |= {f"hold_error_{p}": column for p, column in enumerate(m.hold_errors.T)}
        return data_frame(columns, "time")

    def to_xarray(self) -> xr.Dataset:
        """The run as a dataset, with all that its file has.

        Returns
        -------
        xarray.Dataset
            Samples along sample_time, jumps along jump with the coordinate event_time, and the
            coordinates agent and axis.
        """
        from dwell.results.dataset import dataset_of

        return dataset_of(self)

    def plot(self) -> Figure:
        """Draw the start and the end of the run side by side, with the paths that lead there.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``figure.savefig(path)`` writes it.
        """
        from dwell.plotting.deployment import overview

        return overview(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Keep the run in one NetCDF-4 file; an existing file is replaced only with `force`."""
        from dwell.results.store import save_run

        save_run(self, path, force=force)
