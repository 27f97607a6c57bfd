/** Paths: how far agents have moved along an arc, and how fast at most. */

import type { Arc } from "./arc";
import { widened } from "./events";
import { secondsUsed, speedLeft } from "./segments";

export interface Path {
  readonly length: number; // of all agents together
  readonly speed: number; // the largest of any agent
}

/** Nodes and weights of the Gauss-Legendre rule with eight points, on [-1, 1]; the other half is symmetric. */
const RULE: readonly (readonly [node: number, weight: number])[] = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.3137066458778873],
  [0.7966664774136267, 0.2223810344533745],
  [0.9602898564975363, 0.1012285362903763],
];
const PARTS = 8; // of a curved segment at whose ends its speed is compared
const FIRST_SIZE = 1024;

/** The segment of an agent that begins with a row of the events, or with the start (row -1). */
class Segment {
  readonly since: number;
  private readonly hold: readonly number[];
  private readonly bend: readonly (readonly number[])[] | null;
  private readonly cruise: number;

  constructor(
    private readonly arc: Arc,
    agent: number,
    row: number,
  ) {
    const { start, events, dimension: n } = arc;
    const part = (values: Float64Array, k: number): number[] => Array.from(values.subarray(k * n, k * n + n));
    const first = row < 0;
    this.since = first ? start.time : events.time[row];
    this.hold = first ? start.holds[agent] : part(events.holds, row);
    this.cruise = (first ? start.cruise?.[agent] : events.cruise?.[row]) ?? Infinity;
    const bend = first
      ? start.bend?.[agent]
      : events.bend && [part(events.bend, 2 * row), part(events.bend, 2 * row + 1)];
    this.bend = bend ?? null;
  }

  speedAt(dt: number): number {
    const left = speedLeft(dt, this.cruise, this.arc.fade);
    const [square, cube] = this.bend ?? [];
    return Math.hypot(
      ...this.hold.map((v, i) => v * left + (square ? (2 * square[i] + 3 * cube[i] * dt) * dt : 0)),
    );
  }

  until(t: number): Path {
    const dt = t - this.since;
    const speed = Math.hypot(...this.hold);
    if (!this.bend) {
      const length = speed * secondsUsed(dt, this.cruise, this.arc.fade);
      return { length, speed: length > 0 ? speed : 0 };
    }
    let length = 0;
    for (const [node, weight] of RULE)
      length +=
        0.5 * weight * dt * (this.speedAt(0.5 * (1 + node) * dt) + this.speedAt(0.5 * (1 - node) * dt));
    const among = Array.from({ length: PARTS }, (_, k) => this.speedAt(((k + 1) / PARTS) * dt));
    return { length, speed: length > 0 ? Math.max(speed, ...among) : 0 };
  }
}

/** Sums over the segments that have ended, after each jump of an arc; they grow with it. */
export class Paths {
  private count = 0;
  private lengths = new Float64Array(1); // after so many jumps
  private speeds = new Float64Array(1);

  private scale = { jump: -1, speed: 0 };

  constructor(private readonly arc: Arc) {}

  private extend(): void {
    const { events } = this.arc;
    if (events.count >= this.lengths.length) {
      const size = Math.max(FIRST_SIZE, 2 * this.lengths.length, events.count + 1);
      this.lengths = widened(this.lengths, size);
      this.speeds = widened(this.speeds, size);
    }
    for (; this.count < events.count; this.count++) {
      const row = this.count;
      const ended = new Segment(this.arc, events.agent[row], events.previous[row]).until(events.time[row]);
      this.lengths[row + 1] = this.lengths[row] + ended.length;
      this.speeds[row + 1] = Math.max(this.speeds[row], ended.speed);
    }
  }

  /** The largest speed on segments that begin up to a jump; the arrows of maps are scaled by it. */
  fastest(jump: number): number {
    this.extend();
    const last = Math.min(jump, this.count);
    if (this.scale.jump !== last) {
      let speed = this.speeds[last];
      this.arc.rowsAfter(last).forEach((row, agent) => {
        speed = Math.max(speed, new Segment(this.arc, agent, row).speedAt(0));
      });
      this.scale = { jump: last, speed };
    }
    return this.scale.speed;
  }

  /** From the start until time t, after so many jumps. */
  until(t: number, jump: number): Path {
    this.extend();
    let length = this.lengths[jump];
    let speed = this.speeds[jump];
    this.arc.rowsAfter(jump).forEach((row, agent) => {
      const now = new Segment(this.arc, agent, row).until(t);
      length += now.length;
      speed = Math.max(speed, now.speed);
    });
    return { length, speed };
  }
}

const known = new WeakMap<Arc, Paths>();

/** The paths of an arc; computed once for everything that shows them. */
export function pathsOf(arc: Arc): Paths {
  const found = known.get(arc) ?? new Paths(arc);
  known.set(arc, found);
  return found;
}
