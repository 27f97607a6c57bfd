/** Sites: a scenario at another place, of another size, in metres and seconds. */

import { regionOf, widthOf } from "../geometry/workspace";
import type { Law, Scenario } from "../net/api";
import { agentCount, type WorkspaceTable } from "../world/world";
import { speedOf } from "./laws";
import { keysOf, MORE } from "./keys";

const SPEED = 1; // metres per second, of boats and of robots on foot
const CROSSING = 25; // times that an agent without a largest speed takes to cross the old workspace

/** How many times as large lengths and times are at another place. */
export interface Scales {
  readonly length: number;
  readonly time: number;
}

/** A value of a law's key at another place, by its unit; what has none stays. */
function scaled(value: unknown, [length, time]: readonly [number, number], by: Scales): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => scaled(one, [length, time], by));
  return typeof value === "number"
    ? Number((value * by.length ** length * by.time ** time).toPrecision(4))
    : value;
}

/** A table at another place, with the tables in it; `path` is its dotted name. */
function placed(table: object, path: string, by: Scales): Record<string, unknown> {
  const entries = Object.entries(table).map(([key, value]: [string, unknown]) => {
    const name = `${path}.${key}`;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return [key, placed(value, name, by)];
    return [key, name in MORE.keys ? scaled(value, MORE.keys[name].unit, by) : value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** A law that does at another place what it does here. */
export function lawAt(law: Law, by: Scales): Law {
  const given = keysOf(law.kind).filter(([key, { unit }]) => unit && key in law);
  const values = given.map(([key, { unit }]) => [key, scaled(law[key], unit ?? [0, 0], by)]);
  return { ...law, ...Object.fromEntries(values) };
}

/**
 * The scenario at a site in metres: its agents scattered over a workspace that has so many times the width,
 * as long a way from them, at a largest speed of 1 m/s, with a uniform density. Nothing else of the old place is kept.
 */
export function withSite(
  scenario: Scenario,
  workspace: WorkspaceTable,
  name: string,
  site: Scenario["site"] | null = null,
): { scenario: Scenario; by: Scales } {
  const wide = widthOf(regionOf(scenario.workspace));
  const length = widthOf(regionOf(workspace)) / wide;
  const by = { length, time: (length * (speedOf(scenario.controller) || wide / CROSSING)) / SPEED };
  const { controller, agents, network, run, schema_version } = scenario;
  const { initial_hold: _, ...law } = controller;
  const start = { count: agentCount(scenario), region: "workspace", seed: 1 };
  const sized = Object.entries(agents).filter(([key]) => `agents.${key}` in MORE.keys);
  const next: Scenario = {
    ...(schema_version !== undefined && { schema_version }),
    name,
    ...(site && { site }),
    workspace,
    density: { kind: "uniform" },
    agents: { start, ...placed(Object.fromEntries(sized), "agents", by) },
    controller: lawAt(law as Law, by),
    ...(network && { network: placed(network, "network", by) }),
    run: { ...(placed(run, "run", by) as Scenario["run"]), integration: { kind: "exact" } },
  };
  return { scenario: next, by };
}
