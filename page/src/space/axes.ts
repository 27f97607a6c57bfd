/** Axes of space along edges of its box that nothing hides: x and y below, z on the left. */

import { nameOfAxis } from "../geometry/shadow";
import type { Pen } from "../map/pen";
import type { Scene } from "../map/scene";
import { labelled, ticksOf } from "../map/ticks";
import { toX, toY } from "../map/view";
import type { Projection } from "./projection";
import type { Vector } from "./vector";

const SHORT = 36; // pixels: an axis that is seen from its end has no numbers
const TICK = 4;
const AWAY = 14; // pixels from an edge to its numbers
const NAME = 30; // and to the name of the axis

export function drawBoxAxes(pen: Pen, scene: Scene, projection: Projection): void {
  for (const axis of [0, 1, 2]) drawAxis(pen, scene, projection, axis);
}

function drawAxis(pen: Pen, scene: Scene, projection: Projection, axis: number): void {
  const { view, size, theme } = scene;
  const { lower, upper } = projection;
  const screen = (z: Vector): [number, number] => {
    const [x, y] = projection.at(z);
    return [toX(view, size, x), toY(view, size, y)];
  };
  const at = edgeOf(projection, axis);
  const [from, to] = [screen(at(lower[axis])), screen(at(upper[axis]))];
  const long = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (long < SHORT) return;
  const [nx, ny] = outward(from, to, screen(projection.middle));
  const label = { colour: theme.cell, size: 11, halo: theme.paper, align: "center" } as const;
  const values = ticksOf(lower[axis], upper[axis], long);
  pen.begin();
  pen.move(...from);
  pen.line(...to);
  for (const v of values) {
    const [x, y] = screen(at(v));
    pen.move(x, y);
    pen.line(x + TICK * nx, y + TICK * ny);
  }
  pen.stroke({ colour: theme.cell, width: 1, alpha: 0.7 });
  const { labels, about } = labelled(values, scene.unit);
  for (const [k, v] of values.entries()) {
    const [x, y] = screen(at(v));
    pen.text(labels[k], x + AWAY * nx, y + AWAY * ny, label);
  }
  const [mx, my] = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  pen.text(nameOfAxis(axis, 3) + about, mx + NAME * nx, my + NAME * ny, { ...label, bold: true });
}

/** Points on the edge along an axis: the lowest one that is seen, for the third axis the leftmost. */
function edgeOf(projection: Projection, axis: number): (v: number) => Vector {
  const { lower, upper } = projection;
  const [j, k] = [(axis + 1) % 3, (axis + 2) % 3];
  const edges = [
    [lower[j], lower[k]],
    [lower[j], upper[k]],
    [upper[j], lower[k]],
    [upper[j], upper[k]],
  ].map(([a, b]) => (v: number): Vector => {
    const z: [number, number, number] = [0, 0, 0];
    [z[axis], z[j], z[k]] = [v, a, b];
    return z;
  });
  const middle = (lower[axis] + upper[axis]) / 2;
  const order = (edge: (v: number) => Vector): number => projection.at(edge(middle))[axis === 2 ? 0 : 1];
  return edges.reduce((best, edge) => (order(edge) < order(best) ? edge : best));
}

/** Across an edge, away from the middle. */
function outward(
  from: readonly [number, number],
  to: readonly [number, number],
  middle: readonly [number, number],
): [number, number] {
  const long = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const [nx, ny] = [(from[1] - to[1]) / long, (to[0] - from[0]) / long];
  const side = nx * (from[0] - middle[0]) + ny * (from[1] - middle[1]);
  return side < 0 ? [-nx, -ny] : [nx, ny];
}
