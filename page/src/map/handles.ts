/** What can be dragged on the map of a plane, and where keys draw. */

import { widthOf } from "../density/density";
import { nextCorners, ringsOf } from "../geometry/rings";
import { cornersOf } from "../geometry/workspace";
import type { Pen } from "./pen";
import type { Scene } from "./scene";
import { toX, toY } from "./view";

/** A line over some corners; backwards if the last one has a smaller number. */
function line(pen: Pen, scene: Scene, corners: ArrayLike<number>, from: number, to: number): void {
  const step = to < from ? -1 : 1;
  for (let k = from; k !== to; k += step) {
    const x = toX(scene.view, scene.size, corners[2 * k]);
    const y = toY(scene.view, scene.size, corners[2 * k + 1]);
    if (k === from) pen.move(x, y);
    else pen.line(x, y);
  }
}

/** A closed line over some corners. */
export function ring(pen: Pen, scene: Scene, corners: ArrayLike<number>, from: number, to: number): void {
  line(pen, scene, corners, from, to);
  if (to !== from) pen.close();
}

/** One of many thin rings: closing costs a browser a pass over all of the path, so the line goes back instead. */
export function thinRing(pen: Pen, scene: Scene, corners: ArrayLike<number>, from: number, to: number): void {
  line(pen, scene, corners, from, to);
  if (to !== from)
    pen.line(
      toX(scene.view, scene.size, corners[2 * from]),
      toY(scene.view, scene.size, corners[2 * from + 1]),
    );
}

const UNIT = 56; // pixels above its peak at which the handle of weight 1 stands
const DOUBLE = 16; // pixels for twice the weight
const LIFTS = [24, 160] as const; // pixels, the least and the most

/** How far above its peak the handle of a weight stands. */
export const liftOf = (weight: number): number =>
  Math.min(LIFTS[1], Math.max(LIFTS[0], UNIT + DOUBLE * Math.log2(weight)));

/** The weight whose handle stands so far above its peak, in two digits. */
export const weightAt = (lift: number): number =>
  Number((2 ** ((Math.min(LIFTS[1], Math.max(LIFTS[0], lift)) - UNIT) / DOUBLE)).toPrecision(2));

/** The handle of a peak's weight: higher for a larger one. */
function drawWeight(pen: Pen, scene: Scene, x: number, y: number, weight: number, chosen: boolean): void {
  const { theme } = scene;
  const top = y - liftOf(weight);
  pen.begin();
  pen.move(x, y - 7);
  pen.line(x, top);
  pen.stroke({ colour: theme.select, width: 1.4 });
  pen.begin();
  pen.move(x - 6, top);
  pen.line(x, top - 6);
  pen.line(x + 6, top);
  pen.line(x, top + 6);
  pen.close();
  pen.fill({ colour: theme.select });
  if (chosen) pen.text(`weight ${weight}`, x + 10, top, { colour: theme.ink, halo: theme.paper });
}

/** The peaks of the density, to be moved: the middle, the circle where they fall to 0.61, the weight. */
export function drawPeaks(pen: Pen, scene: Scene): void {
  const { view, size, theme } = scene;
  for (const [k, peak] of scene.peaks.entries()) {
    const center = peak.center ?? [0, 0];
    const x = toX(view, size, center[0]);
    const y = toY(view, size, center[1]);
    const wide = widthOf(peak) * view.sx;
    const { fixedWidth = false, fixedWeight = false, along = [] } = scene.paths[k] ?? {};
    pen.begin();
    along.forEach((z, i) =>
      i
        ? pen.line(toX(view, size, z[0]), toY(view, size, z[1]))
        : pen.move(toX(view, size, z[0]), toY(view, size, z[1])),
    );
    pen.stroke({ colour: theme.select, width: 1.6, alpha: 0.8 });
    pen.begin();
    pen.circle(x, y, wide);
    pen.stroke({ colour: theme.select, width: 1.4, dash: [5, 4] });
    const chosen = k === scene.selectedPeak;
    if (!fixedWeight) drawWeight(pen, scene, x, y, peak.weight ?? 1, chosen);
    pen.begin();
    pen.circle(x, y, 7);
    pen.fill({ colour: theme.paper });
    pen.stroke({ colour: theme.select, width: chosen ? 4 : 2 });
    if (fixedWidth) continue;
    pen.begin();
    pen.circle(x + wide, y, 5);
    pen.fill({ colour: theme.select });
  }
}

/** Where keys draw, or what the brush reaches. */
export function drawCursor(pen: Pen, scene: Scene): void {
  if (!scene.cursor) return;
  const { at, radius } = scene.cursor;
  const x = toX(scene.view, scene.size, at[0]);
  const y = toY(scene.view, scene.size, at[1]);
  pen.begin();
  pen.move(x - 6, y);
  pen.line(x + 6, y);
  pen.move(x, y - 6);
  pen.line(x, y + 6);
  if (radius) pen.circle(x, y, radius * scene.view.sx);
  pen.stroke({ colour: scene.theme.select, width: 1.4 });
}

/** The corners of the region, to be moved, and the middles of its sides, to make corners of. */
export function drawCorners(pen: Pen, scene: Scene): void {
  const { view, size, theme } = scene;
  const corners = scene.draft ?? (scene.region.editable ? cornersOf(scene.region) : []);
  if (scene.draft && corners.length > 1) {
    pen.begin();
    ring(pen, scene, corners.flat(), 0, corners.length);
    pen.stroke({ colour: theme.select, width: 1.4, dash: [5, 4] });
  }
  const x = (k: number): number => toX(view, size, corners[k][0]);
  const y = (k: number): number => toY(view, size, corners[k][1]);
  for (let k = 0; k < corners.length; k++) {
    pen.begin();
    pen.circle(x(k), y(k), 7);
    pen.fill({ colour: theme.paper });
    pen.stroke({ colour: theme.select, width: k === scene.selectedCorner ? 4 : 2 });
  }
  if (scene.draft) return;
  pen.begin();
  const following = nextCorners(scene.region.parts ? ringsOf(scene.region.parts) : [corners]);
  for (const [k, next] of following.entries()) {
    if (k >= corners.length) break; // too many to be moved
    pen.circle((x(k) + x(next)) / 2, (y(k) + y(next)) / 2, 4);
  }
  pen.fill({ colour: theme.select });
}
