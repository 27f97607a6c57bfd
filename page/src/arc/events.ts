/** Every jump of a run as columns that grow while the run is streamed. */

import { countUntil, overlap } from "./rows";

/** Some rows as they come from the server; vectors are stored row after row. */
export interface Chunk {
  readonly first: number;
  readonly count: number;
  readonly time: Float64Array;
  readonly agent: Int32Array;
  readonly positions: Float64Array;
  readonly holds: Float64Array;
  readonly errors: Float64Array;
  readonly nextAt: Float64Array;
  readonly cruise?: Float64Array;
  readonly bend?: Float64Array;
  readonly sampled?: Int32Array;
  readonly received?: Int32Array;
  readonly sent?: Int32Array;
}

type Column = Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

const FIRST_CAPACITY = 1024;

export function widened<T extends Column>(old: T, length: number): T {
  const fresh = (old instanceof Int32Array ? new Int32Array(length) : new Float64Array(length)) as T;
  fresh.set(old as never);
  return fresh;
}

export class Events {
  count = 0;
  time = new Float64Array(0);
  agent = new Int32Array(0);
  positions = new Float64Array(0);
  holds = new Float64Array(0);
  errors = new Float64Array(0);
  nextAt = new Float64Array(0);
  cruise: Float64Array<ArrayBuffer> | null = null;
  bend: Float64Array<ArrayBuffer> | null = null;
  sampled: Int32Array<ArrayBuffer> | null = null;
  /** The row of the same agent before this one; -1 for its first. */
  previous = new Int32Array(0);
  /** Totals after so many jumps; one entry more than there are rows. */
  samples = new Float64Array(1);
  received = new Float64Array(1);
  sent = new Float64Array(1);

  private capacity = 0;
  private readonly latest: Int32Array;

  constructor(
    readonly dimension: number,
    agents: number,
  ) {
    this.latest = new Int32Array(agents).fill(-1);
  }

  /** Add rows; those that are there already (after a reconnect) are skipped. */
  append(chunk: Chunk): void {
    const skip = overlap("rows", this.count, chunk.first);
    const rows = chunk.count - skip;
    if (rows <= 0) return;
    this.reserve(this.count + rows);
    const at = this.count;
    const n = this.dimension;
    this.time.set(chunk.time.subarray(skip), at);
    this.agent.set(chunk.agent.subarray(skip), at);
    this.positions.set(chunk.positions.subarray(skip * n), at * n);
    this.holds.set(chunk.holds.subarray(skip * n), at * n);
    this.errors.set(chunk.errors.subarray(skip * n), at * n);
    this.nextAt.set(chunk.nextAt.subarray(skip), at);
    this.appendOptional(chunk, skip, at);
    this.count = at + rows;
    this.countUp(chunk, skip, at, rows);
  }

  private appendOptional(chunk: Chunk, skip: number, at: number): void {
    if (chunk.cruise) {
      this.cruise ??= new Float64Array(this.capacity).fill(Infinity);
      this.cruise.set(chunk.cruise.subarray(skip), at);
    }
    if (chunk.bend) {
      this.bend ??= new Float64Array(this.capacity * 2 * this.dimension);
      this.bend.set(chunk.bend.subarray(skip * 2 * this.dimension), at * 2 * this.dimension);
    }
    if (chunk.sampled) {
      this.sampled ??= new Int32Array(this.capacity).fill(1);
      this.sampled.set(chunk.sampled.subarray(skip), at);
    }
  }

  private countUp(chunk: Chunk, skip: number, at: number, rows: number): void {
    for (let k = 0; k < rows; k++) {
      const row = at + k;
      const who = this.agent[row];
      this.previous[row] = this.latest[who];
      this.latest[who] = row;
      this.samples[row + 1] = this.samples[row] + (chunk.sampled ? chunk.sampled[skip + k] : 1);
      this.received[row + 1] = this.received[row] + (chunk.received?.[skip + k] ?? 0);
      this.sent[row + 1] = this.sent[row] + (chunk.sent?.[skip + k] ?? 0);
    }
  }

  private reserve(rows: number): void {
    if (rows <= this.capacity) return;
    const capacity = Math.max(FIRST_CAPACITY, 2 * this.capacity, rows);
    const n = this.dimension;
    this.time = widened(this.time, capacity);
    this.agent = widened(this.agent, capacity);
    this.positions = widened(this.positions, capacity * n);
    this.holds = widened(this.holds, capacity * n);
    this.errors = widened(this.errors, capacity * n);
    this.nextAt = widened(this.nextAt, capacity);
    this.previous = widened(this.previous, capacity);
    this.samples = widened(this.samples, capacity + 1);
    this.received = widened(this.received, capacity + 1);
    this.sent = widened(this.sent, capacity + 1);
    if (this.cruise) this.cruise = widened(this.cruise, capacity).fill(Infinity, this.capacity);
    if (this.bend) this.bend = widened(this.bend, capacity * 2 * n);
    if (this.sampled) this.sampled = widened(this.sampled, capacity).fill(1, this.capacity);
    this.capacity = capacity;
  }

  /** How many jumps happen at times up to and including t. */
  jumpsUntil(t: number): number {
    return countUntil(this.time, this.count, t);
  }
}
