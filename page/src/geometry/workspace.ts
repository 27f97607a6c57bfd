/** The region of a scenario as something that can be drawn. */

import { counterClockwise, hull, type Point, type Ring } from "./polygon";

export interface Region {
  readonly dimension: number;
  /** Corners in the plane; curved borders are drawn with many. Empty where nothing can be drawn. */
  readonly ring: Ring;
  /** Both ends on a line. */
  readonly bounds: readonly [number, number] | null;
  /** Whether corners may be moved one by one. */
  readonly editable: boolean;
}

const SIDES = 240; // of a drawn ellipse: off by 2e-4 of its radius, less than a pixel

type Table = Record<string, unknown>;

function ellipse(center: Point, semi: Point, axes: readonly Point[]): Point[] {
  return Array.from({ length: SIDES }, (_, k) => {
    const angle = (2 * Math.PI * k) / SIDES;
    const u = semi[0] * Math.cos(angle);
    const v = semi[1] * Math.sin(angle);
    return [center[0] + u * axes[0][0] + v * axes[1][0], center[1] + u * axes[0][1] + v * axes[1][1]];
  });
}

const planar = (ring: readonly Point[], editable: boolean): Region => ({
  dimension: 2,
  ring: counterClockwise(ring),
  bounds: null,
  editable,
});

const other = (dimension: number): Region => ({ dimension, ring: [], bounds: null, editable: false });

/** What half-planes [a, b, c], a x + b y <= c, share: meetings of two that all others allow. */
function between(rows: readonly (readonly number[])[]): Point[] {
  const found: Point[] = [];
  rows.forEach(([a, b, c], k) =>
    rows.slice(k + 1).forEach(([d, e, f]) => {
      const det = a * e - b * d;
      const z: Point = [(c * e - b * f) / det, (a * f - c * d) / det];
      const inside = rows.every(([u, v, w]) => u * z[0] + v * z[1] <= w + 1e-9 * (1 + Math.abs(w)));
      if (det !== 0 && inside) found.push(z);
    }),
  );
  return hull(found);
}

/** The region that a scenario's `workspace` table describes. */
export function regionOf(table: Table): Region {
  const kind = table["kind"];
  if (kind === "interval") return { ...other(1), bounds: table["bounds"] as [number, number], editable: true };
  if (kind === "polygon") return planar(table["vertices"] as Point[], true);
  if (kind === "box") return box(table["lower"] as number[], table["upper"] as number[]);
  if (kind === "ball" || kind === "ellipsoid") return curved(table);
  if (kind === "polytope") return polytope(table);
  return other(0);
}

function box(lower: number[], upper: number[]): Region {
  if (lower.length === 1) return { ...other(1), bounds: [lower[0], upper[0]], editable: true };
  if (lower.length !== 2) return other(lower.length);
  const [a, b] = lower;
  const [c, d] = upper;
  return planar([[a, b], [c, b], [c, d], [a, d]], true);
}

function curved(table: Table): Region {
  const center = table["center"] as number[];
  const radius = table["radius"] as number | undefined;
  const semi = (table["semi_axes"] as number[] | undefined) ?? center.map(() => radius ?? 1);
  if (center.length === 1) return { ...other(1), bounds: [center[0] - semi[0], center[0] + semi[0]] };
  if (center.length !== 2) return other(center.length);
  const axes = (table["axes"] as Point[] | undefined) ?? [[1, 0], [0, 1]];
  return planar(ellipse([center[0], center[1]], [semi[0], semi[1]], axes), false);
}

function polytope(table: Table): Region {
  const vertices = table["vertices"] as number[][] | undefined;
  const walls = table["halfspaces"] as number[][] | undefined;
  const n = vertices?.[0]?.length ?? (walls?.[0]?.length ?? 1) - 1;
  if (n === 1 && vertices) {
    const places = vertices.map((v) => v[0]);
    return { ...other(1), bounds: [Math.min(...places), Math.max(...places)] };
  }
  if (n !== 2) return other(n);
  return planar(vertices ? hull(vertices as unknown as Point[]) : between(walls ?? []), false);
}
