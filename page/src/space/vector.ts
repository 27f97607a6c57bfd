/** Vectors of three components. */

export type Vector = readonly [number, number, number];

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

/** a + share (b - a). */
export const between = (a: Vector, b: Vector, share: number): Vector => [
  a[0] + share * (b[0] - a[0]),
  a[1] + share * (b[1] - a[1]),
  a[2] + share * (b[2] - a[2]),
];

export const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

export const length = (a: Vector): number => Math.hypot(...a);

export const meanOf = (points: readonly Vector[]): Vector => {
  const sum = points.reduce<Vector>((s, z) => [s[0] + z[0], s[1] + z[1], s[2] + z[2]], [0, 0, 0]);
  return [sum[0] / points.length, sum[1] / points.length, sum[2] / points.length];
};

export const vectorAt = (values: ArrayLike<number>, k: number): Vector => [
  values[3 * k],
  values[3 * k + 1],
  values[3 * k + 2],
];
