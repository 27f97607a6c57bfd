/**
 * Voronoi cells in a convex polygon, by half-planes in the agent's own frame, so that a world far
 * from the origin loses no digits. Agents are visited in rings of bins around the one whose cell it
 * is, until the next ring is too far away to matter; the cost of a cell does not depend on how many
 * agents there are.
 *
 * With sensing radii r, cells are power cells with weights r^2 within the discs of their agents: the
 * half-plane towards an agent at distance d ends at (d^2 + r_p^2 - r_q^2) / (2 d). A cell may be
 * empty, and an agent outside its own.
 */

import { clipToDisc, lengthInDisc, stepOf } from "./disc";
import type { Ring } from "./polygon";

const AGENTS_PER_BIN = 2;

/** Sensing radii, and how large they are drawn. */
export interface Range {
  readonly radii: Float64Array;
  readonly scale: number; // pixels per length
}

/** All cells, one after another: corners of cell p are rows begin[p] to begin[p + 1] - 1. */
export interface Cells {
  readonly begin: Int32Array;
  corners: Float64Array;
}

interface Bins {
  readonly columns: number;
  readonly rows: number;
  readonly size: number;
  readonly left: number;
  readonly bottom: number;
  readonly first: Int32Array;
  readonly members: Int32Array;
}

function binned(positions: Float64Array, agents: number): Bins {
  let left = Infinity;
  let right = -Infinity;
  let bottom = Infinity;
  let top = -Infinity;
  for (let p = 0; p < agents; p++) {
    left = Math.min(left, positions[2 * p]);
    right = Math.max(right, positions[2 * p]);
    bottom = Math.min(bottom, positions[2 * p + 1]);
    top = Math.max(top, positions[2 * p + 1]);
  }
  const width = right - left;
  const height = top - bottom;
  const wanted = Math.max(1, agents / AGENTS_PER_BIN);
  const size = Math.max(Math.sqrt((width * height) / wanted), Math.max(width, height) / wanted) || 1;
  const columns = Math.floor(width / size) + 1;
  const rows = Math.floor(height / size) + 1;
  const first = new Int32Array(columns * rows + 1);
  const bin = new Int32Array(agents);
  for (let p = 0; p < agents; p++) {
    const i = Math.floor((positions[2 * p] - left) / size);
    const j = Math.floor((positions[2 * p + 1] - bottom) / size);
    bin[p] = j * columns + i;
    first[bin[p] + 1]++;
  }
  for (let k = 0; k < columns * rows; k++) first[k + 1] += first[k];
  const free = first.slice();
  const members = new Int32Array(agents);
  for (let p = 0; p < agents; p++) members[free[bin[p]]++] = p;
  return { columns, rows, size, left, bottom, first, members };
}

/** One cell being cut; one memory is used for all. */
class Cutter {
  count = 0;
  reach = 0; // squared distance of the farthest corner, or the squared radius if that is less
  corners: Float64Array;
  private spare: Float64Array;
  private radius = Infinity;
  private farthest = 0; // squared distance of the farthest corner

  /** Every neighbour may add a corner to those of the region. */
  constructor(region: Ring, agents: number) {
    const length = 2 * (region.length + agents + 1);
    this.corners = new Float64Array(length);
    this.spare = new Float64Array(length);
  }

  begin(region: Ring, x: number, y: number, radius = Infinity): void {
    this.radius = radius;
    this.count = region.length;
    for (let k = 0; k < region.length; k++) {
      this.corners[2 * k] = region[k][0] - x;
      this.corners[2 * k + 1] = region[k][1] - y;
    }
    this.measure();
  }

  private measure(): void {
    let most = 0;
    for (let k = 0; k < this.count; k++) {
      const far = this.corners[2 * k] ** 2 + this.corners[2 * k + 1] ** 2;
      if (far > most) most = far;
    }
    this.farthest = most;
    this.reach = Math.min(most, this.radius * this.radius);
  }

  /**
   * Keep what is at least as near to the agent as to another one, (dx, dy) away; `more` is its squared
   * radius less that of the other.
   */
  cut(dx: number, dy: number, more = 0): void {
    const far = dx * dx + dy * dy;
    const half = (far + more) / 2;
    if (half >= 0 && half * half >= far * this.reach) return;
    const { corners, spare } = this;
    let kept = 0;
    let lost = false;
    let px = corners[2 * this.count - 2];
    let py = corners[2 * this.count - 1];
    let before = px * dx + py * dy - half;
    for (let k = 0; k < this.count; k++) {
      const qx = corners[2 * k];
      const qy = corners[2 * k + 1];
      const here = qx * dx + qy * dy - half;
      if (before > 0 !== here > 0) {
        const share = before / (before - here);
        spare[kept++] = px + share * (qx - px);
        spare[kept++] = py + share * (qy - py);
      }
      if (here > 0) lost = true;
      else {
        spare[kept++] = qx;
        spare[kept++] = qy;
      }
      px = qx;
      py = qy;
      before = here;
    }
    if (!lost) return;
    this.take(kept);
  }

  /** The spare array holds the cell. */
  private take(kept: number): void {
    const { corners } = this;
    this.corners = this.spare;
    this.spare = corners;
    this.count = kept / 2;
    this.measure();
  }

  /** Keep what is within the agent's own disc, of so many pixels. */
  round(pixels: number): void {
    if (this.farthest <= this.radius * this.radius) return;
    const step = stepOf(pixels);
    const length = lengthInDisc(this.count, step);
    if (this.spare.length < length) this.spare = new Float64Array(length);
    this.take(clipToDisc(this.corners, this.count, this.radius, step, this.spare));
  }
}

/** The squared radius of p less that of q. */
const moreThan = (radii: Float64Array | undefined, p: number, q: number): number =>
  radii ? (radii[p] - radii[q]) * (radii[p] + radii[q]) : 0;

function cutByBins(
  cutter: Cutter,
  bins: Bins,
  positions: Float64Array,
  p: number,
  radii: Float64Array | undefined,
  largest: number,
): void {
  const x = positions[2 * p];
  const y = positions[2 * p + 1];
  const i = Math.floor((x - bins.left) / bins.size);
  const j = Math.floor((y - bins.bottom) / bins.size);
  const last = Math.max(i, bins.columns - 1 - i, j, bins.rows - 1 - j);
  const less = moreThan(radii, p, largest);
  for (let ring = 0; ring <= last; ring++) {
    const clear = (ring - 1) * bins.size; // all agents in this ring are farther away than that
    const half = (clear * clear + less) / 2;
    if (clear > 0 && half >= 0 && half * half >= clear * clear * cutter.reach) return;
    for (let row = Math.max(0, j - ring); row <= Math.min(bins.rows - 1, j + ring); row++) {
      const edge = row === j - ring || row === j + ring;
      const step = edge || ring === 0 ? 1 : 2 * ring;
      for (let column = i - ring; column <= i + ring; column += step) {
        if (column < 0 || column >= bins.columns) continue;
        const bin = row * bins.columns + column;
        for (let k = bins.first[bin]; k < bins.first[bin + 1]; k++) {
          const q = bins.members[k];
          if (q !== p) cutter.cut(positions[2 * q] - x, positions[2 * q + 1] - y, moreThan(radii, p, q));
        }
      }
    }
  }
}

/** The x, y of some agents, one after another. */
export const placesOf = (positions: Float64Array, members: Int32Array, n = 2): Float64Array =>
  Float64Array.from(
    { length: n * members.length },
    (_, k) => positions[n * members[Math.floor(k / n)] + (k % n)],
  );

/** The range of some agents. */
export const rangeAmong = (range: Range | null, members: Int32Array | null): Range | null =>
  range && members ? { ...range, radii: placesOf(range.radii, members, 1) } : range;

/** The cells that some agents divide a region into; the others have cells without corners. */
export function cellsAmong(
  region: Ring,
  positions: Float64Array,
  members: Int32Array | null,
  range: Range | null = null,
): Cells {
  if (!members) return cellsOf(region, positions, range);
  const { begin, corners } = cellsOf(region, placesOf(positions, members), rangeAmong(range, members));
  const all = new Int32Array(positions.length / 2 + 1);
  for (let p = 0, k = 0; 2 * p < positions.length; p++) {
    if (members[k] === p) k++; // members are in order
    all[p + 1] = begin[k];
  }
  return { begin: all, corners };
}

/** The cells of all agents. Positions are x, y of one agent after another. */
export function cellsOf(region: Ring, positions: Float64Array, range: Range | null = null): Cells {
  const agents = positions.length / 2;
  const begin = new Int32Array(agents + 1);
  let corners = new Float64Array(Math.max(64, agents * 16));
  const cutter = new Cutter(region, agents);
  const bins = binned(positions, agents);
  const radii = range?.radii;
  let largest = 0; // the agent with the largest radius
  for (let p = 1; radii && p < agents; p++) if (radii[p] > radii[largest]) largest = p;
  let used = 0;
  for (let p = 0; p < agents; p++) {
    cutter.begin(region, positions[2 * p], positions[2 * p + 1], radii?.[p]);
    cutByBins(cutter, bins, positions, p, radii, largest);
    if (range) cutter.round(range.radii[p] * range.scale);
    if (2 * (used + cutter.count) > corners.length) {
      const more = new Float64Array(2 * corners.length + 2 * cutter.count);
      more.set(corners);
      corners = more;
    }
    for (let k = 0; k < cutter.count; k++) {
      corners[2 * (used + k)] = cutter.corners[2 * k] + positions[2 * p];
      corners[2 * (used + k) + 1] = cutter.corners[2 * k + 1] + positions[2 * p + 1];
    }
    used += cutter.count;
    begin[p + 1] = used;
  }
  return { begin, corners };
}

/** The cell of one agent, [x, y] after [x, y]. */
export function cellOf(
  region: Ring,
  positions: Float64Array,
  p: number,
  range: Range | null = null,
): Float64Array {
  const cutter = new Cutter(region, positions.length / 2);
  const x = positions[2 * p];
  const y = positions[2 * p + 1];
  cutter.begin(region, x, y, range?.radii[p]);
  for (let q = 0; 2 * q < positions.length; q++) {
    if (q !== p) cutter.cut(positions[2 * q] - x, positions[2 * q + 1] - y, moreThan(range?.radii, p, q));
  }
  if (range) cutter.round(range.radii[p] * range.scale);
  return cutter.corners.slice(0, 2 * cutter.count).map((v, k) => v + (k % 2 ? y : x));
}

/** On a line: where the cells of agents end, in the order of their places. */
export function borders(bounds: readonly [number, number], positions: Float64Array): Float64Array {
  const sorted = Float64Array.from(positions).sort();
  const found = new Float64Array(sorted.length + 1);
  found[0] = bounds[0];
  for (let k = 1; k < sorted.length; k++) found[k] = (sorted[k - 1] + sorted[k]) / 2;
  found[sorted.length] = bounds[1];
  return found;
}

/** On a line: both ends of the cell of one agent; of an empty one, its own place twice. */
export function intervalOf(
  bounds: readonly [number, number],
  positions: Float64Array,
  p: number,
  radii?: Float64Array,
): [number, number] {
  const x = positions[p];
  let left = Math.max(bounds[0], x - (radii?.[p] ?? Infinity));
  let right = Math.min(bounds[1], x + (radii?.[p] ?? Infinity));
  positions.forEach((other, q) => {
    const border = x + (other - x) / 2 + moreThan(radii, p, q) / (2 * (other - x));
    if (other < x) left = Math.max(left, border);
    if (other > x) right = Math.min(right, border);
  });
  return left < right ? [left, right] : [x, x];
}
