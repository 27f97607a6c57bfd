/** View: which part of the world is seen. */

export interface View {
  readonly x: number; // what is in the middle
  readonly y: number;
  readonly sx: number; // pixels per unit
  readonly sy: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Bounds {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** Space for the axes on the left and below, and for handles along the other sides. */
export const MARGIN = { left: 54, right: 24, top: 26, bottom: 40 };

export function fit(bounds: Bounds, size: Size, equal: boolean): View {
  const width = Math.max(40, size.width - MARGIN.left - MARGIN.right);
  const height = Math.max(40, size.height - MARGIN.top - MARGIN.bottom);
  let sx = width / (bounds.right - bounds.left || 1);
  let sy = height / (bounds.top - bounds.bottom || 1);
  if (equal) sx = sy = Math.min(sx, sy);
  return {
    x: (bounds.left + bounds.right) / 2 - (MARGIN.left - MARGIN.right) / 2 / sx,
    y: (bounds.bottom + bounds.top) / 2 - (MARGIN.bottom - MARGIN.top) / 2 / sy,
    sx,
    sy,
  };
}

export const toX = (view: View, size: Size, x: number): number => size.width / 2 + (x - view.x) * view.sx;
export const toY = (view: View, size: Size, y: number): number => size.height / 2 - (y - view.y) * view.sy;

export function toWorld(view: View, size: Size, px: number, py: number): [number, number] {
  return [view.x + (px - size.width / 2) / view.sx, view.y - (py - size.height / 2) / view.sy];
}

/** The view seen `factor` times closer, with the point under (px, py) staying where it is. */
export function zoomed(view: View, size: Size, factor: number, px: number, py: number): View {
  const [x, y] = toWorld(view, size, px, py);
  return {
    x: x + (view.x - x) / factor,
    y: y + (view.y - y) / factor,
    sx: view.sx * factor,
    sy: view.sy * factor,
  };
}

export const panned = (view: View, dx: number, dy: number): View => ({
  ...view,
  x: view.x - dx / view.sx,
  y: view.y + dy / view.sy,
});

const IN_SIGHT = 80; // pixels of the world that stay in view, or all of it if it is smaller

/** The view moved as little as needed for some of the world to be in it. */
export function inSight(view: View, size: Size, bounds: Bounds): View {
  const keep = (middle: number, from: number, to: number, scale: number, pixels: number): number => {
    const some = Math.min(IN_SIGHT, pixels / 2, (to - from) * scale) / scale;
    const half = pixels / 2 / scale;
    return Math.min(to - some + half, Math.max(from + some - half, middle));
  };
  const x = keep(view.x, bounds.left, bounds.right, view.sx, size.width);
  const y = keep(view.y, bounds.bottom, bounds.top, view.sy, size.height);
  return x === view.x && y === view.y ? view : { ...view, x, y };
}
