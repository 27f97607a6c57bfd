import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { logTicksOf } from "../src/charts/log_ticks";
import {
  conditions,
  inOrder,
  settingOf,
  verdictOf,
  withSetting,
  type Setting,
} from "../src/panels/design/formulas";
import { nextSpeed, SPEEDS, usualSpeed } from "../src/state/clock";
import { Held, REST } from "../src/state/held";
import { hintOf } from "../src/state/hints";
import { History } from "../src/state/history";
import { sentence } from "../src/net/api";
import type { Designed, Scenario } from "../src/net/api";

describe("a value that is held", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test("is sent once, when the hand rests", async () => {
    const sent: number[] = [];
    const held = new Held<number>(
      (value) => Promise.resolve(sent.push(value)),
      () => undefined,
    );
    for (let k = 1; k <= 30; k++) {
      held.move(k);
      await vi.advanceTimersByTimeAsync(33);
    }
    expect(sent).toEqual([]);
    expect(held.value).toBe(30);
    await vi.advanceTimersByTimeAsync(REST);
    expect(sent).toEqual([30]);
    expect(held.value).toBeNull();
  });

  test("does not go back for an answer that comes late", async () => {
    const answers: (() => void)[] = [];
    const held = new Held<number>(
      () => new Promise<void>((answer) => answers.push(answer)),
      () => undefined,
    );
    held.move(1);
    await vi.advanceTimersByTimeAsync(REST);
    held.move(2);
    answers[0]();
    await vi.advanceTimersByTimeAsync(1);
    expect(held.value).toBe(2);
    await vi.advanceTimersByTimeAsync(REST);
    answers[1]();
    await vi.advanceTimersByTimeAsync(1);
    expect(held.value).toBeNull();
  });
});

const inside: Setting = {
  k1: 0.525,
  nu: 0.7,
  epsilon: 1e-8,
  t1: 0.01,
  t2: 0.03,
  etaMax: 0.4,
  lipschitz: 5,
  agents: 30,
};

describe("the verdict of a design", () => {
  test("is that of dwell design, as soon as it is known", () => {
    const answer = { reasons: [], feasible: true, verdict: "conditions met" } as unknown as Designed;
    expect(verdictOf(inside, null).tone).toBe("open");
    expect(verdictOf({ ...inside, lipschitz: NaN }, null).says).toContain("L is being measured");
    expect(verdictOf(inside, answer)).toEqual({ tone: "good", says: "● Verdict: conditions met." });
    const exceeded = { ...answer, reasons: ["The constant of agent 3 is 57."], verdict: "certificate void" };
    expect(verdictOf(inside, exceeded)).toEqual({ tone: "amber", says: "▲ Verdict: certificate void." });
    expect(verdictOf(inside, { ...exceeded, feasible: false }).tone).toBe("bad");
    const silent = { ...exceeded, verdict: "not applicable", not_applicable: { theorem: ["it moves"] } };
    expect(verdictOf(inside, silent)).toEqual({ tone: "open", says: "○ Verdict: not applicable." });
    expect(conditions(inside, silent)[1]).toMatchObject({ holds: null, says: "not applicable: it moves" });
  });

  test("keeps what is not in the scenario as dwell design takes it", () => {
    const scenario = {
      controller: { kind: "timer", k1: 0.4, nu: 0.4, t1: 0.1, t2: 0.3 },
      run: { horizon: 1 },
    } as unknown as Scenario;
    const assumed = { eta_max: 0.396, assumed_lipschitz: [1, 23, 2] };
    const found = settingOf(scenario, 3, assumed) as Setting;
    expect(found).toMatchObject({ etaMax: 0.99 * 0.4, lipschitz: 23, tied: true });
    expect(settingOf(scenario, 3)?.lipschitz).toBeNaN();
    const slower = inOrder({ ...found, k1: 0.2 }, found);
    expect(slower.etaMax).toBeCloseTo(0.198);
    expect(withSetting(scenario, slower, found, assumed)).toEqual({
      ...scenario,
      controller: { ...scenario.controller, k1: 0.2 },
    });
    const bounded = inOrder({ ...found, etaMax: 0.3 }, found);
    expect(withSetting(scenario, bounded, found, assumed).certificate).toEqual({
      eta_max: 0.3,
      lipschitz: [1, 23, 2],
    });
    const guessed = inOrder({ ...found, lipschitz: 4 }, found);
    expect(withSetting(scenario, guessed, found, assumed).certificate).toEqual({
      eta_max: 0.396,
      lipschitz: 4,
    });
  });

  test("names the inequality that fails, and no other", () => {
    const slow = verdictOf({ ...inside, t2: 0.5 }, null);
    expect(slow).toMatchObject({ tone: "bad", says: expect.stringContaining("T2 = 0.5 exceeds") as string });
    expect(slow.says).not.toContain("η̃max");
    const loose = verdictOf({ ...inside, etaMax: 0.6 }, null);
    expect(loose.says).toContain("η̃max = 0.6 is not below k1 = 0.525");
    expect(loose.says).not.toContain("T2");
  });
});

describe("time", () => {
  test("passes in about twenty seconds at the usual speed", () => {
    for (const horizon of [1, 40, 150, 600, 1000, 12345])
      expect(Math.abs(horizon / usualSpeed(horizon) - 20)).toBeLessThan(1);
    expect(usualSpeed(0)).toBe(1);
  });

  test("goes from speed to speed of the list", () => {
    expect(nextSpeed(7.5, 1)).toBe(10);
    expect(nextSpeed(7.5, -1)).toBe(5);
    expect(nextSpeed(SPEEDS[0], -1)).toBe(SPEEDS[0]);
  });
});

test("numbers along a short log axis are round", () => {
  expect(logTicksOf(0.2625, 1.1468)).toEqual([0.5, 1]);
  expect(logTicksOf(0.009, 2)).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]);
});

describe("what is said", () => {
  test("fits the tool and the time", () => {
    const still = { touchable: true, underWay: false, clock: { playing: false } };
    expect(hintOf("peaks", still)).toBe(
      "Drag a peak of the density, its dot (width) or its diamond (weight) to change the start, or press Run.",
    );
    expect(hintOf("agents", { ...still, underWay: true })).toContain("from here on, or press Play");
    expect(hintOf("agents", { ...still, underWay: true, clock: { playing: true } })).not.toContain("Play");
    expect(hintOf("paint", { ...still, touchable: false })).toContain("under Scenario");
  });

  test("begins as a sentence does, unless it begins with a key", () => {
    expect(sentence(new Error("the server is about to end"))).toBe("The server is about to end");
    expect(sentence(new Error("run.horizon needs a number"))).toBe("run.horizon needs a number");
  });
});

test("history knows whether there is a way back or forward", () => {
  const history = new History();
  const step = (name: string) => ({ scenario: { name } as Scenario, start: [] });
  expect([history.canUndo, history.canRedo]).toEqual([false, false]);
  history.push(step("a"));
  expect([history.canUndo, history.canRedo]).toEqual([true, false]);
  history.move(step("b"), true);
  expect([history.canUndo, history.canRedo]).toEqual([false, true]);
});
