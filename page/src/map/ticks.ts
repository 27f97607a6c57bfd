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

/** The numbers of one axis, and what its name must say of them: what is subtracted, and the power of ten. */
export interface Labels {
  readonly labels: readonly string[];
  readonly about: string; // empty if the numbers are what they say
}

const FAR = 1e5; // numbers from here on are long; those that are nearly equal are shown from an offset
const NEAR = 1e-3;
const EQUAL = 0.02; // of the numbers, that an axis spans where it has an offset

const grouped = (v: number): string => String(v).replace(/\B(?=(\d{3})+$)/g, "\u2009");

/** Short labels that tell ticks apart, far from 0 and at any scale; `unit` is that of the axis. */
export function labelled(values: readonly number[], unit = ""): Labels {
  const most = Math.max(...values.map(Math.abs), 0);
  const span = Math.max(...values) - Math.min(...values);
  const step = 10 ** Math.ceil(Math.log10(span || 1));
  const offset = most >= FAR && span < EQUAL * most ? step * Math.floor(Math.min(...values) / step) : 0;
  const rest = values.map((v) => v - offset);
  const size = Math.max(...rest.map(Math.abs), 0);
  const long = size > 0 && (size < NEAR || size >= FAR);
  const exponent = long ? 3 * Math.floor(Math.log10(size) / 3) : 0;
  const scaled = rest.map((v) => plain(v / 10 ** exponent));
  const power = long ? `10${superscript(exponent)}` : "";
  const measured = [power, unit].filter(Boolean).join("\u2009");
  return {
    labels: scaled,
    about: `${offset ? ` ${offset < 0 ? "+" : "\u2212"} ${grouped(Math.abs(offset))}` : ""}${measured ? ` (${measured})` : ""}`,
  };
}
