/** World: regions, densities and who is present at any time of a run, as the server describes it. */

import { peaksOf, type DensityTable } from "../density/density";
import { regionOf, type Region } from "../geometry/workspace";
import type { Scenario } from "../net/api";
import { isCircle, isKeyframes, isTrack, valueAt, type Changing, type ChangingPoint } from "./tracks";

/** A table of a density whose parameters may change over time. */
export interface MovingTable {
  kind: string;
  level?: number;
  terms?: Changing<number[][]>;
  origin?: number[];
  parts?: MovingTable[];
  center?: ChangingPoint;
  rate?: Changing<number>;
  covariance?: Changing<number[][]>;
  weight?: Changing<number>;
}

export type WorkspaceTable = { kind: string } & Record<string, unknown>;

/** The world from a time on; what is absent is as before. */
export interface Phase {
  readonly from: number;
  readonly workspace?: WorkspaceTable;
  readonly density?: MovingTable;
}

export interface Sensor {
  readonly name: string;
  readonly density: MovingTable;
  readonly owners: readonly number[];
}

/** As in the first message of a run. */
export interface WorldForm {
  readonly phases: readonly Phase[];
  readonly arrivals: readonly (number | null)[] | null;
  readonly departures: readonly (number | null)[] | null;
  readonly sensors: readonly Sensor[];
}

/** From when to when agents are present. */
export interface Lives {
  readonly arrivals: Float64Array;
  readonly departures: Float64Array;
}

export const startCount = ({ agents }: Scenario): number =>
  Array.isArray(agents.start) ? agents.start.length : agents.start.count;

/** How many agents there are in all, with those that arrive later. */
export const agentCount = (scenario: Scenario): number =>
  startCount(scenario) + (scenario.world ?? []).reduce((sum, one) => sum + (one.arrive?.length ?? 0), 0);

/** How far each agent of a scenario senses; null if that is unlimited. */
export function radiiOf(scenario: Scenario): Float64Array | null {
  const { radius } = scenario.agents;
  if (Array.isArray(radius)) return Float64Array.from(radius);
  return radius === undefined ? null : new Float64Array(agentCount(scenario)).fill(radius);
}

/** The world of a scenario: what the server would send of it. */
export function worldOf(scenario: Scenario): WorldForm {
  const { workspace, density = { kind: "uniform" }, sensor, world = [] } = scenario;
  const arrivals: (number | null)[] = Array<number>(startCount(scenario)).fill(0);
  const departures: (number | null)[] = arrivals.map(() => null);
  for (const one of world) {
    for (const p of one.leave ?? []) departures[p] = one.from;
    for (const _ of one.arrive ?? []) {
      arrivals.push(one.from);
      departures.push(null);
    }
  }
  const lives = arrivals.some((t) => t !== 0) || departures.some((t) => t !== null);
  const owners = (name: string): number[] =>
    (scenario.agents.sensors ?? []).flatMap((own, p) => (own.includes(name) ? [p] : []));
  return {
    phases: [{ from: 0, workspace, ...(sensor ? {} : { density }) }, ...world.map(phaseOf)],
    arrivals: lives ? arrivals : null,
    departures: lives ? departures : null,
    sensors: (sensor ?? []).map((one) => ({ ...one, owners: owners(one.name) })),
  };
}

const phaseOf = ({ from, workspace, density }: Phase): Phase => ({
  from,
  ...(workspace && { workspace }),
  ...(density && { density }),
});

/** A density as it is at time t; the same object if nothing in it changes. */
export function tableAt(table: MovingTable, t: number): DensityTable {
  if (table.parts) {
    const parts = table.parts.map((part) => tableAt(part, t));
    return parts.some((part, k) => part !== table.parts?.[k])
      ? ({ ...table, parts } as DensityTable)
      : (table as DensityTable);
  }
  const moving = Object.entries(table).filter(([, value]) => isTrack(value));
  if (!moving.length) return table as DensityTable;
  return {
    ...table,
    ...Object.fromEntries(moving.map(([key, value]) => [key, valueAt(value as unknown, t)])),
  } as DensityTable;
}

/** Every track of a table and of its parts, with its key and the number of its peak. */
export function tracksOf(
  table: MovingTable | WorkspaceTable | undefined,
): { key: string; peak: number; track: unknown }[] {
  const parts = (table as MovingTable | undefined)?.parts ?? (table ? [table] : []);
  const peaks: unknown[] = peaksOf(table as MovingTable | undefined);
  return parts.flatMap((part) =>
    Object.entries(part)
      .filter(([, value]) => isTrack(value))
      .map(([key, track]) => ({ key, peak: peaks.indexOf(part), track: track as unknown })),
  );
}

const SOME = 24; // times at which the largest density is searched

export class World {
  readonly lives: Lives | null;
  /** Whether anything changes. */
  readonly changes: boolean;
  private readonly known = new Map<WorkspaceTable, { t: number; region: Region }>();
  private marked: Uint8Array | null = null;

  constructor(readonly form: WorldForm) {
    const { arrivals, departures } = form;
    const times = (list: readonly (number | null)[]): Float64Array =>
      Float64Array.from(list, (t) => t ?? Infinity);
    this.lives = arrivals && departures ? { arrivals: times(arrivals), departures: times(departures) } : null;
    this.changes = form.phases.length > 1 || this.tables.some((table) => tracksOf(table).length > 0);
  }

  private get tables(): (MovingTable | WorkspaceTable | undefined)[] {
    return [
      ...this.form.phases.flatMap((one) => [one.workspace, one.density]),
      ...this.form.sensors.map((one) => one.density),
    ];
  }

  /** The number of the phase at time t; at a switch, of the new one. */
  phaseAt(t: number): number {
    return Math.max(0, this.form.phases.filter((one) => one.from <= t).length - 1);
  }

  /** The phase that a table of time t is from. */
  homeOf(what: "workspace" | "density", t: number): number {
    let k = this.phaseAt(t);
    while (k > 0 && !this.form.phases[k][what]) k--;
    return k;
  }

  workspaceAt(t: number): WorkspaceTable {
    return this.form.phases[this.homeOf("workspace", t)].workspace ?? { kind: "" };
  }

  regionAt(t: number): Region {
    const table = this.workspaceAt(t);
    let found = this.known.get(table);
    if (!found || (isTrack(table["vertices"]) && found.t !== t))
      this.known.set(table, (found = { t, region: regionOf(table, t) }));
    return found.region;
  }

  /** The regions at all times that matter, for a view that fits them all. */
  get regions(): Region[] {
    return this.form.phases.flatMap(({ workspace }) => {
      if (!workspace) return [];
      const { vertices } = workspace;
      return (isKeyframes(vertices) ? vertices.times : [0]).map((t) => regionOf(workspace, t));
    });
  }

  /** The density of some sensors at time t, as it is in the scenario; without sensors, the only one. */
  densityAt(t: number, sensors: readonly number[]): MovingTable {
    const own = sensors.map((k) => this.form.sensors[k].density);
    if (own.length === 1) return own[0];
    if (own.length) return { kind: "mixture", parts: own };
    return this.form.phases[this.homeOf("density", t)].density ?? { kind: "uniform" };
  }

  /** Times at which densities may be largest. */
  get times(): number[] {
    const tracks = this.tables.flatMap((table) => tracksOf(table).map(({ track }) => track));
    const found = tracks.flatMap((track) =>
      isKeyframes(track)
        ? track.times
        : isCircle(track)
          ? Array.from({ length: 8 }, (_, k) => (k / 8) * Math.abs(track.period))
          : [],
    );
    const all = [...new Set([...this.form.phases.map((one) => one.from), ...found])].sort((a, b) => a - b);
    return all.filter((_, k) => k % Math.ceil(all.length / SOME) === 0);
  }

  /** Numbers of the sensors that an agent has. */
  sensorsOf(agent: number): number[] {
    return this.form.sensors.flatMap((one, k) => (one.owners.includes(agent) ? [k] : []));
  }

  /** The sensors whose cells are shown: those of an agent, or the chosen one; none where all sense the same. */
  shown(agent: number, chosen: number): number[] {
    const own = agent >= 0 ? this.sensorsOf(agent) : [];
    return own.length || !this.form.sensors.length ? own : [Math.min(chosen, this.form.sensors.length - 1)];
  }

  /** Agents whose cells divide the region, of a sensor or of all; null for all agents. */
  members(present: Uint8Array, sensor: number | null): Int32Array | null {
    if (sensor === null) return this.lives ? Int32Array.from(numbersOf(present)) : null;
    return Int32Array.from(this.form.sensors[sensor].owners.filter((p) => present[p]));
  }

  /** Agents with the same sensors, group after group, in the order of their first agents. */
  groups(agents: number): { readonly sensors: readonly number[]; readonly members: number[] }[] {
    const found = new Map<string, { sensors: number[]; members: number[] }>();
    for (let p = 0; p < agents && this.form.sensors.length; p++) {
      const sensors = this.sensorsOf(p);
      const group = found.get(sensors.join()) ?? { sensors, members: [] };
      group.members.push(p);
      found.set(sensors.join(), group);
    }
    return [...found.values()];
  }

  /** The number of each agent's group; null where there is one sensor or none. */
  marks(agents: number): Uint8Array | null {
    if (this.form.sensors.length < 2) return null;
    if (this.marked?.length === agents) return this.marked;
    const marks = new Uint8Array(agents);
    this.groups(agents).forEach(({ members }, k) => members.forEach((p) => (marks[p] = k)));
    return (this.marked = marks);
  }
}

/** The numbers of those that are present. */
export const numbersOf = (present: ArrayLike<number>): number[] =>
  Array.from(present).flatMap((here, p) => (here ? [p] : []));
