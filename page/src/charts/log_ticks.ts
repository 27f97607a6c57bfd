/** Round numbers along a log axis. */

import { scaleLog } from "d3-scale";

const FEW = 2.5; // decades

/** Powers of ten between two values; 2 and 5 times those, too, where there are few. */
export function logTicksOf(from: number, to: number): number[] {
  const few = Math.log10(to / from) < FEW;
  const digits = few ? "125" : "1";
  const found = scaleLog()
    .domain([from, to])
    .ticks(few ? 20 : 4);
  // Within less than a decade the scale gives 0.45 and 1.05, too.
  const isRound = (v: number): boolean => Math.abs(Number(v.toExponential(0)) / v - 1) < 1e-9;
  return found.filter((v) => isRound(v) && digits.includes(v.toExponential(0)[0]));
}
