import { describe, expect, test } from "vitest";
import { densityOf } from "../src/density/density";
import { cellOf, cellsAmong } from "../src/geometry/cells";
import { regionOf } from "../src/geometry/workspace";
import type { Scenario } from "../src/net/api";
import {
  goingOn,
  peaksAt,
  reshaped,
  withAgent,
  withCount,
  withPeaksAt,
  withoutAgent,
  withRing,
} from "../src/state/edits";
import { cutAt } from "../src/world/cut";
import { movedAt, shifted, valueAt, type Circle, type Keyframes } from "../src/world/tracks";
import { marksOf, marksOfRun, switchInWords, trackInWords } from "../src/world/words";
import { numbersOf, tableAt, World, worldOf, type WorldForm } from "../src/world/world";
import { arcOf, read, type RecordedRun } from "./recorded";

type Track = Keyframes<number[]> | Circle;

interface Tracks {
  readonly times: number[];
  readonly cases: { track: Keyframes | Circle; values: unknown[] }[];
}

interface Worlds {
  readonly points: number[][];
  readonly cases: {
    scenario: Scenario;
    world: WorldForm;
    states: {
      t: number;
      vertices: number[][];
      density: number[][];
      members: (number[] | null)[];
      present: number[] | null;
    }[];
  }[];
}

const flat = (value: unknown): number[] => [value].flat(4) as number[];

describe("tracks", () => {
  const { times, cases } = read<Tracks>("tracks");
  test.each(cases.map((one, k) => [k, one] as const))(
    "number %i has the values of Python, bit for bit",
    (_, { track, values }) => {
      times.forEach((t, k) => expect(flat(valueAt(track, t))).toEqual(flat(values[k])));
    },
  );

  const path: Keyframes<number[]> = {
    times: [0, 10, 20],
    values: [
      [0, 0],
      [10, 0],
      [10, 10],
    ],
  };

  test("are moved from a time on, and go on with their old displacements", () => {
    const next = movedAt(path, 5, [5, 2]) as Track;
    expect(next).toEqual({
      times: [0, 5, 10, 20],
      values: [
        [0, 0],
        [5, 2],
        [10, 2],
        [10, 12],
      ],
    });
    expect(valueAt(next, 15)).toEqual([10, 7]);
    expect(movedAt(path, 10, [11, 1])).toEqual({
      times: [0, 10, 20],
      values: [
        [0, 0],
        [11, 1],
        [11, 11],
      ],
    });
    expect(movedAt({ ...path, after: "hold" }, 30, [1, 1])).toMatchObject({
      times: [0, 10, 20, 30],
      after: "hold",
    });
    expect(movedAt([1, 1], 5, [2, 2])).toEqual([2, 2]);
    const circle = { center: [0, 0], radius: 2, period: 8 };
    expect(movedAt(circle, 2, [1, 3])).toEqual({ ...circle, center: [1, 1] });
  });

  test("go on in a time that begins later", () => {
    const circle = { center: [0, 0], radius: 2, period: -8, phase: 0.3 };
    const step = { ...path, between: "step" as const };
    for (const track of [path, step, circle] as Track[])
      for (const t of [0, 4, 5, 11, 15]) {
        const found = flat(valueAt(shifted(track, 5, 15), t));
        flat(valueAt(track, t + 5)).forEach((v, i) => expect(found[i]).toBeCloseTo(v, 12));
      }
    expect(shifted(path, 5, 15)).not.toHaveProperty("after");
    expect(shifted(path, 5, 16)).toMatchObject({ after: "hold" });
    expect(shifted(path, 25, 10)).toEqual([10, 10]);
    expect(shifted({ times: [6, 8], values: [1, 2] }, 5, 3)).toEqual({ times: [1, 3], values: [1, 2] });
  });

  test("are put into words", () => {
    expect(trackInWords(path)).toBe("keyframes at t = 0, 10 and 20");
    expect(trackInWords({ times: [0], values: [1], between: "step" })).toBe("keyframe at t = 0, in steps");
    expect(trackInWords({ center: [1, 2], radius: 3, period: -4 })).toBe(
      "on a circle of radius 3 about 1, 2, one turn in 4",
    );
  });
});

describe.each(read<Worlds>("worlds").cases.map((one, k) => [k, one] as const))(
  "world %i",
  (_, { scenario, world: sent, states }) => {
    const { points } = read<Worlds>("worlds");
    const count = sent.arrivals?.length ?? 5;

    test("is found in the scenario as the server sends it", () => {
      expect(worldOf(scenario)).toEqual(sent);
    });

    test.each(states)("is as in Python at t = $t", ({ t, vertices, density, members, present }) => {
      const world = new World(sent);
      const { lives } = world;
      const here = Uint8Array.from({ length: count }, (_, p) =>
        !lives || (lives.arrivals[p] <= t && t < lives.departures[p]) ? 1 : 0,
      );
      const corner = (z: readonly number[]): string => z.join();
      expect(new Set(world.regionAt(t).ring.map(corner))).toEqual(new Set(vertices.map(corner)));
      expect(numbersOf(here)).toEqual(present ?? numbersOf(new Uint8Array(count).fill(1)));
      const sensors = sent.sensors.length ? sent.sensors.map((_, k) => k) : [null];
      sensors.forEach((sensor, k) => {
        const all = world.members(here, sensor);
        expect(all && [...all]).toEqual(members[k]);
        const weight = densityOf(tableAt(world.densityAt(t, sensor === null ? [] : [sensor]), t));
        points.forEach((z, i) => expect(weight?.(z)).toBeCloseTo(density[k][i], 13));
      });
    });

    test("is the same from any time on", () => {
      const whole = new World(sent);
      for (const t of [1, 2, 5.5, 7]) {
        const rest = new World(worldOf(cutAt(scenario, t, 5)));
        for (const s of [0, 0.5, 3]) {
          const now = {
            ring: whole.regionAt(t + s).ring,
            table: tableAt(whole.densityAt(t + s, whole.shown(-1, 1)), t + s),
          };
          const then = {
            ring: rest.regionAt(s).ring,
            table: tableAt(rest.densityAt(s, rest.shown(-1, 1)), s),
          };
          flat(now.ring).forEach((v, i) => expect(flat(then.ring)[i]).toBeCloseTo(v, 10));
          for (const z of points)
            expect(densityOf(then.table)?.(z)).toBeCloseTo(densityOf(now.table)?.(z) ?? NaN, 10);
        }
      }
    });
  },
);

const lively: Scenario = {
  workspace: { kind: "box", lower: [0, 0], upper: [4, 4] },
  density: {
    kind: "gaussian",
    center: {
      times: [0, 10],
      values: [
        [1, 1],
        [3, 3],
      ],
    },
    rate: 0.5,
  },
  agents: {
    start: [
      [1, 1],
      [2, 1],
      [3, 1],
    ],
    sensors: [["a"], ["b"], ["c"], ["d"], ["e"]],
  },
  world: [
    { from: 2, leave: [1], arrive: [[1, 3]] },
    { from: 4, leave: [3], network: { loss: 0.1 }, arrive: [[2, 3]] },
    { from: 6, density: { kind: "uniform" } },
  ],
  controller: { kind: "timer", k1: 0.5, nu: 0.25, t1: [1, 2, 3, 4, 5], t2: 9 },
  run: { horizon: 8, seed: 1 },
};

describe("agents that come and go", () => {
  test("are renumbered where a run goes on", () => {
    const next = goingOn(
      lively,
      [
        [1, 1],
        [3, 1],
        [1, 3],
      ],
      5,
      1,
      3,
    );
    expect(next.agents).toEqual({
      start: [
        [1, 1],
        [3, 1],
        [1, 3],
      ],
      sensors: [["a"], ["c"], ["d"], ["e"]],
    });
    expect(next.controller["t1"]).toEqual([1, 3, 4, 5]);
    expect(next.world).toEqual([
      { from: 1, leave: [2], network: { loss: 0.1 }, arrive: [[2, 3]] },
      { from: 3, density: { kind: "uniform" } },
    ]);
    expect(next.density?.center).toEqual({
      times: [0, 7],
      values: [
        [1.6, 1.6],
        [3, 3],
      ],
    });
    const end = goingOn(lively, [], 2, 1, 7);
    expect(end).not.toHaveProperty("world");
    expect([end.density, end.network]).toEqual([{ kind: "uniform" }, { loss: 0.1 }]);
    expect(end.agents.sensors).toEqual([["a"], ["c"], ["e"]]);
  });

  test("stay in step with those that are added and removed", () => {
    const start = lively.agents.start as number[][];
    const more = withAgent(lively, start, [3, 3]);
    expect(more.agents.sensors).toEqual([["a"], ["b"], ["c"], ["c"], ["d"], ["e"]]);
    expect(more.world?.map((one) => one.leave)).toEqual([[1], [4], undefined]);
    const fewer = withoutAgent(lively, start, 0);
    expect(fewer.controller["t1"]).toEqual([2, 3, 4, 5]);
    expect(fewer.world?.map((one) => one.leave)).toEqual([[0], [2], undefined]);
    const later = withoutAgent(lively, start, 3);
    expect(later.agents.start).toEqual(start);
    expect(later.world?.map((one) => one.arrive)).toEqual([undefined, [[2, 3]], undefined]);
    expect(later.world?.map((one) => one.leave)).toEqual([[1], undefined, undefined]);
    const two = withCount(lively, 1);
    expect(two.agents.sensors).toEqual([["a"], ["d"], ["e"]]);
    expect(two.world?.map((one) => one.leave)).toEqual([undefined, [1], undefined]);
    expect(withCount(lively, 4).agents.sensors).toEqual([["a"], ["b"], ["c"], ["a"], ["d"], ["e"]]);
  });

  test("are absent from the arc, and from the cells of others", () => {
    const run = read<RecordedRun>("lives");
    const arc = arcOf({
      ...run,
      begin: {
        ...run.begin,
        lives: {
          arrivals: [0, 0, 0, 0, 0, 6, 6],
          departures: [6, 3, Infinity, Infinity, Infinity, Infinity, Infinity],
        },
      },
    });
    const seen = (t: number): number[] => numbersOf(arc.stateAt(t, arc.jumpsUntil(t)).present);
    expect(seen(2.9)).toEqual([0, 1, 2, 3, 4]);
    expect(seen(3)).toEqual([0, 2, 3, 4]);
    expect(seen(6)).toEqual([2, 3, 4, 5, 6]);
    const { ring } = regionOf({ kind: "box", lower: [0, 0], upper: [4, 4] });
    const positions = Float64Array.of(1, 1, 2, 2, 3, 1);
    const cells = cellsAmong(ring, positions, Int32Array.of(0, 2));
    expect([...cells.begin]).toEqual([0, 4, 4, 8]);
    expect([...cells.corners.subarray(0, 8)]).toEqual([...cellOf(ring, Float64Array.of(1, 1, 3, 1), 0)]);
  });
});

describe("edits", () => {
  test("of a hill that moves keep everything else", () => {
    const t = 5;
    const [hill] = peaksAt(lively, t, null);
    const next = withPeaksAt(lively, [reshaped(hill, { ...tableAt(hill, t), center: [1, 3] }, t)], t);
    expect(next).toEqual({
      ...lively,
      density: {
        kind: "gaussian",
        center: {
          times: [0, 5, 10],
          values: [
            [1, 1],
            [1, 3],
            [2, 4],
          ],
        },
        rate: 0.5,
      },
    });
    const wider = reshaped(hill, { ...tableAt(hill, t), rate: 2 }, t);
    expect(wider).toEqual({ ...hill, rate: 2 });
  });

  test("are made in the phase and in the sensor that are shown", () => {
    const hill = { kind: "gaussian", center: [1, 1], rate: 1 };
    expect(withPeaksAt(lively, [hill], 7).world?.[2]).toEqual({ from: 6, density: hill });
    const wide = {
      ...lively,
      world: [{ from: 2, workspace: { kind: "box", lower: [0, 0], upper: [9, 9] } }],
    };
    const ring = [
      [0, 0],
      [8, 0],
      [8, 9],
      [0, 9],
    ] as const;
    expect(withRing(wide, ring, 3).world?.[0].workspace).toEqual({
      kind: "box",
      lower: [0, 0],
      upper: [8, 9],
    });
    expect(withRing(wide, ring, 3).workspace).toBe(wide.workspace);
    const sensor = [
      { name: "a", density: hill },
      { name: "b", density: hill },
    ];
    expect(withPeaksAt({ ...lively, sensor }, [], 0, 1).sensor).toEqual([
      sensor[0],
      { name: "b", density: { kind: "uniform" } },
    ]);
  });
});

describe("the time line", () => {
  test("has switches and keyframes in order, each with its words", () => {
    expect(marksOf(lively)).toEqual([
      { t: 0, kind: "keyframe", says: "keyframe of peak 1, center" },
      { t: 2, kind: "switch", says: "agent 1 leaves; 1 agent arrives" },
      { t: 4, kind: "switch", says: "new network; agent 3 leaves; 1 agent arrives" },
      { t: 6, kind: "switch", says: "new density" },
    ]);
    expect(switchInWords({ from: 1, leave: [0, 2, 5], arrive: [[1], [2]] })).toBe(
      "agents 0, 2 and 5 leave; 2 agents arrive",
    );
  });

  test("goes on over the pieces of a run that was changed", () => {
    const pieces = [
      { scenario: lively, offset: 0, end: 8 },
      { scenario: goingOn(lively, [], 5, 1, 3), offset: 3, end: 8 },
    ];
    expect(marksOfRun(pieces, lively).map(({ t, kind }) => [t, kind])).toEqual([
      [0, "keyframe"],
      [2, "switch"],
      [3, "keyframe"],
      [4, "switch"],
      [6, "switch"],
    ]);
    expect(marksOfRun([], { ...lively, run: { horizon: 3 } }).length).toBe(2);
  });
});
