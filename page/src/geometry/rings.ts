/** Regions that are not convex: parts with holes. Corners are numbered ring after ring. */

import { area, hull, isConvex, type Point, type Ring } from "./polygon";

export interface Part {
  readonly outer: Ring;
  readonly holes: readonly Ring[];
}

/** All rings: each outer one with the holes of its part after it. */
export const ringsOf = (parts: readonly Part[]): Ring[] =>
  parts.flatMap(({ outer, holes }) => [outer, ...holes]);

/** The convex polygon around all parts, in which the cells lie. */
export const hullOf = (parts: readonly Part[]): Point[] => hull(parts.flatMap((one) => one.outer));

/** Whether a place is inside a ring, by how often a ray to the right crosses it. */
export function inRing(ring: Ring, [x, y]: Point): boolean {
  let inside = false;
  for (let k = 0, j = ring.length - 1; k < ring.length; j = k++) {
    const a = ring[k];
    const b = ring[j];
    if (a[1] > y !== b[1] > y && x < a[0] + ((y - a[1]) / (b[1] - a[1])) * (b[0] - a[0])) inside = !inside;
  }
  return inside;
}

export const covers = (parts: readonly Part[], z: Point): boolean =>
  parts.some(({ outer, holes }) => inRing(outer, z) && !holes.some((hole) => inRing(hole, z)));

/** The parts with each ring put through a function; a part goes with its outer ring, a hole alone. */
function mapRings(parts: readonly Part[], change: (ring: Ring, first: number) => Ring | null): Part[] {
  let first = 0;
  const next = (ring: Ring): Ring | null => {
    const found = change(ring, first);
    first += ring.length;
    return found;
  };
  return parts.flatMap(({ outer, holes }) => {
    const around = next(outer);
    const kept = holes.map(next).filter((hole) => hole !== null);
    return around ? [{ outer: around, holes: kept }] : [];
  });
}

const has = (ring: Ring, first: number, which: number): boolean =>
  which >= first && which < first + ring.length;

export const withCornerAt = (parts: readonly Part[], which: number, z: Point): Part[] =>
  mapRings(parts, (ring, first) =>
    has(ring, first, which) ? ring.map((old, k) => (first + k === which ? z : old)) : ring,
  );

/** One corner less; a ring of three goes as a whole. */
export const withoutCorner = (parts: readonly Part[], which: number): Part[] =>
  mapRings(parts, (ring, first) =>
    has(ring, first, which) ? (ring.length > 3 ? ring.filter((_, k) => first + k !== which) : null) : ring,
  );

/** The parts without the ring of a corner; with an outer ring its holes go, too. */
export const withoutRing = (parts: readonly Part[], which: number): Part[] =>
  mapRings(parts, (ring, first) => (has(ring, first, which) ? null : ring));

/** A corner more, in the middle of the side that begins at `side`. */
export const withSideSplit = (parts: readonly Part[], side: number): Part[] =>
  mapRings(parts, (ring, first) => {
    if (!has(ring, first, side)) return ring;
    const k = side - first;
    const [a, b] = [ring[k], ring[(k + 1) % ring.length]];
    return [...ring.slice(0, k + 1), [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], ...ring.slice(k + 1)];
  });

/** For each corner the number of the next one on its ring. */
export function nextCorners(rings: readonly Ring[]): number[] {
  let first = 0;
  return rings.flatMap((ring) => {
    const found = ring.map((_, k) => first + ((k + 1) % ring.length));
    first += ring.length;
    return found;
  });
}

/** One ring more: a hole of the part in which it begins, or another part if it begins in none. */
export function withRingAdded(parts: readonly Part[], ring: Ring): Part[] {
  const around = parts.findIndex((part) => covers([part], ring[0]));
  if (around < 0) return [...parts, { outer: ring, holes: [] }];
  return parts.map((part, k) => (k === around ? { ...part, holes: [...part.holes, ring] } : part));
}

/** The table of a workspace: of one convex part without holes that of a polygon. */
export function workspaceOf(
  parts: readonly Part[],
  stay = false,
): { kind: string } & Record<string, unknown> {
  const [{ outer, holes }] = parts;
  const ring = area(outer) < 0 ? [...outer].reverse() : outer;
  if (parts.length === 1 && !holes.length && isConvex(ring))
    return { kind: "polygon", vertices: ring.map((z) => [...z]) };
  const plain = (one: Ring): number[][] => one.map((z) => [...z]);
  return {
    kind: "region",
    parts: parts.map((part) => ({ outer: plain(part.outer), holes: part.holes.map(plain) })),
    stay,
  };
}
