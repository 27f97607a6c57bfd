/** Charts in words: a sentence and a table of their values at some times. */

import { plain, signed, superscript } from "../map/ticks";
import type { Curve, Curves } from "./data";

const TIMES = 5; // columns of a table

/** A value with three digits. */
export function written(value: number | null): string {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e6)) {
    const [mantissa, power] = value.toExponential(1).split("e");
    return `${signed(mantissa)}×10${superscript(Number(power))}`;
  }
  return plain(Number(value.toPrecision(3)));
}

/** The value of a curve at a point, or the last one before. */
export function valueAt(line: Curve, at: number): number | null {
  for (let k = Math.min(at, line.length - 1); k >= 0; k--) if (line[k] !== null) return line[k];
  return null;
}

export interface Table {
  readonly times: readonly string[];
  readonly rows: readonly { readonly name: string; readonly values: readonly string[] }[];
}

/** The points of curves that are nearest to evenly spaced times. */
function pointsOf({ time }: Curves): number[] {
  if (!time.length) return [];
  const [first, last] = [time[0], time[time.length - 1]];
  const found = Array.from({ length: TIMES }, (_, k) => {
    const wanted = first + ((last - first) * k) / (TIMES - 1);
    const after = time.findIndex((t) => t >= wanted);
    return after < 0 ? time.length - 1 : after;
  });
  return [...new Set(found)];
}

export function tableOf(curves: Curves): Table {
  const points = pointsOf(curves);
  return {
    times: points.map((k) => written(curves.time[k])),
    rows: curves.lines.map((line, i) => ({
      name: curves.names[i],
      values: points.map((k) => written(valueAt(line, k))),
    })),
  };
}

/** What a chart shows, for who does not see it. */
export function inWords(title: string, { time, lines, names }: Curves): string {
  const from = time[0];
  const last = time.length - 1;
  const range = (k: number): string => {
    const values = lines.map((line) => valueAt(line, k)).filter((v) => v !== null);
    if (!values.length) return "not known";
    if (values.length === 1) return written(values[0]);
    if (lines.length <= 3)
      return lines.map((line, i) => `${names[i]} ${written(valueAt(line, k))}`).join(", ");
    return `from ${written(Math.min(...values))} to ${written(Math.max(...values))}`;
  };
  if (last < 0) return `${title}: no values yet.`;
  return `${title} over time. At t = ${written(from)}: ${range(0)}; at t = ${written(time[last])}: ${range(last)}.`;
}
