/** Numbers of the runs that the story shows, up to the time that is shown; none is typed in. */

import { figureAt } from "../charts/data";
import type { Lane } from "../state/lane";

export interface Figures {
  readonly agents: number;
  readonly t: number;
  readonly samples: number;
  readonly cost: number;
  readonly firstCost: number;
  readonly error: number; // the largest of all agents
  readonly holdError: number; // the largest so far
  readonly holdLimit: number;
  readonly shortest: number; // time between two samples of an agent, so far
  readonly longest: number;
  readonly law: Readonly<Record<string, number>>;
}

/** The extremes of the time between two samples of one agent, up to a jump. */
export function dwellTimes(lane: Lane, jump: number): { shortest: number; longest: number } {
  const events = lane.timeline.last?.arc.events;
  let shortest = Infinity;
  let longest = 0;
  for (let row = 0; events && row < Math.min(jump, events.count); row++) {
    const before = events.previous[row];
    if (before < 0) continue;
    const took = events.time[row] - events.time[before];
    shortest = Math.min(shortest, took);
    longest = Math.max(longest, took);
  }
  return { shortest, longest };
}

function largestHoldError(lane: Lane, t: number): number {
  const samples = lane.timeline.last?.arc.samples;
  return Math.max(0, ...(samples?.holdError.slice(0, samples.before(t) + 1) ?? []));
}

export function figuresOf(lane: Lane, t: number, jump: number): Figures {
  const piece = lane.timeline.last;
  const law = piece?.scenario.controller ?? {};
  return {
    agents: piece?.arc.agents ?? 0,
    t,
    samples: lane.timeline.counts(t, jump).samples,
    cost: figureAt(lane, t, jump, "cost") ?? NaN,
    firstCost: figureAt(lane, 0, 0, "cost") ?? NaN,
    error: figureAt(lane, t, jump, "error") ?? NaN,
    holdError: largestHoldError(lane, t),
    holdLimit: piece?.limit ?? NaN,
    ...dwellTimes(lane, jump),
    law: law as unknown as Readonly<Record<string, number>>,
  };
}
