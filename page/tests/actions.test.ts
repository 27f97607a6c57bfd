import { expect, test, vi } from "vitest";
import { saveHtml, saveRun, saveScenario } from "../src/panels/actions";
import type { Session } from "../src/state/session";

vi.mock("../src/net/api", () => ({ fileOf: vi.fn(), filmOf: vi.fn(), htmlOf: vi.fn(), asText: vi.fn() }));
vi.mock("../src/panels/map/exports", () => ({ download: vi.fn() }));

/** What is said when a run is saved that was last changed at some time. */
async function saidBy(save: (session: Session) => Promise<void>, offset: number): Promise<string[]> {
  const said: string[] = [];
  const pieces = offset ? [{ offset: 0 }, { offset }] : [{ offset: 0 }];
  const lane = {
    kind: "timer",
    summary: {},
    recorded: false,
    timeline: { last: { id: "a", offset }, pieces },
  };
  const app = { lanes: [lane], scenario: { name: "Two hills" } };
  const session = { store: { get: () => app }, say: (text: string) => said.push(text), fail: expect.fail };
  await save(session as unknown as Session);
  return said;
}

test.each([
  ["HTML", saveHtml],
  ["NetCDF", (session: Session) => saveRun(session, "nc")],
])("%s of a run that was changed on the way is said to hold its last part", async (_, save) => {
  for (const text of await saidBy(save, 2.5))
    expect(text).toContain("it holds the part from t = 2.50 on, where its clock begins.");
  for (const text of await saidBy(save, 0)) expect(text).not.toContain("part");
});

test("a scenario that is saved after a change on the way is said to start anew", async () => {
  const [changed] = await saidBy(saveScenario, 2.5);
  expect(changed).toMatch(/^two-hills.toml is saved\. The run shown was changed at t = 2\.50/);
  expect(changed).toContain("starts anew at t = 0, so its figures will differ");
  expect(await saidBy(saveScenario, 0)).toEqual(["two-hills.toml is saved."]);
});
