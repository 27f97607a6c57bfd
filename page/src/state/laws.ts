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

/** What keeps laws from having the pace of `own`, in sentences like those of `dwell compare`. */
export function mismatches(own: Law, kinds: readonly string[]): string[] {
  const others = kinds.filter((kind) => kind !== own.kind);
  const pace = paceOf(own);
  return WORDS.flatMap((what, k) => {
    if (!others.length) return [];
    if (pace[k] === null) return [`${nameOf(own.kind)} sets no ${what}: the others keep theirs.`];
    const without = others.filter((kind) => !PACE[kind]?.[k]);
    return without.length
      ? [`${without.map(nameOf).join(" and ")}: no key sets the ${what}, so it is not matched.`]
      : [];
  });
}

export const MOST_LAWS = 3; // side by side

/** The laws that were side by side, with the scenario's own: where it is missing it is put first. */
export function kindsWith(own: string, kinds: readonly string[]): readonly string[] {
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
