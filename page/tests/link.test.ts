import { expect, test } from "vitest";
import type { Scenario } from "../src/net/api";
import { fragmentOf, scenarioIn, shownIn, storedIn } from "../src/state/link";

const SCENARIO = { name: "a & b # c", run: { horizon: 1 } } as unknown as Scenario;
const SHELL = /^#s=[A-Za-z0-9_-]+(&[a-z]+=[A-Za-z0-9_.,+-]*)*$/; // what dwell serve takes

test("a link holds the scenario, and what is shown of it", async () => {
  const shown = {
    laws: ["timer", "self-triggered"],
    t: 12.25,
    view: { x: -1.5, y: 2e-7, sx: 80, sy: 40 },
    play: true,
  };
  const fragment = await fragmentOf(SCENARIO, shown);
  expect(fragment).toMatch(SHELL);
  expect(await scenarioIn(fragment)).toEqual(SCENARIO);
  expect(shownIn(fragment)).toEqual(shown);
});

test("a link without a run says nothing of one, as those of before", async () => {
  const fragment = await fragmentOf(SCENARIO);
  expect(fragment).toMatch(/^#s=[A-Za-z0-9_-]+$/);
  expect(shownIn(fragment)).toEqual({ laws: [], t: null, view: null, play: false });
});

test("what makes no sense in a link is passed over", async () => {
  const fragment = `${await fragmentOf(SCENARIO)}&t=-1&view=1,2,0,0&play=yes&more`;
  expect(await scenarioIn(fragment)).toEqual(SCENARIO);
  expect(shownIn(fragment)).toEqual({ laws: [], t: null, view: null, play: false });
  expect(shownIn("#s=x&t=&view=NaN,1,1,1")).toMatchObject({ view: null });
});

test("stored runs are named by their number", () => {
  expect(storedIn("#r=2")).toEqual(["/api/recorded/0", "/api/recorded/1"]);
  for (const bad of ["#s=2", "#r=", "#r=-1", "#r=1e9", "#r=1.5", ""]) expect(storedIn(bad)).toEqual([]);
});
