/**
 * Which T2 and k1 are admissible: the paper's condition and two sharper ones, as in
 * dwell.theory.design. A test holds the two to the same numbers.
 */

import type { Designed, Scenario } from "../../net/api";
import { MORE } from "../../state/keys";

export interface Setting {
  readonly k1: number;
  readonly nu: number;
  readonly epsilon: number;
  readonly t1: number;
  readonly t2: number;
  readonly etaMax: number;
  readonly lipschitz: number; // NaN while it is being measured
  readonly agents: number;
  readonly tied?: boolean; // whether eta_max is no number of its own, but theta k1 whatever k1 is
}

export type Slider = Exclude<keyof Setting, "epsilon" | "agents" | "tied">;

/** nu~ = (1 - epsilon) nu. */
export const reach = (s: Setting): number => (1 - s.epsilon) * s.nu;
/** L sqrt(N) + 1. */
export const spread = (s: Setting): number => s.lipschitz * Math.sqrt(s.agents) + 1;

/** The paper's largest T2. */
export const maxDwellTime = (s: Setting): number => (s.etaMax * reach(s)) / (s.k1 * s.k1 * spread(s));
/** The paper's largest k1 for this T2; it must also be above eta_max. */
export const maxGain = (s: Setting): number =>
  s.tied
    ? ((s.etaMax / s.k1) * reach(s)) / (s.t2 * spread(s))
    : Math.sqrt((s.etaMax * reach(s)) / (s.t2 * spread(s)));
/** Below this T2 agents near a minimum approach it, each on its own clock. */
export const asyncLocal = (s: Setting): number => reach(s) / s.k1;
/** Below this T2 the cost falls from any start, if all sample at the same times. */
export const syncGlobal = (s: Setting): number => 2 * asyncLocal(s);

export const feasible = (s: Setting): boolean => s.etaMax < s.k1 && s.t2 <= maxDwellTime(s);

export interface Condition {
  readonly name: string;
  readonly holds: boolean | null; // null: it does not apply, or is not known yet
  readonly says: string;
}

const show = (v: number): string => String(Number(v.toPrecision(6)));

/** Why a statement does not apply, by what the server says of the scenario; empty if it does. */
const silent = (answer: Designed | null, name: string): string => {
  const reasons = answer?.not_applicable?.[name] ?? [];
  return reasons.length ? `not applicable: ${reasons.join("; ")}` : "";
};

/** Each condition in words. */
export function conditions(s: Setting, answer: Designed | null = null): Condition[] {
  const most = maxDwellTime(s);
  const local = asyncLocal(s);
  const global = syncGlobal(s);
  const theorem = silent(answer, "theorem");
  const unknown = Number.isNaN(most);
  const all: (Condition & { readonly not: string })[] = [
    {
      name: "η̃max below k1",
      holds: s.etaMax < s.k1,
      says:
        s.etaMax < s.k1
          ? `${show(s.etaMax)} < ${show(s.k1)}`
          : `${show(s.etaMax)} is not below ${show(s.k1)}: no T2 is admissible`,
      not: theorem,
    },
    {
      name: "Paper: T2 at most η̃max ν̃ / (k1² (L√N + 1))",
      holds: unknown ? null : s.t2 <= most,
      says: unknown
        ? "L is being measured"
        : `${show(s.t2)} ${s.t2 <= most ? "≤" : ">"} ${show(most)}; hold errors then stay within η̃max, if no constant exceeds L`,
      not: theorem,
    },
    {
      name: "Near a minimum: T2 below ν̃ / k1",
      holds: s.t2 < local,
      says: `${show(s.t2)} ${s.t2 < local ? "<" : "≥"} ${show(local)}; agents near a minimum approach it, each on its own clock, without any L`,
      not: silent(answer, "async_local"),
    },
    {
      name: "Shared clock: T2 below 2 ν̃ / k1",
      holds: s.t2 < global,
      says: `${show(s.t2)} ${s.t2 < global ? "<" : "≥"} ${show(global)}; the cost falls from any start, if all sample at the same times`,
      not: silent(answer, "sync_global"),
    },
  ];
  return all.map(({ name, holds, says, not }) =>
    not ? { name, holds: null, says: not } : { name, holds, says },
  );
}

export interface Verdict {
  readonly tone: "good" | "amber" | "bad" | "open";
  readonly says: string;
}

/** The verdict of `dwell design` where it is known; until then, whether the point is inside. */
export function verdictOf(s: Setting, answer: Designed | null): Verdict {
  const measuring = "L is being measured at the start, along a run and at its end.";
  if (answer) {
    const tone = answer.not_applicable?.["theorem"]?.length
      ? "open"
      : !answer.reasons.length
        ? "good"
        : answer.feasible
          ? "amber"
          : "bad";
    const mark = { good: "●", amber: "▲", bad: "⊗", open: "○" }[tone];
    return { tone, says: `${mark} Verdict: ${answer.verdict}.` };
  }
  if (Number.isNaN(s.lipschitz)) return { tone: "open", says: `○ ${measuring}` };
  const most = maxDwellTime(s);
  const fails: string[] = [];
  if (s.etaMax >= s.k1) fails.push(`η̃max = ${show(s.etaMax)} is not below k1 = ${show(s.k1)}`);
  if (s.t2 > most) fails.push(`T2 = ${show(s.t2)} exceeds ${show(most)}`);
  return fails.length
    ? { tone: "bad", says: `⊗ The point is outside: ${fails.join(", and ")}.` }
    : { tone: "open", says: `○ The point is inside: both inequalities of the paper hold. ${measuring}` };
}

const list = (value: unknown): number[] => (Array.isArray(value) ? (value as number[]) : [Number(value)]);

/** What is taken for eta_max and L where the scenario has no certificate: as `dwell design` does. */
export interface Assumed {
  readonly eta_max: number;
  readonly assumed_lipschitz: number | readonly number[];
}

/** The setting of a scenario under the timer law, of the agent with the least margin; null for others. */
export function settingOf(
  scenario: Scenario,
  agents: number,
  assumed: Assumed | null = null,
): Setting | null {
  const { controller: law, certificate } = scenario;
  if (law.kind !== "timer") return null;
  const k1 = Number(law["k1"]);
  const t1 = list(law["t1"]);
  const t2 = list(law["t2"]);
  const lipschitz = list(certificate?.lipschitz ?? assumed?.assumed_lipschitz ?? NaN);
  const at = (values: number[], p: number): number => values[Math.min(p, values.length - 1)];
  const need = (p: number): number => at(t2, p) * (at(lipschitz, p) * Math.sqrt(agents) + 1);
  let tightest = 0;
  for (let p = 1; p < Math.max(t2.length, lipschitz.length); p++) if (need(p) > need(tightest)) tightest = p;
  const own = law["eta_max"]; // of adaptive timers
  const tied = certificate === undefined && typeof own !== "number";
  return {
    k1,
    nu: Number(law["nu"]),
    epsilon: Number(law["epsilon"] ?? 1e-8),
    t1: at(t1, tightest),
    t2: at(t2, tightest),
    etaMax: certificate?.eta_max ?? (tied ? MORE.theta * k1 : Number(own)),
    lipschitz: at(lipschitz, tightest),
    agents,
    ...(tied && { tied }),
  };
}

/** T1 no longer than T2, which is what was moved; an eta_max that is tied to k1 moves with it. */
export function inOrder(s: Setting, before: Setting = s): Setting {
  const next = s.t1 <= s.t2 ? s : { ...s, t1: s.t2 };
  if (!s.tied) return next;
  return s.etaMax === before.etaMax ? { ...next, etaMax: MORE.theta * s.k1 } : { ...next, tied: false };
}

/**
 * The scenario with these numbers. What differs from `before` becomes the same for all agents; eta_max and L
 * come into the scenario when one of them does.
 */
export function withSetting(
  scenario: Scenario,
  s: Setting,
  before: Setting,
  assumed: Assumed | null = null,
): Scenario {
  const law = { ...scenario.controller };
  for (const key of ["k1", "nu", "t1", "t2"] as const) if (s[key] !== before[key]) law[key] = s[key];
  const certified = s.lipschitz !== before.lipschitz && !Number.isNaN(s.lipschitz);
  const bounded = s.etaMax !== before.etaMax && !s.tied;
  if (!certified && !bounded) return { ...scenario, controller: law };
  const each = scenario.certificate?.lipschitz ?? assumed?.assumed_lipschitz ?? s.lipschitz;
  const lipschitz = certified ? s.lipschitz : Array.isArray(each) ? [...(each as number[])] : Number(each);
  return { ...scenario, controller: law, certificate: { eta_max: s.etaMax, lipschitz } };
}
