/** How far and how fast agents have moved; the largest speed scales the arrows of all maps at all times. */

import { pathsOf, type Path } from "../arc/paths";
import type { Lane } from "./lane";
import { speedOf } from "./laws";

/** Path of all agents and largest speed until (t, j), over all arcs. */
export function pathOf({ timeline }: Lane, t: number, jump: number): Path {
  let length = 0;
  let speed = 0;
  const here = timeline.pieceAt(t, jump);
  for (const [k, piece] of timeline.pieces.entries()) {
    const last = piece === here;
    const next = timeline.pieces[k + 1];
    const jumps = last || !next ? jump : next.jumps;
    const until = last || !next ? t : next.offset;
    const part = pathsOf(piece.arc).until(until - piece.offset, Math.max(0, jumps - piece.jumps));
    length += part.length;
    speed = Math.max(speed, part.speed);
    if (last) break;
  }
  return { length, speed };
}

/** The largest speed of any agent in a run, as far as its events are known. */
export function largestSpeed(lane: Lane): number {
  const { pieces } = lane.timeline;
  const until = (k: number): number => (pieces[k + 1]?.jumps ?? Infinity) - pieces[k].jumps;
  return Math.max(0, ...pieces.map((piece, k) => pathsOf(piece.arc).fastest(until(k))));
}

/** The speed that has the longest arrow on every map: the largest of all runs and of the bounds of their laws. */
export const speedScale = (lanes: readonly Lane[]): number =>
  Math.max(
    0,
    ...lanes.map(largestSpeed),
    ...lanes.flatMap((lane) => lane.timeline.pieces.map(({ scenario }) => speedOf(scenario.controller))),
  );
