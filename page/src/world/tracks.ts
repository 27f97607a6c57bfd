/** Parameters that change over time, on keyframes or on a circle: the formulas of `_kernels/common/tracks.py`. */

export interface Keyframes<V = unknown> {
  readonly times: readonly number[];
  readonly values: readonly V[];
  readonly between?: "linear" | "step";
  readonly after?: "hold";
}

export interface Circle {
  readonly center: readonly number[];
  readonly radius: number;
  readonly period: number;
  readonly phase?: number;
}

/** A constant, or what takes its place if it changes over time. */
export type Changing<V> = V | Keyframes<V>;
export type ChangingPoint = Changing<number[]> | Circle;

export const isKeyframes = (value: unknown): value is Keyframes =>
  typeof value === "object" && value !== null && "times" in value;
export const isCircle = (value: unknown): value is Circle =>
  typeof value === "object" && value !== null && "radius" in value;
export const isTrack = (value: unknown): value is Keyframes | Circle => isKeyframes(value) || isCircle(value);

const SERIES = 11; // terms of sine and cosine, on an eighth of a turn

/** Cosine and sine of an angle in turns, exact at multiples of a quarter turn. */
export function cosAndSin(angleInTurns: number): [number, number] {
  const turns = angleInTurns - Math.floor(angleInTurns);
  const quarter = Math.floor(4 * turns);
  const share = 4 * turns - quarter; // of a quarter turn
  const beyond = share > 0.5;
  const angle = 0.5 * Math.PI * (beyond ? 1 - share : share);
  const square = angle * angle;
  let c = 1;
  let s = 1;
  for (let k = SERIES; k > 0; k--) {
    c = 1 - (c * square) / ((2 * k - 1) * (2 * k));
    s = 1 - (s * square) / (2 * k * (2 * k + 1));
  }
  s *= angle;
  if (beyond) [c, s] = [s, c];
  if (quarter === 1) return [-s, c];
  if (quarter === 2) return [-c, -s];
  return quarter === 3 ? [s, -c] : [c, s];
}

/** The same formula for each number of two values of one shape. */
export function each<V>(a: V, b: V, mix: (x: number, y: number) => number): V {
  if (typeof a === "number") return mix(a, b as number) as V;
  return (a as unknown[]).map((one, i) => each(one, (b as unknown[])[i], mix)) as V;
}

/** The last keyframe that is not after t; or the first. */
export function keyframeBefore(times: readonly number[], t: number): number {
  let k = 0;
  while (k + 1 < times.length && times[k + 1] <= t) k++;
  return k;
}

/** The value of a parameter at time t; after the last keyframe, the last value. */
export function valueAt<V>(value: V | Keyframes<V> | Circle, t: number): V {
  if (isCircle(value)) {
    const [c, s] = cosAndSin(t / value.period + (value.phase ?? 0));
    return [value.center[0] + value.radius * c, value.center[1] + value.radius * s] as V;
  }
  if (!isKeyframes(value)) return value;
  const { times, values, between } = value as Keyframes<V>;
  const k = keyframeBefore(times, t);
  if (between === "step" || k + 1 === times.length || t <= times[k]) return values[k];
  const share = (t - times[k]) / (times[k + 1] - times[k]);
  return each(values[k], values[k + 1], (low, high) => low + share * (high - low));
}

const plain = (v: number): number => Number(v.toPrecision(12)); // sums without noise in their last digits

/**
 * A point that is put elsewhere at time t: it has a keyframe there, and goes on with the displacements
 * it had. A circle moves as a whole, and so does a point that does not change.
 */
export function movedAt(point: ChangingPoint, t: number, to: readonly number[]): ChangingPoint {
  if (!isTrack(point)) return [...to];
  const by = each(valueAt<number[]>(point, t), [...to], (from, z) => z - from);
  const along = (z: readonly number[]): number[] => z.map((v, i) => plain(v + by[i]));
  if (isCircle(point)) return { ...point, center: along(point.center) };
  const { times, values } = point as Keyframes<number[]>;
  const kept = times.filter((one) => one < t).length;
  const later = times.findIndex((one) => one > t);
  const rest = later < 0 ? times.length : later;
  return {
    ...point,
    times: [...times.slice(0, kept), t, ...times.slice(rest)],
    values: [...values.slice(0, kept), [...to], ...values.slice(rest).map(along)],
  };
}

/**
 * A parameter from time t on, in a time that begins there. It holds its last value if it must be
 * known for longer than it is.
 */
export function shifted<V>(
  value: V | Keyframes<V> | Circle,
  t: number,
  until: number,
): V | Keyframes<V> | Circle {
  if (isCircle(value)) return { ...value, phase: ((value.phase ?? 0) + t / value.period) % 1 };
  if (!isKeyframes(value)) return value;
  const frames = value as Keyframes<V>;
  const { times, values } = frames;
  const first = times.findIndex((one) => one > t);
  if (first < 0) return valueAt(frames, t);
  const whole = times[0] >= t; // nothing of it is over
  const kept = {
    ...frames,
    times: [...(whole ? [] : [0]), ...times.slice(whole ? 0 : first).map((one) => one - t)],
    values: [...(whole ? [] : [valueAt(frames, t)]), ...values.slice(whole ? 0 : first)],
  };
  return kept.times[kept.times.length - 1] < until ? { ...kept, after: "hold" } : kept;
}
