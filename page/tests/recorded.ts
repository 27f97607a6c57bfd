/** What record.py wrote. */

import { Arc, type Start } from "../src/arc/arc";
import { chunkOf, decode } from "../src/net/wire";

export interface RecordedRun {
  readonly begin: { start: Start; fade: number | null; lives?: { arrivals: number[]; departures: number[] } };
  readonly recording: string;
  readonly messages: string[];
  readonly states: { t: number; jump: number; positions: number[][]; velocities: number[][] }[];
  readonly looks: number;
  readonly received: number;
}

export const RUNS = ["timer", "triggered", "steps", "curve", "line", "lives"] as const;

const FILES = import.meta.glob<{ default: unknown }>("./recorded/*.json", { eager: true });

export const read = <T>(name: string): T => FILES[`./recorded/${name}.json`].default as T;

export const bytes = (message: string): ArrayBuffer =>
  Uint8Array.from(atob(message), (c) => c.charCodeAt(0)).buffer;

export function arcOf(run: RecordedRun): Arc {
  const { lives } = run.begin;
  const times = lives && {
    arrivals: Float64Array.from(lives.arrivals),
    departures: Float64Array.from(lives.departures),
  };
  const arc = new Arc(run.begin.start, run.begin.fade, times ?? null);
  for (const message of run.messages) arc.append(chunkOf(decode(bytes(message))));
  return arc;
}
