/** Round numbers along an axis, and how they are written. */

import { ticks } from "d3-array";

const APART = 72; // pixels between two ticks, about

/** Round numbers between two values on an axis of so many pixels. */
export const ticksOf = (from: number, to: number, pixels: number, apart = APART): number[] =>
  ticks(from, to, Math.max(2, pixels / apart));

/** With a true minus sign. */
export const signed = (text: string): string => text.replace(/-/g, "\u2212");

export const superscript = (n: number): string =>
  [...String(n)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("");

/** A number as it stands beside a map. */
export const plain = (v: number): string => signed(String(Number(v.toPrecision(6))));

function power(v: number): string {
  const [mantissa, exponent] = v.toExponential(0).split("e");
  const ten = `10${superscript(Number(exponent))}`;
  return v === 0 ? "0" : mantissa === "1" ? ten : `${signed(mantissa)}×${ten}`;
}

/** All numbers of one axis in one style: decimals, or powers of ten where some would be too long. */
export function labelsOf(values: readonly number[]): string[] {
  const long = values.some((v) => v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5));
  return values.map(long ? power : plain);
}
