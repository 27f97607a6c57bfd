/** Paths of agents so far. Legs are straight, so a path goes from event to event. */

import type { Arc, ArcState } from "../arc/arc";
import type { Axes } from "../geometry/shadow";
import type { Pen } from "./pen";
import { colourOf, type Theme } from "./theme";
import { toX, toY, type Size, type View } from "./view";

const MOST = 40000; // segments drawn anew at once; more are thinned out

/** The paths between two jumps of an arc, in one stroke per colour. */
export function drawTrails(
  pen: Pen,
  arc: Arc,
  from: number,
  to: number,
  offset: number,
  view: View,
  size: Size,
  theme: Theme,
  axes: Axes,
): void {
  const colours = Math.min(theme.agents.length, arc.agents);
  const stride = Math.max(1, Math.ceil((to - from) / MOST));
  const alpha = arc.agents > 200 ? 0.35 : 0.6;
  for (let colour = 0; colour < colours; colour++) {
    pen.begin();
    if (stride === 1) segments(pen, arc, from, to, offset, view, size, colour, colours, axes);
    else thinned(pen, arc, to, stride, offset, view, size, colour, colours, axes);
    pen.stroke({ colour: colourOf(theme, colour), width: 1.1, alpha });
  }
}

function segments(
  pen: Pen,
  arc: Arc,
  from: number,
  to: number,
  offset: number,
  view: View,
  size: Size,
  colour: number,
  colours: number,
  [a, b]: Axes,
): void {
  const { events, dimension: n } = arc;
  for (let row = from; row < to; row++) {
    if (events.agent[row] % colours !== colour) continue;
    const before = events.previous[row];
    if (before < 0 && arc.lives && arc.lives.arrivals[events.agent[row]] > 0) continue; // it arrives there
    if (n === 1) {
      pen.move(
        toX(view, size, arc.placeBefore(row, 0)),
        toY(view, size, offset + (before < 0 ? 0 : events.time[before])),
      );
      pen.line(toX(view, size, events.positions[row]), toY(view, size, offset + events.time[row]));
    } else {
      pen.move(toX(view, size, arc.placeBefore(row, a)), toY(view, size, arc.placeBefore(row, b)));
      pen.line(
        toX(view, size, events.positions[n * row + a]),
        toY(view, size, events.positions[n * row + b]),
      );
    }
  }
}

function thinned(
  pen: Pen,
  arc: Arc,
  to: number,
  stride: number,
  offset: number,
  view: View,
  size: Size,
  colour: number,
  colours: number,
  [a, b]: Axes,
): void {
  const { events, dimension: n } = arc;
  const last = arc.rowsAfter(to).slice();
  for (let agent = colour; agent < arc.agents; agent += colours) {
    const begin = arc.start.positions[agent];
    const arrival = arc.lives?.arrivals[agent] ?? 0;
    pen.move(toX(view, size, begin[a]), toY(view, size, n === 1 ? offset + arrival : begin[b]));
    for (const row of everySome(events.previous, last[agent], stride)) {
      const y = n === 1 ? offset + events.time[row] : events.positions[row * n + b];
      pen.line(toX(view, size, events.positions[row * n + a]), toY(view, size, y));
    }
  }
}

/** Rows of one agent from its first to `last`, every `stride`-th. */
function everySome(previous: Int32Array, last: number, stride: number): number[] {
  const found: number[] = [];
  for (let row = last, k = 0; row >= 0; row = previous[row], k++) if (k % stride === 0) found.push(row);
  return found.reverse();
}

/** The piece of each path since the last event. */
export function drawHeads(
  pen: Pen,
  arc: Arc,
  state: ArcState,
  offset: number,
  view: View,
  size: Size,
  theme: Theme,
  [a, b]: Axes,
): void {
  const { events, dimension: n, start } = arc;
  const m = state.dimension; // of what is seen
  const colours = Math.min(theme.agents.length, arc.agents);
  for (let colour = 0; colour < colours; colour++) {
    pen.begin();
    for (let p = colour; p < arc.agents; p += colours) {
      if (!state.present[p]) continue;
      const row = state.rows[p];
      const x = row < 0 ? start.positions[p][a] : events.positions[row * n + a];
      const y =
        n === 1
          ? offset + (row < 0 ? 0 : events.time[row])
          : row < 0
            ? start.positions[p][b]
            : events.positions[row * n + b];
      pen.move(toX(view, size, x), toY(view, size, y));
      pen.line(
        toX(view, size, state.positions[p * m]),
        toY(view, size, n === 1 ? offset + state.time : state.positions[p * m + 1]),
      );
    }
    pen.stroke({ colour: colourOf(theme, colour), width: 1.1, alpha: arc.agents > 200 ? 0.35 : 0.6 });
  }
}
