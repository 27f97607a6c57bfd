/** Densities given by values on a grid: evaluated for the picture, painted with a brush, taken from pictures. */

import type { Point } from "../geometry/polygon";
import type { Bounds } from "../map/view";
import type { Density, DensityTable } from "./density";

/** A grid whose values are in the scenario itself; `inline[0]` is its southernmost row unless `rows` says otherwise. */
export interface RasterTable extends DensityTable {
  kind: "raster";
  inline: number[][];
  origin: number[]; // its lower left corner
  pixel: number | number[]; // width and height of a pixel
  rows?: string;
  interpolation?: string;
  values?: string; // "amount" if they are totals of pixels
}

export const isRaster = (table: DensityTable | undefined): table is RasterTable =>
  table?.kind === "raster" && Array.isArray((table as RasterTable).inline);

const pixelOf = ({ pixel }: RasterTable): [number, number] =>
  typeof pixel === "number" ? [pixel, pixel] : [pixel[0], pixel[1]];

/** The value at a place: of its pixel, or between the middles of four; 0 outside. */
export function rasterDensity(table: RasterTable): Density {
  const { origin } = table;
  const [dx, dy] = pixelOf(table);
  const amounts = table.values === "amount" ? dx * dy : 1;
  const values = (table.rows === "north first" ? [...table.inline].reverse() : table.inline).map((row) =>
    row.map((v) => v / amounts),
  );
  const rows = values.length;
  const columns = values[0]?.length ?? 0;
  const within = (k: number, count: number): number => Math.min(count - 1, Math.max(0, k));
  return (z) => {
    const u = (z[0] - origin[0]) / dx;
    const v = (z[1] - origin[1]) / dy;
    if (u < 0 || v < 0 || u > columns || v > rows) return 0;
    if (table.interpolation !== "bilinear")
      return values[within(Math.floor(v), rows)][within(Math.floor(u), columns)];
    const i = Math.floor(u - 0.5);
    const j = Math.floor(v - 0.5);
    const [s, t] = [u - 0.5 - i, v - 0.5 - j];
    const at = (row: number, column: number): number => values[within(row, rows)][within(column, columns)];
    return (
      (1 - t) * ((1 - s) * at(j, i) + s * at(j, i + 1)) + t * ((1 - s) * at(j + 1, i) + s * at(j + 1, i + 1))
    );
  };
}

const PIXELS = 64; // of a painted grid along its longer side
const MARGIN = 0.005; // of the longer side by which a grid is larger than the workspace

const short = (value: number): number => Number(value.toPrecision(4));

/** A grid over a rectangle and a little more, with the values of a function of the pixel's middle. */
function gridOver(
  bounds: Bounds,
  columns: number,
  rows: number,
  value: (z: Point, row: number, column: number) => number,
): RasterTable {
  const margin = MARGIN * Math.max(bounds.right - bounds.left, bounds.top - bounds.bottom);
  const origin: Point = [bounds.left - margin, bounds.bottom - margin];
  const dx = (bounds.right - bounds.left + 2 * margin) / columns;
  const dy = (bounds.top - bounds.bottom + 2 * margin) / rows;
  const middle = (j: number, i: number): Point => [origin[0] + (i + 0.5) * dx, origin[1] + (j + 0.5) * dy];
  const inline = Array.from({ length: rows }, (_, j) =>
    Array.from({ length: columns }, (__, i) => short(value(middle(j, i), j, i))),
  );
  return {
    kind: "raster",
    inline,
    origin: [...origin],
    pixel: [dx, dy],
    rows: "south first",
    interpolation: "bilinear",
  };
}

/** A density on a grid to be painted: itself if it is one that covers the rectangle. */
export function paintable(
  table: DensityTable | undefined,
  density: Density | null,
  bounds: Bounds,
): RasterTable {
  if (isRaster(table) && isPlain(table) && coversAll(table, bounds)) return table;
  const width = bounds.right - bounds.left;
  const height = bounds.top - bounds.bottom;
  const unit = Math.max(width, height) / PIXELS;
  const count = (length: number): number => Math.max(2, Math.ceil(length / unit - 1e-9));
  return gridOver(bounds, count(width), count(height), (z) => density?.(z) ?? 1);
}

/** Whether rows go up and values are densities; others are taken as they are. */
const isPlain = (table: RasterTable): boolean => table.rows !== "north first" && table.values !== "amount";

function coversAll(table: RasterTable, { left, right, bottom, top }: Bounds): boolean {
  const { origin, inline } = table;
  const [dx, dy] = pixelOf(table);
  return (
    origin[0] <= left &&
    origin[1] <= bottom &&
    origin[0] + inline[0].length * dx >= right &&
    origin[1] + inline.length * dy >= top
  );
}

/** How a brush paints. */
export interface Brush {
  readonly size: number; // its radius as a share of the workspace's width
  readonly strength: number; // how far it takes values to the largest one, or to 0
  readonly erase: boolean;
}

const MORE = 10; // times an even density is what a brush paints on it

/** One stroke of a brush: however often it passes over a pixel, it takes it as far as at its nearest. */
export class Stroke {
  private readonly near: Float64Array; // how near it came to each pixel, from 0 to 1
  private readonly goal: number;
  private last: Point | null = null;

  constructor(
    private readonly before: RasterTable,
    private readonly radius: number,
    private readonly brush: Brush,
  ) {
    const all = before.inline.flat();
    const most = all.reduce((a, b) => Math.max(a, b), 0);
    const least = all.reduce((a, b) => Math.min(a, b), Infinity);
    this.goal = brush.erase ? 0 : most > 1.001 * least ? most : MORE * (most || 1);
    this.near = new Float64Array(all.length);
  }

  /** The grid after the brush has gone on to a place. */
  to(z: Point): RasterTable {
    const from = this.last ?? z;
    const steps = Math.max(1, Math.ceil(Math.hypot(z[0] - from[0], z[1] - from[1]) / (0.3 * this.radius)));
    for (let k = 1; k <= steps; k++)
      this.touch([from[0] + (k / steps) * (z[0] - from[0]), from[1] + (k / steps) * (z[1] - from[1])]);
    this.last = z;
    const { inline } = this.before;
    const share = (j: number, i: number): number => this.brush.strength * this.near[j * inline[0].length + i];
    return {
      ...this.before,
      inline: inline.map((row, j) =>
        row.map((old, i) => (share(j, i) ? short(old + share(j, i) * (this.goal - old)) : old)),
      ),
    };
  }

  private touch(z: Point): void {
    const { inline, origin } = this.before;
    const [dx, dy] = pixelOf(this.before);
    const columns = inline[0].length;
    for (let j = 0; j < inline.length; j++)
      for (let i = 0; i < columns; i++) {
        const far =
          Math.hypot(origin[0] + (i + 0.5) * dx - z[0], origin[1] + (j + 0.5) * dy - z[1]) / this.radius;
        const soft = far < 1 ? (1 - far * far) ** 2 : 0;
        if (soft > this.near[j * columns + i]) this.near[j * columns + i] = soft;
      }
  }
}

export const PICTURE = 128; // pixels that are kept of a picture along its longer side

/** A grid over a rectangle from the pixels of a picture, four bytes each from its top left on: light counts. */
export function rasterOfPicture(
  data: ArrayLike<number>,
  columns: number,
  rows: number,
  bounds: Bounds,
): RasterTable {
  const light = (k: number): number =>
    (0.2126 * data[k] + 0.7152 * data[k + 1] + 0.0722 * data[k + 2]) * (data[k + 3] / 255 / 255);
  return gridOver(bounds, columns, rows, (_, row, column) =>
    light(4 * ((rows - 1 - row) * columns + column)),
  );
}
