/** Figures of a law at any time, as `dwell compare` defines them for the end of a run. */

import type { Arc } from "../arc/arc";
import { figureAt } from "../charts/data";
import type { Region } from "../geometry/workspace";
import type { Lane } from "../state/lane";
import { pathOf } from "../state/speed";
import { MORE } from "../state/keys";

/** By the keys of the summary; counts and lengths are means over the agents. */
export interface Figures {
  readonly settled: number | null; // the first metric sample from which no error exceeds the level
  readonly samples: number;
  readonly "cells.per_agent": number | null; // known at the end of a run that was not changed on the way
  readonly messages: number;
  readonly broadcasts: number;
  readonly distance: number;
  readonly "cost.final": number | null;
  readonly top_speed: number;
  readonly total: number; // samples of all agents
}

/** The error that counts as settled for every law: the first nu, or a hundredth of the workspace's diameter. */
export function levelOf(lanes: readonly Lane[], diameter: number | null): number | null {
  const nu = lanes.map((lane) => lane.timeline.last?.nu).find((one) => typeof one === "number");
  return nu ?? (diameter === null ? null : MORE.small * diameter);
}

/** The largest distance within a region; null where its boundary is not known. */
export function diameterOf({ ring, bounds }: Region): number | null {
  if (bounds) return bounds[1] - bounds[0];
  if (!ring.length) return null;
  let most = 0;
  for (const [k, a] of ring.entries())
    for (const b of ring.slice(k + 1)) most = Math.max(most, Math.hypot(a[0] - b[0], a[1] - b[1]));
  return most;
}

/** The first metric sample from which every error stays within `level`; null if it never does. */
export function settledAt({ timeline }: Lane, level: number): number | null {
  let since: number | null = null;
  for (const [k, piece] of timeline.pieces.entries()) {
    const until = timeline.pieces[k + 1]?.offset ?? Infinity;
    const { time, error, count } = piece.arc.samples;
    for (let s = 0; s < count && piece.offset + time[s] <= until; s++) {
      if (error[s] > level) since = null;
      else since ??= piece.offset + time[s];
    }
  }
  return since;
}

const agentsOf = (arc: Arc | undefined): number => Math.max(1, arc?.agents ?? 1);

/** Cells of all kinds per agent, of a whole run that is over. */
function cellsOf({ summary, timeline }: Lane): number | null {
  const found = summary?.["cells"] as
    Record<"voronoi" | "guaranteed" | "dual_guaranteed", number> | undefined;
  if (!found || timeline.pieces.length !== 1) return null;
  return (found.voronoi + found.guaranteed + found.dual_guaranteed) / agentsOf(timeline.last?.arc);
}

/** Everything about a lane at time t after so many jumps; beyond its end, at its end. */
export function figuresOf(lane: Lane, t: number, jump: number, level: number | null): Figures {
  const { timeline } = lane;
  const now = Math.min(t, timeline.known);
  const agents = agentsOf(timeline.last?.arc);
  const counts = timeline.counts(now, jump);
  const path = pathOf(lane, now, jump);
  const over = lane.summary !== null && now >= timeline.known;
  const final = (lane.summary?.["cost"] as { final?: number | null } | undefined)?.final;
  const settled = lane.summary && level !== null ? settledAt(lane, level) : null;
  return {
    settled: settled !== null && settled <= now ? settled : null,
    samples: counts.samples / agents,
    "cells.per_agent": over ? cellsOf(lane) : null,
    messages: counts.received / agents,
    broadcasts: counts.sent / agents,
    distance: path.length / agents,
    "cost.final": over && final !== undefined ? final : figureAt(lane, now, jump, "cost"),
    top_speed: path.speed,
    total: counts.samples,
  };
}

/** Whether some laws have moved noticeably faster than others. */
export function speedsDiffer(speeds: readonly number[]): boolean {
  const moved = speeds.filter((speed) => speed > 0);
  return moved.length > 1 && Math.max(...moved) > MORE.unlike * Math.min(...moved);
}
