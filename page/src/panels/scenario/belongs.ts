/** Keys of a law that belong to one choice of another key, and come and go with it. */

import type { Law, Scenario } from "../../net/api";
import { keysOf } from "../../state/keys";

/** What a key is at first, where its choice needs it. */
const FIRST: Readonly<Record<string, (scenario: Scenario) => unknown>> = {
  intervals: (s) => waits(s.controller),
  loss: () => 0.1,
  eta_max: (s) => s.certificate?.eta_max ?? Number((0.6 * Number(s.controller["k1"])).toPrecision(4)),
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
  const owner = keysOf(law.kind).find(([name]) => name === key)?.[1].belongs;
  if (!owner) return true;
  return (law[owner[0]] ?? fallbacks.get(owner[0])) === owner[1] && applies(law, owner[0], fallbacks);
}

/** The law with another choice, without what belonged to the old one and with what the new one needs. */
export function withChoice(scenario: Scenario, key: string, choice: unknown): Law {
  const law: Law = { ...scenario.controller, [key]: choice };
  if (choice === null) delete law[key];
  const dropped = new Set<string>();
  for (const [name, { belongs }] of keysOf(law.kind)) {
    if (!belongs || (belongs[0] !== key && !dropped.has(belongs[0]))) continue;
    if (belongs[0] !== key || belongs[1] !== choice) {
      delete law[name];
      dropped.add(name);
    } else if (FIRST[name]) law[name] ??= FIRST[name](scenario);
  }
  return law;
}
