/** The laws that can be put side by side, each with numbers that match the scenario's own law. */

import type { Law, Scenario } from "../net/api";
import { TABLES } from "./tables";

export const LAWS: readonly { readonly kind: string; readonly name: string }[] = Object.entries(
  TABLES.laws,
).map(([kind, { name }]) => ({ kind, name }));

export const nameOf = (kind: string): string => TABLES.laws[kind]?.name ?? kind;

export const number = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** The largest speed of a law; 0 if it has none. */
export const speedOf = (law: Law): number => number(law[TABLES.laws[law.kind]?.speed ?? ""]) ?? 0;

/** The keys of a law for its largest speed and its gain; empty where it has none. */
export function paceKeys(kind: string): readonly [speed: string, gain: string] {
  const known = TABLES.laws[kind];
  return known ? [known.speed ?? "", known.gain ?? ""] : ["top_speed", "gain"];
}

/** What the page gives a timer law that is not the scenario's own; `dwell compare` needs these keys. */
const TIMER = { k1: 0.5, nu: 0.5, t1: 0.2, t2: 0.65 };

const rounded = (value: number): number => Number(value.toPrecision(6));

/** The gain of a law from its key, and the key from the gain: a length, such as nu, is speed over gain. */
function gainOf(kind: string, speed: number | null, value: number | null): number | null {
  if (!TABLES.laws[kind]?.reach || value === null) return value;
  return speed === null ? null : rounded(speed / value);
}

/** The largest speed of a law, and its speed per distance near the centroid; null where it sets none. */
export function paceOf(law: Law): readonly [speed: number | null, gain: number | null] {
  const [speedKey, gainKey] = paceKeys(law.kind);
  const speed = number(law[speedKey]);
  return [speed, gainOf(law.kind, speed, number(law[gainKey]))];
}

/** At a site, where times are in seconds: the shortest wait of the timer law; null elsewhere. */
export function waitAtSite({ site, controller }: Scenario): number | null {
  const { t1 } = controller as { t1?: number | number[] };
  return site === undefined || t1 === undefined ? null : Math.min(...[t1].flat());
}

/**
 * A law of another kind with the largest speed and the gain of the given one. All else has the
 * defaults of the law, as in `dwell compare`; a law that samples every dt has the `wait` given.
 */
export function lawLike(kind: string, law: Law, wait: number | null = null): Law {
  if (law.kind === kind) return law;
  const [speedKey, gainKey] = paceKeys(kind);
  const [speed, gain] = paceOf(law);
  const next: Law = { kind, ...(kind === "timer" && TIMER) };
  const period = TABLES.laws[kind]?.period;
  if (wait !== null && period) next[period] = wait;
  if (speedKey && speed !== null) next[speedKey] = speed;
  const value = gainOf(kind, number(next[speedKey]), gain);
  if (gainKey && value !== null) next[gainKey] = value;
  return next;
}

export const MOST_LAWS = 3; // side by side

/** The kinds of laws that were side by side, with the scenario's own: where it is missing it is put first. */
export function kindsWith(own: string, before: readonly string[]): readonly string[] {
  const kinds = [...new Set(before)].slice(0, MOST_LAWS);
  return kinds.includes(own) ? kinds : [own, ...kinds.slice(1)];
}

/** The scenario under another law; a certificate belongs to the timer law alone. */
export function withLaw(scenario: Scenario, law: Law): Scenario {
  const next: Scenario = { ...scenario, controller: law };
  if (law.kind !== "timer") delete next.certificate;
  return next;
}

/** The scenario under a law of this kind beside its own: of the same pace, and with the same nu. */
export function underLaw(scenario: Scenario, kind: string): Scenario {
  const next = withLaw(scenario, lawLike(kind, scenario.controller, waitAtSite(scenario)));
  const nu = number(scenario.controller["nu"]);
  if (nu === null || number(next.controller["nu"]) !== null) return next;
  return { ...next, run: { ...next.run, nu: next.run["nu"] ?? nu } };
}

/** The scenario of a recorded run, and the one that the page showed beside it. */
export interface Origin {
  readonly own: Scenario;
  readonly shown: Scenario;
}

const OF_LAW = ["controller", "certificate"] as const;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A recorded run's scenario with what was changed since in the one that is shown; its law stays unless both had one law. */
export function changedLike({ own, shown }: Origin, now: Scenario): Scenario {
  const keys = new Set([...Object.keys(shown), ...Object.keys(now)] as (keyof Scenario)[]);
  if (!same(own.controller, shown.controller)) for (const key of OF_LAW) keys.delete(key);
  const changed = [...keys].filter((key) => !same(shown[key], now[key]));
  return { ...own, ...Object.fromEntries(changed.map((key) => [key, now[key]])) };
}
