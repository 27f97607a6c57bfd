/** Marks of agents: one shape for each set of sensors. */

import type { Pen } from "./pen";

/** Corners on the unit circle, in turns from the top, or nothing for a disc; with the name of each. */
const SHAPES: readonly {
  readonly sign: string;
  readonly name: string;
  readonly corners: readonly number[];
  readonly size: number;
}[] = [
  { sign: "●", name: "disc", corners: [], size: 1 },
  { sign: "■", name: "square", corners: [0.125, 0.375, 0.625, 0.875], size: 1.25 },
  { sign: "▲", name: "triangle", corners: [0, 1 / 3, 2 / 3], size: 1.35 },
  { sign: "◆", name: "diamond", corners: [0, 0.25, 0.5, 0.75], size: 1.3 },
  { sign: "▼", name: "triangle on its tip", corners: [0.5, 5 / 6, 1 / 6], size: 1.35 },
  { sign: "⬟", name: "pentagon", corners: [0, 0.2, 0.4, 0.6, 0.8], size: 1.2 },
];

/** The shape of a group of agents; when shapes are used up they come again. */
export const shapeOf = (group: number): (typeof SHAPES)[number] => SHAPES[group % SHAPES.length];

export function drawMark(pen: Pen, group: number, x: number, y: number, radius: number): void {
  const { corners, size } = shapeOf(group);
  if (!corners.length) return pen.circle(x, y, radius);
  corners.forEach((turns, k) => {
    const px = x + size * radius * Math.sin(2 * Math.PI * turns);
    const py = y - size * radius * Math.cos(2 * Math.PI * turns);
    if (k) pen.line(px, py);
    else pen.move(px, py);
  });
  pen.close();
}
