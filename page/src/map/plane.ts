/** The map of a plane: region, density, cells, agents, what they hold, aim at and have seen. */

import { cellsAmong, type Cells } from "../geometry/cells";
import { ringsOf } from "../geometry/rings";
import { drawAgents, drawHolds, drawTargets, isThere } from "./agents";
import { drawAxes } from "./axes";
import { drawCorners, drawCursor, drawPeaks, ring, thinRing } from "./handles";
import { BEYOND, isShaded } from "./legend";
import type { Pen } from "./pen";
import type { Scene } from "./scene";
import { evenWidth, medianWidth, sizesOf } from "./sizes";
import { colourOf } from "./theme";
import { toX, toY } from "./view";

const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3]]; // of the cells of a first sensor, a second one, ...

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
  const { view, size, heat } = scene;
  if (scene.region.parts) land(pen, scene);
  region(pen, scene);
  if (heat && scene.layers.heat) {
    const { left, right, bottom, top } = heat.bounds;
    const x = toX(view, size, left);
    const y = toY(view, size, top);
    pen.picture(heat.image, x, y, toX(view, size, right) - x, toY(view, size, bottom) - y);
    pen.within(() => contours(pen, scene, heat.contours));
  }
  drawAxes(pen, scene, scene.shadow?.names ?? ["x", "y"]);
}

function contours(pen: Pen, { view, size, theme }: Scene, pieces: Float64Array): void {
  if (!pieces.length) return;
  pen.begin();
  for (let k = 0; k < pieces.length; k += 4) {
    pen.move(toX(view, size, pieces[k]), toY(view, size, pieces[k + 1]));
    pen.line(toX(view, size, pieces[k + 2]), toY(view, size, pieces[k + 3]));
  }
  pen.stroke({ colour: theme.line, width: 0.7, alpha: 0.4 });
}

/** What lies over the paths. */
export function drawPlane(pen: Pen, scene: Scene): void {
  const { theme, layers, shadow } = scene; // of space, cells overlap in two axes
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
  const width = (diagrams[0] && medianWidth(diagrams[0])) || evenWidth(scene);
  const sizes = sizesOf(scene, width);
  if (scene.running && layers.targets) drawTargets(pen, scene, sizes);
  if (scene.running && layers.holds) drawHolds(pen, scene, sizes);
  drawAgents(pen, scene, sizes);
  if (scene.tool === "peaks" && !shadow) drawPeaks(pen, scene);
  if (scene.tool === "workspace") drawCorners(pen, scene);
  drawCursor(pen, scene);
}

const TINTED = 300; // agents; a tint of more cells tells nothing, and takes long

/** Cells in a tint of their agents; borders of further sensors alone, which would overlap. */
function borders(pen: Pen, scene: Scene, cells: Cells, diagram: number): void {
  const { theme, state } = scene;
  if (isShaded(scene)) beyond(pen, scene, cells);
  const colours = diagram || state.agents > TINTED ? 0 : Math.min(theme.agents.length, state.agents);
  for (let colour = 0; colour < colours; colour++) {
    pen.begin();
    for (let p = colour; p < state.agents; p += colours)
      thinRing(pen, scene, cells.corners, cells.begin[p], cells.begin[p + 1]);
    pen.fill({ colour: colourOf(theme, colour), alpha: theme.tint });
  }
  pen.begin();
  for (let p = 0; p < state.agents; p++)
    thinRing(pen, scene, cells.corners, cells.begin[p], cells.begin[p + 1]);
  pen.stroke({
    colour: theme.line,
    width: state.agents > 300 ? 0.5 : 0.8,
    alpha: 0.7,
    dash: DASHES[diagram % DASHES.length],
  });
}

/** What no agent senses: the region without the cells. */
function beyond(pen: Pen, scene: Scene, { corners, begin }: Cells): void {
  const { ring: hull } = scene.region;
  pen.begin();
  ring(pen, scene, hull.flat(), 0, hull.length);
  for (let p = 0; p < scene.state.agents; p++) thinRing(pen, scene, corners, begin[p + 1] - 1, begin[p] - 1);
  pen.fill({ colour: scene.theme.faint, alpha: BEYOND });
}

function highlight(pen: Pen, scene: Scene, cells: Cells, which: number, diagram: number): void {
  if (which < 0 || which >= scene.state.agents) return;
  pen.begin();
  ring(pen, scene, cells.corners, cells.begin[which], cells.begin[which + 1]);
  const chosen = which === scene.selected;
  pen.stroke({ colour: scene.theme.paper, width: chosen ? 4.5 : 3, alpha: 0.7 });
  pen.stroke({
    colour: scene.theme.select,
    width: chosen ? 2.4 : 1.4,
    dash: DASHES[diagram % DASHES.length],
  });
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

/** The cell at the last sample. */
function glance(pen: Pen, scene: Scene): void {
  const seen = scene.glance;
  if (!seen) return;
  const { theme } = scene;
  pen.begin();
  for (const cell of [seen.cell, ...seen.others]) ring(pen, scene, cell, 0, cell.length / 2);
  pen.stroke({ colour: theme.paper, width: 4.5, alpha: 0.7 });
  pen.stroke({ colour: theme.flash, width: 2 });
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
