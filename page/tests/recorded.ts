/** What record.py wrote. */

import { Arc, type Start } from "../src/arc/arc";
import { chunkOf, decode } from "../src/net/wire";

export interface RecordedRun {
  readonly begin: { start: Start; fade: number | null };
  readonly messages: string[];
  readonly states: { t: number; jump: number; positions: number[][]; velocities: number[][] }[];
  readonly looks: number;
  readonly received: number;
}

export const RUNS = ["timer", "triggered", "steps", "curve", "line"] as const;

const FILES = import.meta.glob<{ default: unknown }>("./recorded/*.json", { eager: true });

export const read = <T>(name: string): T => FILES[`./recorded/${name}.json`].default as T;

export const bytes = (message: string): ArrayBuffer =>
  Uint8Array.from(atob(message), (c) => c.charCodeAt(0)).buffer;

export function arcOf(run: RecordedRun): Arc {
  const arc = new Arc(run.begin.start, run.begin.fade);
  for (const message of run.messages) arc.append(chunkOf(decode(bytes(message))));
  return arc;
}
