/** The largest speed of runs, from their events: one scale of arrows for all maps and all times. */

import type { Arc } from "../arc/arc";
import type { Lane } from "./lane";
import { speedOf } from "./laws";

/** The largest speed after each jump of an arc, as far as it has come. */
const known = new WeakMap<Arc, number[]>();

/** Of a curved segment the speed is taken at both of its ends. */
function speedAt(arc: Arc, before: number, agent: number, dt: number): number {
  const { events, dimension: n } = arc;
  let square = 0;
  for (let i = 0; i < n; i++) {
    let v = before < 0 ? arc.start.holds[agent][i] : events.holds[before * n + i];
    if (dt > 0 && before < 0 && arc.start.bend) {
      const [b, c] = arc.start.bend[agent];
      v += (2 * b[i] + 3 * c[i] * dt) * dt;
    } else if (dt > 0 && before >= 0 && events.bend) {
      const at = 2 * n * before + i;
      v += (2 * events.bend[at] + 3 * events.bend[at + n] * dt) * dt;
    }
    square += v * v;
  }
  return Math.sqrt(square);
}

/** The largest speed of an arc up to a jump. */
function fastest(arc: Arc, jumps: number): number {
  const { events } = arc;
  let found = known.get(arc);
  if (!found) {
    found = [Math.max(0, ...arc.start.holds.map((_, agent) => speedAt(arc, -1, agent, 0)))];
    known.set(arc, found);
  }
  for (let row = found.length - 1; row < events.count; row++) {
    const before = events.previous[row];
    const since = before < 0 ? arc.start.time : events.time[before];
    const curved = before < 0 ? arc.start.bend : events.bend;
    const end = curved ? speedAt(arc, before, events.agent[row], events.time[row] - since) : 0;
    found.push(Math.max(found[row], speedAt(arc, row, events.agent[row], 0), end));
  }
  return found[Math.min(jumps, found.length - 1)];
}

/** The largest speed of any agent in a run, as far as its events are known. */
export function largestSpeed(lane: Lane): number {
  const { pieces } = lane.timeline;
  const until = (k: number): number => (pieces[k + 1]?.jumps ?? Infinity) - pieces[k].jumps;
  return Math.max(0, ...pieces.map((piece, k) => fastest(piece.arc, until(k))));
}

/** The speed that has the longest arrow on every map: the largest of all runs and of the bounds of their laws. */
export const speedScale = (lanes: readonly Lane[]): number =>
  Math.max(
    0,
    ...lanes.map(largestSpeed),
    ...lanes.flatMap((lane) => lane.timeline.pieces.map(({ scenario }) => speedOf(scenario.controller))),
  );
