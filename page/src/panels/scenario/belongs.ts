/** Keys of a law that belong to one choice of another key, and come and go with it. */

import type { Law, Scenario } from "../../net/api";

interface Bond {
  readonly key: string;
  readonly to: string; // the key that is chosen
  readonly when: string; // the choice to which it belongs
  readonly first?: (scenario: Scenario) => unknown; // what it is at first, if it must be there
}

const BONDS: Record<string, readonly Bond[]> = {
  timer: [
    { key: "period", to: "reset", when: "periodic" },
    { key: "intervals", to: "reset", when: "sequence", first: (s) => waits(s.controller) },
    { key: "loss", to: "reset", when: "dropout", first: () => 0.1 },
    { key: "trust", to: "feedforward", when: "neighbours" },
    {
      key: "eta_max",
      to: "reset",
      when: "adaptive",
      first: (s) => s.certificate?.eta_max ?? Number((0.6 * Number(s.controller["k1"])).toPrecision(4)),
    },
  ],
  lloyd: [
    { key: "dt", to: "mode", when: "sampled" },
    { key: "tolerance", to: "mode", when: "ode" },
    { key: "feedforward", to: "mode", when: "sampled" },
    { key: "trust", to: "mode", when: "sampled" },
    { key: "trust", to: "feedforward", when: "neighbours" },
  ],
  "discrete-lloyd": [{ key: "rate", to: "schedule", when: "poisson" }],
};

/** The shortest and the longest wait in turn; for each agent, if they differ. */
function waits(law: Law): number[] | number[][] {
  const [t1, t2] = [law["t1"], law["t2"]] as (number | number[])[];
  const agents = Array.isArray(t1) ? t1.length : Array.isArray(t2) ? t2.length : 0;
  const of = (value: number | number[], p: number): number => (Array.isArray(value) ? value[p] : value);
  return agents ? Array.from({ length: agents }, (_, p) => [of(t1, p), of(t2, p)]) : [of(t1, 0), of(t2, 0)];
}

/** Whether a key has a meaning under what is chosen. */
export function applies(law: Law, key: string, fallbacks: ReadonlyMap<string, unknown>): boolean {
  const bonds = BONDS[law.kind]?.filter((one) => one.key === key) ?? [];
  return bonds.every((bond) => (law[bond.to] ?? fallbacks.get(bond.to)) === bond.when);
}

/** The law with another choice, without what belonged to the old one and with what the new one needs. */
export function withChoice(scenario: Scenario, key: string, choice: unknown): Law {
  const law: Law = { ...scenario.controller, [key]: choice };
  if (choice === null) delete law[key];
  for (const bond of BONDS[law.kind] ?? []) {
    if (bond.to !== key) continue;
    if (bond.when !== choice) delete law[bond.key];
    else if (bond.first) law[bond.key] ??= bond.first(scenario);
  }
  return law;
}
