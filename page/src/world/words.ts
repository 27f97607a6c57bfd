/** Changes of the world in words: for marks on the time line, and for fields that tracks occupy. */

import type { Scenario } from "../net/api";
import { isCircle, isKeyframes } from "./tracks";
import { tracksOf, type MovingTable, type WorkspaceTable } from "./world";

export interface Mark {
  readonly t: number;
  readonly kind: "switch" | "keyframe";
  readonly says: string;
}

const short = (v: number): string => String(Number(v.toPrecision(6)));

/** Some things in a row: a, b and c. */
export const listed = (words: readonly (string | number)[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;

type Switch = NonNullable<Scenario["world"]>[number];

/** What happens at a switch. */
export function switchInWords({ workspace, density, network, leave, arrive }: Switch): string {
  const fresh = [workspace && "workspace", density && "density", network && "network"].filter(
    (one): one is string => Boolean(one),
  );
  const gone = leave?.length ?? 0;
  const come = arrive?.length ?? 0;
  const parts = [
    fresh.length ? `new ${listed(fresh)}` : "",
    gone ? `agent${gone > 1 ? "s" : ""} ${listed(leave ?? [])} leave${gone > 1 ? "" : "s"}` : "",
    come ? `${come} agent${come > 1 ? "s arrive" : " arrives"}` : "",
  ];
  return parts.filter(Boolean).join("; ") || "nothing changes";
}

/** How a parameter changes over time. */
export function trackInWords(track: unknown): string {
  if (isCircle(track))
    return `on a circle of radius ${short(track.radius)} about ${track.center.map(short).join(", ")}, one turn in ${short(Math.abs(track.period))}`;
  if (!isKeyframes(track)) return "";
  const { times } = track;
  const some =
    times.length > 4
      ? [...times.slice(0, 3).map(short), "…", short(times[times.length - 1])].join(", ")
      : listed(times.map(short));
  return `keyframe${times.length > 1 ? "s" : ""} at t = ${some}${track.between === "step" ? ", in steps" : ""}`;
}

/** All switches and keyframes in order; those at one time are one. */
export function marksOf(scenario: Scenario): Mark[] {
  const { world = [], sensor = [] } = scenario;
  const switches = world.map((one): Mark => ({ t: one.from, kind: "switch", says: switchInWords(one) }));
  const begins = [0, ...world.map((one) => one.from)];
  const frames = new Map<number, string[]>();
  const add = (
    table: MovingTable | WorkspaceTable | undefined,
    from: number,
    until: number,
    of: string,
  ): void => {
    for (const { key, peak, track } of tracksOf(table)) {
      const what =
        key === "vertices"
          ? "workspace, vertices"
          : peak < 0
            ? `density, ${key}`
            : `peak ${peak + 1}${of}, ${key}`;
      for (const t of isKeyframes(track) ? track.times : [])
        if (t >= from && t < until) frames.set(t, [...(frames.get(t) ?? []), what]);
    }
  };
  for (const what of ["workspace", "density"] as const)
    [scenario, ...world].forEach((one, k) => {
      const next = world.findIndex((later, j) => j >= k && later[what]);
      add(one[what], begins[k], next < 0 ? Infinity : begins[next + 1], "");
    });
  for (const one of sensor) add(one.density, 0, Infinity, ` of ${one.name}`);
  const keyframes = [...frames].map(([t, what]): Mark => ({
    t,
    kind: "keyframe",
    says: `keyframe of ${listed(what)}`,
  }));
  return [...switches, ...keyframes].sort((a, b) => a.t - b.t);
}

/** A piece of a run. */
interface Part {
  readonly scenario: Scenario;
  readonly offset: number;
  readonly end: number;
}

/** The marks of all pieces of a run in the time of the whole; before a run, those of the scenario. */
export function marksOfRun(pieces: readonly Part[], scenario: Scenario): Mark[] {
  if (!pieces.length) return marksOf(scenario).filter((one) => one.t <= scenario.run.horizon);
  return pieces.flatMap((piece, k) => {
    const until = pieces[k + 1]?.offset ?? piece.end;
    const last = k + 1 === pieces.length;
    return marksOf(piece.scenario)
      .map((one) => ({ ...one, t: one.t + piece.offset }))
      .filter((one) => one.t < until || (last && one.t <= until));
  });
}
