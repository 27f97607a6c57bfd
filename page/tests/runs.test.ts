/** Runs side by side: how long they last, what runs in each lane, and what becomes of one that is refused. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Scenario } from "../src/net/api";
import { readRecording, type Recording } from "../src/net/recorded";
import { Session } from "../src/state/session";
import { bytes, read, type RecordedRun } from "./recorded";

// The page asks for these as it is loaded or begins.
vi.hoisted(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  vi.stubGlobal("requestAnimationFrame", () => 0);
  vi.stubGlobal("window", globalThis);
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

beforeEach(() => {
  session = new Session();
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
