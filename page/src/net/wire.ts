/** Binary messages of a live run: a header in JSON, then columns, each filled up to eight bytes. */

import type { Chunk } from "../arc/events";

interface Column {
  readonly name: string;
  readonly type: "f8" | "f4" | "i4";
  readonly shape: readonly number[];
}

interface Header {
  readonly type: "events" | "samples";
  readonly first: number;
  readonly count: number;
  readonly columns: readonly Column[];
}

type Values = Float64Array | Float32Array | Int32Array;

export interface Frame {
  readonly type: "events" | "samples";
  readonly first: number;
  readonly count: number;
  readonly columns: Readonly<Record<string, Values>>;
}

const KINDS = { f8: Float64Array, f4: Float32Array, i4: Int32Array } as const;

export function decode(message: ArrayBuffer): Frame {
  const length = new DataView(message).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(message, 4, length))) as Header;
  const columns: Record<string, Values> = {};
  let at = 4 + length;
  for (const column of header.columns) {
    const size = column.shape.reduce((product, side) => product * side, 1);
    const values = new KINDS[column.type](message, at, size);
    columns[column.name] = values;
    at += Math.ceil(values.byteLength / 8) * 8;
  }
  return { type: header.type, first: header.first, count: header.count, columns };
}

/** The rows of an `events` message. */
export function chunkOf(frame: Frame): Chunk {
  const { columns: c } = frame;
  return {
    first: frame.first,
    count: frame.count,
    time: c["time"] as Float64Array,
    agent: c["agent"] as Int32Array,
    positions: c["positions"] as Float64Array,
    holds: c["holds"] as Float64Array,
    errors: c["errors"] as Float64Array,
    nextAt: c["next_at"] as Float64Array,
    cruise: c["cruise"] as Float64Array | undefined,
    bend: c["bend"] as Float64Array | undefined,
    sampled: c["looked"] as Int32Array | undefined,
    // Where every jump is a sample, it gives the places of the neighbours.
    received: (c["received"] ?? c["neighbors"]) as Int32Array | undefined,
    sent: c["sent"] as Int32Array | undefined,
  };
}
