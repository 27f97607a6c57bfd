/**
 * The density as a picture, kept until the density, the region or the colours change. Where the
 * density changes over time, all pictures of it have one scale.
 */

import type { Density } from "../density/density";
import { contoursOf } from "./contours";
import { shade } from "./ramp";
import type { Theme } from "./theme";
import type { Bounds } from "./view";

const PIXELS = 192; // along the longer side: smooth densities need no more

const EVEN = 0.25; // share of the colours that a density has that is the same everywhere

const LEVELS = [0.2, 0.4, 0.6, 0.8]; // shares of the largest density that have a contour
const NOISY = 20000; // numbers: contours of a picture in this many pieces tell nothing

export interface Heat {
  readonly image: HTMLCanvasElement;
  readonly bounds: Bounds;
  readonly most: number;
  readonly least: number;
  /** Straight pieces x0, y0, x1, y1 of contours, one after another. */
  readonly contours: Float64Array;
}

const COARSE = 24; // places along each side at which the largest density is searched

/** About the largest of some densities in a rectangle. */
export function largestOf(densities: readonly Density[], { left, right, bottom, top }: Bounds): number {
  const at = (from: number, to: number, k: number): number => from + ((k + 0.5) * (to - from)) / COARSE;
  let most = 0;
  for (const density of densities)
    for (let i = 0; i < COARSE; i++)
      for (let j = 0; j < COARSE; j++)
        most = Math.max(most, density([at(left, right, i), at(bottom, top, j)]));
  return most;
}

/** `scale` is the value that has the last colour, if it is more than the largest of now. */
export function paintHeat(density: Density, bounds: Bounds, theme: Theme, scale = 0): Heat {
  const width = bounds.right - bounds.left;
  const height = bounds.top - bounds.bottom;
  const unit = Math.max(width, height) / PIXELS;
  const columns = Math.max(2, Math.round(width / unit));
  const rows = Math.max(2, Math.round(height / unit));
  const values = new Float64Array(columns * rows);
  const z = [0, 0];
  let most = 0;
  let least = Infinity;
  for (let j = 0; j < rows; j++) {
    z[1] = bounds.top - ((j + 0.5) * height) / rows;
    for (let i = 0; i < columns; i++) {
      z[0] = bounds.left + ((i + 0.5) * width) / columns;
      const value = density(z);
      values[j * columns + i] = value;
      if (value > most) most = value;
      if (value < least) least = value;
    }
  }
  const full = most > least || scale > most ? Math.max(most, scale) : most / EVEN;
  const image = painted(values, columns, rows, full, theme);
  const contours = most > least ? contoursIn(values, columns, rows, full, bounds) : new Float64Array(0);
  return { image, bounds, most: Math.max(most, scale), least, contours };
}

/** Contours in coordinates of the world; values stand in the middles of the pixels. */
function contoursIn(
  values: Float64Array,
  columns: number,
  rows: number,
  full: number,
  { left, right, bottom, top }: Bounds,
): Float64Array {
  const levels = LEVELS.map((share) => share * full);
  const found = contoursOf(values, columns, rows, levels);
  if (found.length > NOISY) return new Float64Array(0);
  return found.map((v, k) =>
    k % 2 ? top - ((v + 0.5) * (top - bottom)) / rows : left + ((v + 0.5) * (right - left)) / columns,
  );
}

function painted(
  values: Float64Array,
  columns: number,
  rows: number,
  most: number,
  theme: Theme,
): HTMLCanvasElement {
  const image = document.createElement("canvas");
  image.width = columns;
  image.height = rows;
  const context = image.getContext("2d") as CanvasRenderingContext2D;
  const data = context.createImageData(columns, rows);
  for (let k = 0; k < values.length; k++) {
    const [r, g, b] = shade(theme.heat, values[k] / (most || 1));
    data.data.set([r, g, b, 255], 4 * k);
  }
  context.putImageData(data, 0, 0);
  return image;
}
