/** The laws that can be put side by side, each with numbers that match the scenario's own law. */

import type { Law, Scenario } from "../net/api";

export const LAWS: readonly { kind: string; name: string; about: string }[] = [
  { kind: "timer", name: "Timer", about: "looks when its own timer runs out, holds its velocity in between" },
  { kind: "lloyd", name: "Lloyd", about: "looks all the time" },
  { kind: "discrete-lloyd", name: "Discrete Lloyd", about: "moves to the centroid in steps" },
  { kind: "self-triggered", name: "Self-triggered", about: "works out how long it may go without a look" },
  {
    kind: "self-triggered-centroid",
    name: "Self-triggered (centroid)",
    about: "moves while it knows enough",
  },
  { kind: "event-triggered", name: "Event-triggered", about: "tells others when its speed changes" },
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

/** Speed per distance near the centroid. */
function gainOf(law: Law): number {
  const k1 = number(law["k1"]);
  const nu = number(law["nu"]);
  if (k1 !== null && nu !== null && nu > 0) return k1 / nu;
  return number(law["k2"]) ?? number(law["kappa"]) ?? number(law["k_v"]) ?? 1;
}

/** A law of another kind that moves about as fast as the given one. */
export function lawLike(kind: string, law: Law): Law {
  if (law.kind === kind) return law;
  const gain = gainOf(law);
  const speed = speedOf(law) || 0.5;
  const round = (value: number): number => Number(value.toPrecision(6));
  switch (kind) {
    case "timer":
      return { kind, k1: speed, nu: round(speed / gain), t1: 0.2, t2: 0.65 };
    case "lloyd":
      return { kind, k2: round(gain), dt: 0.05, speed };
    case "discrete-lloyd":
      return { kind, step: 1, speed };
    case "self-triggered":
      return { kind, kappa: round(gain), v: speed };
    case "self-triggered-centroid":
      return { kind, v_max: speed };
    case "event-triggered":
      return { kind, s_max: speed, k_v: round(gain) };
    case "tvd":
      return { kind, kappa: round(gain), dt: 0.05, speed };
    case "minimum-energy":
      return { kind, dt: 0.05, speed };
    default:
      return { kind };
  }
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
