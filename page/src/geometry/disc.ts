/** Convex polygons cut by a disc about the origin; arcs become chords. */

const TURN = 2 * Math.PI;
const OFF = 0.1; // pixels that a chord may be off its arc
const FINEST = 1e-3; // angle of a chord
const COARSEST = TURN / 24;
const ROUNDING = 1e-9; // of an angle

/** The angle of the chords of a circle with so many pixels of radius. */
export function stepOf(pixels: number): number {
  return Math.min(COARSEST, Math.max(FINEST, 2 * Math.acos(Math.max(0, 1 - OFF / pixels))));
}

/** The numbers that a polygon cut by a disc may need. */
export const lengthInDisc = (count: number, step: number): number =>
  2 * (3 * count + Math.ceil(TURN / step) + 4);

/** The part of a polygon within a disc, written into `out`; returns how many numbers that are. */
export function clipToDisc(
  corners: Float64Array,
  count: number,
  radius: number,
  step: number,
  out: Float64Array,
): number {
  const limit = radius * radius;
  let kept = 0;
  let holds = true; // whether the polygon holds the origin
  let left = -1; // the side along which the boundary has left the disc, and the angle there
  let leftAt = 0;
  let first = -1; // the side along which it has entered before it left, and the angle there
  let firstAt = 0;
  const put = (x: number, y: number): void => {
    out[kept++] = x;
    out[kept++] = y;
  };
  const turn = (angle: number): void => put(radius * Math.cos(angle), radius * Math.sin(angle));
  const arc = (to: number, side: number): void => {
    const sweep = to < leftAt ? to - leftAt + TURN : to - leftAt;
    if (sweep > TURN - ROUNDING && side !== left) return; // a vertex on the circle
    const chords = Math.ceil(sweep / step);
    for (let i = 1; i < chords; i++) turn(leftAt + (i / chords) * sweep);
  };
  for (let k = 0; k < count; k++) {
    const j = (k || count) - 1;
    const ax = corners[2 * j];
    const ay = corners[2 * j + 1];
    const bx = corners[2 * k];
    const by = corners[2 * k + 1];
    const dx = bx - ax;
    const dy = by - ay;
    if (ax * by < ay * bx) holds = false;
    const from = ax * ax + ay * ay <= limit;
    const to = bx * bx + by * by <= limit;
    const far = dx * dx + dy * dy;
    const near = -(ax * dx + ay * dy); // over `far`: the share of the side up to its point nearest to the origin
    const root = near * near - far * (ax * ax + ay * ay - limit);
    const crosses = from !== to || (!from && root > 0 && near > 0 && near < far);
    const half = crosses ? Math.sqrt(Math.max(0, root)) : 0;
    if (crosses && !from) {
      const x = ax + ((near - half) / far) * dx;
      const y = ay + ((near - half) / far) * dy;
      const at = Math.atan2(y, x);
      if (left >= 0) arc(at, k);
      else [first, firstAt] = [k, at];
      put(x, y);
    }
    if (crosses && !to) {
      const x = ax + ((near + half) / far) * dx;
      const y = ay + ((near + half) / far) * dy;
      put(x, y);
      [left, leftAt] = [k, Math.atan2(y, x)];
    } else if (to) put(bx, by);
  }
  if (first >= 0) arc(firstAt, first);
  const chords = kept || !holds ? 0 : Math.ceil(TURN / step);
  for (let i = 0; i < chords; i++) turn((i / chords) * TURN);
  return kept;
}
