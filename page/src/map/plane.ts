/** The map of a plane: region, density, cells, agents, what they hold, aim at and have seen. */

import { cellsAmong, type Cells } from "../geometry/cells";
import { widthOf } from "../density/density";
import { nextCorners, ringsOf } from "../geometry/rings";
import { cornersOf } from "../geometry/workspace";
import { drawAxes } from "./axes";
import { BEYOND, isShaded } from "./legend";
import { drawMark } from "./marks";
import type { Pen } from "./pen";
import type { Scene } from "./scene";
import { colourOf, dotOf } from "./theme";
import { toX, toY } from "./view";

const ARROW = 26; // pixels of the longest held velocity
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3]]; // of the cells of a first sensor, a second one, ...

/** A closed line over some corners; backwards if the last one has a smaller number. */
function ring(pen: Pen, scene: Scene, corners: ArrayLike<number>, from: number, to: number): void {
  const step = to < from ? -1 : 1;
  for (let k = from; k !== to; k += step) {
    const x = toX(scene.view, scene.size, corners[2 * k]);
    const y = toY(scene.view, scene.size, corners[2 * k + 1]);
    if (k === from) pen.move(x, y);
    else pen.line(x, y);
  }
  if (to !== from) pen.close();
}

function region(pen: Pen, scene: Scene): void {
  const { ring: hull, parts } = scene.region;
  pen.begin();
  for (const corners of parts ? ringsOf(parts) : [hull]) ring(pen, scene, corners.flat(), 0, corners.length);
}

const LAND = 0.35; // how much of the shade there is in the hull outside the region

/** What lies in the hull and does not count. */
function land(pen: Pen, scene: Scene): void {
  const { ring: hull } = scene.region;
  region(pen, scene);
  ring(pen, scene, hull.flat(), 0, hull.length);
  pen.fill({ colour: scene.theme.faint, alpha: LAND }, true);
  pen.begin();
  ring(pen, scene, hull.flat(), 0, hull.length);
  pen.stroke({ colour: scene.theme.faint, width: 1, dash: [4, 4] });
}

/** What lies under the paths: density and region. */
export function drawGround(pen: Pen, scene: Scene): void {
  const { theme, view, size, heat } = scene;
  if (scene.region.parts) land(pen, scene);
  region(pen, scene);
  if (heat && scene.layers.heat) {
    const { left, right, bottom, top } = heat.bounds;
    const x = toX(view, size, left);
    const y = toY(view, size, top);
    pen.picture(heat.image, x, y, toX(view, size, right) - x, toY(view, size, bottom) - y);
  }
  drawAxes(pen, view, size, theme, scene.shadow?.names ?? ["x", "y"]);
}

/** What lies over the paths. */
export function drawPlane(pen: Pen, scene: Scene): void {
  const { theme, layers } = scene;
  const { shadow } = scene; // cells of space have none that could be told apart
  const wanted = !shadow && (layers.cells || scene.selected >= 0);
  const range = scene.radii && { radii: scene.radii, scale: scene.view.sx };
  const diagrams = wanted
    ? scene.diagrams.map((members) => cellsAmong(scene.region.ring, scene.state.positions, members, range))
    : [];
  const divided = (): void => {
    if (layers.cells) diagrams.forEach((cells, k) => borders(pen, scene, cells, k));
    for (const which of new Set([scene.hovered, scene.selected]))
      diagrams.forEach((cells, k) => highlight(pen, scene, cells, which, k));
    glance(pen, scene);
  };
  region(pen, scene);
  if (scene.region.parts) pen.within(divided);
  else divided();
  if (wanted) disc(pen, scene);
  target(pen, scene);
  region(pen, scene);
  pen.stroke({ colour: theme.border, width: 1.6 });
  if (scene.running && layers.targets) targets(pen, scene);
  if (scene.running && layers.holds) holds(pen, scene);
  agents(pen, scene);
  if (scene.tool === "peaks" && !shadow) peaks(pen, scene);
  if (scene.tool === "workspace") handles(pen, scene);
  cursor(pen, scene);
}

function borders(pen: Pen, scene: Scene, cells: Cells, diagram: number): void {
  if (isShaded(scene)) beyond(pen, scene, cells);
  pen.begin();
  for (let p = 0; p < scene.state.agents; p++)
    ring(pen, scene, cells.corners, cells.begin[p], cells.begin[p + 1]);
  pen.stroke({
    colour: scene.theme.cell,
    width: scene.state.agents > 300 ? 0.5 : 0.8,
    alpha: 0.8,
    dash: DASHES[diagram % DASHES.length],
  });
}

/** What no agent senses: the region without the cells. */
function beyond(pen: Pen, scene: Scene, { corners, begin }: Cells): void {
  const { ring: hull } = scene.region;
  pen.begin();
  ring(pen, scene, hull.flat(), 0, hull.length);
  for (let p = 0; p < scene.state.agents; p++) ring(pen, scene, corners, begin[p + 1] - 1, begin[p] - 1);
  pen.fill({ colour: scene.theme.faint, alpha: BEYOND });
}

function highlight(pen: Pen, scene: Scene, cells: Cells, which: number, diagram: number): void {
  if (which < 0 || which >= scene.state.agents) return;
  pen.begin();
  ring(pen, scene, cells.corners, cells.begin[which], cells.begin[which + 1]);
  pen.fill({ colour: scene.theme.select, alpha: which === scene.selected ? 0.16 : 0.08 });
  pen.stroke({ colour: scene.theme.select, width: 1.4, dash: DASHES[diagram % DASHES.length] });
}

/** How far the chosen agent senses. */
function disc(pen: Pen, scene: Scene): void {
  const { state, view, size, selected } = scene;
  if (!scene.radii || !isThere(scene, selected)) return;
  pen.begin();
  pen.circle(
    toX(view, size, state.positions[2 * selected]),
    toY(view, size, state.positions[2 * selected + 1]),
    scene.radii[selected] * view.sx,
  );
  pen.stroke({ colour: scene.theme.select, width: 1, dash: [2, 4] });
}

/** The cell that was seen at the last look. */
function glance(pen: Pen, scene: Scene): void {
  const seen = scene.glance;
  if (!seen) return;
  const { theme } = scene;
  pen.begin();
  for (const cell of [seen.cell, ...seen.others]) ring(pen, scene, cell, 0, cell.length / 2);
  pen.fill({ colour: theme.flash, alpha: 0.13 });
  pen.stroke({ colour: theme.flash, width: 1.8 });
}

/** The centroid of that cell, and the way to it. */
function target(pen: Pen, scene: Scene): void {
  const seen = scene.glance;
  if (!seen) return;
  const { theme, view, size } = scene;
  const x = toX(view, size, seen.centroid[0]);
  const y = toY(view, size, seen.centroid[1]);
  pen.begin();
  pen.move(toX(view, size, seen.place[0]), toY(view, size, seen.place[1]));
  pen.line(x, y);
  pen.stroke({ colour: theme.flash, width: 1.2, dash: [3, 3] });
  pen.begin();
  pen.move(x - 5, y);
  pen.line(x + 5, y);
  pen.move(x, y - 5);
  pen.line(x, y + 5);
  pen.stroke({ colour: theme.flash, width: 2 });
}

function targets(pen: Pen, scene: Scene): void {
  const { state, view, size, theme } = scene;
  const arm = state.agents > 200 ? 1.5 : 3;
  pen.begin();
  for (let p = 0; p < state.agents; p++) {
    if (!state.present[p]) continue;
    const x = toX(view, size, state.targets[2 * p]);
    const y = toY(view, size, state.targets[2 * p + 1]);
    pen.move(x - arm, y - arm);
    pen.line(x + arm, y + arm);
    pen.move(x - arm, y + arm);
    pen.line(x + arm, y - arm);
  }
  pen.stroke({ colour: theme.ink, width: 1, alpha: 0.75 });
}

function fastest(velocities: Float64Array): number {
  let most = 0;
  for (let k = 0; k < velocities.length; k += 2)
    most = Math.max(most, Math.hypot(velocities[k], velocities[k + 1]));
  return most;
}

/** Held velocities as arrows; the longest possible one has a fixed length on the screen. */
function holds(pen: Pen, scene: Scene): void {
  const { state, view, size, theme } = scene;
  const limit = scene.speed > 0 ? scene.speed : fastest(state.velocities);
  if (!(limit > 0)) return;
  const scale = (state.agents > 200 ? 0.5 : 1) * (ARROW / limit);
  pen.begin();
  for (let p = 0; p < state.agents; p++) {
    const dx = scale * state.velocities[2 * p];
    const dy = -scale * state.velocities[2 * p + 1];
    const length = Math.hypot(dx, dy);
    if (length < 1 || !state.present[p]) continue;
    const x = toX(view, size, state.positions[2 * p]);
    const y = toY(view, size, state.positions[2 * p + 1]);
    const head = Math.min(5, 0.4 * length) / length;
    pen.move(x, y);
    pen.line(x + dx, y + dy);
    pen.move(x + dx - head * (dx - 0.6 * dy), y + dy - head * (dy + 0.6 * dx));
    pen.line(x + dx, y + dy);
    pen.line(x + dx - head * (dx + 0.6 * dy), y + dy - head * (dy - 0.6 * dx));
  }
  pen.stroke({ colour: theme.ink, width: 1.2 });
}

function agents(pen: Pen, scene: Scene): void {
  const { state, view, size, theme } = scene;
  const radius = dotOf(state.agents);
  const px = (p: number): number => toX(view, size, state.positions[2 * p]);
  const py = (p: number): number => toY(view, size, state.positions[2 * p + 1]);
  if (scene.running && scene.fresh > 0) {
    pen.begin();
    for (let p = 0; p < state.agents; p++) if (isFresh(scene, p)) pen.circle(px(p), py(p), radius + 3);
    pen.stroke({ colour: theme.flash, width: 1.6 });
  }
  const colours = Math.min(theme.agents.length, state.agents);
  for (let colour = 0; colour < colours; colour++) {
    pen.begin();
    for (let p = colour; p < state.agents; p += colours)
      if (state.present[p]) drawMark(pen, scene.marks?.[p] ?? 0, px(p), py(p), radius);
    pen.fill({ colour: colourOf(theme, colour) });
    if (radius > 3) pen.stroke({ colour: theme.paper, width: 1.2 });
  }
  if (isThere(scene, scene.selected)) {
    pen.begin();
    pen.circle(px(scene.selected), py(scene.selected), radius + 5);
    pen.stroke({ colour: theme.select, width: 2 });
  }
  if (isThere(scene, scene.latest)) {
    pen.begin();
    pen.circle(px(scene.latest), py(scene.latest), radius + 3);
    pen.stroke({ colour: theme.flash, width: 1.6 });
  }
  for (const p of named(scene, 60)) {
    const bold = p === scene.latest;
    pen.text(String(p), px(p) + radius + 3, py(p) - radius - 2, {
      colour: theme.ink,
      size: bold ? 13 : 10.5,
      halo: theme.paper,
    });
  }
}

/** Whether there is an agent of this number, and it is present. */
export const isThere = ({ state }: Scene, p: number): boolean =>
  p >= 0 && p < state.agents && state.present[p] > 0;

/** The agents that have their number beside them: all, if wanted, else those that are spoken of. */
export function named(scene: Scene, most: number): number[] {
  const { layers, state, latest, selected, hovered } = scene;
  const all = layers.names && state.agents <= most;
  const wanted = all
    ? Array.from({ length: state.agents }, (_, p) => p)
    : [...new Set([latest, selected, hovered])];
  return wanted.filter((p) => isThere(scene, p));
}

/** Whether an agent looked just now: a moment ago on the screen, and before its wait is well on. */
export function isFresh(scene: Scene, p: number): boolean {
  const { state } = scene;
  const wait = state.nextAt[p] - state.since[p];
  return (
    state.rows[p] >= 0 &&
    state.present[p] > 0 &&
    state.time - state.since[p] <= Math.min(scene.fresh, 0.25 * wait)
  );
}

/** The hills of the density, to be moved: the middle, and the circle where they fall to 0.61. */
function peaks(pen: Pen, scene: Scene): void {
  const { view, size, theme } = scene;
  for (const [k, peak] of scene.peaks.entries()) {
    const center = peak.center ?? [0, 0];
    const x = toX(view, size, center[0]);
    const y = toY(view, size, center[1]);
    const wide = widthOf(peak) * view.sx;
    const { stiff = false, along = [] } = scene.paths[k] ?? {};
    pen.begin();
    along.forEach((z, i) =>
      i
        ? pen.line(toX(view, size, z[0]), toY(view, size, z[1]))
        : pen.move(toX(view, size, z[0]), toY(view, size, z[1])),
    );
    pen.stroke({ colour: theme.limit, width: 1.6, alpha: 0.8 });
    pen.begin();
    pen.circle(x, y, wide);
    pen.stroke({ colour: theme.limit, width: 1.4, dash: [5, 4] });
    pen.begin();
    pen.circle(x, y, 7);
    pen.fill({ colour: theme.paper });
    pen.stroke({ colour: theme.limit, width: k === scene.selectedPeak ? 4 : 2 });
    if (stiff) continue;
    pen.begin();
    pen.circle(x + wide, y, 5);
    pen.fill({ colour: theme.limit });
  }
}

/** Where keys draw, or what the brush reaches. */
function cursor(pen: Pen, scene: Scene): void {
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
  pen.stroke({ colour: scene.theme.limit, width: 1.4 });
}

/** The corners of the region, to be moved, and the middles of its sides, to make corners of. */
function handles(pen: Pen, scene: Scene): void {
  const { view, size, theme } = scene;
  const corners = scene.draft ?? (scene.region.editable ? cornersOf(scene.region) : []);
  if (scene.draft && corners.length > 1) {
    pen.begin();
    ring(pen, scene, corners.flat(), 0, corners.length);
    pen.stroke({ colour: theme.limit, width: 1.4, dash: [5, 4] });
  }
  const x = (k: number): number => toX(view, size, corners[k][0]);
  const y = (k: number): number => toY(view, size, corners[k][1]);
  for (let k = 0; k < corners.length; k++) {
    pen.begin();
    pen.circle(x(k), y(k), 7);
    pen.fill({ colour: theme.paper });
    pen.stroke({ colour: theme.limit, width: k === scene.selectedCorner ? 4 : 2 });
  }
  if (scene.draft) return;
  pen.begin();
  const following = nextCorners(scene.region.parts ? ringsOf(scene.region.parts) : [corners]);
  for (const [k, next] of following.entries()) {
    if (k >= corners.length) break; // too many to be moved
    pen.circle((x(k) + x(next)) / 2, (y(k) + y(next)) / 2, 4);
  }
  pen.fill({ colour: theme.limit });
}
