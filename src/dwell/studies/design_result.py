"""Limits, constants and advice that a design consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._types import Floats
from dwell.theory.advice import Advice, each
from dwell.theory.consensus import Agreement
from dwell.theory.design import Setting
from dwell.theory.lipschitz import Attained, Lipschitz

SCHEMA = 1
VALID, VOID = "conditions met", "certificate void"


@final
@dataclass(frozen=True, eq=False)
class Design:
    """The conditions for a scenario, and the constants measured on it."""

    setting: Setting
    lipschitz: Lipschitz
    advice: tuple[Advice, ...]
    advice_measured: tuple[Advice, ...]  # where constants on the way exceed the assumed ones
    reasons: tuple[str, ...]  # why the certificate is void; none if it is not
    notes: tuple[str, ...]  # what was assumed, and what the conditions do not cover
    agreement: Agreement | None = None
    caps: Floats | None = None  # (N,) of k1, that was agreed on
    messages_on_change: int | None = None  # of flooding, if only changes are sent

    def __repr__(self) -> str:
        return f"<Design for {self.setting.agents} agents: {self.verdict}>"

    @property
    def feasible(self) -> bool:
        """Whether the paper's condition holds for the constants that it assumes."""
        return self.setting.feasible

    @property
    def verdict(self) -> str:
        """Whether the conditions hold; `reasons` says why where the certificate is void."""
        return VOID if self.reasons else VALID

    @property
    def in_practice(self) -> str:
        """What holds though the certificate is void; empty where nothing does."""
        fulfilled = [c for c in self.setting.sharper if c.fulfilled and c.applies is not False]
        says = "; ".join(f"{c.name} ({c.status}) is met: {c.guarantees}" for c in fulfilled)
        return f"The paper's condition is sufficient, not necessary. {says}." if fulfilled else ""

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
            "in_practice": self.in_practice or None,
            "reasons": list(self.reasons),
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
