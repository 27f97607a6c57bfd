/** Agents in space: those behind first, smaller and paler. */

import { ageOf, arrow, isThere, named } from "../map/agents";
import type { Pen } from "../map/pen";
import type { Scene } from "../map/scene";
import { arrowOf, sizesOf } from "../map/sizes";
import { colourOf } from "../map/theme";
import { toX, toY } from "../map/view";
import type { Projection } from "./projection";
import { vectorAt, type Vector } from "./vector";

interface Spot {
  readonly p: number;
  readonly x: number;
  readonly y: number;
  readonly near: number; // from 0 to 1
  readonly dot: number; // radius
}

function spotsOf(scene: Scene, projection: Projection): Spot[] {
  const { state, view, size } = scene;
  const { dot } = sizesOf(scene, projection.radius / Math.cbrt(Math.max(1, state.agents)));
  const found: Spot[] = [];
  for (let p = 0; p < state.agents; p++) {
    if (!state.present[p]) continue;
    const z = vectorAt(state.positions, p);
    const [x, y] = projection.at(z);
    const near = projection.nearness(z);
    found.push({ p, x: toX(view, size, x), y: toY(view, size, y), near, dot: dot * (0.65 + 0.7 * near) });
  }
  return found.sort((a, b) => a.near - b.near);
}

/** The agent that is seen at a point of the screen, or -1. */
export function nearestAgent(
  scene: Scene,
  projection: Projection,
  px: number,
  py: number,
  reach: number,
): number {
  let [best, least] = [-1, reach];
  for (const { p, x, y } of spotsOf(scene, projection)) {
    const far = Math.hypot(x - px, y - py);
    if (far <= least) [best, least] = [p, far];
  }
  return best;
}

export function drawAgents(pen: Pen, scene: Scene, projection: Projection): void {
  const { theme, layers, running } = scene;
  const spots = spotsOf(scene, projection);
  stem(pen, scene, projection, spots);
  for (const spot of spots) {
    if (running && layers.targets) target(pen, scene, projection, spot);
    if (running && layers.holds) hold(pen, scene, projection, spot);
    const { p, x, y, dot, near } = spot;
    const age = running && scene.fresh > 0 ? ageOf(scene, p) : 1;
    pen.begin();
    pen.circle(x, y, dot + 2 + 6 * age);
    if (age < 1) pen.stroke({ colour: theme.flash, width: 1.8, alpha: 1 - age });
    pen.begin();
    pen.circle(x, y, dot);
    pen.stroke({ colour: theme.paper, width: 2.2 });
    pen.fill({ colour: theme.paper });
    pen.fill({ colour: colourOf(theme, p), alpha: 0.45 + 0.55 * near });
  }
  for (const [p, colour, away] of [
    [scene.selected, theme.select, 5],
    [scene.latest, theme.flash, 3],
  ] as const) {
    const spot = spots.find((one) => one.p === p);
    if (!spot) continue;
    pen.begin();
    pen.circle(spot.x, spot.y, spot.dot + away);
    pen.stroke({ colour, width: 2 });
  }
  const names = new Set(named(scene, 60));
  for (const { p, x, y, dot } of spots)
    if (names.has(p))
      pen.text(String(p), x + dot + 3, y - dot - 2, { colour: theme.ink, size: 11, halo: theme.paper });
}

const project = ({ view, size }: Scene, projection: Projection, z: Vector): [number, number] => {
  const [x, y] = projection.at(z);
  return [toX(view, size, x), toY(view, size, y)];
};

/** From the chosen agent down to the floor, which tells how deep it is in the picture. */
function stem(pen: Pen, scene: Scene, projection: Projection, spots: readonly Spot[]): void {
  const { hovered, selected, state, theme } = scene;
  const which = isThere(scene, hovered) ? hovered : selected;
  const spot = spots.find((one) => one.p === which);
  if (!spot) return;
  const [x, y] = vectorAt(state.positions, which);
  const foot = project(scene, projection, [x, y, projection.lower[2]]);
  pen.begin();
  pen.move(spot.x, spot.y);
  pen.line(...foot);
  pen.circle(foot[0], foot[1], 2);
  pen.stroke({ colour: theme.select, width: 1, dash: [2, 3] });
}

function target(pen: Pen, scene: Scene, projection: Projection, { p, x, y, near }: Spot): void {
  const [tx, ty] = project(scene, projection, vectorAt(scene.state.targets, p));
  const arm = 3;
  if (Math.hypot(tx - x, ty - y) > 8) {
    pen.begin();
    pen.move(x, y);
    pen.line(tx, ty);
    pen.stroke({ colour: colourOf(scene.theme, p), width: 1, alpha: 0.4 + 0.4 * near, dash: [2, 2.5] });
  }
  pen.begin();
  pen.move(tx - arm, ty - arm);
  pen.line(tx + arm, ty + arm);
  pen.move(tx - arm, ty + arm);
  pen.line(tx + arm, ty - arm);
  pen.stroke({ colour: scene.theme.ink, width: 1.1, alpha: 0.4 + 0.5 * near });
}

/** The held velocity as it is seen; one scale for all maps and times. */
function hold(pen: Pen, scene: Scene, projection: Projection, { p, x, y, dot, near }: Spot): void {
  if (!(scene.speed > 0)) return;
  const [vx, vy] = projection.along(vectorAt(scene.state.velocities, p));
  const scale = arrowOf(scene) / scene.speed;
  const [dx, dy] = [scale * vx, -scale * vy];
  const long = Math.hypot(dx, dy);
  if (long < 1) return;
  pen.begin();
  arrow(pen, x + (dot * dx) / long, y + (dot * dy) / long, dx, dy);
  pen.stroke({ colour: scene.theme.ink, width: 1.2, alpha: 0.45 + 0.55 * near });
}
