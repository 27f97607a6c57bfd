/** Shadow: a workspace of three dimensions or more and who is in it, as seen along all axes but two. */

import { blankState, type ArcState } from "../arc/arc";
import { hull, type Point } from "./polygon";
import type { Region } from "./workspace";

/** The two axes that are seen. */
export type Axes = readonly [number, number];

export const PLANE: Axes = [0, 1];

const SIDES = 120; // of a drawn ellipse

export const nameOfAxis = (axis: number, dimension: number): string =>
  dimension <= 3 ? "xyz"[axis] : `x${axis + 1}`;

/** Every choice of two axes. */
export function pairsOf(dimension: number): Axes[] {
  const all = Array.from({ length: dimension }, (_, k) => k);
  return all.flatMap((a) => all.slice(a + 1).map((b): Axes => [a, b]));
}

/** The outline of a workspace; of half-spaces alone, which have no corners here, that of some places in it. */
export function shadowOf(
  table: Record<string, unknown>,
  places: readonly (readonly number[])[],
  axes: Axes,
): Region {
  const seen = (z: readonly number[]): Point => [z[axes[0]], z[axes[1]]];
  const lower = table["lower"] as number[] | undefined;
  const upper = table["upper"] as number[] | undefined;
  const center = table["center"] as number[] | undefined;
  const corners = table["vertices"] as number[][] | undefined;
  const ring =
    lower && upper
      ? boxed(seen(lower), seen(upper))
      : center
        ? rounded(table, center, axes)
        : hull((corners ?? places).map(seen));
  return { dimension: 2, ring, bounds: null, editable: false };
}

const boxed = ([a, b]: Point, [c, d]: Point): Point[] => [
  [a, b],
  [c, b],
  [c, d],
  [a, d],
];

/** Where planes touch a ball or an ellipsoid that are seen head-on in the plane of both axes. */
function rounded(table: Record<string, unknown>, center: readonly number[], [a, b]: Axes): Point[] {
  const radius = (table["radius"] as number | undefined) ?? 1;
  const semi = (table["semi_axes"] as number[] | undefined) ?? center.map(() => radius);
  const own =
    (table["axes"] as number[][] | undefined) ??
    center.map((_, i) => center.map((__, k) => (i === k ? 1 : 0)));
  return Array.from({ length: SIDES }, (_, k) => {
    const [u, v] = [Math.cos((2 * Math.PI * k) / SIDES), Math.sin((2 * Math.PI * k) / SIDES)];
    const along = own.map((axis, i) => semi[i] * (axis[a] * u + axis[b] * v));
    const far = Math.hypot(...along);
    const out = (axis: number): number =>
      center[axis] + along.reduce((sum, s, i) => sum + s * semi[i] * own[i][axis], 0) / far;
    return [out(a), out(b)];
  });
}

/** All agents as seen in the plane of both axes. */
export function flattened(state: ArcState, axes: Axes): ArcState {
  const flat: ArcState = { ...state, ...vectorsOf(state.agents), dimension: 2 };
  for (const name of ["positions", "velocities", "targets"] as const)
    for (let p = 0; p < state.agents; p++)
      for (const i of [0, 1]) flat[name][2 * p + i] = state[name][p * state.dimension + axes[i]];
  return flat;
}

function vectorsOf(agents: number): Pick<ArcState, "positions" | "velocities" | "targets"> {
  const { positions, velocities, targets } = blankState(agents, 2);
  return { positions, velocities, targets };
}
