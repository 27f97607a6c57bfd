import { describe, expect, test } from "vitest";
import { Arc } from "../src/arc/arc";
import { Timeline } from "../src/arc/timeline";
import { logTicksOf } from "../src/charts/log_ticks";
import { inWords, tableOf } from "../src/charts/words";
import { drawAgents } from "../src/map/agents";
import { contoursOf } from "../src/map/contours";
import { liftOf, weightAt } from "../src/map/handles";
import { hit } from "../src/map/hit";
import type { Pen } from "../src/map/pen";
import type { Scene, Stretch } from "../src/map/scene";
import { drawPlane } from "../src/map/plane";
import { arrowOf, medianWidth, sizesOf } from "../src/map/sizes";
import { LIGHT } from "../src/map/theme";
import { labelsOf, plain, ticksOf } from "../src/map/ticks";
import { drawEnds, drawHeads, drawTrails } from "../src/map/trails";
import type { Lane } from "../src/state/lane";
import { largestSpeed, speedScale } from "../src/state/speed";
import { arcOf, read, type RecordedRun } from "./recorded";

describe("numbers on axes", () => {
  test("are round, and have a true minus sign", () => {
    expect(ticksOf(-11, 18, 580)).toEqual([-10, -5, 0, 5, 10, 15]);
    expect(plain(-0.5)).toBe("−0.5");
  });

  test("are powers of ten on a log axis, with 2 and 5 where these are few", () => {
    expect(logTicksOf(1e-4, 10)).toEqual([1e-4, 1e-3, 1e-2, 0.1, 1, 10]);
    expect(logTicksOf(10, 1000)).toEqual([10, 20, 50, 100, 200, 500, 1000]);
  });

  test("of one axis have one style", () => {
    expect(labelsOf([0.01, 0.1, 1])).toEqual(["0.01", "0.1", "1"]);
    expect(labelsOf([1e-4, 0.01, 0.2])).toEqual(["10⁻⁴", "10⁻²", "2×10⁻¹"]);
  });
});

test("contours of a cone are circles", () => {
  const n = 41;
  const values = Array.from(
    { length: n * n },
    (_, k) => 20 - Math.hypot((k % n) - 20, Math.floor(k / n) - 20),
  );
  const pieces = contoursOf(values, n, n, [10]);
  expect(pieces.length).toBeGreaterThan(100);
  for (let k = 0; k < pieces.length; k += 2)
    expect(Math.hypot(pieces[k] - 20, pieces[k + 1] - 20)).toBeCloseTo(10, 1);
});

/** A map of 600 by 600 pixels of a square of this width. */
function sceneOf(arc: Arc, t: number, jump: number, stretches: Stretch[], wide = 10): Scene {
  const scale = 600 / wide;
  return {
    region: {
      dimension: 2,
      ring: [
        [0, 0],
        [wide, 0],
        [wide, wide],
        [0, wide],
      ],
      bounds: null,
      editable: true,
    },
    frame: { left: 0, right: wide, bottom: 0, top: wide },
    shadow: null,
    unit: "",
    state: arc.stateAt(t, jump),
    stretches,
    lifted: null,
    time: t,
    view: { x: 0, y: 0, sx: scale, sy: scale },
    size: { width: 600, height: 600 },
    theme: LIGHT,
  } as unknown as Scene;
}

describe("the handle of a weight", () => {
  const peaks = [{ kind: "gaussian", center: [0, 0], rate: 1, weight: 4 }];
  const fixed = { fixedWidth: true, fixedWeight: false, along: [] };
  const scene = {
    ...sceneOf(arcOf(read<RecordedRun>("timer")), 0, 0, []),
    tool: "peaks",
    peaks,
    paths: [fixed],
  } as Scene;

  test("stands higher for a larger weight, and gives it back", () => {
    for (const weight of [0.5, 1, 2, 16]) expect(weightAt(liftOf(weight))).toBe(weight);
    expect(liftOf(2)).toBeGreaterThan(liftOf(1));
    expect(weightAt(-1000)).toBeGreaterThan(0);
    expect(liftOf(1e300)).toBeLessThan(300); // it stays within reach
  });

  test("is found above its peak, unless the weight changes over time", () => {
    expect(hit(scene, 300, 300 - liftOf(4))).toEqual({ kind: "weight", which: 0 });
    expect(hit(scene, 300, 300)).toEqual({ kind: "peak", which: 0 });
    expect(hit({ ...scene, paths: [{ ...fixed, fixedWeight: true }] }, 300, 300 - liftOf(4))).toBeNull();
  });
});

test("a path of many cells is not closed cell by cell, which takes quadratic time", () => {
  const scene = {
    ...sceneOf(arcOf(read<RecordedRun>("timer")), 0, 0, []),
    layers: { cells: true },
    diagrams: [null],
    selected: -1,
    hovered: -1,
    peaks: [],
  } as unknown as Scene;
  const calls: string[] = [];
  const pen = new Proxy({}, { get: (_, name) => () => calls.push(String(name)) }) as Pen;
  drawPlane(pen, scene);
  expect(scene.state.agents).toBeGreaterThan(3);
  expect(calls.filter((name) => name === "line").length).toBeGreaterThan(4 * scene.state.agents);
  expect(calls.filter((name) => name === "close").length).toBeLessThan(scene.state.agents);
});

test("the number of an agent is not on its arrow", () => {
  const numbered = (vx: number, vy: number): number => {
    const scene = {
      ...sceneOf(arcOf(read<RecordedRun>("timer")), 0, 0, []),
      layers: { holds: true },
      running: true,
      latest: 0,
      selected: -1,
      hovered: -1,
    } as unknown as Scene;
    scene.state.velocities.set([vx, vy]);
    let at = NaN;
    const text = (words: string, x: number): void => {
      if (words === "0") at = x;
    };
    const pen = new Proxy({}, { get: (_, name) => (name === "text" ? text : () => undefined) }) as Pen;
    drawAgents(pen, scene, { dot: 4, ripple: 5, arm: 2 });
    return at - (300 + scene.state.positions[0] * scene.view.sx);
  };
  expect(numbered(1, 1)).toBeLessThan(0);
  expect(numbered(-1, 1)).toBeGreaterThan(0);
  expect(numbered(1, -1)).toBeGreaterThan(0);
});

describe("sizes of marks", () => {
  const scene = (agents: number, sx: number): Scene =>
    ({
      ...sceneOf(arcOf(read<RecordedRun>("timer")), 0, 0, []),
      state: { agents },
      view: { x: 0, y: 0, sx, sy: sx },
    }) as unknown as Scene;

  test("follow the width of cells on the screen", () => {
    const [few, many, closer] = [
      sizesOf(scene(8, 60), 3),
      sizesOf(scene(1000, 60), 0.3),
      sizesOf(scene(1000, 600), 0.3),
    ];
    expect(many.dot).toBeLessThan(0.2 * 0.3 * 60); // a dot is well within its cell
    expect(many.dot + many.ripple).toBeLessThan(0.5 * 0.3 * 60); // and so is a ring
    expect(closer.dot).toBe(few.dot);
  });

  test("of arrows do not depend on where agents are", () => {
    expect(arrowOf(scene(1000, 60))).toBe(8);
    expect(arrowOf(scene(8, 60))).toBe(30);
  });

  test("the median width is that of the middle cell", () => {
    const ring = (x: number, side: number): number[] => [x, 0, x + side, 0, x + side, side, x, side];
    const corners = Float64Array.from([...ring(0, 1), ...ring(5, 3), ...ring(20, 40)]);
    expect(medianWidth({ corners, begin: Int32Array.from([0, 4, 8, 12]) })).toBe(3);
  });
});

describe("the scale of arrows", () => {
  const laneOf = (...arcs: { arc: Arc; jumps: number; k1?: number }[]): Lane =>
    ({
      timeline: new Timeline(
        arcs.map(({ arc, jumps, k1 }) => ({
          arc,
          jumps,
          offset: 0,
          end: 1,
          scenario: { controller: { kind: "timer", k1 } },
        })),
      ),
    }) as unknown as Lane;
  const arc = arcOf(read<RecordedRun>("timer"));
  const { events, dimension: n, start } = arc;
  const speed = (v: ArrayLike<number>): number => Math.hypot(...Array.from(v));
  const first = Math.max(...start.holds.map(speed));
  const all = Array.from({ length: events.count }, (_, k) => speed(events.holds.subarray(n * k, n * k + n)));

  test("is the largest speed of a run, at its start or after any event", () => {
    expect(largestSpeed(laneOf({ arc, jumps: 0 }))).toBeCloseTo(Math.max(first, ...all), 12);
  });

  test("leaves out what a later part has replaced", () => {
    const stopped = new Arc({ ...start, holds: start.holds.map((v) => v.map(() => 0)) }, null);
    const lane = laneOf({ arc, jumps: 0 }, { arc: stopped, jumps: 2 });
    expect(largestSpeed(lane)).toBeCloseTo(Math.max(first, ...all.slice(0, 2)), 12);
  });

  test("is one for all maps, and at least the bound of each law", () => {
    const slow = laneOf({ arc, jumps: 0 });
    expect(speedScale([slow, laneOf({ arc, jumps: 0, k1: 99 })])).toBe(99);
    expect(speedScale([slow])).toBe(largestSpeed(slow));
  });
});

/** Ends of the lines that are drawn, as [from, to] in pixels. */
class Recorder {
  readonly lines: [number[], number[]][] = [];
  private at: number[] = [];
  begin = (): void => undefined;
  stroke = (): void => undefined;
  move = (x: number, y: number): void => void (this.at = [x, y]);
  line(x: number, y: number): void {
    this.lines.push([this.at, [x, y]]);
    this.at = [x, y];
  }
}

describe("paths", () => {
  const arc = arcOf(read<RecordedRun>("timer"));
  const jumps = Math.floor(arc.events.count / 2);
  const t = (arc.events.time[jumps - 1] + arc.events.time[jumps]) / 2;
  const stretch = { arc, jumps, offset: 0, until: t };
  const pixels = (scene: Scene, z: ArrayLike<number>): number[] => [
    300 + z[0] * scene.view.sx,
    300 - z[1] * scene.view.sy,
  ];
  const drawn = (draw: (pen: Pen) => void): [number[], number[]][] => {
    const pen = new Recorder();
    draw(pen as unknown as Pen);
    return pen.lines;
  };

  test("go on to the end of a stretch that another one follows", () => {
    const scene = sceneOf(arc, t, jumps, [stretch]);
    const here = Array.from({ length: arc.agents }, (_, p) =>
      pixels(scene, scene.state.positions.slice(2 * p, 2 * p + 2)),
    );
    const ends = drawn((pen) => drawEnds(pen, scene, stretch)).map(([, to]) => to);
    expect(ends.sort()).toEqual(here.sort());
  });

  test("do not lead to where an agent is dragged", () => {
    const scene = sceneOf(arc, t, jumps, [stretch]);
    const from = Array.from(scene.state.positions.slice(0, 2));
    scene.state.positions.set([50, 50]);
    const ends = drawn((pen) => drawHeads(pen, { ...scene, lifted: { which: 0, from } }, stretch)).map(
      ([, to]) => to,
    );
    expect(ends).toContainEqual(pixels(scene, from));
    expect(ends).not.toContainEqual(pixels(scene, [50, 50]));
  });

  test("do not depend on the parts in which they are drawn", () => {
    const scene = sceneOf(arc, t, jumps, [stretch]);
    const whole = drawn((pen) => drawTrails(pen, scene, stretch, 0, jumps));
    const parts = [0, 7, 20, jumps].flatMap((from, k, all) =>
      k + 1 < all.length ? drawn((pen) => drawTrails(pen, scene, stretch, from, all[k + 1])) : [],
    );
    expect(parts.map(String).sort()).toEqual(whole.map(String).sort());
  });
});

test("a chart is put into words and a table", () => {
  const curves = {
    time: [0, 1, 2, 3, 4],
    lines: [
      [8, 4, 2, null, 1],
      [null, null, 0.0001, 0.5, 0.25],
    ],
    names: ["agent 0", "agent 1"],
  };
  expect(tableOf(curves).rows).toEqual([
    { name: "agent 0", values: ["8", "4", "2", "2", "1"] },
    { name: "agent 1", values: ["–", "–", "1.0×10⁻⁴", "0.5", "0.25"] },
  ]);
  expect(inWords("Error", curves)).toBe("Error over time. At t = 0: 8; at t = 4: agent 0 1, agent 1 0.25.");
});
