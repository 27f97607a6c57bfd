/** How maps are put side by side: in one row of frames that have the shape of the region. */

import { MARGIN, type Bounds, type Size } from "../../map/view";

export const GAP = 8; // pixels between frames
const LEAST = 190; // pixels of width, below which a row is broken
const TALLEST = 0.6; // of the window: what is below the maps stays in sight
const LEAST_HEIGHT = 220;
const FREE = 0.8; // height over width of a frame whose content fills any shape

export interface Frames {
  readonly columns: number;
  readonly width: number; // of a frame
  readonly height: number; // of the map in it
}

/** All in one row; if the frames would be too narrow, in equal rows of fewer. */
function columnsOf(maps: number, width: number): number {
  for (let columns = maps; columns > 1; columns--)
    if (maps % columns === 0 && (width - GAP * (columns - 1)) / columns >= LEAST) return columns;
  return 1;
}

/** Frames for several maps; `bounds` is what each shows at equal scales, null if it fits any shape. */
export function framesOf(maps: number, space: Size, bounds: Bounds | null): Frames {
  const columns = columnsOf(maps, space.width);
  const width = Math.max(1, (space.width - GAP * (columns - 1)) / columns);
  const tallest = Math.max(LEAST_HEIGHT, TALLEST * space.height);
  if (!bounds) return { columns, width, height: Math.min(tallest, FREE * width) };
  const [beside, above] = [MARGIN.left + MARGIN.right, MARGIN.top + MARGIN.bottom];
  const shape = (bounds.top - bounds.bottom) / (bounds.right - bounds.left || 1) || 1;
  const height = Math.min(tallest, (width - beside) * shape + above);
  return { columns, width: Math.min(width, (height - above) / shape + beside), height };
}
