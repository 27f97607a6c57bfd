"""Run: one simulation, with everything needed to show, check and repeat it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._tables import axis_names, beside, data_frame, html_table
from dwell._types import Floats, Points, counted
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.engine.tally import Counters
from dwell.errors import InputError
from dwell.hybrid import HybridArc, Stop
from dwell.measure import Metrics
from dwell.results.dataset import as_dataset, save_run
from dwell.results.details import Details
from dwell.results.journal import UNSAVED
from dwell.results.run_map import map_of
from dwell.results.summary import SHOWN, UNSEEN, flat, summarize
from dwell.results.worlds import WorldAt
from dwell.scenario import Scenario
from dwell.verify import Finding, Flag, flags_of
from dwell.verify.flags import ALTERED, RunFacts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from dwell.geometry import Workspace

FRAME = "frame"  # in a run's provenance: that of the site which `simulate` was given


@final
@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of one simulation.

    Its methods take one time or an array of times and evaluate the solution exactly. A run that was
    recorded as "samples" or "summary" has no events, no arc, and only its first and last state; the
    methods then raise an error.

    Attributes
    ----------
    details : Details
        How the run was recorded, and quantities for the package's own use.
    repairs : tuple of str
        What was repaired in the input.
    provenance : mapping
        The versions that made the run, and the frame of the `Site` that it was given.

    Examples
    --------
    >>> import dwell
    >>> run = dwell.load_run("run.nc")
    >>> run.positions(1.5).shape
    (8, 2)
    """

    details: Details
    repairs: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        law, stop = self.system.traits.name, self.stop
        agents, jumps = counted(self.agents, "agent"), counted(self.details.tally.jumps, "jump")
        run = "Run" if self.details.live is None else "Live run"
        changed = "; its file was changed" if self.provenance.get("intact") == "false" else ""
        ended = f"ended at t = {stop.time:g} ({stop.reason.value}){changed}"
        return f"<{run} of {law}: {agents}, {jumps}, {ended}>"

    def _repr_html_(self) -> str:
        numbers = flat(self.summary())
        rows = [(key, numbers[key]) for key in SHOWN if numbers[key] is not None]
        table = html_table((key, f"{value:.6g}") for key, value in rows)
        return beside(map_of(self.details), f"{table}<p>{escape(repr(self))}</p>")

    @property
    def system(self) -> CoverageSystem:
        """Everything that is constant during the run."""
        return self.details.system

    @property
    def start(self) -> AgentsState:
        """The state at time 0."""
        return self.details.start

    @property
    def stop(self) -> Stop:
        """Why and when the run ended."""
        return self.details.stop

    @property
    def metrics(self) -> Metrics:
        """Metric samples."""
        return self.details.metrics

    @property
    def scenario(self) -> Scenario | None:
        """The scenario that repeats the run; None if no file can describe it."""
        return self.details.scenario

    @property
    def agents(self) -> int:
        """The number of agents, those included that arrive later or leave."""
        return self.system.agents

    @property
    def workspace(self) -> Workspace:
        """The region that the agents cover; of one that changes, that of time 0: see `world`."""
        return self.system.workspace

    @property
    def horizon(self) -> float:
        """The time that the run reached."""
        return self.stop.time

    @property
    def intact(self) -> bool | None:
        """Whether the file it was read from is as it was written; None if it was not read.

        `provenance["intact"]` is this value as a word, "true" or "false".
        """
        word = self.provenance.get("intact")
        return None if word is None else word == "true"

    @property
    def events(self) -> EventTable:
        """Every jump."""
        return self.details.events

    @cached_property
    def arc(self) -> HybridArc[AgentsState]:
        """The solution."""
        return self.details.trajectory.arc(self.stop)

    @cached_property
    def flags(self) -> list[Flag]:
        """Conditions that limit what this run means."""
        kept, tally = self.details, self.details.tally
        if kept.absent is not None and kept.noted is not None:
            return [Flag(**flag) for flag in self.summary()["flags"]]
        facts = RunFacts(
            start=self.start,
            places=tally.segments.at(self.horizon),
            nearest=kept.seen_separation,
            empty=tally.empty,
            outside=tally.outside,
            floors=tally.floors,
            hold_error=kept.largest_hold_error or 0.0,
            until=self.horizon,
        )
        found = flags_of(
            self.system, facts, kept.assumed,
            approach=None if kept.table is None else kept.closest, measured=kept.measured,
        )  # fmt: skip
        altered = [ALTERED] if self.intact is False else []
        if UNSAVED in self.provenance:
            says = f"A checkpoint could not be written ({self.provenance[UNSAVED]})."
            found.append(Flag("checkpoint-failed", says))
        return [*altered, *found, *([] if kept.coverage_known else [UNSEEN])]

    @cached_property
    def reached_at(self) -> float | None:
        """The time from which every error stays within nu; None if there is none.

        None also for a summary without samples, which has a flag for that.
        """
        kept = self.details
        if self.system.nu is None or kept.ends_in_contact:
            return None
        if kept.table is not None:
            return kept.recorded.covered
        window = kept.recorder.window
        return None if window is None else window.covered(kept.tally, self.horizon)

    @property
    def certificate(self) -> tuple[Finding, ...]:
        """The theorem checked for this run, at fewer times than `dwell check` does.

        Empty where the events were not stored, and without a certificate in the scenario.
        """
        return self.details.certificate

    @cached_property
    def counters(self) -> Counters:
        """What the run cost each agent."""
        return self.details.tally.counters(self.horizon)

    # Exact evaluation at any time.

    def positions(self, t: float | Floats) -> Points:
        """Positions of all agents at time t: (N, n), or (len(t), N, n)."""
        return _shaped(t, self.details.snapshots_at(t).positions)

    def holds(self, t: float | Floats) -> Points:
        """The velocities, after any jump at t."""
        return _shaped(t, self.details.snapshots_at(t).velocities)

    def timers(self, t: float | Floats) -> Floats:
        """Time left until each agent's next sample, after any jump at t."""
        due = self.details.snapshots_at(t).next_at
        return _shaped(t, due - self.details.times(t)[:, None])

    def errors(self, t: float | Floats) -> Floats:
        """|centroid - position| of each agent: (N,), or (len(t), N)."""
        return _shaped(t, self.details.metrics_at(t).errors)

    def hold_errors(self, t: float | Floats) -> Floats:
        """|held velocity - k1 sat(error)| of each agent, after any jump at t."""
        return _shaped(t, self.details.metrics_at(t).hold_errors)

    def cost(self, t: float | Floats) -> float | Floats:
        """Locational cost at time t."""
        costs = _shaped(t, self.details.metrics_at(t).costs)
        return float(costs) if np.ndim(t) == 0 else costs

    def world(self, t: float) -> WorldAt:
        """The world at time t, after any switch at t: workspace, density and agents present.

        Parameters
        ----------
        t : float
            A time of the run.

        Returns
        -------
        WorldAt
            What a sample at that time measures; the same at all times unless the world changes.

        Examples
        --------
        >>> import dwell
        >>> law, site = dwell.Timer(k1=0.5, nu=0.1, t1=0.1, t2=0.2), dwell.Interval(0, 1)
        >>> change = dwell.Switch(at=5.0, workspace=dwell.Interval(0, 2), leave=[0])
        >>> run = dwell.simulate(site, None, [0.25, 0.75], law, until=10.0, switches=[change])
        >>> run.world(4.0).agents.tolist(), run.world(5.0).agents.tolist()
        ([0, 1], [1])
        >>> run.world(5.0).workspace.upper
        2.0
        """
        times = self.details.times(t)
        if np.ndim(t):
            says = f"times have shape {times.shape}; one time is needed for one world"
            raise InputError(says, code="run.time")
        return WorldAt.of(self.system, float(times[0]))

    def summary(self) -> dict[str, Any]:
        """The numbers of the run, as `dwell run --json` prints them."""
        absent, noted = self.details.absent, self.details.noted
        if absent is None or noted is None:
            return summarize(self)
        note = {"code": "without-code", "says": f"Numbers as they were stored: {absent}."}
        altered = [asdict(ALTERED)] if self.intact is False else []
        return {**noted, "flags": [*altered, *noted["flags"], note]}

    def to_pandas(self) -> pd.DataFrame:
        """Samples along the run as a data frame; for the jumps see ``run.events.to_pandas()``.

        Returns
        -------
        pandas.DataFrame
            One row per sample, indexed by its time: cost, separation, and for each agent p
            error_p and (if the law has hold errors) hold_error_p, that of the sample: the largest
            are at the ends of holds, in ``run.events.hold_error``.
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
        return as_dataset(self).assign_coords(axis=axis_names(self.workspace.dimension))

    def plot(self) -> Figure:
        """Draw the start and the end of the run side by side, with the paths that lead there.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``figure.savefig(path)`` writes it.
        """
        from dwell.plotting.figures import overview

        return overview(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write one NetCDF-4 file; an existing file is replaced only with `force`."""
        save_run(self, path, force=force)


def _shaped(t: float | Floats, rows: Floats) -> Floats:
    """`rows` without their first axis if t is one time."""
    return rows if np.ndim(t) else rows.reshape(rows.shape[1:])
