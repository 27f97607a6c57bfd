/** Figures of laws side by side: those of a comparison by Python. */

import { describe, expect, test } from "vitest";
import { Timeline } from "../src/arc/timeline";
import type { Law, Scenario } from "../src/net/api";
import { decode } from "../src/net/wire";
import { figuresOf, levelOf, settledAt, speedsDiffer } from "../src/race/figures";
import { Lane, type LanePiece } from "../src/state/lane";
import { lawLike, mismatches, underLaw } from "../src/state/laws";
import { arcOf, bytes, read, type RecordedRun } from "./recorded";

interface Spread {
  readonly mean: number;
}

interface Compared extends RecordedRun {
  readonly controller: Law;
  readonly nu: number;
  readonly horizon: number;
  readonly spent: { looked: number[]; received: number[]; sent: number[] };
  readonly figures: {
    readonly settled_at: Record<string, number | null>;
    readonly cost: { readonly initial: number; readonly final: number };
    readonly looks: Spread;
    readonly received: Spread;
    readonly sent: Spread;
    readonly distance: Spread;
    readonly top_speed: number;
  };
}

const { runs, notes } = read<{ runs: Record<string, Compared>; notes: string[] }>("comparison");

/** A lane that has received a whole run. */
function laneOf(run: Compared): Lane {
  const begin = { ...run.begin, start: { ...run.begin.start, spent: run.spent } };
  const arc = arcOf({ ...run, begin, messages: run.messages.slice(0, 1) });
  arc.samples.append(decode(bytes(run.messages[1])));
  arc.known = run.horizon;
  const lane = new Lane(run.controller.kind, { changed: () => undefined, grew: () => undefined });
  const piece = { arc, offset: 0, jumps: 0, end: run.horizon, nu: run.nu } as unknown as LanePiece;
  lane.timeline = new Timeline([piece]);
  lane.summary = { cost: { final: run.figures.cost.final } };
  return lane;
}

describe.each(Object.entries(runs))("%s", (_, run) => {
  const lane = laneOf(run);
  const level = levelOf([lane], null) as number;
  const found = figuresOf(lane, run.horizon, lane.timeline.jumps, level);
  const wanted = run.figures;

  test("has the figures of dwell compare at its end", () => {
    expect(level).toBe(run.nu);
    expect(found.settled).toBe(wanted.settled_at[String(level)]);
    expect(found.samples).toBeCloseTo(wanted.looks.mean, 12);
    expect(found.received).toBeCloseTo(wanted.received.mean, 12);
    expect(found.sent).toBeCloseTo(wanted.sent.mean, 12);
    expect(found.distance).toBeCloseTo(wanted.distance.mean, 10);
    expect(found.topSpeed).toBeCloseTo(wanted.top_speed, 12);
    expect(found.cost).toBe(wanted.cost.final);
  });

  test("has smaller figures before that", () => {
    const t = run.horizon / 3;
    const before = figuresOf(lane, t, lane.timeline.jumpsUntil(t), level);
    expect(before.cost as number).toBeGreaterThan(found.cost as number);
    expect(before.distance).toBeLessThan(found.distance);
    expect(before.distance).toBeGreaterThan(0);
    expect(before.settled === null || before.settled <= t).toBe(true);
    expect(figuresOf(lane, 0, 0, level)).toMatchObject({
      cost: expect.closeTo(wanted.cost.initial, 9) as number,
      distance: 0,
    });
  });
});

test("settling times are those of dwell compare at every level", () => {
  for (const run of Object.values(runs))
    for (const [level, at] of Object.entries(run.figures.settled_at))
      expect(settledAt(laneOf(run), Number(level))).toBe(at);
  expect(settledAt(laneOf(runs["timer"]), 1e9)).toBe(0);
});

test("laws get the speed and the gain that Python gives them", () => {
  const own = runs["timer"].controller;
  for (const kind of ["lloyd", "self-triggered", "event-triggered"]) {
    const { dt: _, ...law } = lawLike(kind, own);
    expect(runs[kind].controller).toMatchObject(law);
  }
  expect(notes).toEqual([]);
  expect(mismatches(own, ["timer", "lloyd", "self-triggered"])).toEqual([]);
});

test("what is not matched is said", () => {
  const free = { kind: "lloyd", k2: 1 };
  expect(lawLike("self-triggered", free)).toEqual({ kind: "self-triggered", kappa: 1 });
  expect(mismatches(free, ["lloyd", "timer"])).toEqual([
    "Lloyd sets no largest speed: the others keep theirs.",
  ]);
  expect(mismatches(runs["timer"].controller, ["timer", "discrete-lloyd"])).toEqual([
    "Discrete Lloyd: no key sets the speed per distance near the centroid, so it is not matched.",
  ]);
  expect(speedsDiffer([0.5, 0.52, 0])).toBe(false);
  expect(speedsDiffer([0.5, 9.1])).toBe(true);
});

test("every law is held to the nu of the scenario", () => {
  const scenario = { controller: runs["timer"].controller, run: { horizon: 9 } } as unknown as Scenario;
  expect(underLaw(scenario, "lloyd").run["nu"]).toBe(2);
  expect(underLaw({ ...scenario, run: { horizon: 9, nu: 0.1 } }, "lloyd").run["nu"]).toBe(0.1);
  expect(underLaw(scenario, "timer").run["nu"]).toBeUndefined();
});

test("without a nu the level is a hundredth of the diameter", () => {
  const ring: [number, number][] = [
    [0, 0],
    [30, 0],
    [30, 40],
    [0, 40],
  ];
  expect(levelOf([], { dimension: 2, ring, bounds: null, editable: true })).toBe(0.5);
  expect(levelOf([], { dimension: 1, ring: [], bounds: [2, 12], editable: true })).toBeCloseTo(0.1);
  expect(levelOf([], { dimension: 3, ring: [], bounds: null, editable: false })).toBeNull();
});
