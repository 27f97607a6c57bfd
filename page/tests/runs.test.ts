/** Runs side by side: how long they last, what runs in each lane, and what becomes of one that is refused. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Scenario } from "../src/net/api";
import { readRecording, type Recording } from "../src/net/recorded";
import type { MapEntry } from "../src/panels/map/exports";
import { mapsOf } from "../src/race/picture";
import type { Ranked } from "../src/race/ranking";
import { Session } from "../src/state/session";
import { bytes, read, type RecordedRun } from "./recorded";

// The page asks for these as it is loaded or begins.
vi.hoisted(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  vi.stubGlobal("requestAnimationFrame", () => 0);
  vi.stubGlobal("window", globalThis);
  vi.stubGlobal("document", { hidden: true });
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("location", { protocol: "http:", host: "here", hash: "", href: "" });
  vi.stubGlobal(
    "WebSocket",
    class {
      close() {}
    },
  );
});

const timer = await readRecording(bytes(read<RecordedRun>("timer").recording));

/** The recorded run with other values in its scenario, as if it had lasted so long. */
function recorded(horizon: number, other: Partial<Scenario> = {}): Recording {
  const { scenario } = timer;
  return {
    ...timer,
    scenario: { ...scenario, ...other, run: { ...scenario.run, horizon } },
    summary: { stop: { time: horizon } },
    frames: [],
  };
}

let session: Session;
let sent: Scenario[]; // that the server was asked to run

/** A server that takes every scenario, and runs those that are not refused. */
function serve(refuses: (scenario: Scenario) => boolean = () => false): void {
  sent = [];
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => {
    const scenario = init?.body ? (JSON.parse(init.body as string) as Scenario) : timer.scenario;
    if (!path.startsWith("/api/runs?")) return Response.json({ scenario, start: timer.start, repairs: [] });
    sent.push(scenario);
    if (refuses(scenario)) return Response.json({ error: { message: "Too many events." } }, { status: 422 });
    return Response.json({ id: String(sent.length), status: "queued" });
  });
}

beforeEach(() => {
  session = new Session();
  serve();
  vi.useFakeTimers();
});

afterEach(() => {
  session.clock.close();
  vi.useRealTimers();
});

test("runs of different length are played until the longest ends", () => {
  session.showRecorded([recorded(3), recorded(5)]);
  expect(session.runs.limit()).toEqual({ known: 5, end: 5 });
  session.seek(9);
  expect(session.clock.t).toBe(5);
  const [short, long] = session.store.get().lanes;
  expect([short.known, long.known]).toEqual([3, 5]);
  const last = Array.from(short.timeline.stateAt(3, 0)?.positions ?? []);
  expect(Array.from(short.timeline.stateAt(5, 0)?.positions ?? [])).toEqual(last);
});

const law = timer.scenario.controller;
const lloyd = { kind: "lloyd", k2: 1 };
const slow = { ...law, t2: 2 * (law["t2"] as number) };

test("runs of one law have names of their own, and each runs its own scenario again", async () => {
  session.showRecorded([recorded(3), recorded(5, { controller: slow })]);
  const { lanes } = session.store.get();
  expect(lanes.map(({ kind, name }) => [kind, name])).toEqual([
    ["timer", "timer (1)"],
    ["timer", "timer (2)"],
  ]);
  await session.run(false);
  expect(sent.map(({ controller, run }) => [controller, run.horizon])).toEqual([
    [law, 3],
    [slow, 5],
  ]);
  expect(session.store.get().lanes.map(({ name }) => name)).toEqual(["timer (1)", "timer (2)"]);
});

test("a run that is changed on the way goes on under the law of its own lane", async () => {
  session.showRecorded([recorded(3), recorded(5, { controller: slow })]);
  session.seek(1);
  await session.goOn();
  expect(sent.map(({ controller }) => controller["t2"])).toEqual([law["t2"], slow.t2]);
  const faster = { ...law, k1: 2 * (law["k1"] as number) };
  sent = [];
  session.showRecorded([recorded(3), recorded(5, { controller: slow })]);
  session.seek(1);
  await session.change({ ...recorded(3).scenario, name: "other", controller: faster });
  expect(sent.map(({ name, controller }) => [name, controller["k1"]])).toEqual([
    ["other", faster.k1],
    ["other", law["k1"]],
  ]);
});

test("a run that is asked for while a change is under way has that change, and stays", async () => {
  session.take(recorded(3).scenario, timer.start);
  const change = session.change({ ...recorded(3).scenario, name: "changed" });
  await session.run(false);
  expect(await change).toBe(true);
  expect(sent.map(({ name }) => name)).toEqual(["changed"]);
  expect(session.store.get().lanes.length).toBe(1);
});

/** The laws that the link of a session names. */
async function lawsOf(shown: Session): Promise<string | null> {
  let link = "";
  vi.stubGlobal("history", { replaceState: (_state: null, _title: string, to: string) => (link = to) });
  await shown.link();
  return new URLSearchParams(link).get("laws");
}

test("a link holds each kind of law once", async () => {
  session.showRecorded([recorded(3), recorded(3, { controller: slow })]);
  expect(await lawsOf(session)).toBeNull();
  session.showRecorded([recorded(3), recorded(3, { controller: lloyd }), recorded(3, { controller: slow })]);
  expect(await lawsOf(session)).toBe("timer,lloyd");
});

test("at most three laws are run side by side", async () => {
  session.showRecorded([2, 3, 4, 5].map((horizon) => recorded(horizon)));
  await session.run(false);
  expect(sent.map(({ run }) => run.horizon)).toEqual([2, 3, 4]);
});

test("a law that is refused has a problem, and is none of the rows of a picture", async () => {
  serve(({ controller }) => controller.kind === "lloyd");
  session.showRecorded([recorded(3)]);
  await session.compare(["timer", "lloyd"]);
  const { lanes } = session.store.get();
  expect(lanes.map((lane) => lane.problem?.message ?? null)).toEqual([null, "Too many events."]);
  const entries = lanes.toReversed().map((lane) => ({ lane }) as MapEntry);
  expect(mapsOf([{ lane: lanes[0] } as Ranked], entries)).toEqual([entries[1]]);
  expect(mapsOf([{ lane: lanes[0] } as Ranked], [])).toEqual([null]);
});

const ADDRESS = "/api/recorded/0";
const stored = (): Response => new Response(bytes(read<RecordedRun>("timer").recording));

test("a recorded run that was changed is found again by its address", async () => {
  session.showRecorded([{ ...timer, address: ADDRESS }]);
  session.seek(1);
  await session.goOn();
  const { records } = session.store.get().lanes[0];
  expect(records.map(({ offset, address }) => [offset, address])).toEqual([
    [0, ADDRESS],
    [1, undefined],
  ]);
  vi.stubGlobal("fetch", stored);
  const lane = session.runs.lane("timer");
  await lane.resume(records.slice(0, 1));
  expect(lane.recorded).toBe(true);
  expect(lane.known).toBe(timer.scenario.run.horizon);
  vi.stubGlobal("fetch", () => new Response("", { status: 404 }));
  const lost = session.runs.lane("timer");
  await lost.resume(records.slice(0, 1));
  expect(lost.problem?.message).toContain("404");
});

test("a stored run that comes late does not replace what was opened meanwhile", async () => {
  const asked = globalThis.fetch;
  let come: (answer: Response) => void = () => undefined;
  const late = new Promise<Response>((resolve) => (come = resolve));
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => (path === ADDRESS ? late : asked(path, init)));
  vi.stubGlobal("location", { ...location, hash: "#r=1" });
  const begun = session.begin();
  await session.open({ ...timer.scenario, name: "opened meanwhile" });
  come(stored());
  await begun;
  expect(session.store.get().scenario?.name).toBe("opened meanwhile");
  expect(session.hasRun).toBe(false);
});

test("nothing can be changed while the story is shown", async () => {
  session.startStory();
  session.showRecorded([recorded(3)]);
  session.seek(1);
  const [lane] = session.store.get().lanes;
  await session.editor.moveAgent(0, timer.start[1]);
  expect(await session.change({ ...timer.scenario, name: "other" })).toBe(false);
  expect(sent).toEqual([]);
  expect(session.store.get().lanes[0]).toBe(lane);
  session.leaveStory();
});
