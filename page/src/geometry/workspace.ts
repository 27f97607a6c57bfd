/** The region of a scenario as something that can be drawn. */

import { isTrack, valueAt } from "../world/tracks";
import {
  contains,
  counterClockwise,
  hull,
  middle,
  nearestInside,
  pulledIn,
  type Point,
  type Ring,
} from "./polygon";
import { covers, hullOf, ringsOf, type Part } from "./rings";

export interface Region {
  readonly dimension: number;
  /** Corners in the plane; curved borders are drawn with many. Empty where nothing can be drawn. */
  readonly ring: Ring;
  /** Both ends on a line. */
  readonly bounds: readonly [number, number] | null;
  /** Whether corners may be moved one by one. */
  readonly editable: boolean;
  /** Of a region that is not convex, whose hull is `ring`: what counts of it. */
  readonly parts?: readonly Part[];
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

const MOST_CORNERS = 400; // that can be distinguished on a map, to be moved

/** A region of several parts and holes. */
export function regionOfParts(parts: readonly Part[]): Region {
  const corners = ringsOf(parts).reduce((sum, ring) => sum + ring.length, 0);
  return { ...planar(hullOf(parts), corners <= MOST_CORNERS), parts };
}

/** The corners that can be moved, ring after ring. */
export const cornersOf = ({ ring, parts }: Region): Ring => (parts ? ringsOf(parts).flat() : ring);

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

/** The region that a scenario's `workspace` table describes, at time t where its vertices move. */
export function regionOf(table: Table, t = 0): Region {
  const kind = table["kind"];
  if (kind === "interval")
    return { ...other(1), bounds: table["bounds"] as [number, number], editable: true };
  if (kind === "polygon")
    return planar(valueAt(table["vertices"] as Point[], t), !isTrack(table["vertices"]));
  if (kind === "box") return box(table["lower"] as number[], table["upper"] as number[]);
  if (kind === "ball" || kind === "ellipsoid") return curved(table);
  if (kind === "polytope") return polytope(table);
  if (kind === "region")
    return regionOfParts(
      (table["parts"] as readonly Part[]).map(({ outer, holes = [] }) => ({ outer, holes })),
    );
  return other(0);
}

function box(lower: number[], upper: number[]): Region {
  if (lower.length === 1) return { ...other(1), bounds: [lower[0], upper[0]], editable: true };
  if (lower.length !== 2) return other(lower.length);
  const [a, b] = lower;
  const [c, d] = upper;
  return planar(
    [
      [a, b],
      [c, b],
      [c, d],
      [a, d],
    ],
    true,
  );
}

function curved(table: Table): Region {
  const center = table["center"] as number[];
  const radius = table["radius"] as number | undefined;
  const semi = (table["semi_axes"] as number[] | undefined) ?? center.map(() => radius ?? 1);
  if (center.length === 1) return { ...other(1), bounds: [center[0] - semi[0], center[0] + semi[0]] };
  if (center.length !== 2) return other(center.length);
  const axes = (table["axes"] as Point[] | undefined) ?? [
    [1, 0],
    [0, 1],
  ];
  return planar(ellipse([center[0], center[1]], [semi[0], semi[1]], axes), false);
}

function polytope(table: Table): Region {
  const vertices = table["vertices"] as number[][] | undefined;
  const halfspaces = table["halfspaces"] as number[][] | undefined;
  const n = vertices?.[0]?.length ?? (halfspaces?.[0]?.length ?? 1) - 1;
  if (n === 1) return { ...other(1), bounds: ends(vertices?.map((v) => v[0]) ?? [], halfspaces ?? []) };
  if (n !== 2) return other(n);
  return planar(vertices ? hull(vertices as unknown as Point[]) : between(halfspaces ?? []), false);
}

/** Both ends of a polytope on a line: of its corners, or of its half-spaces [a, c], a x <= c. */
function ends(corners: readonly number[], halfspaces: readonly (readonly number[])[]): [number, number] {
  const low = halfspaces.filter(([a]) => a < 0).map(([a, c]) => c / a);
  const high = halfspaces.filter(([a]) => a > 0).map(([a, c]) => c / a);
  return corners.length
    ? [Math.min(...corners), Math.max(...corners)]
    : [Math.max(...low), Math.min(...high)];
}

/** Whether a map can be drawn: of workspaces of one and of two dimensions. */
export const isDrawn = (region: Region): boolean => region.bounds !== null || region.ring.length > 2;

/** How wide a region is, for what should not depend on the unit of length. */
export function widthOf(region: Region): number {
  if (region.bounds) return region.bounds[1] - region.bounds[0];
  if (!region.ring.length) return 1;
  const xs = region.ring.map((z) => z[0]);
  return Math.max(...xs) - Math.min(...xs);
}

const BORDER = 1e-3; // share of the way to the middle by which a place outside is put off the border

/** The place itself if it is in the region; otherwise one near it that is. */
export function placeIn(region: Region, z: readonly number[]): number[] {
  if (region.bounds) return [Math.min(region.bounds[1], Math.max(region.bounds[0], z[0]))];
  if (region.ring.length < 3) return [...z];
  const at: Point = [z[0], z[1]];
  return contains(region.ring, at)
    ? [...z]
    : [...pulledIn(region.ring, nearestInside(region.ring, at), BORDER)];
}

const APART = 0.04; // of the width: what is nearer than this to another one is hard to tell from it
const TURN = Math.PI * (3 - Math.sqrt(5)); // the golden angle: no two steps of a spiral lie in line

/** A place near the middle of a region that is clear of some others. */
export function clearOf(others: readonly (readonly number[])[], region: Region): number[] {
  const apart = APART * widthOf(region);
  const near = (z: readonly number[]): boolean =>
    others.some((o) => Math.hypot(...z.map((v, i) => v - o[i])) < apart);
  const { bounds, ring, parts } = region;
  const from: readonly number[] = bounds ? [(bounds[0] + bounds[1]) / 2] : middle(ring);
  for (let k = 0; k < 2000; k++) {
    const far = apart * 0.5 * (bounds ? k : Math.sqrt(k));
    const by = bounds ? [k % 2 ? far : -far] : [far * Math.cos(k * TURN), far * Math.sin(k * TURN)];
    const z = from.map((v, i) => v + by[i]);
    const inside = bounds
      ? z[0] > bounds[0] && z[0] < bounds[1]
      : contains(ring, [z[0], z[1]]) && (!parts || covers(parts, [z[0], z[1]]));
    if (inside && !near(z)) return z;
  }
  return [...from];
}
