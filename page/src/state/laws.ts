/** The laws that can be put side by side, each with numbers that match the scenario's own law. */

import type { Law, Scenario } from "../net/api";

export const LAWS: readonly { kind: string; name: string; about: string }[] = [
  { kind: "timer", name: "Timer", about: "samples when its timer runs out, holds its velocity in between" },
  { kind: "lloyd", name: "Lloyd", about: "samples all the time, every dt" },
  { kind: "discrete-lloyd", name: "Discrete Lloyd", about: "moves to the centroid in steps" },
  { kind: "self-triggered", name: "Self-triggered", about: "computes how long it can go without a sample" },
  {
    kind: "self-triggered-centroid",
    name: "Self-triggered (centroid)",
    about: "moves while it knows enough",
  },
  { kind: "event-triggered", name: "Event-triggered", about: "broadcasts when its speed bound changes" },
  { kind: "tvd", name: "TVD", about: "all sample together and follow a density that moves" },
  {
    kind: "minimum-energy",
    name: "Minimum energy",
    about: "moves as slowly as a given decay of the error admits",
  },
];

export const nameOf = (kind: string): string => LAWS.find((law) => law.kind === kind)?.name ?? kind;

const number = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** The largest speed of a law; 0 if it has none. */
export function speedOf(law: Law): number {
  for (const key of ["k1", "v", "v_max", "s_max", "speed"]) {
    const found = number(law[key]);
    if (found !== null) return found;
  }
  return 0;
}

/** The keys of a law for its largest speed and its gain; dwell/studies/laws.py has the same. */
const PACE: Readonly<Record<string, readonly [speed: string, gain: string]>> = {
  timer: ["k1", "nu"],
  lloyd: ["speed", "k2"],
  "discrete-lloyd": ["speed", ""],
  "self-triggered": ["v", "kappa"],
  "self-triggered-centroid": ["v_max", ""],
  "event-triggered": ["s_max", "k_v"],
  tvd: ["speed", "kappa"],
  "minimum-energy": ["speed", ""],
};

const WORDS = ["largest speed", "speed per distance near the centroid"] as const;

/** What the page gives a law that is not the scenario's own, besides its pace. */
const USUAL: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  timer: { k1: 0.5, nu: 0.5, t1: 0.2, t2: 0.65 },
  lloyd: { dt: 0.05 },
  "discrete-lloyd": { step: 1 },
  tvd: { dt: 0.05 },
  "minimum-energy": { dt: 0.05 },
};

const rounded = (value: number): number => Number(value.toPrecision(6));

/** The gain of a law from its key, and the key from the gain: nu is speed over gain. */
function gainOf(kind: string, speed: number | null, value: number | null): number | null {
  if (kind !== "timer" || value === null) return value;
  return speed === null ? null : rounded(speed / value);
}

/** The largest speed of a law, and its speed per distance near the centroid; null where it sets none. */
export function paceOf(law: Law): readonly [speed: number | null, gain: number | null] {
  const [speedKey, gainKey] = PACE[law.kind] ?? ["top_speed", "gain"];
  const speed = number(law[speedKey]);
  return [speed, gainOf(law.kind, speed, number(law[gainKey]))];
}

/** A law of another kind with the largest speed and the gain of the given one. */
export function lawLike(kind: string, law: Law): Law {
  if (law.kind === kind) return law;
  const [speedKey, gainKey] = PACE[kind] ?? ["", ""];
  const [speed, gain] = paceOf(law);
  const next: Law = { kind, ...USUAL[kind] };
  if (speedKey && speed !== null) next[speedKey] = speed;
  const value = gainOf(kind, number(next[speedKey]), gain);
  if (gainKey && value !== null) next[gainKey] = value;
  return next;
}

/** A law side by side with others, and how it is called there. */
export interface NamedLaw {
  readonly name: string;
  readonly law: Law;
}

const ALIKE = 1e-4; // relative: paces are rounded to six digits

/** What keeps laws from having the pace of the first, in sentences like those of `dwell compare`. */
export function mismatches(laws: readonly NamedLaw[]): string[] {
  const [own, ...others] = laws;
  if (!others.length) return [];
  const list = (some: readonly NamedLaw[]): string => some.map(({ name }) => name).join(" and ");
  return WORDS.flatMap((what, k) => {
    const wanted = paceOf(own.law)[k];
    if (wanted === null) return [`${own.name} sets no ${what}: the others keep theirs.`];
    const without = others.filter(({ law }) => !PACE[law.kind]?.[k]);
    const unset = others.filter((one) => !without.includes(one) && paceOf(one.law)[k] === null);
    const unlike = others.filter(({ law }) => {
      const found = paceOf(law)[k];
      return found !== null && Math.abs(found - wanted) > ALIKE * Math.abs(wanted);
    });
    const each = [own, ...unlike].map(({ name, law }) => `${name} ${paceOf(law)[k]}`);
    return [
      ...(without.length ? [`${list(without)}: no key sets the ${what}, so it is not matched.`] : []),
      ...(unset.length ? [`${list(unset)}: the ${what} is not set, so it is not matched.`] : []),
      ...(unlike.length ? [`The ${what} differs: ${each.join(", ")}.`] : []),
    ];
  });
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
  const next = withLaw(scenario, lawLike(kind, scenario.controller));
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
