import { describe, expect, test } from "vitest";
import { Arc } from "../src/arc/arc";
import { namesOf, readRecording, type Recording } from "../src/net/recorded";
import { chunkOf } from "../src/net/wire";
import { World, worldOf } from "../src/world/world";
import { bytes, read, RUNS, type RecordedRun } from "./recorded";

const BOUND = 1e-8; // of dwell.exports.recording, as a share of the diagonal

function arcOf({ begin, scenario, frames }: Recording): Arc {
  const arc = new Arc(begin.start, begin.fade, new World(begin.world ?? worldOf(scenario)).lives);
  for (const frame of frames)
    if (frame.type === "events") arc.append(chunkOf(frame));
    else arc.samples.append(frame);
  return arc;
}

const apart = (a: ArrayLike<number>, b: readonly number[]): number =>
  Math.max(...b.map((v, k) => Math.abs(v - a[k])));

describe.each(RUNS)("the recording of %s", (name) => {
  const run = read<RecordedRun>(name);

  test("is where the Python run is, within the stated bound", async () => {
    const recording = await readRecording(bytes(run.recording));
    const arc = arcOf(recording);
    const { workspace } = recording.begin as unknown as { workspace: { box: number[][] } };
    const [lower, upper] = workspace.box;
    const diagonal = Math.hypot(...lower.map((one, i) => upper[i] - one));
    for (const state of run.states) {
      const found = arc.stateAt(state.t, state.jump);
      expect(apart(found.positions, state.positions.flat())).toBeLessThan(BOUND * diagonal);
    }
    const { samples, received, count } = arc.events;
    expect([samples[count], received[count]]).toEqual([run.looks, run.received]);
    expect(arc.samples.count).toBeGreaterThan(2);
    expect(arc.samples.errors.length).toBe(arc.samples.count * arc.agents);
  });
});

test("a record that is cut off or of another format is refused in one sentence", async () => {
  const whole = bytes(read<RecordedRun>("timer").recording);
  await expect(readRecording(whole.slice(0, whole.byteLength - 40))).rejects.toThrow(/incomplete or damaged/);
  await expect(readRecording(new TextEncoder().encode("no record"))).rejects.toThrow(/incomplete or damaged/);
});

test("runs of one law are told apart by their names, or by their order", () => {
  const run = (kind: string, name?: string): Recording =>
    ({ scenario: { name, controller: { kind } } }) as unknown as Recording;
  expect(namesOf([run("timer", "a"), run("lloyd", "a")])).toEqual(["timer", "lloyd"]);
  expect(namesOf([run("timer", "a"), run("timer", "b")])).toEqual(["a", "b"]);
  expect(namesOf([run("timer"), run("timer")])).toEqual(["timer (1)", "timer (2)"]);
});
