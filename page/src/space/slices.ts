/** Slices of a density through a point, each a picture that is transparent where there is little. */

import type { Density } from "../density/density";
import { shade } from "../map/ramp";
import type { Theme } from "../map/theme";
import { sectionOf, type Solid } from "./solid";
import type { Vector } from "./vector";

const PIXELS = 72; // along each side
const EVEN = 0.3; // share of the colours that a density has that is the same everywhere
const STRONG = 0.85; // how much hides what is behind it, at most

export interface Slice {
  readonly ring: readonly Vector[]; // where the plane meets the solid
  readonly image: HTMLCanvasElement;
  readonly origin: Vector; // of the picture
  readonly along: Vector; // from the first column to beyond the last one
  readonly up: Vector; // and over the rows
}

export interface Slices {
  readonly most: number;
  readonly least: number;
  readonly all: readonly Slice[];
}

const UNITS: readonly Vector[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

/** Through a point, across each of the three axes. */
export function slicesOf(solid: Solid, density: Density, through: Vector, theme: Theme): Slices {
  const parts = UNITS.map((normal, axis) => {
    const ring = sectionOf(solid, normal, through[axis]);
    return { axis, ring, ...valuesOn(ring, axis, density) };
  }).filter((part) => part.ring.length > 2);
  const most = Math.max(0, ...parts.map((part) => part.most));
  const least = Math.min(...parts.map((part) => part.least));
  const full = most > least ? most : most / EVEN;
  return {
    most,
    least,
    all: parts.map(({ ring, values, origin, along, up }) => ({
      ring,
      origin,
      along,
      up,
      image: painted(values, full, theme),
    })),
  };
}

/** The density on the rectangle around a ring that lies across an axis. */
function valuesOn(ring: readonly Vector[], axis: number, density: Density) {
  const [j, k] = [(axis + 1) % 3, (axis + 2) % 3];
  const low = (i: number): number => Math.min(...ring.map((z) => z[i]));
  const high = (i: number): number => Math.max(...ring.map((z) => z[i]));
  const origin: [number, number, number] = [0, 0, 0];
  const along: [number, number, number] = [0, 0, 0];
  const up: [number, number, number] = [0, 0, 0];
  origin[axis] = ring[0]?.[axis] ?? 0;
  [origin[j], origin[k]] = [low(j), low(k)];
  along[j] = high(j) - low(j);
  up[k] = high(k) - low(k);
  const values = new Float64Array(PIXELS * PIXELS);
  let [most, least] = [0, Infinity];
  for (let row = 0; row < PIXELS; row++)
    for (let column = 0; column < PIXELS; column++) {
      const z = [...origin];
      z[j] += ((column + 0.5) / PIXELS) * along[j];
      z[k] += ((row + 0.5) / PIXELS) * up[k];
      const value = density(z);
      values[row * PIXELS + column] = value;
      if (value > most) most = value;
      if (value < least) least = value;
    }
  return { values, origin: origin as Vector, along: along as Vector, up: up as Vector, most, least };
}

function painted(values: Float64Array, most: number, theme: Theme): HTMLCanvasElement {
  const image = document.createElement("canvas");
  image.width = image.height = PIXELS;
  const context = image.getContext("2d") as CanvasRenderingContext2D;
  const data = context.createImageData(PIXELS, PIXELS);
  values.forEach((value, k) => {
    const share = most > 0 ? value / most : 0;
    data.data.set([...shade(theme.heat, share), Math.round(255 * STRONG * Math.min(1, 1.5 * share))], 4 * k);
  });
  context.putImageData(data, 0, 0);
  return image;
}
