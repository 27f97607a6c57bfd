/** How maps are put side by side: in one row of frames that have the shape of the region. */

import { MARGIN, type Bounds, type Size } from "../../map/view";

const GAP = 8; // pixels between frames
const LEAST = 190; // pixels of width; narrower frames are swiped from one to the next
const SWIPED = 360; // pixels of width of those, at most
const TALLEST = 0.6; // of the window: what is below the maps stays in sight
const LEAST_HEIGHT = 220;
const FREE = 0.8; // height over width of a frame whose content fills any shape

export interface Frames {
  readonly width: number; // of a frame
  readonly height: number; // of the map in it
  readonly swiped: boolean; // whether the row is wider than the page
}

/** In whole pixels, so that nothing below lies between two. */
const whole = ({ width, height, swiped }: Frames): Frames => ({
  width: Math.floor(width),
  height: Math.floor(height),
  swiped,
});

/** Frames for several maps; `bounds` is what each shows at equal scales, null if it fits any shape. */
export function framesOf(maps: number, space: Size, bounds: Bounds | null): Frames {
  const share = (space.width - GAP * (maps - 1)) / maps;
  const swiped = share < LEAST;
  const width = Math.max(1, swiped ? Math.min(SWIPED, 0.9 * space.width) : share);
  const tallest = Math.max(LEAST_HEIGHT, TALLEST * space.height);
  if (!bounds) return whole({ width, height: Math.min(tallest, FREE * width), swiped });
  const [beside, above] = [MARGIN.left + MARGIN.right, MARGIN.top + MARGIN.bottom];
  const shape = (bounds.top - bounds.bottom) / (bounds.right - bounds.left || 1) || 1;
  const height = Math.min(tallest, (width - beside) * shape + above);
  return whole({ width: Math.min(width, (height - above) / shape + beside), height, swiped });
}
