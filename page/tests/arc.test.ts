import { describe, expect, test } from "vitest";
import { Timeline, type Piece } from "../src/arc/timeline";
import { chunkOf, decode } from "../src/net/wire";
import { Arc } from "../src/arc/arc";
import { arcOf, bytes, read, RUNS, type RecordedRun } from "./recorded";

const worst = (a: ArrayLike<number>, b: readonly number[]): number =>
  Math.max(...b.map((v, k) => Math.abs(v - a[k]) / Math.max(1, Math.abs(v))));

describe.each(RUNS)("the arc of %s", (name) => {
  const run = read<RecordedRun>(name);
  const arc = arcOf(run);

  test("is where the Python run is, at any time and in any order", () => {
    const order = [...run.states, ...[...run.states].reverse()];
    for (const state of order) {
      expect(arc.jumpsUntil(state.t)).toBe(state.jump);
      const found = arc.stateAt(state.t, state.jump);
      expect(worst(found.positions, state.positions.flat())).toBeLessThan(1e-12);
      expect(worst(found.velocities, state.velocities.flat())).toBeLessThan(1e-12);
    }
  });

  test("counts samples and positions as Python does", () => {
    const counts = arc.counts(arc.events.count);
    expect([counts.samples, counts.received]).toEqual([run.looks, run.received]);
  });

  test("passes over rows that come twice, and refuses a gap", () => {
    const again = new Arc(run.begin.start, run.begin.fade);
    const [first, second] = run.messages.map((m) => chunkOf(decode(bytes(m))));
    expect(() => again.append(second)).toThrow(/missing/);
    for (const chunk of [first, first, second, first]) again.append(chunk);
    expect(again.events.count).toBe(arc.events.count);
    expect(again.stateAt(2, again.jumpsUntil(2)).positions).toEqual(
      arc.stateAt(2, arc.jumpsUntil(2)).positions,
    );
  });
});

test("jumps are reached from any other, over marks", () => {
  const run = read<RecordedRun>("timer");
  const start = run.begin.start;
  const arc = new Arc(start, null);
  const rows = 5000;
  const n = 2;
  const column = (f: (k: number) => number, width = 1): Float64Array =>
    Float64Array.from({ length: rows * width }, (_, k) => f(k));
  arc.append({
    first: 0,
    count: rows,
    time: column((k) => k / 100),
    agent: Int32Array.from({ length: rows }, (_, k) => (k * k) % 5),
    positions: column((k) => k, n),
    holds: column(() => 0, n),
    errors: column(() => 0, n),
    nextAt: column((k) => k),
  });
  for (const jump of [0, 5000, 1, 4999, 512, 511, 513, 3000, 1024]) {
    const last = new Int32Array(5).fill(-1);
    for (let k = 0; k < jump; k++) last[(k * k) % 5] = k;
    expect([...arc.rowsAfter(jump)]).toEqual([...last]);
  }
});

test("a timeline goes from one arc to the next", () => {
  const arc = arcOf(read<RecordedRun>("timer"));
  const other = arcOf(read<RecordedRun>("steps"));
  const half = arc.jumpsUntil(6);
  const first: Piece = { arc, offset: 0, jumps: 0, end: 12 };
  const second: Piece = { arc: other, offset: 6, jumps: half, end: 18 };
  const whole = new Timeline([first]).cutAt(second);
  expect(whole.end).toBe(18);
  expect(whole.jumps).toBe(half + other.events.count);
  expect(whole.stateAt(5, arc.jumpsUntil(5))?.positions).toEqual(arc.stateAt(5, arc.jumpsUntil(5)).positions);
  expect(whole.stateAt(6, half)?.positions).toEqual(other.stateAt(0, 0).positions);
  expect(whole.jumpsUntil(7)).toBe(half + other.jumpsUntil(1));
  expect(whole.timeOf(half)).toBe(arc.events.time[half - 1]);
  expect(whole.timeOf(half + 1)).toBe(6 + other.events.time[0]);
  expect(whole.counts(18, whole.jumps).samples).toBe(half + other.events.count);
  expect(whole.counts(5, arc.jumpsUntil(5)).samples).toBe(arc.jumpsUntil(5));
});
