/** Recorded runs: one compressed record each, written by `dwell` and played without a server. */

import type { Begin, Remark, Scenario } from "./api";
import type { Frame } from "./wire";

/** A record: its address, or its bytes. */
export type Source = string | Blob | BufferSource;

export interface Recording {
  readonly scenario: Scenario;
  readonly start: number[][];
  readonly begin: Begin;
  readonly summary: unknown;
  readonly remarks: readonly Remark[];
  readonly frames: readonly Frame[];
  readonly address: string | null; // where it was read; null if it came as bytes
}

interface Column {
  readonly name: string;
  readonly type: "f8" | "f4" | "i4";
  readonly shape: readonly number[];
  readonly step: number | null; // null: the values themselves
  readonly planes: number;
}

interface Table {
  readonly count: number;
  readonly columns: readonly Column[];
}

interface Header extends Omit<Recording, "frames" | "address"> {
  readonly format: number;
  readonly version: string;
  readonly events: Table;
  readonly samples: Table;
}

const FORMAT = 1;
const INFINITE = 2 ** 50; // in place of infinity; its negative, of no number

/** Show recorded runs, one or several side by side; resolves when they can be played. */
export async function openRecorded(session: Shows, ...sources: Source[]): Promise<void> {
  session.showRecorded(await Promise.all(sources.map(readRecording)));
}

/** What openRecorded needs of a session. */
interface Shows {
  showRecorded(runs: readonly Recording[]): void;
}

/** What tells some runs apart: the kinds of their laws, else their names, else their order. */
export function namesOf(runs: readonly Recording[]): string[] {
  const kinds = runs.map((run) => run.scenario.controller.kind);
  const names = runs.map((run, k) => run.scenario.name ?? kinds[k]);
  const apart = (words: readonly string[]): boolean => new Set(words).size === words.length;
  return apart(kinds) ? kinds : apart(names) ? names : kinds.map((kind, k) => `${kind} (${k + 1})`);
}

/** Read a record. */
export async function readRecording(source: Source): Promise<Recording> {
  const bytes = await unpacked(source);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Header;
  if (header.format !== FORMAT)
    throw new Error(
      `The recorded run has format ${header.format}, and this page reads format ${FORMAT}; export it again.`,
    );
  const planes = new Planes(bytes, 4 + length);
  const { scenario, start, begin, summary, remarks = [] } = header;
  const events = frameOf("events", header.events, eventsOf(header.events, planes));
  const samples = frameOf(
    "samples",
    header.samples,
    new Map(header.samples.columns.map((one) => [one.name, planes.floats(one)])),
  );
  const address = typeof source === "string" ? source : null;
  return { scenario, start, begin, summary, remarks, frames: [events, samples], address };
}

async function unpacked(source: Source): Promise<Uint8Array<ArrayBuffer>> {
  let packed: Blob;
  if (typeof source === "string") {
    const answer = await fetch(source);
    if (!answer.ok) throw new Error(`The recorded run cannot be read: the server answered ${answer.status}.`);
    packed = await answer.blob();
  } else packed = source instanceof Blob ? source : new Blob([source as BlobPart]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error("The recorded run is incomplete or damaged; fetch or export it again.");
  }
}

type Values = Float64Array | Float32Array;

const frameOf = (
  type: "events" | "samples",
  { count }: Table,
  columns: ReadonlyMap<string, Frame["columns"][string]>,
): Frame => ({
  type,
  first: 0,
  count,
  columns: Object.fromEntries(columns),
});

/** The columns behind the header, read one after another. */
class Planes {
  constructor(
    private readonly bytes: Uint8Array<ArrayBuffer>,
    private at: number,
  ) {}

  private take(column: Column): { size: number; part: Uint8Array } {
    const size = column.shape.reduce((product, side) => product * side, 1);
    const part = this.bytes.subarray(this.at, this.at + size * column.planes);
    this.at += part.length;
    return { size, part };
  }

  /** Whole numbers; those below zero are stored as odd ones. */
  differences(column: Column): Float64Array {
    const { size, part } = this.take(column);
    const found = new Float64Array(size);
    for (let plane = column.planes - 1; plane >= 0; plane--)
      for (let k = 0; k < size; k++) found[k] = 256 * found[k] + part[plane * size + k];
    for (let k = 0; k < size; k++) found[k] = found[k] % 2 ? -(found[k] + 1) / 2 : found[k] / 2;
    return found;
  }

  floats(column: Column): Values {
    const { size, part } = this.take(column);
    const mixed = new Uint8Array(part.length);
    for (let plane = 0; plane < column.planes; plane++)
      for (let k = 0; k < size; k++) mixed[k * column.planes + plane] = part[plane * size + k];
    return column.type === "f8" ? new Float64Array(mixed.buffer) : new Float32Array(mixed.buffer);
  }
}

/** Undo the predictions, row after row; the operations are those of the writer. */
function eventsOf(table: Table, planes: Planes): Map<string, Float64Array | Int32Array> {
  const whole = new Map(table.columns.map((one) => [one.name, planes.differences(one)]));
  const step = Object.fromEntries(table.columns.map((one) => [one.name, one.step ?? 1]));
  const agent = whole.get("agent") as Float64Array;
  const time = whole.get("time") as Float64Array;
  const next = whole.get("next_at") as Float64Array;
  const before = rowsBefore(agent);
  for (let row = 0; row < table.count; row++) {
    const due = before[row] < 0 ? INFINITE : next[before[row]];
    time[row] += due < INFINITE ? due : row > 0 ? time[row - 1] : 0;
    next[row] += time[row];
  }
  const known = new Set(["agent", "time", "next_at"]);
  for (const { name } of table.columns) {
    if (known.has(name)) continue;
    const values = whole.get(name) as Float64Array;
    if (name === "positions") addMotion(values, whole, step, before);
    else addBefore(values, before);
  }
  const found = new Map<string, Float64Array | Int32Array>();
  for (const { name, type } of table.columns) {
    const values = whole.get(name) as Float64Array;
    found.set(name, type === "i4" ? Int32Array.from(values) : values.map((one) => valueOf(one, step[name])));
  }
  return found;
}

const valueOf = (whole: number, step: number): number =>
  Math.abs(whole) < INFINITE ? whole * step : whole > 0 ? Infinity : NaN;

/** The row of each agent's event before; -1 for its first one. */
function rowsBefore(agent: Float64Array): Int32Array {
  const latest = new Map<number, number>();
  return Int32Array.from(agent, (who, row) => {
    const before = latest.get(who) ?? -1;
    latest.set(who, row);
    return before;
  });
}

function addBefore(values: Float64Array, before: Int32Array): void {
  const width = values.length / before.length;
  for (let row = 0; row < before.length; row++)
    if (before[row] >= 0)
      for (let i = 0; i < width; i++) values[row * width + i] += values[before[row] * width + i];
}

/** Add to each position where the velocity before leads. */
function addMotion(
  place: Float64Array,
  whole: ReadonlyMap<string, Float64Array>,
  step: Readonly<Record<string, number>>,
  before: Int32Array,
): void {
  const time = whole.get("time") as Float64Array;
  const hold = whole.get("holds") as Float64Array;
  const cruise = whole.get("cruise");
  const n = place.length / before.length;
  const unit = step["positions"];
  for (let row = 0; row < before.length; row++) {
    const last = before[row];
    if (last < 0) continue;
    let dt = (time[row] - time[last]) * step["time"];
    if (cruise && cruise[last] < INFINITE) dt = Math.min(dt, cruise[last] * step["cruise"]);
    for (let i = 0; i < n; i++) {
      const moved = hold[last * n + i] * step["holds"] * dt;
      place[row * n + i] += Math.floor((place[last * n + i] * unit + moved) / unit + 0.5);
    }
  }
}
