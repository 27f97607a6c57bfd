/** Axes along the left and lower sides of the workspace, or of the map where that goes on beyond it. */

import type { Pen } from "./pen";
import type { Scene } from "./scene";
import { labelled, ticksOf } from "./ticks";
import { toWorld, toX, toY } from "./view";

const DIGIT = 6.4; // pixels, about
const AWAY = 9; // pixels between the workspace and its axes
const TICK = 4;
const FOOT = 20; // pixels of the map that the numbers below need
const SIDE = 38; // and those on the left

export function drawAxes(
  pen: Pen,
  scene: Scene,
  names: readonly [string, string],
  units: readonly [string, string] = [scene.unit, scene.unit],
): void {
  const { view, size, theme, frame } = scene;
  const [left, bottom] = toWorld(view, size, 0, size.height);
  const [right, top] = toWorld(view, size, size.width, 0);
  const from = { x: Math.max(left, frame.left), y: Math.max(bottom, frame.bottom) };
  const to = { x: Math.min(right, frame.right), y: Math.min(top, frame.top) };
  if (from.x >= to.x || from.y >= to.y) return;
  const base = Math.min(toY(view, size, from.y) + AWAY, size.height - FOOT);
  const side = Math.max(toX(view, size, from.x) - AWAY, SIDE);
  const label = { colour: theme.cell, size: 11, halo: theme.paper } as const;
  const x = (v: number): number => toX(view, size, v);
  const y = (v: number): number => toY(view, size, v);
  const along = ticksOf(from.x, to.x, x(to.x) - x(from.x)).filter((v) => x(v) >= side);
  const up = ticksOf(from.y, to.y, y(from.y) - y(to.y)).filter((v) => y(v) <= base);
  pen.begin();
  pen.move(Math.max(side, x(from.x)), base);
  pen.line(x(to.x), base);
  pen.move(side, Math.min(base, y(from.y)));
  pen.line(side, y(to.y));
  for (const v of along) {
    pen.move(x(v), base);
    pen.line(x(v), base + TICK);
  }
  for (const v of up) {
    pen.move(side, y(v));
    pen.line(side - TICK, y(v));
  }
  pen.stroke({ colour: theme.cell, width: 1, alpha: 0.7 });
  const [across, upward] = [labelled(along, units[0]), labelled(up, units[1])];
  const wide = (text: string): number => (DIGIT * text.length) / 2;
  for (const [k, v] of along.entries())
    if (x(v) + wide(across.labels[k]) < size.width)
      pen.text(across.labels[k], x(v), base + 13, { ...label, align: "center" });
  for (const [k, v] of up.entries())
    if (y(v) > 8) pen.text(upward.labels[k], side - TICK - 4, y(v), { ...label, align: "right" });
  const end = x(to.x) + 8; // beside the axis: its last number is as much needed as its name
  const name = names[0] + across.about;
  const beside = end + DIGIT * name.length < size.width;
  pen.text(name, beside ? end : size.width - 5, beside ? base : base - 10, {
    ...label,
    align: beside ? "left" : "right",
    bold: true,
  });
  const other = names[1] + upward.about;
  const long = wide(other) > side - 4;
  pen.text(other, long ? 4 : side, Math.max(9, y(to.y) - 11), {
    ...label,
    align: long ? "left" : "center",
    bold: true,
  });
}
