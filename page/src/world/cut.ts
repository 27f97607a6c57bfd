/** Scenarios of worlds that change: from a time on, with more agents or fewer, with another table. */

import type { Scenario } from "../net/api";
import { TABLES } from "../state/tables";
import { isTrack, shifted } from "./tracks";
import { agentCount, startCount, World, worldOf, type MovingTable, type WorkspaceTable } from "./world";

/** Whether a value of a key of a law has one entry for each of so many agents. */
const hasOneEach = (key: string, value: unknown, count: number): value is unknown[] =>
  Array.isArray(value) && value.length === count && (key !== "intervals" || Array.isArray(value[0]));

/**
 * The scenario with other agents: number k of it was number `kept[k]` before. Where they start or
 * arrive is for the caller to say.
 */
export function renumbered(scenario: Scenario, kept: readonly number[]): Scenario {
  const count = agentCount(scenario);
  const pick = <T>(list: readonly T[]): T[] => kept.map((p) => list[p]);
  const picked = <T extends object>(table: T, keys: readonly string[] = []): T => {
    const given = Object.entries(table).filter(([key]) => keys.includes(key));
    const lists = given.filter(([key, value]) => hasOneEach(key, value, count));
    return { ...table, ...Object.fromEntries(lists.map(([key, list]) => [key, pick(list as unknown[])])) };
  };
  const law = scenario.controller;
  const next: Scenario = {
    ...scenario,
    controller: picked(law, TABLES.laws[law.kind]?.each),
    agents: picked(scenario.agents, TABLES.each.agents),
  };
  if (scenario.certificate) next.certificate = picked(scenario.certificate, TABLES.each.certificate);
  if (next.agents.ids) next.agents.ids = next.agents.ids.filter((id) => id !== undefined);
  if (scenario.world)
    next.world = scenario.world.map((one) => {
      const leave = (one.leave ?? []).map((p) => kept.indexOf(p)).filter((p) => p >= 0);
      return leave.length ? { ...one, leave } : without(one, "leave");
    });
  return next;
}

function without<T extends object, K extends keyof T>(table: T, key: K): T {
  const { [key]: _, ...rest } = table;
  return rest as T;
}

type Tables = { workspace?: WorkspaceTable; density?: MovingTable };

/** Tables from time t on. */
function later<T extends MovingTable | WorkspaceTable>(table: T, t: number, until: number): T {
  const { parts } = table as MovingTable;
  const entries = Object.entries(table).map(([key, value]) => [
    key,
    isTrack(value) ? shifted(value as unknown, t, until) : (value as unknown),
  ]);
  return {
    ...Object.fromEntries(entries),
    ...(parts && { parts: parts.map((part) => later(part, t, until)) }),
  } as T;
}

/**
 * The scenario from time t on, in a time that begins there: what has changed by then is so from the
 * beginning, and who has left is not there. Who starts where is put in by the caller: first those who
 * are present at t, in order.
 */
export function cutAt(scenario: Scenario, t: number, until: number): Scenario {
  const world = new World(worldOf(scenario));
  if (!world.changes) return scenario;
  const tables = ({ workspace, density }: Tables): Tables => ({
    ...(workspace && { workspace: later(workspace, t, until) }),
    ...(density && { density: later(density, t, until) }),
  });
  const { here, coming } = livesAt(scenario, t);
  const next = renumbered(scenario, [...here, ...coming]);
  const coped = (next.world ?? []).filter((one) => one.from <= t);
  const network = coped.reduce((found, one) => one.network ?? found, scenario.network);
  const ahead = (next.world ?? []).filter((one) => one.from > t);
  const cut: Scenario = {
    ...next,
    ...tables({ workspace: world.workspaceAt(t), density: scenario.density && world.densityAt(t, []) }),
    ...(network && { network }),
    world: ahead.map((one) => ({ ...one, ...tables(one), from: one.from - t })),
    sensor: scenario.sensor?.map((one) => ({ ...one, density: later(one.density, t, until) })),
  };
  if (scenario.sensor) cut.density = scenario.density;
  if (!ahead.length) delete cut.world;
  if (!cut.sensor) delete cut.sensor;
  return cut;
}

/** The numbers of the agents that are present at time t, and of those that arrive later. */
export function livesAt(scenario: Scenario, t: number): { here: number[]; coming: number[] } {
  const { arrivals, departures } = worldOf(scenario);
  if (!arrivals || !departures)
    return { here: Array.from({ length: startCount(scenario) }, (_, p) => p), coming: [] };
  const all = arrivals.map((_, p) => p);
  return {
    here: all.filter((p) => (arrivals[p] ?? Infinity) <= t && t < (departures[p] ?? Infinity)),
    coming: all.filter((p) => (arrivals[p] ?? Infinity) > t),
  };
}

/** The scenario with another workspace where that of time t is. */
export function withWorkspaceAt(scenario: Scenario, t: number, workspace: WorkspaceTable): Scenario {
  const home = new World(worldOf(scenario)).homeOf("workspace", t);
  if (home === 0) return { ...scenario, workspace };
  return {
    ...scenario,
    world: scenario.world?.map((one, k) => (k === home - 1 ? { ...one, workspace } : one)),
  };
}

/** The scenario with another density where that of time t is, or in place of that of a sensor. */
export function withDensityAt(
  scenario: Scenario,
  t: number,
  sensor: number | null,
  density: MovingTable,
): Scenario {
  if (sensor !== null)
    return {
      ...scenario,
      sensor: scenario.sensor?.map((one, k) => (k === sensor ? { ...one, density } : one)),
    };
  const home = new World(worldOf(scenario)).homeOf("density", t);
  if (home === 0) return { ...scenario, density };
  return {
    ...scenario,
    world: scenario.world?.map((one, k) => (k === home - 1 ? { ...one, density } : one)),
  };
}
