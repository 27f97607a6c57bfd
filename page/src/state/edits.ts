/** Edits of a scenario, each a new scenario. */

import { peaksOf, withPeaks, type DensityTable } from "../density/density";
import type { Point } from "../geometry/polygon";
import type { Scenario } from "../net/api";
import { cutAt, renumbered, withDensityAt, withWorkspaceAt } from "../world/cut";
import { movedAt } from "../world/tracks";
import { agentCount, startCount, tableAt, World, worldOf, type MovingTable } from "../world/world";

export type Places = number[][];

export function withStart(scenario: Scenario, start: Places): Scenario {
  return { ...scenario, agents: { ...scenario.agents, start } };
}

export function moved(start: Places, which: number, to: readonly number[]): Places {
  return start.map((place, p) => (p === which ? [...to] : [...place]));
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, p) => p);

/** How many agents arrive later. */
const arriving = (scenario: Scenario): number => agentCount(scenario) - startCount(scenario);

/** One agent more at the start, like the last one; who arrives later is numbered after it. */
export function withAgent(scenario: Scenario, start: Places, place: readonly number[]): Scenario {
  const n = start.length;
  const more = renumbered(scenario, [...numbers(n), n - 1, ...numbers(arriving(scenario)).map((p) => n + p)]);
  const { ids } = scenario.agents;
  if (ids) more.agents.ids = [...ids, Math.max(...ids) + 1];
  return withStart(more, [...start, [...place]]);
}

/** One agent less, of those at the start or of those that arrive. */
export function withoutAgent(scenario: Scenario, start: Places, which: number): Scenario {
  const fewer = renumbered(
    scenario,
    numbers(start.length + arriving(scenario)).filter((p) => p !== which),
  );
  let next = start.length;
  if (fewer.world)
    fewer.world = fewer.world.map((one) => {
      const arrive = one.arrive?.filter(() => next++ !== which);
      return arrive?.length ? { ...one, arrive } : { ...one, arrive: undefined };
    });
  return withStart(
    fewer,
    start.filter((_, p) => p !== which),
  );
}

/** Another number of agents that are scattered: more are like the first ones, and the last are the first to go. */
export function withCount(scenario: Scenario, count: number): Scenario {
  if (!Number.isInteger(count) || count < 1) return scenario; // the server says what is wrong with it
  const n = startCount(scenario);
  return renumbered(scenario, [
    ...numbers(count).map((p) => p % n),
    ...numbers(arriving(scenario)).map((p) => n + p),
  ]);
}

/** The scenario with other peaks in place of those at time t. */
export function withPeaksAt(
  scenario: Scenario,
  peaks: readonly MovingTable[],
  t = 0,
  sensor: number | null = scenario.sensor ? 0 : null,
): Scenario {
  const before = new World(worldOf(scenario)).densityAt(t, sensor === null ? [] : [sensor]);
  return withDensityAt(scenario, t, sensor, withPeaks(before, peaks));
}

/** A peak that is shown as `now` at time t and is to be `next`: what changes over time is moved from there on. */
export function reshaped(peak: MovingTable, next: DensityTable, t: number): MovingTable {
  const now = tableAt(peak, t);
  const same = (key: keyof DensityTable): boolean => JSON.stringify(now[key]) === JSON.stringify(next[key]);
  const keys = new Set([...Object.keys(peak), ...Object.keys(next)]) as Set<keyof DensityTable>;
  const found: Record<string, unknown> = {};
  for (const key of keys) {
    if (same(key)) found[key] = peak[key];
    else if (key === "center" && peak.center && next.center)
      found[key] = movedAt(peak.center, t, next.center);
    else if (next[key] !== undefined) found[key] = next[key];
  }
  return found as unknown as MovingTable;
}

/** The peaks of a scenario at time t, as they are in it. */
export const peaksAt = (scenario: Scenario, t: number, sensor: number | null): MovingTable[] =>
  peaksOf(new World(worldOf(scenario)).densityAt(t, sensor === null ? [] : [sensor]));

export function withRing(scenario: Scenario, ring: readonly Point[], t = 0): Scenario {
  const vertices = ring.map((z) => [...z]);
  const boxed =
    new World(worldOf(scenario)).workspaceAt(t).kind === "box" && ring.length === 4 && upright(ring);
  if (boxed) {
    const xs = ring.map((z) => z[0]);
    const ys = ring.map((z) => z[1]);
    const lower = [Math.min(...xs), Math.min(...ys)];
    return withWorkspaceAt(scenario, t, { kind: "box", lower, upper: [Math.max(...xs), Math.max(...ys)] });
  }
  return withWorkspaceAt(scenario, t, { kind: "polygon", vertices });
}

const upright = (ring: readonly Point[]): boolean =>
  ring.every((z, k) => {
    const next = ring[(k + 1) % ring.length];
    return z[0] === next[0] || z[1] === next[1];
  });

/** The piece of a run from time t on, at places on the way: no first velocities or timers of its own. */
export function goingOn(whole: Scenario, places: Places, horizon: number, part: number, t = 0): Scenario {
  const scenario = cutAt(whole, t, horizon);
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

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const livesOf = (scenario: Scenario): unknown => {
  const { arrivals, departures } = worldOf(scenario);
  return [arrivals, departures];
};

/** What is said of agents, but for how far they sense: that may change on the way. */
const teamOf = ({ agents }: Scenario): unknown => ({ ...agents, radius: null });

/** Whether two scenarios begin with the same agents, who come and leave at the same times. */
export const sameStart = (a: Scenario, b: Scenario): boolean =>
  same(teamOf(a), teamOf(b)) && same(livesOf(a), livesOf(b));
