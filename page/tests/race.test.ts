/** Figures of laws side by side: those of a comparison by Python. */

import { describe, expect, test, vi } from "vitest";
import { Timeline } from "../src/arc/timeline";
import { tableOf } from "../src/charts/words";
import { MARGIN } from "../src/map/view";
import type { Law, Scenario } from "../src/net/api";
import { decode } from "../src/net/wire";
import { framesOf } from "../src/panels/map/columns";
import { diameterOf, figuresOf, levelOf, settledAt, speedsDiffer } from "../src/race/figures";
import { wrapped } from "../src/race/picture";
import { bestOf, columnsOf, dtNotes, sentenceOf, verdictOf, type Ranked } from "../src/race/ranking";
import { agentAt, gridOf, paintGrid, sampleNear } from "../src/race/raster";
import { alignedOf, overTime, pointsOf } from "../src/race/samples_chart";
import { Lane, type LanePiece } from "../src/state/lane";
import { lawLike, underLaw } from "../src/state/laws";
import { mismatches, type NamedLaw } from "../src/state/matching";
import { arcOf, bytes, read, type RecordedRun } from "./recorded";

// Modules of the page ask for the colours of the system as they are loaded.
vi.hoisted(() => vi.stubGlobal("matchMedia", () => ({ matches: false })));

interface Spread {
  readonly mean: number;
}

interface Compared extends RecordedRun {
  readonly controller: Law;
  readonly nu: number;
  readonly horizon: number;
  readonly figures: {
    readonly settled_at: Record<string, number | null>;
    readonly cost: { readonly initial: number; readonly final: number };
    readonly looks: Spread;
    readonly cells: Readonly<Record<string, Spread>>;
    readonly received: Spread;
    readonly sent: Spread;
    readonly distance: Spread;
    readonly top_speed: number;
  };
}

const { runs, notes } = read<{ runs: Record<string, Compared>; notes: string[] }>("comparison");

/** A lane that has received a whole run. */
function laneOf(run: Compared): Lane {
  const arc = arcOf({ ...run, messages: run.messages.slice(0, 1) });
  arc.samples.append(decode(bytes(run.messages[1])));
  arc.known = run.horizon;
  const lane = new Lane(run.controller.kind, { changed: () => undefined, grew: () => undefined });
  const scenario = { controller: run.controller };
  const piece = { arc, offset: 0, jumps: 0, end: run.horizon, nu: run.nu, scenario } as unknown as LanePiece;
  lane.timeline = new Timeline([piece]);
  const agents = arc.agents;
  const total = (kind: string): number => run.figures.cells[kind].mean * agents;
  const cells = Object.fromEntries(Object.keys(run.figures.cells).map((kind) => [kind, total(kind)]));
  lane.summary = { cost: { final: run.figures.cost.final }, cells };
  return lane;
}

const named = (...laws: Law[]): NamedLaw[] => laws.map((law) => ({ name: law.kind, law }));

describe.each(Object.entries(runs))("%s", (_, run) => {
  const lane = laneOf(run);
  const level = levelOf([lane], null) as number;
  const found = figuresOf(lane, run.horizon, lane.timeline.jumps, level);
  const wanted = run.figures;

  test("has the figures of dwell compare at its end", () => {
    expect(level).toBe(run.nu);
    expect(found.settled).toBe(wanted.settled_at[String(level)]);
    expect(found.samples).toBeCloseTo(wanted.looks.mean, 12);
    expect(found["cells.per_agent"]).toBeCloseTo(wanted.cells["all"].mean, 9);
    expect(found.messages).toBeCloseTo(wanted.received.mean, 12);
    expect(found.broadcasts).toBeCloseTo(wanted.sent.mean, 12);
    expect(found.distance).toBeCloseTo(wanted.distance.mean, 10);
    expect(found.top_speed).toBeCloseTo(wanted.top_speed, 12);
    expect(found["cost.final"]).toBe(wanted.cost.final);
  });

  test("has smaller figures before that", () => {
    const t = run.horizon / 3;
    const before = figuresOf(lane, t, lane.timeline.jumpsUntil(t), level);
    expect(before["cost.final"] as number).toBeGreaterThan(found["cost.final"] as number);
    expect(before.distance).toBeLessThan(found.distance);
    expect(before.distance).toBeGreaterThan(0);
    expect(before["cells.per_agent"]).toBeNull(); // known at the end alone
    expect(before.settled === null || before.settled <= t).toBe(true);
    expect(figuresOf(lane, 0, 0, level)).toMatchObject({
      "cost.final": expect.closeTo(wanted.cost.initial, 9) as number,
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
    const law = lawLike(kind, own);
    expect(law).not.toHaveProperty("dt"); // which is then that of `dwell compare`
    expect(runs[kind].controller).toMatchObject(law);
    if (kind === "lloyd") expect(lawLike(kind, own, 30)["dt"]).toBe(30);
  }
  expect(notes).toEqual([]);
  expect(
    mismatches(named(...["timer", "lloyd", "self-triggered"].map((kind) => runs[kind].controller))),
  ).toEqual([]);
});

test("what is not matched is said", () => {
  const own = runs["timer"].controller;
  const free = { kind: "lloyd", k2: 1 };
  expect(lawLike("self-triggered", free)).toEqual({ kind: "self-triggered", kappa: 1 });
  expect(mismatches(named(free, lawLike("timer", free)))).toEqual([
    "The scenario's law (lloyd) sets no largest speed: the others keep theirs.",
  ]);
  expect(mismatches(named(own, lawLike("discrete-lloyd", own)))).toEqual([
    "discrete-lloyd: no key sets the speed per distance near the centroid, so it is not matched.",
  ]);
  expect(mismatches(named(own, { ...lawLike("lloyd", own), speed: 0.3 }))).toEqual([
    `lloyd: speed = 0.3 makes the largest speed 0.3; that of the scenario's law is ${own["k1"] as number}.`,
  ]);
  expect(mismatches(named(own, { kind: "lloyd", k2: own["k1"] as number }))[0]).toBe(
    "lloyd: speed is not given, so the largest speed is not matched.",
  );
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
  expect(levelOf([], diameterOf({ dimension: 2, ring, bounds: null, editable: true }))).toBe(0.5);
  expect(levelOf([], diameterOf({ dimension: 1, ring: [], bounds: [2, 12], editable: true }))).toBeCloseTo(
    0.1,
  );
  expect(levelOf([], diameterOf({ dimension: 3, ring: [], bounds: null, editable: false }))).toBeNull();
});

describe("frames", () => {
  const square = { left: 0, right: 10, bottom: 0, top: 10 };
  const [beside, above] = [MARGIN.left + MARGIN.right, MARGIN.top + MARGIN.bottom];

  test("are in one row wherever three fit", () => {
    for (const [width, height] of [
      [608, 768],
      [992, 768],
      [1008, 900],
      [2128, 1440],
    ]) {
      const found = framesOf(3, { width, height }, square);
      expect(found.swiped).toBe(false);
      expect(3 * found.width).toBeLessThanOrEqual(width - 16);
    }
  });

  test("are swiped on a phone", () => {
    expect(framesOf(3, { width: 374, height: 844 }, square)).toMatchObject({
      swiped: true,
      width: 336, // nine tenths
    });
    expect(framesOf(2, { width: 500, height: 844 }, square).swiped).toBe(false);
  });

  test("have the shape of the region", () => {
    for (const width of [992, 1008, 2128]) {
      const found = framesOf(3, { width, height: 1000 }, square);
      const side = found.width - beside;
      expect(side ** 2 / (found.width * found.height)).toBeGreaterThan(0.5);
      expect(Math.abs(side - (found.height - above))).toBeLessThanOrEqual(1);
      expect([found.width, found.height].every(Number.isInteger)).toBe(true);
    }
    const tall = framesOf(2, { width: 1008, height: 900 }, { ...square, top: 40 });
    expect(tall.height).toBe(540);
    expect(Math.floor((tall.height - above) / 4)).toBe(tall.width - beside);
    expect(framesOf(2, { width: 1008, height: 900 }, null)).toMatchObject({ width: 500, height: 400 });
  });
});

const rankedOf = (kind: string): Ranked => {
  const lane = laneOf(runs[kind]);
  return { lane, figures: figuresOf(lane, 9, lane.timeline.jumps, 2) };
};

describe("the best", () => {
  test("is the least, to the digits that are shown", () => {
    expect([...bestOf([3, 1, 2])]).toEqual([1]);
    expect([...bestOf([468.81, 468.79, 468.9])]).toEqual([0, 1]);
    expect([...bestOf([0.5, 0.5, 0.50000001])]).toEqual([]);
    expect([...bestOf([null, 7])]).toEqual([1]);
    expect([...bestOf([null, null])]).toEqual([]);
  });

  test("is marked in every column but that of the speed", () => {
    const columns = columnsOf(2, [rankedOf("timer"), rankedOf("event-triggered")]);
    expect(columns.map(({ name }) => name)).toContain("Messages sent");
    expect(columns.filter(({ ranked }) => !ranked).map(({ name }) => name)).toEqual(["Samples", "Top speed"]);
    expect(columns.map(({ name }) => name)).toContain("Cells of all kinds"); // of which samples are a part
    const plain = columnsOf(2, [rankedOf("timer"), rankedOf("lloyd")]);
    expect(plain.filter(({ ranked }) => !ranked).map(({ name }) => name)).toEqual(["Top speed"]);
    expect(columnsOf(2, [rankedOf("timer")]).map(({ name }) => name)).not.toContain("Messages sent");
  });

  test("is said in sentences with its numbers", () => {
    const [timer, lloyd] = [rankedOf("timer"), rankedOf("lloyd")];
    expect(sentenceOf(timer, 2)).toBe(
      "Timer: cost 904.6 with 102 samples (20.4 per agent); settled to 2 from t = 2.25 on; path 9.534 per agent, largest speed 2.5.",
    );
    expect(sentenceOf(timer, 1e-9)).toContain("settled to 1.00 × 10⁻⁹");
    expect(verdictOf([timer, lloyd])).toBe(
      "Timer took 22 % as many samples as Lloyd (dt = 0.1); its final cost is 0.3 % lower.",
    );
    expect(verdictOf([timer])).toBe("");
    expect(verdictOf([timer, rankedOf("event-triggered")])).toBe("");
    expect(dtNotes([timer.lane, lloyd.lane])).toEqual([
      "Lloyd samples every dt = 0.1: its samples per agent are horizon / dt = 90, so they depend on the choice of dt.",
    ]);
  });
});

test("a curve of cost over samples has every law at its own number of samples", () => {
  const laws = ["timer", "lloyd", "event-triggered"].map((kind) => pointsOf(laneOf(runs[kind])));
  expect(laws.map((points) => points[0]?.samples)).toEqual([1, 1, undefined]); // the last takes none
  expect(laws[0].at(-1)?.samples).toBeCloseTo(20.4);
  expect(laws[1].at(-1)?.samples).toBeCloseTo(91);
  const [x, timer, lloyd] = alignedOf(laws);
  expect(x).toEqual([...x].sort((a, b) => (a as number) - (b as number)));
  expect(timer.filter((v) => v !== null).length).toBeLessThan(lloyd.filter((v) => v !== null).length + 9);
  expect(
    alignedOf([
      [
        { samples: 1, cost: 5, time: 0 },
        { samples: 1, cost: 4, time: 1 },
      ],
    ]),
  ).toEqual([[1], [4]]);
});

test("the table behind it has samples and costs at some times", () => {
  const { times, rows } = tableOf(overTime([laneOf(runs["timer"]), laneOf(runs["lloyd"])]));
  expect([times[0], times.at(-1)]).toEqual(["0", "9"]);
  expect(rows.map(({ name, values }) => `${name} ${values.at(-1)}`)).toEqual([
    "Timer: samples per agent 20.4",
    "Timer: cost 905",
    "Lloyd: samples per agent 91",
    "Lloyd: cost 907",
  ]);
});

describe("a raster", () => {
  const timer = laneOf(runs["timer"]);
  const sum = (counts: Float32Array): number => Math.round(counts.reduce((total, one) => total + one, 0));

  test("has every sample once, at any size", () => {
    for (const [width, height] of [
      [300, 60],
      [7, 2],
      [1, 1],
    ]) {
      const grid = gridOf(timer, 0, 9, width, height);
      expect(sum(grid.counts)).toBe(102);
      expect(grid.rows).toBe(Math.min(5, height));
      expect(grid.most).toBe(Math.max(...grid.counts));
    }
    expect(sum(gridOf(laneOf(runs["event-triggered"]), 0, 9, 300, 60).counts)).toBe(0);
  });

  test("of regular samples has no stripes", () => {
    const { counts } = gridOf(laneOf(runs["lloyd"]), 0, 9, 50, 1);
    const inside = [...counts.subarray(2, 48)]; // 91 samples of 5 agents, 9.1 in a pixel
    expect(Math.max(...inside) / Math.min(...inside)).toBeLessThan(1.15);
  });

  test("of a part of time has the samples of that part", () => {
    const all = timer.timeline.pieces[0].arc.events;
    const inside = [...all.time.subarray(0, all.count)].filter((t) => t > 2 && t <= 3);
    expect(sum(gridOf(timer, 2, 3, 50, 60).counts)).toBe(inside.length);
  });

  test("counts a part that was replaced no longer", () => {
    const fork = new Lane("timer", { changed: () => undefined, grew: () => undefined });
    const [whole] = timer.timeline.pieces;
    const jumps = whole.arc.jumpsUntil(3);
    fork.timeline = timer.timeline.cutAt({ ...whole, offset: 3, jumps });
    expect(sum(gridOf(fork, 0, 3 - 1e-9, 50, 60).counts)).toBe(jumps + 5);
    expect(sum(gridOf(fork, 0, 12, 50, 60).counts)).toBe(jumps + 5 + 102);
  });

  test("finds the sample under the pointer", () => {
    const { events } = timer.timeline.pieces[0].arc;
    const [t, agent] = [events.time[30], events.agent[30]];
    expect(sampleNear(timer, agent, t + 0.004, 0.01)).toBe(t);
    expect(sampleNear(timer, agent, t, 0)).toBeNull();
    expect(sampleNear(timer, agent, 1e6, 0.01)).toBeNull();
    expect([0, 0.19, 0.21, 0.99, 1].map((share) => agentAt(timer, share))).toEqual([0, 0, 1, 4, 4]);
  });

  test("is denser where there are more samples", () => {
    const pixels = new Uint8ClampedArray(4 * 3);
    const grid = { width: 3, rows: 1, counts: Float32Array.of(0, 1, 5), most: 5 };
    paintGrid(grid, 5, () => [10, 20, 30], pixels);
    expect([...pixels]).toEqual([0, 0, 0, 0, 10, 20, 30, 89, 10, 20, 30, 255]);
  });
});

test("words are broken into lines", () => {
  expect(wrapped("one two three", 7, (text) => text.length)).toEqual(["one two", "three"]);
  expect(wrapped("endless", 3, (text) => text.length)).toEqual(["endless"]);
});
