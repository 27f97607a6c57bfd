/** What is under the pointer. */

import { liftOf } from "./handles";
import type { Scene } from "./scene";
import { toX, toY } from "./view";
import { widthOf } from "../density/density";
import { nextCorners, ringsOf } from "../geometry/rings";
import { cornersOf, isDrawn } from "../geometry/workspace";

export type Hit =
  | { kind: "agent"; which: number }
  | { kind: "peak"; which: number }
  | { kind: "width"; which: number }
  | { kind: "weight"; which: number }
  | { kind: "corner"; which: number }
  | { kind: "side"; which: number }
  | null;

export const NEAR = 14; // pixels: a fingertip, halved
export const REACH = 22; // of agents, which move, and beside which there is only ground to press; of all for a finger

/** The nearest of some points within reach, or -1. */
function nearest(
  count: number,
  x: (k: number) => number,
  y: (k: number) => number,
  px: number,
  py: number,
  within = NEAR,
  there: (k: number) => boolean = () => true,
): number {
  let best = -1;
  let least = within * within;
  for (let k = 0; k < count; k++) {
    if (!there(k)) continue;
    const far = (x(k) - px) ** 2 + (y(k) - py) ** 2;
    if (far <= least) [best, least] = [k, far];
  }
  return best;
}

/** What is taken by a press at a point of the screen; `reach` is how near an agent must be, `near` the rest. */
export function hit(scene: Scene, px: number, py: number, reach = REACH, near = NEAR): Hit {
  if (scene.space) {
    const which = scene.space.agentAt(scene, px, py, reach);
    return which < 0 ? null : { kind: "agent", which };
  }
  if (scene.shadow || !isDrawn(scene.region)) return null;
  if (scene.tool === "peaks") return hitPeak(scene, px, py, near);
  if (scene.tool === "workspace") return hitCorner(scene, px, py, near);
  return hitAgent(scene, px, py, reach);
}

function hitAgent(scene: Scene, px: number, py: number, reach: number): Hit {
  const { state, view, size } = scene;
  const n = state.dimension;
  const now = toY(view, size, scene.time);
  const which = nearest(
    state.agents,
    (k) => toX(view, size, state.positions[n * k]),
    (k) => (n === 1 ? now : toY(view, size, state.positions[n * k + 1])),
    px,
    py,
    reach,
    (k) => state.present[k] > 0,
  );
  return which < 0 ? null : { kind: "agent", which };
}

function hitPeak(scene: Scene, px: number, py: number, near: number): Hit {
  const { peaks, view, size } = scene;
  const flat = scene.region.dimension === 2;
  const x = (k: number): number => toX(view, size, peaks[k].center?.[0] ?? 0);
  const y = (k: number): number => toY(view, size, flat ? (peaks[k].center?.[1] ?? 0) : 0);
  const which = nearest(peaks.length, x, y, px, py, near);
  if (which >= 0) return { kind: "peak", which };
  const wide = nearest(
    flat ? peaks.length : 0,
    (k) => x(k) + widthOf(peaks[k]) * view.sx,
    y,
    px,
    py,
    near,
    (k) => !scene.paths[k]?.fixedWidth,
  );
  if (wide >= 0) return { kind: "width", which: wide };
  const heavy = nearest(
    flat ? peaks.length : 0,
    x,
    (k) => y(k) - liftOf(peaks[k].weight ?? 1),
    px,
    py,
    near,
    (k) => !scene.paths[k]?.fixedWeight,
  );
  return heavy < 0 ? null : { kind: "weight", which: heavy };
}

/** On a line the corners are both ends, at the bottom. */
function hitEnd(scene: Scene, ends: readonly [number, number], px: number, py: number, near: number): Hit {
  const floor = toY(scene.view, scene.size, 0);
  const which = nearest(
    2,
    (k) => toX(scene.view, scene.size, ends[k]),
    () => floor,
    px,
    py,
    near,
  );
  return which < 0 ? null : { kind: "corner", which };
}

function hitCorner(scene: Scene, px: number, py: number, near: number): Hit {
  const { region, view, size } = scene;
  if (!region.editable) return null;
  if (region.bounds) return hitEnd(scene, region.bounds, px, py, near);
  const ring = cornersOf(region);
  const following = nextCorners(region.parts ? ringsOf(region.parts) : [ring]);
  const x = (k: number): number => toX(view, size, ring[k][0]);
  const y = (k: number): number => toY(view, size, ring[k][1]);
  const corner = nearest(ring.length, x, y, px, py, near);
  if (corner >= 0) return { kind: "corner", which: corner };
  const side = nearest(
    ring.length,
    (k) => (x(k) + x(following[k])) / 2,
    (k) => (y(k) + y(following[k])) / 2,
    px,
    py,
    near,
  );
  return side < 0 ? null : { kind: "side", which: side };
}
