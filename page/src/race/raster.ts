/** Samples of agents over time, counted in the pixels of a picture. */

import { countUntil } from "../arc/rows";
import type { LanePiece, Lane } from "../state/lane";

/** Counts of samples: a row for each agent, or for some of them where there are more than rows. */
export interface Grid {
  readonly width: number;
  readonly rows: number;
  readonly counts: Float32Array; // row after row
  readonly most: number;
}

/** How many rows of events of a piece count: those before the next one begins. */
function rowsIn(lane: Lane, k: number): number {
  const { pieces } = lane.timeline;
  const next = pieces[k + 1];
  return next ? next.jumps - pieces[k].jumps : pieces[k].arc.events.count;
}

const agentsOf = (lane: Lane): number =>
  Math.max(1, ...lane.timeline.pieces.map((piece) => piece.arc.agents));

const DENSE = 0.5; // samples per pixel from which each is shared among two, lest regular ones make stripes

/** The samples from one time to another, in `width` columns and at most `height` rows. */
export function gridOf(lane: Lane, from: number, to: number, width: number, height: number): Grid {
  const agents = agentsOf(lane);
  const rows = Math.max(1, Math.min(agents, Math.floor(height)));
  const counts = new Float32Array(rows * width);
  const scale = width / (to - from || 1);
  const times: number[] = [];
  const places: number[] = [];
  const add = (time: number, agent: number): void => {
    times.push(time);
    places.push(Math.floor((agent * rows) / agents) * width);
  };
  for (const [k, { arc, offset }] of lane.timeline.pieces.entries()) {
    const { events, start } = arc;
    const begins = offset + start.time;
    if (begins >= from && begins <= to)
      start.spent?.looked.forEach((count, agent) => count > 0 && add(begins, agent));
    const first = countUntil(events.time, events.count, from - offset);
    const last = Math.min(rowsIn(lane, k), countUntil(events.time, events.count, to - offset));
    for (let row = first; row < last; row++)
      if (!events.sampled || events.sampled[row]) add(offset + events.time[row], events.agent[row]);
  }
  const dense = times.length > DENSE * rows * width;
  times.forEach((time, k) => {
    const at = (time - from) * scale;
    const x = Math.min(width - 1, Math.floor(at));
    if (!dense) return void counts[places[k] + x]++;
    const left = Math.min(width - 1, Math.max(0, Math.floor(at - 0.5)));
    const right = Math.min(width - 1, left + 1);
    const share = Math.min(1, Math.max(0, at - 0.5 - left));
    counts[places[k] + left] += 1 - share;
    counts[places[k] + right] += share;
  });
  return { width, rows, counts, most: counts.reduce((a, b) => Math.max(a, b), 0) };
}

/** The agent of a row at a height of the picture, 0 at its top and 1 at its bottom. */
export const agentAt = (lane: Lane, share: number): number =>
  Math.min(agentsOf(lane) - 1, Math.max(0, Math.floor(share * agentsOf(lane))));

/** The time of an agent's sample nearest to t, if it is at most `within` away. */
export function sampleNear(lane: Lane, agent: number, t: number, within: number): number | null {
  let best: number | null = null;
  for (const [k, piece] of lane.timeline.pieces.entries())
    for (const time of samplesOf(piece, agent, t, within, rowsIn(lane, k)))
      if (best === null || Math.abs(time - t) < Math.abs(best - t)) best = time;
  return best;
}

function* samplesOf(
  { arc: { events }, offset }: LanePiece,
  agent: number,
  t: number,
  within: number,
  rows: number,
): Generator<number> {
  const first = countUntil(events.time, events.count, t - within - offset);
  const last = Math.min(rows, countUntil(events.time, events.count, t + within - offset));
  for (let row = first; row < last; row++)
    if (events.agent[row] === agent && (!events.sampled || events.sampled[row]))
      yield offset + events.time[row];
}

const FAINTEST = 0.35; // of a pixel with one sample where others have many

/** Write a grid into pixels (RGBA): the colour of each row, denser where there are more samples. */
export function paintGrid(
  { width, rows, counts }: Grid,
  most: number,
  colour: (row: number) => readonly [number, number, number],
  into: Uint8ClampedArray,
): void {
  for (let row = 0; row < rows; row++) {
    const [r, g, b] = colour(row);
    for (let x = 0; x < width; x++) {
      const count = counts[row * width + x];
      if (!count) continue;
      const at = 4 * (row * width + x);
      const share = most > 1 ? Math.max(0, count - 1) / (most - 1) : 1;
      into[at] = r;
      into[at + 1] = g;
      into[at + 2] = b;
      into[at + 3] = 255 * (FAINTEST + (1 - FAINTEST) * share);
    }
  }
}
