/** Convex polygons: what an edit may do to one. Corners are counter-clockwise. */

export type Point = readonly [number, number];
export type Ring = readonly Point[];

/** Twice the signed area of a triangle; positive for a left turn. */
export function turn(a: Point, b: Point, c: Point): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

export function area(ring: Ring): number {
  const o = ring[0];
  let sum = 0;
  for (let k = 1; k + 1 < ring.length; k++) sum += turn(o, ring[k], ring[k + 1]);
  return sum / 2;
}

export function counterClockwise(ring: Ring): Point[] {
  return area(ring) < 0 ? [...ring].reverse() : [...ring];
}

/** Whether every corner turns left, and the boundary goes round once. */
export function isConvex(ring: Ring): boolean {
  const n = ring.length;
  if (n < 3) return false;
  let winding = 0;
  for (let k = 0; k < n; k++) {
    const a = ring[k];
    const b = ring[(k + 1) % n];
    const c = ring[(k + 2) % n];
    if (!(turn(a, b, c) > 0)) return false;
    winding += Math.atan2(turn(a, b, c), (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]));
  }
  return winding < 3 * Math.PI;
}

export function contains(ring: Ring, z: Point): boolean {
  return ring.every((a, k) => turn(a, ring[(k + 1) % ring.length], z) >= 0);
}

/** The smallest convex polygon around some points (Andrew's monotone chain). */
export function hull(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (sorted.length < 3) return sorted;
  const half = (list: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const z of list) {
      while (chain.length > 1 && turn(chain[chain.length - 2], chain[chain.length - 1], z) <= 0) chain.pop();
      chain.push(z);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/**
 * The corner moved as far towards `to` as the polygon stays convex; `whole` says whether that is
 * all the way.
 */
export function moveCorner(ring: Ring, which: number, to: Point): { ring: Point[]; whole: boolean } {
  const from = ring[which];
  const at = (share: number): Point[] =>
    ring.map((z, k) =>
      k === which ? [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])] : z,
    );
  if (isConvex(at(1))) return { ring: at(1), whole: true };
  let low = 0;
  let high = 1;
  for (let k = 0; k < 40; k++) {
    const middle = (low + high) / 2;
    if (isConvex(at(middle))) low = middle;
    else high = middle;
  }
  return { ring: low > 0 ? at(0.999 * low) : [...ring], whole: false };
}

/** The side that begins at which corner is the longest. */
export function longestSide(ring: Ring): number {
  const long = ring.map((a, k) =>
    Math.hypot(a[0] - ring[(k + 1) % ring.length][0], a[1] - ring[(k + 1) % ring.length][1]),
  );
  return long.indexOf(Math.max(...long));
}

/** A corner more, in the middle of the side that begins at `side`, a little outside of it. */
export function splitSide(ring: Ring, side: number): Point[] {
  const a = ring[side];
  const b = ring[(side + 1) % ring.length];
  const out = 0.02; // of the side's length: three corners on one line are no corner
  const corner: Point = [(a[0] + b[0]) / 2 + out * (b[1] - a[1]), (a[1] + b[1]) / 2 - out * (b[0] - a[0])];
  return [...ring.slice(0, side + 1), corner, ...ring.slice(side + 1)];
}

/** The point of the polygon nearest to z: z itself where it lies inside. */
export function nearestInside(ring: Ring, z: Point): Point {
  if (contains(ring, z)) return z;
  let best: Point = ring[0];
  let least = Infinity;
  for (const [k, a] of ring.entries()) {
    const b = ring[(k + 1) % ring.length];
    const dx = b[0] - a[0];
    const dy = b[1] - a[1];
    const share = ((z[0] - a[0]) * dx + (z[1] - a[1]) * dy) / (dx * dx + dy * dy);
    const s = Math.min(1, Math.max(0, share));
    const c: Point = [a[0] + s * dx, a[1] + s * dy];
    const far = (c[0] - z[0]) ** 2 + (c[1] - z[1]) ** 2;
    if (far < least) [best, least] = [c, far];
  }
  return best;
}

/** The middle of the bounding box and the share of it that keeps clear of the border. */
export function pulledIn(ring: Ring, z: Point, share = 1e-6): Point {
  const c = middle(ring);
  return [z[0] + share * (c[0] - z[0]), z[1] + share * (c[1] - z[1])];
}

export function middle(ring: Ring): Point {
  const n = ring.length;
  return [ring.reduce((s, z) => s + z[0], 0) / n, ring.reduce((s, z) => s + z[1], 0) / n];
}
