/** Sizes of marks on a map, from the width that cells have on the screen. */

import type { Cells } from "../geometry/cells";
import type { Scene } from "./scene";

export interface Sizes {
  readonly dot: number; // radius of an agent
  readonly ripple: number; // how far the ring of a sample goes beyond that
  readonly arm: number; // half of a cross
}

const between = (least: number, value: number, most: number): number =>
  Math.min(most, Math.max(least, value));

const STEPS = 8; // sizes between a width and twice that, so that marks do not tremble

/** How much larger marks may be on a large map. */
const growth = ({ size }: Scene): number => between(1, Math.min(size.width, size.height) / 620, 1.8);

/** For cells of a width in units of the world. */
export function sizesOf(scene: Scene, cellWidth: number): Sizes {
  const width = cellWidth * scene.view.sx;
  const { agents } = scene.state;
  const large = growth(scene);
  const w = 2 ** (Math.round(STEPS * Math.log2(Math.max(width, 1))) / STEPS);
  const dot = between(between(1.4, 31 / Math.sqrt(agents || 1), 4), 0.13 * w, 6.5 * large);
  return { dot, ripple: between(2.5, 0.2 * w, 13 * large), arm: between(1.2, 0.06 * w, 3.5 * large) };
}

function areaOf(ring: ArrayLike<number>, from: number, to: number): number {
  let twice = 0;
  for (let k = from; k < to; k++) {
    const next = k + 1 < to ? k + 1 : from;
    twice += ring[2 * k] * ring[2 * next + 1] - ring[2 * next] * ring[2 * k + 1];
  }
  return Math.abs(twice) / 2;
}

/** The median width of the cells that are there, in units of the world: that of a square of their area. */
export function medianWidth({ corners, begin }: Cells): number {
  const areas = Array.from({ length: begin.length - 1 }, (_, p) => areaOf(corners, begin[p], begin[p + 1]));
  const there = Float64Array.from(areas.filter((area) => area > 0)).sort();
  return there.length ? Math.sqrt(there[there.length >> 1]) : 0;
}

/** The width of a cell if all had the same, in units of the world: it does not change over time. */
export function evenWidth({ region, state, frame }: Scene): number {
  if (region.bounds) return (region.bounds[1] - region.bounds[0]) / (state.agents || 1);
  const area = areaOf(region.ring.flat(), 0, region.ring.length);
  const whole = area || (frame.right - frame.left) * (frame.top - frame.bottom);
  return Math.sqrt(whole / (state.agents || 1));
}

/** Pixels of the longest arrow, the same on all maps of one size and at all times. */
export const arrowOf = (scene: Scene): number =>
  between(8, 0.4 * evenWidth(scene) * scene.view.sx, 30 * growth(scene));
