/**
 * Which T2 and k1 are admissible: the paper's condition and two sharper ones, as in
 * dwell.theory.design. A test holds the two to the same numbers.
 */

import type { Scenario } from "../../net/api";

export interface Setting {
  readonly k1: number;
  readonly nu: number;
  readonly epsilon: number;
  readonly t1: number;
  readonly t2: number;
  readonly etaMax: number;
  readonly lipschitz: number;
  readonly agents: number;
}

export type Slider = Exclude<keyof Setting, "epsilon" | "agents">;

/** nu~ = (1 - epsilon) nu. */
export const reach = (s: Setting): number => (1 - s.epsilon) * s.nu;
/** L sqrt(N) + 1. */
export const spread = (s: Setting): number => s.lipschitz * Math.sqrt(s.agents) + 1;

/** The paper's largest T2. */
export const maxDwellTime = (s: Setting): number => (s.etaMax * reach(s)) / (s.k1 * s.k1 * spread(s));
/** The paper's largest k1 for this T2; it must also be above eta_max. */
export const maxGain = (s: Setting): number => Math.sqrt((s.etaMax * reach(s)) / (s.t2 * spread(s)));
/** The largest L for which this T2 is admissible; below 0 if none is. */
export const maxLipschitz = (s: Setting): number =>
  ((s.etaMax * reach(s)) / (s.k1 * s.k1 * s.t2) - 1) / Math.sqrt(s.agents);
/** Below this T2 agents near a minimum approach it, each on its own clock. */
export const asyncLocal = (s: Setting): number => reach(s) / s.k1;
/** Below this T2 the cost falls from any start, if all sample at the same times. */
export const syncGlobal = (s: Setting): number => 2 * asyncLocal(s);

export const feasible = (s: Setting): boolean => s.etaMax < s.k1 && s.t2 <= maxDwellTime(s);

export interface Condition {
  readonly name: string;
  readonly holds: boolean;
  readonly says: string;
}

const show = (v: number): string => String(Number(v.toPrecision(4)));

/** Each condition in words. */
export function conditions(s: Setting): Condition[] {
  const most = maxDwellTime(s);
  const local = asyncLocal(s);
  const global = syncGlobal(s);
  return [
    {
      name: "η̃max below k1",
      holds: s.etaMax < s.k1,
      says:
        s.etaMax < s.k1
          ? `${show(s.etaMax)} < ${show(s.k1)}`
          : `${show(s.etaMax)} is not below ${show(s.k1)}: no T2 is admissible`,
    },
    {
      name: "Paper: T2 at most η̃max ν̃ / (k1² (L√N + 1))",
      holds: s.t2 <= most,
      says: `${show(s.t2)} ${s.t2 <= most ? "≤" : ">"} ${show(most)}; hold errors then stay within η̃max, if no constant exceeds L`,
    },
    {
      name: "Near a minimum: T2 below ν̃ / k1",
      holds: s.t2 < local,
      says: `${show(s.t2)} ${s.t2 < local ? "<" : "≥"} ${show(local)}; agents near a minimum approach it, each on its own clock, without any L`,
    },
    {
      name: "Shared clock: T2 below 2 ν̃ / k1",
      holds: s.t2 < global,
      says: `${show(s.t2)} ${s.t2 < global ? "<" : "≥"} ${show(global)}; the cost falls from any start, if all sample at the same times`,
    },
  ];
}

/** The largest Lipschitz constant at the start, as the server measures it, and whose it is. */
export interface Measured {
  readonly value: number;
  readonly agent: number;
}

export interface Verdict {
  readonly tone: "good" | "amber" | "bad" | "open";
  readonly says: string;
}

/** Whether the paper's condition holds: its inequalities, and the constant that they assume. */
export function verdictOf(s: Setting, measured: Measured | null): Verdict {
  const most = maxDwellTime(s);
  const fails: string[] = [];
  if (s.etaMax >= s.k1) fails.push(`η̃max = ${show(s.etaMax)} is not below k1 = ${show(s.k1)}`);
  if (s.t2 > most) fails.push(`T2 = ${show(s.t2)} exceeds ${show(most)}`);
  if (fails.length) return { tone: "bad", says: `⊗ The point is outside: ${fails.join(", and ")}.` };
  const inside = "The point is inside: both inequalities of the paper hold";
  if (!measured) return { tone: "open", says: `○ ${inside}. L is being measured.` };
  const at = `L is ${show(measured.value)} at the start`;
  return measured.value > s.lipschitz
    ? {
        tone: "amber",
        says: `▲ ${inside}, but only if L = ${show(s.lipschitz)}; it is ${show(measured.value)} at the start (agent ${measured.agent}).`,
      }
    : { tone: "good", says: `● ${inside}, and ${at}, within the assumed ${show(s.lipschitz)}.` };
}

const list = (value: unknown): number[] => (Array.isArray(value) ? (value as number[]) : [Number(value)]);

/** The setting of a scenario under the timer law, of the agent with the least margin; null for others. */
export function settingOf(scenario: Scenario, agents: number): Setting | null {
  const law = scenario.controller;
  if (law.kind !== "timer") return null;
  const k1 = Number(law["k1"]);
  const t1 = list(law["t1"]);
  const t2 = list(law["t2"]);
  const lipschitz = list(scenario.certificate?.lipschitz ?? 5);
  const at = (values: number[], p: number): number => values[Math.min(p, values.length - 1)];
  const need = (p: number): number => at(t2, p) * (at(lipschitz, p) * Math.sqrt(agents) + 1);
  let tightest = 0;
  for (let p = 1; p < Math.max(t2.length, lipschitz.length); p++) if (need(p) > need(tightest)) tightest = p;
  return {
    k1,
    nu: Number(law["nu"]),
    epsilon: Number(law["epsilon"] ?? 1e-8),
    t1: at(t1, tightest),
    t2: at(t2, tightest),
    etaMax: scenario.certificate?.eta_max ?? Number((0.6 * k1).toPrecision(4)),
    lipschitz: at(lipschitz, tightest),
    agents,
  };
}

/** T1 no longer than T2, which is what was moved. */
export const inOrder = (s: Setting): Setting => (s.t1 <= s.t2 ? s : { ...s, t1: s.t2 });

/** The scenario with these numbers, the same for all agents. */
export function withSetting(scenario: Scenario, s: Setting): Scenario {
  return {
    ...scenario,
    controller: { ...scenario.controller, k1: s.k1, nu: s.nu, t1: s.t1, t2: s.t2 },
    certificate: { eta_max: s.etaMax, lipschitz: s.lipschitz },
  };
}
