/** Edits of a scenario, each a new scenario. */

import { withPeaks, type DensityTable } from "../density/density";
import type { Point } from "../geometry/polygon";
import type { Scenario } from "../net/api";

export type Places = number[][];

const PER_AGENT = ["t1", "t2", "period", "initial_hold", "initial_timer"];

/** Every list that has one entry per agent, changed in the same way. */
function eachPerAgent(scenario: Scenario, count: number, change: <T>(list: readonly T[]) => T[]): Scenario {
  const law = { ...scenario.controller };
  for (const key of PER_AGENT) {
    const value = law[key];
    if (Array.isArray(value) && value.length === count) law[key] = change(value);
  }
  const next: Scenario = { ...scenario, controller: law };
  const { certificate, agents } = scenario;
  if (certificate && Array.isArray(certificate.lipschitz))
    next.certificate = { ...certificate, lipschitz: change(certificate.lipschitz) };
  if (agents.ids) next.agents = { ...agents, ids: change(agents.ids) };
  return next;
}

export function withStart(scenario: Scenario, start: Places): Scenario {
  return { ...scenario, agents: { ...scenario.agents, start } };
}

export function moved(start: Places, which: number, to: readonly number[]): Places {
  return start.map((place, p) => (p === which ? [...to] : [...place]));
}

export function withAgent(scenario: Scenario, start: Places, place: readonly number[]): Scenario {
  const more = eachPerAgent(scenario, start.length, (list) => [...list, list[list.length - 1]]);
  if (more.agents.ids) more.agents.ids[start.length] = Math.max(...more.agents.ids) + 1;
  return withStart(more, [...start, [...place]]);
}

export function withoutAgent(scenario: Scenario, start: Places, which: number): Scenario {
  const fewer = eachPerAgent(scenario, start.length, (list) => list.filter((_, p) => p !== which));
  return withStart(fewer, start.filter((_, p) => p !== which));
}

export function withHills(scenario: Scenario, peaks: readonly DensityTable[]): Scenario {
  return { ...scenario, density: withPeaks(scenario.density, peaks) };
}

export function withRing(scenario: Scenario, ring: readonly Point[]): Scenario {
  const vertices = ring.map((z) => [...z]);
  const boxed = scenario.workspace.kind === "box" && ring.length === 4 && upright(ring);
  if (boxed) {
    const xs = ring.map((z) => z[0]);
    const ys = ring.map((z) => z[1]);
    const lower = [Math.min(...xs), Math.min(...ys)];
    return { ...scenario, workspace: { kind: "box", lower, upper: [Math.max(...xs), Math.max(...ys)] } };
  }
  return { ...scenario, workspace: { kind: "polygon", vertices } };
}

const upright = (ring: readonly Point[]): boolean =>
  ring.every((z, k) => {
    const next = ring[(k + 1) % ring.length];
    return z[0] === next[0] || z[1] === next[1];
  });

/** The piece of a run that begins at places on the way: no first velocities or timers of its own. */
export function goingOn(scenario: Scenario, places: Places, horizon: number, part: number): Scenario {
  const law = { ...scenario.controller };
  delete law["initial_hold"];
  delete law["initial_timer"];
  const seed = typeof scenario.run.seed === "number" ? { seed: scenario.run.seed + part } : {};
  return { ...withStart(scenario, places), controller: law, run: { ...scenario.run, horizon, ...seed } };
}

/** A number rounded so that files stay readable, to what the screen can show. */
export function tidy(value: number, unit: number): number {
  const step = 10 ** Math.floor(Math.log10(unit));
  return Number((Math.round(value / step) * step).toPrecision(12));
}
