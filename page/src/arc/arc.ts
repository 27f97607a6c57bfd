/** Arc: the exact solution between its first and its last jump, evaluated at any hybrid time. */

import { Events, type Chunk } from "./events";
import { Samples } from "./samples";
import { secondsUsed, speedLeft } from "./segments";
import type { Lives } from "../world/world";

/** What the agents begin with. */
export interface Start {
  readonly time: number;
  readonly positions: number[][];
  readonly holds: number[][];
  readonly next_at: (number | null)[];
  readonly cruise: (number | null)[] | null;
  readonly errors: number[][];
  readonly bend?: number[][][] | null;
  readonly spent?: { looked: number[]; received: number[]; sent: number[] };
}

/** All agents at one hybrid time. The arrays are used again by the next call. */
export interface ArcState {
  time: number;
  jump: number;
  readonly agents: number;
  readonly dimension: number;
  readonly positions: Float64Array;
  readonly velocities: Float64Array;
  /** Where each agent's centroid was at its last event. */
  readonly targets: Float64Array;
  /** |centroid - position| at the last event of each. */
  readonly errors: Float64Array;
  readonly nextAt: Float64Array;
  readonly since: Float64Array;
  /** The row of each agent's last event, -1 before its first. */
  rows: Int32Array;
  /** 1 for agents that have arrived and not left, else 0. */
  readonly present: Uint8Array;
}

export interface Counts {
  readonly samples: number;
  readonly received: number;
  readonly sent: number;
}

const total = (values: readonly number[] | undefined): number =>
  values ? values.reduce((sum, one) => sum + one, 0) : 0;

function flat(rows: readonly (readonly number[])[]): Float64Array {
  return Float64Array.from(rows.flat());
}

export class Arc {
  readonly agents: number;
  readonly dimension: number;
  readonly events: Events;
  readonly samples = new Samples();
  readonly fade: number;
  /** The time up to which everything is known. */
  known: number;
  private readonly place: Float64Array;
  private readonly hold: Float64Array;
  private readonly error: Float64Array;
  private readonly firstAt: Float64Array;
  private readonly cruise: Float64Array | null;
  private readonly bend: Float64Array | null;
  private readonly begun: Counts;
  private readonly stride: number;
  private readonly marks: Int32Array[] = [];
  private rows: Int32Array;
  private rowsJump = 0;
  private readonly scratch: ArcState;

  constructor(
    readonly start: Start,
    fade: number | null,
    readonly lives: Lives | null = null,
  ) {
    this.agents = start.positions.length;
    this.dimension = start.positions[0]?.length ?? 2;
    this.fade = fade ?? Infinity;
    this.known = start.time;
    this.events = new Events(this.dimension, this.agents);
    this.place = flat(start.positions);
    this.hold = flat(start.holds);
    this.error = flat(start.errors);
    this.firstAt = Float64Array.from(start.next_at, (t) => t ?? Infinity);
    this.cruise = start.cruise ? Float64Array.from(start.cruise, (c) => c ?? Infinity) : null;
    this.bend = start.bend ? Float64Array.from(start.bend.flat(2)) : null;
    this.begun = {
      samples: total(start.spent?.looked),
      received: total(start.spent?.received),
      sent: total(start.spent?.sent),
    };
    this.stride = Math.max(512, this.agents);
    this.rows = new Int32Array(this.agents).fill(-1);
    this.marks.push(this.rows.slice());
    this.scratch = blankState(this.agents, this.dimension);
  }

  append(chunk: Chunk): void {
    this.events.append(chunk);
    const { count, time } = this.events;
    if (count > 0) this.known = Math.max(this.known, time[count - 1]);
    this.markUp();
  }

  /** Remember who jumped last, now and then, so that any jump is reached in few steps. */
  private markUp(): void {
    while (this.marks.length * this.stride <= this.events.count) {
      const from = (this.marks.length - 1) * this.stride;
      const rows = this.marks[this.marks.length - 1].slice();
      this.walk(rows, from, from + this.stride);
      this.marks.push(rows);
    }
  }

  private walk(rows: Int32Array, from: number, to: number): void {
    const { agent } = this.events;
    for (let k = from; k < to; k++) rows[agent[k]] = k;
  }

  jumpsUntil(t: number): number {
    return this.events.jumpsUntil(t);
  }

  /** The row of each agent's last event after so many jumps. Used again by the next call. */
  rowsAfter(jump: number): Int32Array {
    const mark = Math.floor(jump / this.stride);
    if (jump < this.rowsJump || jump - this.rowsJump > this.stride) {
      this.rows.set(this.marks[mark]);
      this.rowsJump = mark * this.stride;
    }
    this.walk(this.rows, this.rowsJump, jump);
    this.rowsJump = jump;
    return this.rows;
  }

  counts(jump: number): Counts {
    const { samples, received, sent } = this.events;
    return {
      samples: this.begun.samples + samples[jump],
      received: this.begun.received + received[jump],
      sent: this.begun.sent + sent[jump],
    };
  }

  /** All agents after so many jumps at time t, which must lie on that part of the arc. */
  stateAt(t: number, jump: number): ArcState {
    const state = this.scratch;
    state.time = t;
    state.jump = jump;
    state.rows = this.rowsAfter(jump);
    for (let p = 0; p < this.agents; p++) this.fill(state, p, t);
    return state;
  }

  private fill(state: ArcState, p: number, t: number): void {
    const row = state.rows[p];
    const { events, dimension: n } = this;
    const first = row < 0;
    const base = first ? p * n : row * n;
    const place = first ? this.place : events.positions;
    const hold = first ? this.hold : events.holds;
    const error = first ? this.error : events.errors;
    const since = first ? this.start.time : events.time[row];
    const cruises = first ? this.cruise : events.cruise;
    const bends = first ? this.bend : events.bend;
    const cruise = cruises ? cruises[first ? p : row] : Infinity;
    const dt = t - since;
    const used = secondsUsed(dt, cruise, this.fade);
    const left = speedLeft(dt, cruise, this.fade);
    let square = 0;
    for (let i = 0; i < n; i++) {
      const out = p * n + i;
      let x = place[base + i] + hold[base + i] * used;
      let v = hold[base + i] * left;
      if (bends) {
        const b = bends[2 * base + i];
        const c = bends[2 * base + n + i];
        x += (b + c * dt) * dt * dt;
        v += (2 * b + 3 * c * dt) * dt;
      }
      state.positions[out] = x;
      state.velocities[out] = v;
      state.targets[out] = place[base + i] + error[base + i];
      square += error[base + i] * error[base + i];
    }
    state.errors[p] = Math.sqrt(square);
    state.nextAt[p] = first ? this.firstAt[p] : events.nextAt[row];
    state.since[p] = since;
    state.present[p] = this.isPresent(p, t) ? 1 : 0;
  }

  isPresent(p: number, t: number): boolean {
    return !this.lives || (this.lives.arrivals[p] <= t && t < this.lives.departures[p]);
  }

  /** Where an agent's segment began that led to a row: its place at the event before. */
  placeBefore(row: number, i: number): number {
    const before = this.events.previous[row];
    const n = this.dimension;
    return before < 0 ? this.place[this.events.agent[row] * n + i] : this.events.positions[before * n + i];
  }
}

export function blankState(agents: number, dimension: number): ArcState {
  return {
    time: 0,
    jump: 0,
    agents,
    dimension,
    positions: new Float64Array(agents * dimension),
    velocities: new Float64Array(agents * dimension),
    targets: new Float64Array(agents * dimension),
    errors: new Float64Array(agents),
    nextAt: new Float64Array(agents),
    since: new Float64Array(agents),
    rows: new Int32Array(agents).fill(-1),
    present: new Uint8Array(agents).fill(1),
  };
}
