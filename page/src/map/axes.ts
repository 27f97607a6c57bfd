/** Numbers along the edges of a map. */

import type { Pen } from "./pen";
import type { Theme } from "./theme";
import { ticks, toWorld, toX, toY, type Size, type View } from "./view";

const DIGIT = 6.2; // pixels, about

export const plain = (v: number): string => String(Number(v.toPrecision(6)));

export function drawAxes(
  pen: Pen,
  view: View,
  size: Size,
  theme: Theme,
  names: readonly [string, string],
): void {
  const [left, bottom] = toWorld(view, size, 0, size.height);
  const [right, top] = toWorld(view, size, size.width, 0);
  const along = ticks(left, right, size.width);
  const up = ticks(bottom, top, size.height);
  const base = size.height - 16;
  pen.begin();
  for (const x of along) tick(pen, toX(view, size, x), size.height, 0, -5);
  for (const y of up) tick(pen, 0, toY(view, size, y), 5, 0);
  pen.stroke({ colour: theme.cell, width: 1 });
  const label = { colour: theme.cell, size: 10.5, halo: theme.paper } as const;
  for (const x of along) {
    const px = toX(view, size, x);
    if (px > 40 && px + (DIGIT * plain(x).length) / 2 < size.width)
      pen.text(plain(x), px, base + 4, { ...label, align: "center" });
  }
  for (const y of up) {
    const py = toY(view, size, y);
    if (py > 19 && py < size.height - 30) pen.text(plain(y), 8, py, label);
  }
  // Off the line of the numbers: the last of them is as much needed as the name.
  pen.text(names[0], size.width - 6, base - 9, { ...label, align: "right" });
  pen.text(names[1], 8, 8, label);
}

function tick(pen: Pen, x: number, y: number, dx: number, dy: number): void {
  pen.move(x, y);
  pen.line(x + dx, y + dy);
}
