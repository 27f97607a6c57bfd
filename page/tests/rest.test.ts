import { describe, expect, test } from "vitest";
import { densityOf, peaksOf, withPeaks } from "../src/density/density";
import * as formulas from "../src/panels/design/formulas";
import { applies, withChoice } from "../src/panels/scenario/belongs";
import { goingOn, tidy, withAgent, withCount, withoutAgent, withRing } from "../src/state/edits";
import { figureOf } from "../src/charts/data";
import { MORE } from "../src/state/keys";
import { kindsWith, lawLike } from "../src/state/laws";
import { dtOf } from "../src/state/matching";
import { TABLES } from "../src/state/tables";
import type { Lane } from "../src/state/lane";
import { Samples } from "../src/arc/samples";
import { History, type Shown } from "../src/state/history";
import { fragmentOf, scenarioIn } from "../src/state/link";
import type { Scenario } from "../src/net/api";
import { radiiOf } from "../src/world/world";
import { read } from "./recorded";

interface DesignCase {
  readonly setting: formulas.Setting;
  readonly maxDwellTime: number;
  readonly maxGain: number;
  readonly syncGlobal: number;
  readonly asyncLocal: number;
  readonly feasible: boolean;
  readonly met: boolean[];
}

const scenario: Scenario = {
  workspace: { kind: "box", lower: [0, 0], upper: [4, 2] },
  agents: {
    start: [
      [1, 1],
      [2, 1],
    ],
    ids: [4, 7],
  },
  controller: { kind: "timer", k1: 0.5, nu: 0.25, t1: [0.1, 0.2], t2: 0.3, initial_timer: 0.2 },
  certificate: { eta_max: 0.3, lipschitz: [5, 6] },
  run: { horizon: 10, seed: 1 },
};

describe("the design panel", () => {
  for (const one of read<{ cases: DesignCase[] }>("design").cases)
    test(`says what dwell design says for T2 = ${one.setting.t2}`, () => {
      for (const name of ["maxDwellTime", "maxGain", "syncGlobal", "asyncLocal"] as const)
        expect(formulas[name](one.setting) / one[name]).toBeCloseTo(1, 13);
      expect(formulas.feasible(one.setting)).toBe(one.feasible);
      expect(formulas.conditions(one.setting).map((c) => c.holds)).toEqual(one.met);
    });

  test("takes the agent with the least room", () => {
    expect(formulas.settingOf(scenario, 2)).toMatchObject({ lipschitz: 6, t1: 0.2, t2: 0.3, etaMax: 0.3 });
    expect(formulas.settingOf({ ...scenario, controller: { kind: "lloyd" } }, 2)).toBeNull();
  });
});

describe("densities", () => {
  test("have the values of their tables", () => {
    expect(densityOf(undefined)?.([3, 4])).toBe(1);
    expect(
      densityOf({
        kind: "polynomial",
        terms: [
          [1, 0, 2],
          [0, 2, 3],
        ],
        origin: [1, 1],
      })?.([2, 3]),
    ).toBe(14);
    expect(densityOf({ kind: "gaussian", center: [1, 1], rate: 0.5, weight: 2 })?.([2, 1])).toBeCloseTo(
      2 * Math.exp(-0.5),
      14,
    );
    const stretched = densityOf({
      kind: "gaussian",
      center: [0, 0],
      covariance: [
        [2, 0.5],
        [0.5, 1],
      ],
    });
    expect(stretched?.([1, 1])).toBeCloseTo(Math.exp(-0.5 * (2 / 1.75)), 14);
    expect(densityOf({ kind: "callable" })).toBeNull();
  });

  test("keep what is no hill when hills change", () => {
    const hill = { kind: "gaussian", center: [0, 0], rate: 1 };
    const mixed = { kind: "mixture", parts: [{ kind: "uniform", level: 0.1 }, hill] };
    expect(peaksOf(mixed)).toEqual([hill]);
    expect(withPeaks(mixed, [])).toEqual({ kind: "uniform", level: 0.1 });
    expect(withPeaks({ kind: "uniform" }, [hill])).toEqual(hill);
    expect(withPeaks(hill, [hill, hill])).toEqual({ kind: "mixture", parts: [hill, hill] });
    expect(withPeaks(hill, [])).toEqual({ kind: "uniform" });
  });
});

describe("edits", () => {
  test("keep lists that have one entry per agent in step", () => {
    const start = scenario.agents.start as number[][];
    const more = withAgent(scenario, start, [3, 1]);
    expect(more.controller["t1"]).toEqual([0.1, 0.2, 0.2]);
    expect(more.certificate?.lipschitz).toEqual([5, 6, 6]);
    expect(more.agents).toEqual({
      start: [
        [1, 1],
        [2, 1],
        [3, 1],
      ],
      ids: [4, 7, 8],
    });
    const fewer = withoutAgent(scenario, start, 0);
    expect(fewer.controller["t1"]).toEqual([0.2]);
    expect(fewer.agents).toEqual({ start: [[2, 1]], ids: [7] });
    expect(scenario.agents.ids).toEqual([4, 7]);
  });

  test("keep sensing radii in step", () => {
    const start = scenario.agents.start as number[][];
    const ranged = (radius: number | number[]): Scenario => ({ ...scenario, agents: { start, radius } });
    expect(withAgent(ranged(2), start, [3, 1]).agents.radius).toBe(2);
    expect(withoutAgent(ranged(2), start, 0).agents.radius).toBe(2);
    expect(withAgent(ranged([1, 2]), start, [3, 1]).agents.radius).toEqual([1, 2, 2]);
    expect(withoutAgent(ranged([1, 2]), start, 0).agents.radius).toEqual([2]);
    expect(withCount(ranged([1, 2]), 5).agents.radius).toEqual([1, 2, 1, 2, 1]);
    expect(goingOn(ranged([1, 2]), start, 4, 1).agents.radius).toEqual([1, 2]);
    expect([radiiOf(scenario), radiiOf(ranged(2)), radiiOf(ranged([1, 2]))]).toEqual([
      null,
      Float64Array.of(2, 2),
      Float64Array.of(1, 2),
    ]);
  });

  test("go on without first timers, with another seed", () => {
    const next = goingOn(
      scenario,
      [
        [1, 1],
        [3, 1],
      ],
      4,
      2,
    );
    expect(next.controller).not.toHaveProperty("initial_timer");
    expect(next.run).toMatchObject({ horizon: 4, seed: 3 });
  });

  test("keep a box a box where it is one", () => {
    expect(
      withRing(scenario, [
        [0, 0],
        [5, 0],
        [5, 2],
        [0, 2],
      ]).workspace,
    ).toEqual({ kind: "box", lower: [0, 0], upper: [5, 2] });
    expect(
      withRing(scenario, [
        [0, 0],
        [5, 1],
        [5, 2],
        [0, 2],
      ]).workspace.kind,
    ).toBe("polygon");
  });

  test("round to what the screen can show", () => {
    expect(tidy(1.23456, 0.012)).toBe(1.23);
    expect(tidy(123456.7, 20)).toBe(123460);
  });
});

test("laws side by side move at the same speed", () => {
  expect(lawLike("lloyd", scenario.controller)).toMatchObject({ k2: 2, speed: 0.5 });
  expect(lawLike("event-triggered", scenario.controller)).toMatchObject({ s_max: 0.5, k_v: 2 });
  expect(lawLike("tvd", scenario.controller)).toMatchObject({ kappa: 2, speed: 0.5 });
  expect(lawLike("minimum-energy", scenario.controller)).toMatchObject({ speed: 0.5 });
  expect(lawLike("timer", scenario.controller)).toBe(scenario.controller);
});

test("what a law's gain is and how often it samples follow from its own table", () => {
  const name = "Toy";
  Object.assign(TABLES.laws, {
    toy: { name, speed: "top", gain: "near", reach: true, period: "tick" },
  });
  Object.assign(MORE.laws, { toy: { about: name, keys: { tick: { default: 0.25 } } } });
  expect(lawLike("toy", scenario.controller)).toEqual({ kind: "toy", top: 0.5, near: 0.25 });
  expect(dtOf({ kind: "toy" })).toBe(0.25);
  expect(dtOf({ kind: "toy", tick: 0.5 })).toBe(0.5);
  for (const one of [TABLES.laws, MORE.laws]) Reflect.deleteProperty(one, "toy");
});

test("what follows a world that moves belongs to its choice", () => {
  const law = { kind: "lloyd", mode: "sampled", feedforward: "neighbours", trust: 0.9 };
  const shown = (changes: object): boolean[] =>
    ["feedforward", "trust"].map((key) =>
      applies({ ...law, ...changes }, key, new Map([["mode", "sampled"]])),
    );
  expect([shown({}), shown({ feedforward: "own" }), shown({ mode: "ode" })]).toEqual([
    [true, true],
    [true, false],
    [false, false],
  ]);
  expect(withChoice({ ...scenario, controller: law }, "mode", "ode")).toEqual({ kind: "lloyd", mode: "ode" });
  expect(withChoice({ ...scenario, controller: law }, "feedforward", "own")).toEqual({
    kind: "lloyd",
    mode: "sampled",
    feedforward: "own",
  });
});

test("a link holds the scenario", async () => {
  const fragment = await fragmentOf(scenario);
  expect(fragment).toMatch(/^#s=[A-Za-z0-9_-]+$/);
  expect(await scenarioIn(fragment)).toEqual(scenario);
  expect(await scenarioIn("#s=nonsense")).toBeNull();
  expect(await scenarioIn("#panel")).toBeNull();
});

test("a link that would unpack to more than a scenario is not unpacked", async () => {
  const long = { ...scenario, name: "a".repeat(2_000_000) };
  expect(await scenarioIn(await fragmentOf(long))).toBeNull();
});

test("the law of the scenario is among those side by side", () => {
  expect(kindsWith("lloyd", ["timer", "lloyd"])).toEqual(["timer", "lloyd"]);
  expect(kindsWith("lloyd", ["timer", "discrete-lloyd"])).toEqual(["lloyd", "discrete-lloyd"]);
  expect(kindsWith("lloyd", [])).toEqual(["lloyd"]);
});

test("history goes back and forward, and forgets what a new change leaves behind", () => {
  const at = (name: string) => ({ scenario: { ...scenario, name }, start: [] });
  const history = new History();
  history.push(at("a"));
  history.push(at("b"));
  expect(history.move(at("c"), true)).toEqual(at("b"));
  expect(history.move(at("b"), true)).toEqual(at("a"));
  expect(history.move(at("a"), true)).toBeNull();
  expect(history.move(at("a"), false)).toEqual(at("b"));
  history.push(at("b"));
  expect(history.move(at("d"), false)).toBeNull();
});

test("history keeps the runs of the last eight steps only", () => {
  const arc = { events: { count: 10 } };
  const shown = { lanes: [{ timeline: { pieces: [{ arc }] } }], t: 1, jump: null } as unknown as Shown;
  const history = new History();
  for (let k = 0; k < 10; k++) history.push({ scenario: { ...scenario, name: `${k}` }, start: [], shown });
  const back = Array.from({ length: 10 }, () => history.move({ scenario, start: [] }, true));
  expect(back.map((step) => step?.scenario.name)).toEqual([..."9876543210"]);
  expect(back.map((step) => step?.shown === shown)).toEqual([...Array<boolean>(8).fill(true), false, false]);
});

describe("curves", () => {
  const samples = new Samples();
  const count = 2000; // four to a column
  samples.append({
    first: 0,
    count,
    columns: {
      time: Float64Array.from({ length: count }, (_, k) => (10 * k) / count),
      cost: new Float64Array(count).fill(1),
      error: new Float64Array(count),
      hold_error: Float64Array.from({ length: count }, (_, k) => (k === 1001 ? 7 : 0)),
    },
  });
  const lane = { timeline: { end: 10, pieces: [{ offset: 0, arc: { samples } }] } } as unknown as Lane;

  test("do not lose the largest hold error, nor those that are 0", () => {
    const [line] = figureOf([lane], "holdError", ["x"], false).lines;
    expect(line.length).toBe(500);
    expect(Math.max(...line.map(Number))).toBe(7);
    expect(line.filter((v) => v === 0).length).toBe(499);
  });

  test("leave out on a log axis what it cannot show", () => {
    expect(figureOf([lane], "error", ["x"]).lines[0].every((v) => v === null)).toBe(true);
    expect(figureOf([lane], "cost", ["x"]).lines[0].every((v) => v === 1)).toBe(true);
  });
});
