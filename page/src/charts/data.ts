/** Curves of a run, thinned to what a chart can show. */

import type { LanePiece, Lane } from "../state/lane";

export const COLUMNS = 500; // points of a curve at most
export const MOST_LINES = 40; // more agents than this are drawn as a band

export type Curve = (number | null)[];

export interface Curves {
  readonly time: number[];
  readonly lines: Curve[];
  readonly names: string[];
}

interface Row {
  readonly time: number;
  readonly piece: LanePiece;
  readonly sample: number;
}

/**
 * One sample in each of some columns of time, over all pieces: the last, or the one with the largest
 * value of what must not be missed.
 */
export function rowsOf(lane: Lane, largest?: Figure): Row[] {
  const { pieces, end } = lane.timeline;
  const width = (end || 1) / COLUMNS;
  const rows: Row[] = [];
  for (const [k, piece] of pieces.entries()) {
    const until = pieces[k + 1]?.offset ?? Infinity;
    const { samples } = piece.arc;
    let last = -1;
    for (let s = 0; s < samples.count; s++) {
      const time = piece.offset + samples.time[s];
      if (time > until) break;
      const column = Math.floor(time / width);
      const value = (k: number): number => (largest ? samples[largest][k] : k);
      if (column !== last) rows.push({ time, piece, sample: s });
      else if (value(s) >= value(rows[rows.length - 1].sample))
        rows[rows.length - 1] = { time, piece, sample: s };
      last = column;
    }
  }
  return rows;
}

/** What a log axis can show. */
const positive = (value: number | undefined): number | null =>
  value !== undefined && value > 0 ? value : null;
const finite = (value: number | undefined): number | null =>
  value !== undefined && Number.isFinite(value) ? value : null;

/** The error of each agent; of many agents the least, the middle and the largest. */
export function errorsOf(lane: Lane): Curves {
  const rows = rowsOf(lane);
  const agents = Math.max(0, ...lane.timeline.pieces.map((piece) => piece.arc.agents));
  const time = rows.map((row) => row.time);
  if (agents > MOST_LINES) return { time, ...bandOf(rows) };
  const lines = Array.from({ length: agents }, (_, p) =>
    rows.map(({ piece, sample }) =>
      p < piece.arc.agents ? positive(piece.arc.samples.errors[sample * piece.arc.agents + p]) : null,
    ),
  );
  return { time, lines, names: lines.map((_, p) => `agent ${p}`) };
}

function bandOf(rows: readonly Row[]): { lines: Curve[]; names: string[] } {
  const largest = rows.map(({ piece, sample }) => positive(piece.arc.samples.error[sample]));
  const known = rows.length > 0 && rows.every(({ piece }) => piece.arc.samples.errors.length > 0);
  if (!known) return { lines: [largest], names: ["largest"] };
  const sorted = rows.map(({ piece, sample }) => {
    const n = piece.arc.agents;
    return piece.arc.samples.errors.slice(sample * n, sample * n + n).sort((a, b) => a - b);
  });
  const at = (share: number): Curve =>
    sorted.map((row) => positive(row[Math.round(share * (row.length - 1))]));
  return { lines: [at(0), at(0.5), largest], names: ["least", "middle", "largest"] };
}

type Figure = "cost" | "error" | "holdError";

/** One figure of several laws over a common time axis. */
export function figureOf(
  lanes: readonly Lane[],
  which: Figure,
  names: readonly string[],
  log = true,
): Curves {
  const seen = log ? positive : finite;
  const all = lanes.map((lane) => rowsOf(lane, which === "holdError" ? which : undefined));
  const time = [...new Set(all.flatMap((rows) => rows.map((row) => row.time)))].sort((a, b) => a - b);
  const lines = all.map((rows) => {
    const found = new Map(
      rows.map(({ time: t, piece, sample }) => [t, seen(piece.arc.samples[which][sample])]),
    );
    return time.map((t) => found.get(t) ?? null);
  });
  return { time, lines, names: [...names] };
}

/** A figure at time t: that of the last sample before it. */
export function figureAt(lane: Lane, t: number, jump: number, which: Figure): number | null {
  const place = lane.timeline.locate(t, jump);
  if (!place) return null;
  const { samples } = place.piece.arc;
  const row = samples.before(place.t);
  return row < 0 ? null : (samples[which][row] ?? null);
}
